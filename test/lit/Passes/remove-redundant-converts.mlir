// RUN: graph-opt %s -tarpon-remove-redundant-converts -split-input-file | FileCheck %s

// CHECK-LABEL: func @drops_identity(
// CHECK-SAME:      %[[X:[^:]+]]: tensor<4xf32>
// CHECK-NEXT:    return %[[X]]
func.func @drops_identity(%x: tensor<4xf32>) -> tensor<4xf32> {
  %0 = tarpon.convert %x : tensor<4xf32> -> tensor<4xf32>
  return %0 : tensor<4xf32>
}

// -----

// CHECK-LABEL: func @drops_round_trip(
// CHECK-SAME:      %[[X:[^:]+]]: tensor<1x2x4x4xf16>
// CHECK-NEXT:    %[[M:.+]] = tarpon.convert %[[X]]
// CHECK-NEXT:    return %[[X]], %[[M]]
func.func @drops_round_trip(%x: tensor<1x2x4x4xf16>) -> (tensor<1x2x4x4xf16>, tensor<1x2x4x4xf32, #tarpon.layout<nhwc>>) {
  %0 = tarpon.convert %x : tensor<1x2x4x4xf16> -> tensor<1x2x4x4xf32, #tarpon.layout<nhwc>>
  %1 = tarpon.convert %0 : tensor<1x2x4x4xf32, #tarpon.layout<nhwc>> -> tensor<1x2x4x4xf16>
  return %1, %0 : tensor<1x2x4x4xf16>, tensor<1x2x4x4xf32, #tarpon.layout<nhwc>>
}

// -----

// Narrowing, then a change of layout only.

// CHECK-LABEL: func @merges_dtype_and_layout(
// CHECK-NEXT:    %[[R:.+]] = tarpon.convert %{{.+}} : tensor<1x2x4x4xf32> -> tensor<1x2x4x4xbf16, #tarpon.layout<nhwc>>
// CHECK-NEXT:    return %[[R]]
func.func @merges_dtype_and_layout(%x: tensor<1x2x4x4xf32>) -> tensor<1x2x4x4xbf16, #tarpon.layout<nhwc>> {
  %0 = tarpon.convert %x : tensor<1x2x4x4xf32> -> tensor<1x2x4x4xbf16>
  %1 = tarpon.convert %0 : tensor<1x2x4x4xbf16> -> tensor<1x2x4x4xbf16, #tarpon.layout<nhwc>>
  return %1 : tensor<1x2x4x4xbf16, #tarpon.layout<nhwc>>
}

// -----

// Widening, then anything.

// CHECK-LABEL: func @merges_behind_widening(
// CHECK-DAG:     tarpon.convert %{{.+}} : tensor<4xf16> -> tensor<4xi32>
// CHECK-DAG:     tarpon.convert %{{.+}} : tensor<4xi8> -> tensor<4xf16>
// CHECK-DAG:     tarpon.convert %{{.+}} : tensor<4x!quant.uniform<u8:f32, 5.000000e-01>> -> tensor<4xbf16>
// CHECK-NOT:     tarpon.convert
// CHECK:         return
func.func @merges_behind_widening(%x: tensor<4xf16>, %y: tensor<4xi8>, %z: tensor<4x!quant.uniform<u8:f32, 0.5>>) -> (tensor<4xi32>, tensor<4xf16>, tensor<4xbf16>) {
  %0 = tarpon.convert %x : tensor<4xf16> -> tensor<4xf32>
  %1 = tarpon.convert %0 : tensor<4xf32> -> tensor<4xi32>
  %2 = tarpon.convert %y : tensor<4xi8> -> tensor<4xi32>
  %3 = tarpon.convert %2 : tensor<4xi32> -> tensor<4xf16>
  %4 = tarpon.convert %z : tensor<4x!quant.uniform<u8:f32, 0.5>> -> tensor<4xf32>
  %5 = tarpon.convert %4 : tensor<4xf32> -> tensor<4xbf16>
  return %1, %3, %5 : tensor<4xi32>, tensor<4xf16>, tensor<4xbf16>
}

