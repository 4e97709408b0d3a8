// RUN: graph-opt %s -canonicalize -split-input-file | FileCheck %s

// CHECK-LABEL: func @identity(
// CHECK-SAME:    %[[X:[^:]+]]:
// CHECK-NEXT:    return %[[X]]
func.func @identity(%x: tensor<1x2x3xf32, #tarpon.layout<nhwc>>) -> tensor<1x2x3xf32, #tarpon.layout<nhwc>> {
  %0 = tarpon.convert %x : tensor<1x2x3xf32, #tarpon.layout<nhwc>> -> tensor<1x2x3xf32, #tarpon.layout<nhwc>>
  return %0 : tensor<1x2x3xf32, #tarpon.layout<nhwc>>
}

// -----

// Ties go to even: 2049 and the subnormals 2^-25, 3 * 2^-25 in f16, 257 in bf16.
// From 65520 on the nearest f16 is infinity.
// CHECK-LABEL: func @floats_round_to_nearest_even()
// CHECK-DAG:     value = dense<[2.048000e+03, 2.570000e+02, 0x7C00, 0.000000e+00, 1.192090e-07, -6.550400e+04]> : tensor<6xf16>
// CHECK-DAG:     value = dense<[2.048000e+03, 2.560000e+02, 6.553600e+04, 2.980230e-08, 8.940690e-08, -6.553600e+04]> : tensor<6xbf16>
func.func @floats_round_to_nearest_even() -> (tensor<6xf16>, tensor<6xbf16>) {
  %x = tarpon.constant {value = dense<[2049.0, 257.0, 65520.0, 0x33000000, 0x33C00000, -65519.0]> : tensor<6xf32>} : tensor<6xf32>
  %0 = tarpon.convert %x : tensor<6xf32> -> tensor<6xf16>
  %1 = tarpon.convert %x : tensor<6xf32> -> tensor<6xbf16>
  return %0, %1 : tensor<6xf16>, tensor<6xbf16>
}

// -----

// 2049 + 2^-40 is nearest to 2050; rounded to f32 first it would be a tie that
// goes to 2048.
// CHECK-LABEL: func @f64_rounds_once()
// CHECK:         value = dense<[2.050000e+03, 0x7C00]> : tensor<2xf16>
func.func @f64_rounds_once() -> tensor<2xf16> {
  %x = tarpon.constant {value = dense<[2049.0000000000009, 1.0e300]> : tensor<2xf64>} : tensor<2xf64>
  %0 = tarpon.convert %x : tensor<2xf64> -> tensor<2xf16>
  return %0 : tensor<2xf16>
}

// -----

// CHECK-LABEL: func @half_to_float()
// CHECK:         value = dense<[1.500000e+00, 0x7F800000, 5.96046448E-8, -2.000000e+00]> : tensor<4xf32>
func.func @half_to_float() -> tensor<4xf32> {
  %x = tarpon.constant {value = dense<[1.5, 0x7C00, 0x0001, -2.0]> : tensor<4xf16>} : tensor<4xf16>
  %0 = tarpon.convert %x : tensor<4xf16> -> tensor<4xf32>
  return %0 : tensor<4xf32>
}

// -----

// CHECK-LABEL: func @float_to_integer_truncates()
// CHECK-DAG:     value = dense<[-1, 1, 127, 0]> : tensor<4xi8>
// CHECK-DAG:     value = dense<[0, 1, 255, 0]> : tensor<4xui8>
// CHECK-DAG:     value = dense<true> : tensor<4xi1>
func.func @float_to_integer_truncates() -> (tensor<4xi8>, tensor<4xui8>, tensor<4xi1>) {
  %x = tarpon.constant {value = dense<[-1.9, 1.9, 300.0, 0x7FC00000]> : tensor<4xf32>} : tensor<4xf32>
  %0 = tarpon.convert %x : tensor<4xf32> -> tensor<4xi8>
  %1 = tarpon.convert %x : tensor<4xf32> -> tensor<4xui8>
  %2 = tarpon.convert %x : tensor<4xf32> -> tensor<4xi1>
  return %0, %1, %2 : tensor<4xi8>, tensor<4xui8>, tensor<4xi1>
}

// -----

// CHECK-LABEL: func @integers()
// CHECK-DAG:     value = dense<[1, 1, 0]> : tensor<3xi32>
// CHECK-DAG:     value = dense<[9007199254740993, 18446744073709551615, 0]> : tensor<3xui64>
// CHECK-DAG:     value = dense<[{{.*}}, -1.000000e+00, 0.000000e+00]> : tensor<3xf32>
func.func @integers() -> (tensor<3xi32>, tensor<3xui64>, tensor<3xf32>) {
  %x = tarpon.constant {value = dense<[9007199254740993, -1, 0]> : tensor<3xi64>} : tensor<3xi64>
  %b = tarpon.constant {value = dense<[true, true, false]> : tensor<3xi1>} : tensor<3xi1>
  %0 = tarpon.convert %b : tensor<3xi1> -> tensor<3xi32>
  %1 = tarpon.convert %x : tensor<3xi64> -> tensor<3xui64>
  %2 = tarpon.convert %x : tensor<3xi64> -> tensor<3xf32>
  return %0, %1, %2 : tensor<3xi32>, tensor<3xui64>, tensor<3xf32>
}

