// RUN: graph-opt %s -canonicalize -split-input-file | FileCheck %s

// CHECK-LABEL: func @unary_f32()
// CHECK-DAG:     value = dense<[0.000000e+00, 5.000000e-01, 4.000000e+00]>
// CHECK-DAG:     value = dense<[-2.000000e+00, 5.000000e-01, 3.000000e+00]>
// CHECK-DAG:     value = dense<[-1.000000e+00, 5.000000e-01, 4.000000e+00]>
// CHECK-DAG:     value = dense<[0.000000e+00, 6.250000e-01, 1.000000e+00]>
// CHECK-DAG:     value = dense<[-0.000000e+00, 0.291666657, 4.000000e+00]>
// CHECK-NOT:     tarpon.{{(relu|clip|leaky|hard)}}
func.func @unary_f32() -> (tensor<3xf32>, tensor<3xf32>, tensor<3xf32>, tensor<3xf32>, tensor<3xf32>) {
  %x = tarpon.constant {value = dense<[-4.0, 0.5, 4.0]> : tensor<3xf32>} : tensor<3xf32>
  %0 = tarpon.relu %x : (tensor<3xf32>) -> tensor<3xf32>
  %1 = tarpon.clip %x {low = -2.0 : f64, high = 3.0 : f64} : (tensor<3xf32>) -> tensor<3xf32>
  %2 = tarpon.leaky_relu %x {alpha = 0.25 : f32} : (tensor<3xf32>) -> tensor<3xf32>
  %3 = tarpon.hard_sigmoid %x {alpha = 0.25 : f32, beta = 0.5 : f32} : (tensor<3xf32>) -> tensor<3xf32>
  %4 = tarpon.hard_swish %x : (tensor<3xf32>) -> tensor<3xf32>
  return %0, %1, %2, %3, %4 : tensor<3xf32>, tensor<3xf32>, tensor<3xf32>, tensor<3xf32>, tensor<3xf32>
}

// -----

// As in ONNX, high wins; a NaN stays one.
// CHECK-LABEL: func @unary_corner_cases()
// CHECK-DAG:     value = dense<[2.000000e+00, 0x7FC00000]>
// CHECK-DAG:     value = dense<[0.000000e+00, 0x7FC00000]>
// CHECK-DAG:     value = dense<5.000000e-01> : tensor<1000000xbf16>
// CHECK-DAG:     value = dense<[0, 7]> : tensor<2xi8>
func.func @unary_corner_cases() -> (tensor<2xf32>, tensor<2xf32>, tensor<1000000xbf16>, tensor<2xi8>) {
  %x = tarpon.constant {value = dense<[-4.0, 0x7FC00000]> : tensor<2xf32>} : tensor<2xf32>
  %zeros = tarpon.constant {value = dense<0.0> : tensor<1000000xbf16>} : tensor<1000000xbf16>
  %i = tarpon.constant {value = dense<[-7, 7]> : tensor<2xi8>} : tensor<2xi8>
  %0 = tarpon.clip %x {low = 3.0 : f64, high = 2.0 : f64} : (tensor<2xf32>) -> tensor<2xf32>
  %1 = tarpon.relu %x : (tensor<2xf32>) -> tensor<2xf32>
  %2 = tarpon.sigmoid %zeros : (tensor<1000000xbf16>) -> tensor<1000000xbf16>
  %3 = tarpon.relu %i : (tensor<2xi8>) -> tensor<2xi8>
  return %0, %1, %2, %3 : tensor<2xf32>, tensor<2xf32>, tensor<1000000xbf16>, tensor<2xi8>
}

// -----

// Doubles do not hold all 64-bit integers.
// CHECK-LABEL: func @negative_unary_i64()
// CHECK:         tarpon.relu
func.func @negative_unary_i64() -> tensor<2xi64> {
  %x = tarpon.constant {value = dense<[9007199254740993, -1]> : tensor<2xi64>} : tensor<2xi64>
  %0 = tarpon.relu %x : (tensor<2xi64>) -> tensor<2xi64>
  return %0 : tensor<2xi64>
}

// -----

// CHECK-LABEL: func @unary_i64()
// CHECK:         value = dense<[1, 0]> : tensor<2xi64>
func.func @unary_i64() -> tensor<2xi64> {
  %x = tarpon.constant {value = dense<[1, -1]> : tensor<2xi64>} : tensor<2xi64>
  %0 = tarpon.relu %x : (tensor<2xi64>) -> tensor<2xi64>
  return %0 : tensor<2xi64>
}

// -----

// CHECK-LABEL: func @negative_unary_argument(
// CHECK:         tarpon.relu
func.func @negative_unary_argument(%x: tensor<2xf32>) -> tensor<2xf32> {
  %0 = tarpon.relu %x : (tensor<2xf32>) -> tensor<2xf32>
  return %0 : tensor<2xf32>
}

// -----