// -----

// CHECK-LABEL: func @shares_equal_converts(
// CHECK-NEXT:    %[[C:.+]] = tarpon.convert
// CHECK-NEXT:    return %[[C]], %[[C]]
func.func @shares_equal_converts(%x: tensor<4xf32>) -> (tensor<4xf16>, tensor<4xf16>) {
  %0 = tarpon.convert %x : tensor<4xf32> -> tensor<4xf16>
  %1 = tarpon.convert %x : tensor<4xf32> -> tensor<4xf16>
  return %0, %1 : tensor<4xf16>, tensor<4xf16>
}

// -----

// CHECK-LABEL: func @evaluates_constants(
// CHECK-NEXT:    %[[C:.+]] = tarpon.constant {value = dense<1.000000e+00> : tensor<4xf16>}
// CHECK-NEXT:    return %[[C]]
func.func @evaluates_constants() -> tensor<4xf16> {
  %0 = tarpon.constant {value = dense<1.0> : tensor<4xf32>} : tensor<4xf32>
  %1 = tarpon.convert %0 : tensor<4xf32> -> tensor<4xf16>
  return %1 : tensor<4xf16>
}

// -----

// With one pixel, nhwc is row-major: the convert becomes a view, and joins the
// one behind it.

// CHECK-LABEL: func @converts_to_view(
// CHECK-SAME:      %[[X:[^:]+]]: tensor<2x8x1x1xf32
// CHECK-NEXT:    %[[R:.+]] = tarpon.reshape %[[X]] : (tensor<2x8x1x1xf32, #tarpon.layout<nhwc>>) -> tensor<2x8xf32>
// CHECK-NEXT:    return %[[R]]
func.func @converts_to_view(%x: tensor<2x8x1x1xf32, #tarpon.layout<nhwc>>) -> tensor<2x8xf32> {
  %0 = tarpon.convert %x : tensor<2x8x1x1xf32, #tarpon.layout<nhwc>> -> tensor<2x8x1x1xf32>
  %1 = tarpon.reshape %0 : (tensor<2x8x1x1xf32>) -> tensor<2x8xf32>
  return %1 : tensor<2x8xf32>
}

// -----

// Blocks have padding.

// CHECK-LABEL: func @negative_blocked_is_no_view(
// CHECK-NEXT:    tarpon.convert
func.func @negative_blocked_is_no_view(%x: tensor<1x3x1x1xf32, #tarpon.layout<nchw8c>>) -> tensor<1x3x1x1xf32> {
  %0 = tarpon.convert %x : tensor<1x3x1x1xf32, #tarpon.layout<nchw8c>> -> tensor<1x3x1x1xf32>
  return %0 : tensor<1x3x1x1xf32>
}

// -----

// From one image of a slice to the next, there are other tensors' channels.

// CHECK-LABEL: func @negative_slice_is_no_view(
// CHECK-NEXT:    tarpon.convert
func.func @negative_slice_is_no_view(%x: tensor<2x3x1x1xf32, #tarpon.layout<nhwc, pitch = 8>>) -> tensor<2x3x1x1xf32> {
  %0 = tarpon.convert %x : tensor<2x3x1x1xf32, #tarpon.layout<nhwc, pitch = 8>> -> tensor<2x3x1x1xf32>
  return %0 : tensor<2x3x1x1xf32>
}

// -----

// Rounding in between is part of what the converts compute. f16 has no room for
// bf16's exponents, and f32 none for all 32-bit integers.

// CHECK-LABEL: func @negative_rounds(
// CHECK-COUNT-6: tarpon.convert
func.func @negative_rounds(%x: tensor<4xf32>, %y: tensor<4xbf16>, %z: tensor<4xi32>) -> (tensor<4xf32>, tensor<4xf32>, tensor<4xf64>) {
  %0 = tarpon.convert %x : tensor<4xf32> -> tensor<4xbf16>
  %1 = tarpon.convert %0 : tensor<4xbf16> -> tensor<4xf32>
  %2 = tarpon.convert %y : tensor<4xbf16> -> tensor<4xf16>
  %3 = tarpon.convert %2 : tensor<4xf16> -> tensor<4xf32>
  %4 = tarpon.convert %z : tensor<4xi32> -> tensor<4xf32>
  %5 = tarpon.convert %4 : tensor<4xf32> -> tensor<4xf64>
  return %1, %3, %5 : tensor<4xf32>, tensor<4xf32>, tensor<4xf64>
}