// -----

// Large constants are blobs, before and after.
// CHECK-LABEL: func @resource()
// CHECK:         value = dense_resource<[[BLOB:.+]]> : tensor<66xbf16>
// CHECK:         [[BLOB]]: "0x100000000000803F{{(803F)+}}0040"
func.func @resource() -> tensor<66xbf16> {
  %x = tarpon.constant {value = dense_resource<ones_and_two> : tensor<66xf32>} : tensor<66xf32>
  %0 = tarpon.convert %x : tensor<66xf32> -> tensor<66xbf16>
  return %0 : tensor<66xbf16>
}

{-#
  dialect_resources: {
    builtin: {
      ones_and_two: "0x04000000000000000000803F0000803F0000803F0000803F0000803F0000803F0000803F0000803F0000803F0000803F0000803F0000803F0000803F0000803F0000803F0000803F0000803F0000803F0000803F0000803F0000803F0000803F0000803F0000803F0000803F0000803F0000803F0000803F0000803F0000803F0000803F0000803F0000803F0000803F0000803F0000803F0000803F0000803F0000803F0000803F0000803F0000803F0000803F0000803F0000803F0000803F0000803F0000803F0000803F0000803F0000803F0000803F0000803F0000803F0000803F0000803F0000803F0000803F0000803F0000803F0000803F0000803F0000803F0000803F00000040"
    }
  }
#-}

// -----

// Constants are row-major.
// CHECK-LABEL: func @negative_layout()
// CHECK:         tarpon.convert
func.func @negative_layout() -> tensor<1x2x2xf32, #tarpon.layout<nhwc>> {
  %x = tarpon.constant {value = dense<1.0> : tensor<1x2x2xf32>} : tensor<1x2x2xf32>
  %0 = tarpon.convert %x : tensor<1x2x2xf32> -> tensor<1x2x2xf32, #tarpon.layout<nhwc>>
  return %0 : tensor<1x2x2xf32, #tarpon.layout<nhwc>>
}

// -----

// CHECK-LABEL: func @dequantises()
// CHECK-DAG:     value = dense<[5.000000e-01, -6.400000e+01]> : tensor<2xf32>
// CHECK-DAG:     value = dense<[-1.000000e+00, 1.265000e+02]> : tensor<2xf32>
// CHECK-DAG:     value = dense<{{\[\[}}5.000000e-01, -2.500000e-01], [1.000000e+00, 7.500000e-01]]> : tensor<2x2xf32>
func.func @dequantises() -> (tensor<2xf32>, tensor<2xf32>, tensor<2x2xf32>) {
  %i = tarpon.constant {value = dense<[1, -128]> : tensor<2xi8>, quantized_type = tensor<2x!quant.uniform<i8:f32, 0.5>>} : tensor<2x!quant.uniform<i8:f32, 0.5>>
  %u = tarpon.constant {value = dense<[0, -1]> : tensor<2xi8>, quantized_type = tensor<2x!quant.uniform<u8:f32, 0.5:2>>} : tensor<2x!quant.uniform<u8:f32, 0.5:2>>
  %p = tarpon.constant {value = dense<[[1, -1], [2, 3]]> : tensor<2x2xi8>, quantized_type = tensor<2x2x!quant.uniform<i8:f32:1, {0.5, 0.25}>>} : tensor<2x2x!quant.uniform<i8:f32:1, {0.5, 0.25}>>
  %0 = tarpon.convert %i : tensor<2x!quant.uniform<i8:f32, 0.5>> -> tensor<2xf32>
  %1 = tarpon.convert %u : tensor<2x!quant.uniform<u8:f32, 0.5:2>> -> tensor<2xf32>
  %2 = tarpon.convert %p : tensor<2x2x!quant.uniform<i8:f32:1, {0.5, 0.25}>> -> tensor<2x2xf32>
  return %0, %1, %2 : tensor<2xf32>, tensor<2xf32>, tensor<2x2xf32>
}

// -----

// Quantising is the quantisation's to do, and f32 are the values.
// CHECK-LABEL: func @negative_quantised()
// CHECK-COUNT-2: tarpon.convert
func.func @negative_quantised() -> (tensor<2xf16>, tensor<2x!quant.uniform<i8:f32, 0.5>>) {
  %q = tarpon.constant {value = dense<1> : tensor<2xi8>, quantized_type = tensor<2x!quant.uniform<i8:f32, 0.5>>} : tensor<2x!quant.uniform<i8:f32, 0.5>>
  %x = tarpon.constant {value = dense<1.0> : tensor<2xf32>} : tensor<2xf32>
  %0 = tarpon.convert %q : tensor<2x!quant.uniform<i8:f32, 0.5>> -> tensor<2xf16>
  %1 = tarpon.convert %x : tensor<2xf32> -> tensor<2x!quant.uniform<i8:f32, 0.5>>
  return %0, %1 : tensor<2xf16>, tensor<2x!quant.uniform<i8:f32, 0.5>>
}

