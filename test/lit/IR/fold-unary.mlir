// RUN: graph-opt %s -canonicalize -split-input-file | FileCheck %s

// The unary ops of TarponUnaryOps.td on constants.

// CHECK-LABEL: func @floats()
// CHECK-DAG:     value = dense<[1.500000e+00, 0.000000e+00, 2.500000e+00]>
// CHECK-DAG:     value = dense<[-1.000000e+00, 0.000000e+00, 3.000000e+00]>
// CHECK-DAG:     value = dense<[-2.000000e+00, 0.000000e+00, 2.000000e+00]>
// CHECK-DAG:     value = dense<[1.500000e+00, -0.000000e+00, -2.500000e+00]>
// CHECK-DAG:     value = dense<[-1.000000e+00, 0.000000e+00, 1.000000e+00]>
// CHECK-DAG:     value = dense<[-6.000000e-01, 0.000000e+00, 0.714285731]>
// CHECK-NOT:     tarpon.{{(abs|ceil|round|neg|sign|softsign)}}
func.func @floats() -> (tensor<3xf32>, tensor<3xf32>, tensor<3xf32>, tensor<3xf32>, tensor<3xf32>, tensor<3xf32>) {
  %x = tarpon.constant {value = dense<[-1.5, 0.0, 2.5]> : tensor<3xf32>} : tensor<3xf32>
  %0 = tarpon.abs %x : (tensor<3xf32>) -> tensor<3xf32>
  %1 = tarpon.ceil %x : (tensor<3xf32>) -> tensor<3xf32>
  %2 = tarpon.round %x : (tensor<3xf32>) -> tensor<3xf32>
  %3 = tarpon.neg %x : (tensor<3xf32>) -> tensor<3xf32>
  %4 = tarpon.sign %x : (tensor<3xf32>) -> tensor<3xf32>
  %5 = tarpon.softsign %x : (tensor<3xf32>) -> tensor<3xf32>
  return %0, %1, %2, %3, %4, %5 : tensor<3xf32>, tensor<3xf32>, tensor<3xf32>, tensor<3xf32>, tensor<3xf32>, tensor<3xf32>
}

// -----

// CHECK-LABEL: func @with_attributes()
// CHECK-DAG:     value = dense<[-0.432332367, 0.000000e+00, 2.000000e+00]>
// CHECK-DAG:     value = dense<[0.000000e+00, 0.000000e+00, 2.000000e+00]>
// CHECK-DAG:     value = dense<[9.000000e+00, 1.000000e+00, 2.500000e+01]>
// CHECK-NOT:     tarpon.{{(elu|thresholded_relu|power)}}
func.func @with_attributes() -> (tensor<3xf32>, tensor<3xf32>, tensor<3xf32>) {
  %x = tarpon.constant {value = dense<[-2.0, 0.0, 2.0]> : tensor<3xf32>} : tensor<3xf32>
  %0 = tarpon.elu %x {alpha = 0.5 : f32} : (tensor<3xf32>) -> tensor<3xf32>
  %1 = tarpon.thresholded_relu %x {alpha = 1.0 : f32} : (tensor<3xf32>) -> tensor<3xf32>
  %2 = tarpon.power %x {shift = 1.0 : f32, scale = 2.0 : f32, exponent = 2.0 : f32} : (tensor<3xf32>) -> tensor<3xf32>
  return %0, %1, %2 : tensor<3xf32>, tensor<3xf32>, tensor<3xf32>
}

// -----

