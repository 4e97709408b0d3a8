// RUN: graph-opt %s -tarpon-fold-constants -tarpon-raise-activations -tarpon-fold-constants | FileCheck %s

// Arithmetic that resembles an activation and is none.

// CHECK-LABEL: func @negative_gate_is_read_otherwise(
// CHECK-NOT:     tarpon.{{swish|hard_swish|gelu|gelu_tanh|mish}}
// CHECK:         return
func.func @negative_gate_is_read_otherwise(%x: tensor<2x4xf32>) -> (tensor<2x4xf32>, tensor<2x4xf32>) {
  %0 = tarpon.sigmoid %x : (tensor<2x4xf32>) -> tensor<2x4xf32>
  %1 = tarpon.mul %x, %0 : (tensor<2x4xf32>, tensor<2x4xf32>) -> tensor<2x4xf32>
  return %1, %0 : tensor<2x4xf32>, tensor<2x4xf32>
}

// CHECK-LABEL: func @negative_product_is_read_otherwise(
// CHECK-NOT:     tarpon.{{swish|hard_swish|gelu|gelu_tanh|mish}}
// CHECK:         return
func.func @negative_product_is_read_otherwise(%x: tensor<2x4xf32>) -> (tensor<2x4xf32>, tensor<2x4xf32>) {
  %0 = tarpon.constant {value = dense<1.41421354> : tensor<f32>} : tensor<f32>
  %1 = tarpon.div %x, %0 : (tensor<2x4xf32>, tensor<f32>) -> tensor<2x4xf32>
  %2 = tarpon.erf %1 : (tensor<2x4xf32>) -> tensor<2x4xf32>
  %3 = tarpon.constant {value = dense<1.0> : tensor<f32>} : tensor<f32>
  %4 = tarpon.add %2, %3 : (tensor<2x4xf32>, tensor<f32>) -> tensor<2x4xf32>
  %5 = tarpon.mul %x, %4 : (tensor<2x4xf32>, tensor<2x4xf32>) -> tensor<2x4xf32>
  %6 = tarpon.constant {value = dense<0.5> : tensor<f32>} : tensor<f32>
  %7 = tarpon.mul %5, %6 : (tensor<2x4xf32>, tensor<f32>) -> tensor<2x4xf32>
  return %7, %5 : tensor<2x4xf32>, tensor<2x4xf32>
}

// CHECK-LABEL: func @negative_argument_is_read_otherwise(
// CHECK-NOT:     tarpon.{{swish|hard_swish|gelu|gelu_tanh|mish}}
// CHECK:         return
func.func @negative_argument_is_read_otherwise(%x: tensor<2x4xf32>) -> (tensor<2x4xf32>, tensor<2x4xf32>) {
  %0 = tarpon.constant {value = dense<1.41421354> : tensor<f32>} : tensor<f32>
  %1 = tarpon.div %x, %0 : (tensor<2x4xf32>, tensor<f32>) -> tensor<2x4xf32>
  %2 = tarpon.erf %1 : (tensor<2x4xf32>) -> tensor<2x4xf32>
  %3 = tarpon.constant {value = dense<1.0> : tensor<f32>} : tensor<f32>
  %4 = tarpon.add %2, %3 : (tensor<2x4xf32>, tensor<f32>) -> tensor<2x4xf32>
  %5 = tarpon.mul %x, %4 : (tensor<2x4xf32>, tensor<2x4xf32>) -> tensor<2x4xf32>
  %6 = tarpon.constant {value = dense<0.5> : tensor<f32>} : tensor<f32>
  %7 = tarpon.mul %5, %6 : (tensor<2x4xf32>, tensor<f32>) -> tensor<2x4xf32>
  return %7, %1 : tensor<2x4xf32>, tensor<2x4xf32>
}

// CHECK-LABEL: func @negative_gate_of_something_else(
// CHECK-NOT:     tarpon.{{swish|hard_swish|gelu|gelu_tanh|mish}}
// CHECK:         return
func.func @negative_gate_of_something_else(%x: tensor<2x4xf32>, %y: tensor<2x4xf32>) -> tensor<2x4xf32> {
  %0 = tarpon.sigmoid %y : (tensor<2x4xf32>) -> tensor<2x4xf32>
  %1 = tarpon.mul %x, %0 : (tensor<2x4xf32>, tensor<2x4xf32>) -> tensor<2x4xf32>
  return %1 : tensor<2x4xf32>
}