// -----

// What is too large becomes NaN, infinity or, without either, the largest number.
// CHECK-LABEL: func @floats_of_8_bits()
// CHECK-DAG:     value = dense<[4.687500e-01, 4.480000e+02, 0x7F, -0.000000e+00]> : tensor<4xf8E4M3FN>
// CHECK-DAG:     value = dense<[4.687500e-01, 0x80, 0x80, 0.000000e+00]> : tensor<4xf8E4M3FNUZ>
// CHECK-DAG:     value = dense<[5.000000e-01, 4.480000e+02, 0x7C, -0.000000e+00]> : tensor<4xf8E5M2>
// CHECK-DAG:     value = dense<[5.000000e-01, 6.000000e+00, 6.000000e+00, -0.000000e+00]> : tensor<4xf4E2M1FN>
func.func @floats_of_8_bits() -> (tensor<4xf8E4M3FN>, tensor<4xf8E4M3FNUZ>, tensor<4xf8E5M2>, tensor<4xf4E2M1FN>) {
  %x = tarpon.constant {value = dense<[0.48, 448.0, 1.0e6, -1.0e-7]> : tensor<4xf32>} : tensor<4xf32>
  %0 = tarpon.convert %x : tensor<4xf32> -> tensor<4xf8E4M3FN>
  %1 = tarpon.convert %x : tensor<4xf32> -> tensor<4xf8E4M3FNUZ>
  %2 = tarpon.convert %x : tensor<4xf32> -> tensor<4xf8E5M2>
  %3 = tarpon.convert %x : tensor<4xf32> -> tensor<4xf4E2M1FN>
  return %0, %1, %2, %3 : tensor<4xf8E4M3FN>, tensor<4xf8E4M3FNUZ>, tensor<4xf8E5M2>, tensor<4xf4E2M1FN>
}

// -----

// Bytes of the attribute have no signs, and are read with them.
// CHECK-LABEL: func @integers_of_4_and_2_bits()
// CHECK-DAG:     value = dense<[7, -8, -1]> : tensor<3xi4>
// CHECK-DAG:     value = dense<[-1, 0, -1]> : tensor<3xi2>
// CHECK-DAG:     value = dense<[7, 8, 15]> : tensor<3xui4>
// CHECK-DAG:     value = dense<[7.000000e+00, -8.000000e+00, -1.000000e+00]> : tensor<3xf32>
func.func @integers_of_4_and_2_bits() -> (tensor<3xi4>, tensor<3xi2>, tensor<3xui4>, tensor<3xf32>) {
  %x = tarpon.constant {value = dense<[-9, 8, 31]> : tensor<3xi32>} : tensor<3xi32>
  %0 = tarpon.convert %x : tensor<3xi32> -> tensor<3xi4>
  %1 = tarpon.convert %0 : tensor<3xi4> -> tensor<3xi2>
  %2 = tarpon.convert %0 : tensor<3xi4> -> tensor<3xui4>
  %3 = tarpon.convert %0 : tensor<3xi4> -> tensor<3xf32>
  return %0, %1, %2, %3 : tensor<3xi4>, tensor<3xi2>, tensor<3xui4>, tensor<3xf32>
}

// -----

// CHECK-LABEL: func @bitcast(
// CHECK-SAME:    %[[X:[^:]+]]:
// CHECK-DAG:     %[[ONE:.+]] = tarpon.constant {value = dense<1065353216> : tensor<2xi32>}
// CHECK-DAG:     %[[F8:.+]] = tarpon.constant {value = dense<[56, 184]> : tensor<2xui8>}
// CHECK:         return %[[ONE]], %[[F8]], %[[X]]
func.func @bitcast(%x: tensor<2xf32>) -> (tensor<2xi32>, tensor<2xui8>, tensor<2xf32>) {
  %one = tarpon.constant {value = dense<1.0> : tensor<2xf32>} : tensor<2xf32>
  %0 = tarpon.bitcast %one : (tensor<2xf32>) -> tensor<2xi32>
  %f8 = tarpon.constant {value = dense<[1.0, -1.0]> : tensor<2xf8E4M3FN>} : tensor<2xf8E4M3FN>
  %1 = tarpon.bitcast %f8 : (tensor<2xf8E4M3FN>) -> tensor<2xui8>
  %2 = tarpon.bitcast %x : (tensor<2xf32>) -> tensor<2xui32>
  %3 = tarpon.bitcast %2 : (tensor<2xui32>) -> tensor<2xf32>
  return %0, %1, %3 : tensor<2xi32>, tensor<2xui8>, tensor<2xf32>
}