// -----

// The small tensor is needed anyway, and cheaper to read than the large one.

// CHECK-LABEL: func @negative_first_has_other_users(
// CHECK-NEXT:    %[[C:.+]] = tarpon.convert
// CHECK-NEXT:    %[[D:.+]] = tarpon.convert %[[C]]
// CHECK-NEXT:    return %[[C]], %[[D]]
func.func @negative_first_has_other_users(%x: tensor<1x2x4x4xf32>) -> (tensor<1x2x4x4xf16>, tensor<1x2x4x4xf16, #tarpon.layout<nhwc>>) {
  %0 = tarpon.convert %x : tensor<1x2x4x4xf32> -> tensor<1x2x4x4xf16>
  %1 = tarpon.convert %0 : tensor<1x2x4x4xf16> -> tensor<1x2x4x4xf16, #tarpon.layout<nhwc>>
  return %0, %1 : tensor<1x2x4x4xf16>, tensor<1x2x4x4xf16, #tarpon.layout<nhwc>>
}

// -----

// Numbers below zero are none of an unsigned type.

// CHECK-LABEL: func @negative_other_sign(
// CHECK:         %[[U:.+]] = tarpon.convert {{.*}} -> tensor<4xui8>
// CHECK-NEXT:    tarpon.convert %[[U]]
func.func @negative_other_sign(%x: tensor<4xi8>) -> tensor<4xf32> {
  %0 = tarpon.convert %x : tensor<4xi8> -> tensor<4xui8>
  %1 = tarpon.convert %0 : tensor<4xui8> -> tensor<4xf32>
  return %1 : tensor<4xf32>
}

// -----

// Floats of 8 bits round, and those of one width differ in -0 and NaN.

// CHECK-LABEL: func @keeps_floats_of_8_bits(
// CHECK-SAME:      %[[X:[^:]+]]: tensor<4xf32>, %[[Y:[^:]+]]: tensor<4xf8E4M3FNUZ>
// CHECK:         %[[N:.+]] = tarpon.convert %[[X]] : tensor<4xf32> -> tensor<4xf8E4M3FN>
// CHECK:         %[[A:.+]] = tarpon.convert %[[N]]
// CHECK:         %[[M:.+]] = tarpon.convert %[[Y]] : tensor<4xf8E4M3FNUZ> -> tensor<4xf8E4M3FN>
// CHECK:         %[[B:.+]] = tarpon.convert %[[M]]
// CHECK:         %[[C:.+]] = tarpon.convert %[[Y]] : tensor<4xf8E4M3FNUZ> -> tensor<4xf16>
// CHECK:         return %[[A]], %[[B]], %[[C]]
func.func @keeps_floats_of_8_bits(%x: tensor<4xf32>, %y: tensor<4xf8E4M3FNUZ>) -> (tensor<4xf32>, tensor<4xf8E4M3FNUZ>, tensor<4xf16>) {
  %0 = tarpon.convert %x : tensor<4xf32> -> tensor<4xf8E4M3FN>
  %1 = tarpon.convert %0 : tensor<4xf8E4M3FN> -> tensor<4xf32>
  %2 = tarpon.convert %y : tensor<4xf8E4M3FNUZ> -> tensor<4xf8E4M3FN>
  %3 = tarpon.convert %2 : tensor<4xf8E4M3FN> -> tensor<4xf8E4M3FNUZ>
  %4 = tarpon.convert %y : tensor<4xf8E4M3FNUZ> -> tensor<4xf32>
  %5 = tarpon.convert %4 : tensor<4xf32> -> tensor<4xf16>
  return %1, %3, %5 : tensor<4xf32>, tensor<4xf8E4M3FNUZ>, tensor<4xf16>
}