// CHECK-LABEL: func @negative_gate_is_squared(
// CHECK-NOT:     tarpon.{{swish|hard_swish|gelu|gelu_tanh|mish}}
// CHECK:         return
func.func @negative_gate_is_squared(%x: tensor<2x4xf32>) -> tensor<2x4xf32> {
  %0 = tarpon.sigmoid %x : (tensor<2x4xf32>) -> tensor<2x4xf32>
  %1 = tarpon.mul %0, %0 : (tensor<2x4xf32>, tensor<2x4xf32>) -> tensor<2x4xf32>
  %2 = tarpon.mul %x, %1 : (tensor<2x4xf32>, tensor<2x4xf32>) -> tensor<2x4xf32>
  return %2 : tensor<2x4xf32>
}

// The root of 2 is not 1.4, and a sixth is not 0.1667.

// CHECK-LABEL: func @negative_other_numbers(
// CHECK-NOT:     tarpon.{{swish|hard_swish|gelu|gelu_tanh|mish}}
// CHECK:         return
func.func @negative_other_numbers(%x: tensor<2x4xf32>) -> (tensor<2x4xf32>, tensor<2x4xf32>) {
  %0 = tarpon.constant {value = dense<1.4> : tensor<f32>} : tensor<f32>
  %1 = tarpon.div %x, %0 : (tensor<2x4xf32>, tensor<f32>) -> tensor<2x4xf32>
  %2 = tarpon.erf %1 : (tensor<2x4xf32>) -> tensor<2x4xf32>
  %3 = tarpon.constant {value = dense<1.0> : tensor<f32>} : tensor<f32>
  %4 = tarpon.add %2, %3 : (tensor<2x4xf32>, tensor<f32>) -> tensor<2x4xf32>
  %5 = tarpon.mul %x, %4 : (tensor<2x4xf32>, tensor<2x4xf32>) -> tensor<2x4xf32>
  %6 = tarpon.constant {value = dense<0.5> : tensor<f32>} : tensor<f32>
  %7 = tarpon.mul %5, %6 : (tensor<2x4xf32>, tensor<f32>) -> tensor<2x4xf32>
  %8 = tarpon.constant {value = dense<3.0> : tensor<f32>} : tensor<f32>
  %9 = tarpon.add %x, %8 : (tensor<2x4xf32>, tensor<f32>) -> tensor<2x4xf32>
  %10 = tarpon.clip %9 {low = 0.0 : f64, high = 6.0 : f64} : (tensor<2x4xf32>) -> tensor<2x4xf32>
  %11 = tarpon.constant {value = dense<0.1667> : tensor<f32>} : tensor<f32>
  %12 = tarpon.mul %10, %11 : (tensor<2x4xf32>, tensor<f32>) -> tensor<2x4xf32>
  %13 = tarpon.mul %x, %12 : (tensor<2x4xf32>, tensor<2x4xf32>) -> tensor<2x4xf32>
  return %7, %13 : tensor<2x4xf32>, tensor<2x4xf32>
}

// CHECK-LABEL: func @negative_other_bounds(
// CHECK-NOT:     tarpon.{{swish|hard_swish|gelu|gelu_tanh|mish}}
// CHECK:         return
func.func @negative_other_bounds(%x: tensor<2x4xf32>) -> (tensor<2x4xf32>, tensor<2x4xf32>) {
  %0 = tarpon.constant {value = dense<3.0> : tensor<f32>} : tensor<f32>
  %1 = tarpon.add %x, %0 : (tensor<2x4xf32>, tensor<f32>) -> tensor<2x4xf32>
  %2 = tarpon.clip %1 {low = -1.0 : f64, high = 6.0 : f64} : (tensor<2x4xf32>) -> tensor<2x4xf32>
  %3 = tarpon.mul %x, %2 : (tensor<2x4xf32>, tensor<2x4xf32>) -> tensor<2x4xf32>
  %4 = tarpon.constant {value = dense<6.0> : tensor<f32>} : tensor<f32>
  %5 = tarpon.div %3, %4 : (tensor<2x4xf32>, tensor<f32>) -> tensor<2x4xf32>
  %6 = tarpon.constant {value = dense<3.0> : tensor<f32>} : tensor<f32>
  %7 = tarpon.add %x, %6 : (tensor<2x4xf32>, tensor<f32>) -> tensor<2x4xf32>
  %8 = tarpon.relu %7 : (tensor<2x4xf32>) -> tensor<2x4xf32>
  %9 = tarpon.mul %x, %8 : (tensor<2x4xf32>, tensor<2x4xf32>) -> tensor<2x4xf32>
  %10 = tarpon.constant {value = dense<6.0> : tensor<f32>} : tensor<f32>
  %11 = tarpon.div %9, %10 : (tensor<2x4xf32>, tensor<f32>) -> tensor<2x4xf32>
  return %5, %11 : tensor<2x4xf32>, tensor<2x4xf32>
}