// CHECK-LABEL: func @two_operands()
// CHECK-DAG:     value = dense<[-2.000000e+00, 0.000000e+00, 0x7FC00000]>
// CHECK-DAG:     value = dense<[1.000000e+00, 1.000000e+00, 0x7FC00000]>
// CHECK-DAG:     value = dense<[5, 7]> : tensor<2xi64>
// CHECK-NOT:     tarpon.{{(min|max)}}
func.func @two_operands() -> (tensor<3xf32>, tensor<3xf32>, tensor<2xi64>) {
  %x = tarpon.constant {value = dense<[-2.0, 0.0, 0x7FC00000]> : tensor<3xf32>} : tensor<3xf32>
  %y = tarpon.constant {value = dense<1.0> : tensor<1xf32>} : tensor<1xf32>
  %i = tarpon.constant {value = dense<[5, 2]> : tensor<2xi64>} : tensor<2xi64>
  %j = tarpon.constant {value = dense<[3, 7]> : tensor<2xi64>} : tensor<2xi64>
  %0 = tarpon.min %x, %y : (tensor<3xf32>, tensor<1xf32>) -> tensor<3xf32>
  %1 = tarpon.max %x, %y : (tensor<3xf32>, tensor<1xf32>) -> tensor<3xf32>
  %2 = tarpon.max %i, %j : (tensor<2xi64>, tensor<2xi64>) -> tensor<2xi64>
  return %0, %1, %2 : tensor<3xf32>, tensor<3xf32>, tensor<2xi64>
}

// -----

// The smallest integer has no counterpart, and wraps as it does in kernels.
// CHECK-LABEL: func @wrap()
// CHECK-DAG:     value = dense<[-128, 127, -5]> : tensor<3xi8>
// CHECK-DAG:     value = dense<[-128, 127, 5]> : tensor<3xi8>
// CHECK-DAG:     value = dense<[-2147483648, 7]> : tensor<2xi32>
// CHECK-NOT:     tarpon.{{(neg|abs)}}
func.func @wrap() -> (tensor<3xi8>, tensor<3xi8>, tensor<2xi32>) {
  %x = tarpon.constant {value = dense<[-128, -127, 5]> : tensor<3xi8>} : tensor<3xi8>
  %y = tarpon.constant {value = dense<[-2147483648, -7]> : tensor<2xi32>} : tensor<2xi32>
  %0 = tarpon.neg %x : (tensor<3xi8>) -> tensor<3xi8>
  %1 = tarpon.abs %x : (tensor<3xi8>) -> tensor<3xi8>
  %2 = tarpon.neg %y : (tensor<2xi32>) -> tensor<2xi32>
  return %0, %1, %2 : tensor<3xi8>, tensor<3xi8>, tensor<2xi32>
}

// -----

// The sign of a NaN is the C library's.
// CHECK-LABEL: func @inverse_functions()
// CHECK-DAG:     value = dense<[3.14159274, 0.000000e+00]>
// CHECK-DAG:     value = dense<[-1.57079637, 1.57079637]>
// CHECK-DAG:     value = dense<[0xFF800000, 0x7F800000]>
// CHECK-DAG:     value = dense<[-1.000000e+00, 0x{{[7F]}}FC00000]>
// CHECK-NOT:     tarpon.{{(acos|asin|atanh|fmod)}}
func.func @inverse_functions() -> (tensor<2xf32>, tensor<2xf32>, tensor<2xf32>, tensor<2xf32>) {
  %x = tarpon.constant {value = dense<[-1.0, 1.0]> : tensor<2xf32>} : tensor<2xf32>
  %y = tarpon.constant {value = dense<[-2.0, 0.0]> : tensor<2xf32>} : tensor<2xf32>
  %0 = tarpon.acos %x : (tensor<2xf32>) -> tensor<2xf32>
  %1 = tarpon.asin %x : (tensor<2xf32>) -> tensor<2xf32>
  %2 = tarpon.atanh %x : (tensor<2xf32>) -> tensor<2xf32>
  %3 = tarpon.fmod %x, %y : (tensor<2xf32>, tensor<2xf32>) -> tensor<2xf32>
  return %0, %1, %2, %3 : tensor<2xf32>, tensor<2xf32>, tensor<2xf32>, tensor<2xf32>
}