// CHECK-LABEL: func @binary_broadcast()
// CHECK-DAG:     value = dense<{{\[}}[1.100000e+01, 1.200000e+01], [2.100000e+01, 2.200000e+01]]>
// CHECK-DAG:     value = dense<{{\[}}[-9.000000e+00, -8.000000e+00], [-1.900000e+01, -1.800000e+01]]>
// CHECK-DAG:     value = dense<{{\[}}[1.000000e+01, 2.000000e+01], [2.000000e+01, 4.000000e+01]]>
// CHECK-DAG:     value = dense<{{\[}}[1.000000e-01, 2.000000e-01], [5.000000e-02, 1.000000e-01]]>
func.func @binary_broadcast() -> (tensor<2x2xf32>, tensor<2x2xf32>, tensor<2x2xf32>, tensor<2x2xf32>) {
  %a = tarpon.constant {value = dense<[1.0, 2.0]> : tensor<2xf32>} : tensor<2xf32>
  %b = tarpon.constant {value = dense<[[10.0], [20.0]]> : tensor<2x1xf32>} : tensor<2x1xf32>
  %0 = tarpon.add %a, %b : (tensor<2xf32>, tensor<2x1xf32>) -> tensor<2x2xf32>
  %1 = tarpon.sub %a, %b : (tensor<2xf32>, tensor<2x1xf32>) -> tensor<2x2xf32>
  %2 = tarpon.mul %a, %b : (tensor<2xf32>, tensor<2x1xf32>) -> tensor<2x2xf32>
  %3 = tarpon.div %a, %b : (tensor<2xf32>, tensor<2x1xf32>) -> tensor<2x2xf32>
  return %0, %1, %2, %3 : tensor<2x2xf32>, tensor<2x2xf32>, tensor<2x2xf32>, tensor<2x2xf32>
}

// -----

// Integers are exact in 64 bits, wrap, and divide towards zero.
// CHECK-LABEL: func @binary_integers()
// CHECK-DAG:     value = dense<[9007199254740994, -3]> : tensor<2xi64>
// CHECK-DAG:     value = dense<[9007199254740993, -1]> : tensor<2xi64>
// CHECK-DAG:     value = dense<44> : tensor<2xui8>
// CHECK-DAG:     value = dense<-56> : tensor<2xi8>
func.func @binary_integers() -> (tensor<2xi64>, tensor<2xi64>, tensor<2xui8>, tensor<2xi8>) {
  %big = tarpon.constant {value = dense<[9007199254740993, -3]> : tensor<2xi64>} : tensor<2xi64>
  %one = tarpon.constant {value = dense<[1, 0]> : tensor<2xi64>} : tensor<2xi64>
  %two = tarpon.constant {value = dense<[1, 2]> : tensor<2xi64>} : tensor<2xi64>
  %u = tarpon.constant {value = dense<150> : tensor<2xui8>} : tensor<2xui8>
  %s = tarpon.constant {value = dense<100> : tensor<2xi8>} : tensor<2xi8>
  %0 = tarpon.add %big, %one : (tensor<2xi64>, tensor<2xi64>) -> tensor<2xi64>
  %1 = tarpon.div %big, %two : (tensor<2xi64>, tensor<2xi64>) -> tensor<2xi64>
  %2 = tarpon.add %u, %u : (tensor<2xui8>, tensor<2xui8>) -> tensor<2xui8>
  %3 = tarpon.add %s, %s : (tensor<2xi8>, tensor<2xi8>) -> tensor<2xi8>
  return %0, %1, %2, %3 : tensor<2xi64>, tensor<2xi64>, tensor<2xui8>, tensor<2xi8>
}

// -----

// CHECK-LABEL: func @binary_splats_stay_splats()
// CHECK:         value = dense<3.000000e+00> : tensor<1000x1000xf32>
func.func @binary_splats_stay_splats() -> tensor<1000x1000xf32> {
  %a = tarpon.constant {value = dense<1.0> : tensor<1000x1xf32>} : tensor<1000x1xf32>
  %b = tarpon.constant {value = dense<2.0> : tensor<1000xf32>} : tensor<1000xf32>
  %0 = tarpon.add %a, %b : (tensor<1000x1xf32>, tensor<1000xf32>) -> tensor<1000x1000xf32>
  return %0 : tensor<1000x1000xf32>
}

// -----

// Two numbers should not become a million.
// CHECK-LABEL: func @negative_binary_growth()
// CHECK:         tarpon.add
func.func @negative_binary_growth() -> tensor<2x500000xf32> {
  %a = tarpon.constant {value = dense<[[1.0], [2.0]]> : tensor<2x1xf32>} : tensor<2x1xf32>
  %b = tarpon.constant {value = dense<2.0> : tensor<500000xf32>} : tensor<500000xf32>
  %0 = tarpon.add %a, %b : (tensor<2x1xf32>, tensor<500000xf32>) -> tensor<2x500000xf32>
  return %0 : tensor<2x500000xf32>
}

// -----

// CHECK-LABEL: func @negative_division_by_zero()
// CHECK-COUNT-2: tarpon.div
func.func @negative_division_by_zero() -> (tensor<2xi32>, tensor<2xi32>) {
  %a = tarpon.constant {value = dense<1> : tensor<2xi32>} : tensor<2xi32>
  %zero = tarpon.constant {value = dense<0> : tensor<2xi32>} : tensor<2xi32>
  %some = tarpon.constant {value = dense<[1, 0]> : tensor<2xi32>} : tensor<2xi32>
  %0 = tarpon.div %a, %zero : (tensor<2xi32>, tensor<2xi32>) -> tensor<2xi32>
  %1 = tarpon.div %a, %some : (tensor<2xi32>, tensor<2xi32>) -> tensor<2xi32>
  return %0, %1 : tensor<2xi32>, tensor<2xi32>
}