// The operator's defaults are another slope.

// CHECK-LABEL: func @negative_hard_sigmoid_of_onnx(
// CHECK-NOT:     tarpon.{{swish|hard_swish|gelu|gelu_tanh|mish}}
// CHECK:         return
func.func @negative_hard_sigmoid_of_onnx(%x: tensor<2x4xf32>) -> tensor<2x4xf32> {
  %0 = tarpon.hard_sigmoid %x {alpha = 0.2 : f32, beta = 0.5 : f32} : (tensor<2x4xf32>) -> tensor<2x4xf32>
  %1 = tarpon.mul %x, %0 : (tensor<2x4xf32>, tensor<2x4xf32>) -> tensor<2x4xf32>
  return %1 : tensor<2x4xf32>
}

// CHECK-LABEL: func @negative_shifted_sigmoid(
// CHECK-NOT:     tarpon.{{swish|hard_swish|gelu|gelu_tanh|mish}}
// CHECK:         return
func.func @negative_shifted_sigmoid(%x: tensor<2x4xf32>) -> tensor<2x4xf32> {
  %0 = tarpon.constant {value = dense<1.0> : tensor<f32>} : tensor<f32>
  %1 = tarpon.add %x, %0 : (tensor<2x4xf32>, tensor<f32>) -> tensor<2x4xf32>
  %2 = tarpon.sigmoid %1 : (tensor<2x4xf32>) -> tensor<2x4xf32>
  %3 = tarpon.mul %x, %2 : (tensor<2x4xf32>, tensor<2x4xf32>) -> tensor<2x4xf32>
  return %3 : tensor<2x4xf32>
}

// CHECK-LABEL: func @negative_fourth_power(
// CHECK-NOT:     tarpon.{{swish|hard_swish|gelu|gelu_tanh|mish}}
// CHECK:         return
func.func @negative_fourth_power(%x: tensor<2x4xf32>) -> tensor<2x4xf32> {
  %0 = tarpon.mul %x, %x : (tensor<2x4xf32>, tensor<2x4xf32>) -> tensor<2x4xf32>
  %1 = tarpon.mul %0, %0 : (tensor<2x4xf32>, tensor<2x4xf32>) -> tensor<2x4xf32>
  %2 = tarpon.constant {value = dense<0.797884583> : tensor<f32>} : tensor<f32>
  %3 = tarpon.mul %2, %1 : (tensor<f32>, tensor<2x4xf32>) -> tensor<2x4xf32>
  %4 = tarpon.tanh %3 : (tensor<2x4xf32>) -> tensor<2x4xf32>
  %5 = tarpon.constant {value = dense<1.0> : tensor<f32>} : tensor<f32>
  %6 = tarpon.add %5, %4 : (tensor<f32>, tensor<2x4xf32>) -> tensor<2x4xf32>
  %7 = tarpon.mul %x, %6 : (tensor<2x4xf32>, tensor<2x4xf32>) -> tensor<2x4xf32>
  %8 = tarpon.constant {value = dense<0.5> : tensor<f32>} : tensor<f32>
  %9 = tarpon.mul %8, %7 : (tensor<f32>, tensor<2x4xf32>) -> tensor<2x4xf32>
  return %9 : tensor<2x4xf32>
}

// CHECK-LABEL: func @negative_result_grows(
// CHECK-NOT:     tarpon.{{swish|hard_swish|gelu|gelu_tanh|mish}}
// CHECK:         return
func.func @negative_result_grows(%x: tensor<2x4xf32>) -> tensor<1x2x4xf32> {
  %0 = tarpon.sigmoid %x : (tensor<2x4xf32>) -> tensor<2x4xf32>
  %1 = tarpon.reshape %0 : (tensor<2x4xf32>) -> tensor<1x2x4xf32>
  %2 = tarpon.mul %x, %1 : (tensor<2x4xf32>, tensor<1x2x4xf32>) -> tensor<1x2x4xf32>
  return %2 : tensor<1x2x4xf32>
}

// CHECK-LABEL: func @negative_f64(
// CHECK-NOT:     tarpon.{{swish|hard_swish|gelu|gelu_tanh|mish}}
// CHECK:         return
func.func @negative_f64(%x: tensor<2x4xf64>) -> tensor<2x4xf64> {
  %0 = tarpon.sigmoid %x : (tensor<2x4xf64>) -> tensor<2x4xf64>
  %1 = tarpon.mul %x, %0 : (tensor<2x4xf64>, tensor<2x4xf64>) -> tensor<2x4xf64>
  return %1 : tensor<2x4xf64>
}
