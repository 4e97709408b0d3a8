// RUN: graph-opt %s -tarpon-fold-constants -tarpon-raise-activations -tarpon-fold-constants | FileCheck %s
// RUN: graph-opt %s -tarpon-simplify -tarpon-choose | FileCheck %s --check-prefix=FUSED

// The arithmetic of exporters: PyTorch's two, tf2onnx, and what models of their
// libraries spell out. Scalars have no dimension, or as many as the tensor.

//===----------------------------------------------------------------------===//
// swish
//===----------------------------------------------------------------------===//

// CHECK-LABEL: func @swish(
// CHECK-SAME:      %[[X:[^:]+]]: tensor<2x4xf32>
// CHECK-NEXT:    %[[R:.+]] = tarpon.swish %[[X]] {alpha = 1.000000e+00 : f32} : (tensor<2x4xf32>) -> tensor<2x4xf32>
// CHECK-NEXT:    return %[[R]]
func.func @swish(%x: tensor<2x4xf32>) -> tensor<2x4xf32> {
  %0 = tarpon.sigmoid %x : (tensor<2x4xf32>) -> tensor<2x4xf32>
  %1 = tarpon.mul %x, %0 : (tensor<2x4xf32>, tensor<2x4xf32>) -> tensor<2x4xf32>
  return %1 : tensor<2x4xf32>
}

// CHECK-LABEL: func @swish_swapped(
// CHECK-SAME:      %[[X:[^:]+]]: tensor<2x4xf32>
// CHECK-NEXT:    %[[R:.+]] = tarpon.swish %[[X]] {alpha = 1.000000e+00 : f32} : (tensor<2x4xf32>) -> tensor<2x4xf32>
// CHECK-NEXT:    return %[[R]]
func.func @swish_swapped(%x: tensor<2x4xf32>) -> tensor<2x4xf32> {
  %0 = tarpon.sigmoid %x : (tensor<2x4xf32>) -> tensor<2x4xf32>
  %1 = tarpon.mul %0, %x : (tensor<2x4xf32>, tensor<2x4xf32>) -> tensor<2x4xf32>
  return %1 : tensor<2x4xf32>
}

// CHECK-LABEL: func @quick_gelu(
// CHECK-SAME:      %[[X:[^:]+]]: tensor<2x4xf32>
// CHECK-NEXT:    %[[R:.+]] = tarpon.swish %[[X]] {alpha = 1.702000e+00 : f32} : (tensor<2x4xf32>) -> tensor<2x4xf32>
// CHECK-NEXT:    return %[[R]]
func.func @quick_gelu(%x: tensor<2x4xf32>) -> tensor<2x4xf32> {
  %0 = tarpon.constant {value = dense<1.702> : tensor<f32>} : tensor<f32>
  %1 = tarpon.mul %0, %x : (tensor<f32>, tensor<2x4xf32>) -> tensor<2x4xf32>
  %2 = tarpon.sigmoid %1 : (tensor<2x4xf32>) -> tensor<2x4xf32>
  %3 = tarpon.mul %x, %2 : (tensor<2x4xf32>, tensor<2x4xf32>) -> tensor<2x4xf32>
  return %3 : tensor<2x4xf32>
}

// The input may itself be a product.

// CHECK-LABEL: func @swish_of_a_product(
// CHECK:         %[[P:.+]] = tarpon.mul %{{.+}}, %{{.+}} :
// CHECK-NEXT:    %[[R:.+]] = tarpon.swish %[[P]] {alpha = 1.000000e+00 : f32}
// CHECK-NEXT:    return %[[R]]
func.func @swish_of_a_product(%x: tensor<2x4xf32>, %y: tensor<2x4xf32>) -> tensor<2x4xf32> {
  %0 = tarpon.mul %x, %y : (tensor<2x4xf32>, tensor<2x4xf32>) -> tensor<2x4xf32>
  %1 = tarpon.sigmoid %0 : (tensor<2x4xf32>) -> tensor<2x4xf32>
  %2 = tarpon.mul %1, %0 : (tensor<2x4xf32>, tensor<2x4xf32>) -> tensor<2x4xf32>
  return %2 : tensor<2x4xf32>
}

// CHECK-LABEL: func @swish_of_a_multiple(
// CHECK:         %[[P:.+]] = tarpon.mul
// CHECK-NEXT:    %[[R:.+]] = tarpon.swish %[[P]] {alpha = 1.000000e+00 : f32}
// CHECK-NEXT:    return %[[R]]
func.func @swish_of_a_multiple(%x: tensor<2x4xf32>) -> tensor<2x4xf32> {
  %0 = tarpon.constant {value = dense<2.0> : tensor<f32>} : tensor<f32>
  %1 = tarpon.mul %x, %0 : (tensor<2x4xf32>, tensor<f32>) -> tensor<2x4xf32>
  %2 = tarpon.sigmoid %1 : (tensor<2x4xf32>) -> tensor<2x4xf32>
  %3 = tarpon.mul %2, %1 : (tensor<2x4xf32>, tensor<2x4xf32>) -> tensor<2x4xf32>
  return %3 : tensor<2x4xf32>
}

// CHECK-LABEL: func @two_swishes(
// CHECK:         tarpon.swish
// CHECK-NEXT:    tarpon.swish
// CHECK-NEXT:    return
func.func @two_swishes(%x: tensor<2x4xf32>) -> tensor<2x4xf32> {
  %0 = tarpon.sigmoid %x : (tensor<2x4xf32>) -> tensor<2x4xf32>
  %1 = tarpon.mul %0, %x : (tensor<2x4xf32>, tensor<2x4xf32>) -> tensor<2x4xf32>
  %2 = tarpon.sigmoid %1 : (tensor<2x4xf32>) -> tensor<2x4xf32>
  %3 = tarpon.mul %2, %1 : (tensor<2x4xf32>, tensor<2x4xf32>) -> tensor<2x4xf32>
  return %3 : tensor<2x4xf32>
}

//===----------------------------------------------------------------------===//
// hard_swish
//===----------------------------------------------------------------------===//

// CHECK-LABEL: func @hard_swish_of_hard_sigmoid(
// CHECK-SAME:      %[[X:[^:]+]]: tensor<2x4xf32>
// CHECK-NEXT:    %[[R:.+]] = tarpon.hard_swish %[[X]] : (tensor<2x4xf32>) -> tensor<2x4xf32>
// CHECK-NEXT:    return %[[R]]
func.func @hard_swish_of_hard_sigmoid(%x: tensor<2x4xf32>) -> tensor<2x4xf32> {
  %0 = tarpon.hard_sigmoid %x {alpha = 0.16666667 : f32, beta = 0.5 : f32} : (tensor<2x4xf32>) -> tensor<2x4xf32>
  %1 = tarpon.mul %x, %0 : (tensor<2x4xf32>, tensor<2x4xf32>) -> tensor<2x4xf32>
  return %1 : tensor<2x4xf32>
}

// CHECK-LABEL: func @hard_swish_of_clip(
// CHECK-SAME:      %[[X:[^:]+]]: tensor<2x4xf32>
// CHECK-NEXT:    %[[R:.+]] = tarpon.hard_swish %[[X]] : (tensor<2x4xf32>) -> tensor<2x4xf32>
// CHECK-NEXT:    return %[[R]]
func.func @hard_swish_of_clip(%x: tensor<2x4xf32>) -> tensor<2x4xf32> {
  %0 = tarpon.constant {value = dense<3.0> : tensor<f32>} : tensor<f32>
  %1 = tarpon.add %x, %0 : (tensor<2x4xf32>, tensor<f32>) -> tensor<2x4xf32>
  %2 = tarpon.clip %1 {low = 0.0 : f64, high = 6.0 : f64} : (tensor<2x4xf32>) -> tensor<2x4xf32>
  %3 = tarpon.constant {value = dense<6.0> : tensor<f32>} : tensor<f32>
  %4 = tarpon.div %2, %3 : (tensor<2x4xf32>, tensor<f32>) -> tensor<2x4xf32>
  %5 = tarpon.mul %x, %4 : (tensor<2x4xf32>, tensor<2x4xf32>) -> tensor<2x4xf32>
  return %5 : tensor<2x4xf32>
}

// CHECK-LABEL: func @hard_swish_of_two_clips(
// CHECK-SAME:      %[[X:[^:]+]]: tensor<2x4xf32>
// CHECK-NEXT:    %[[R:.+]] = tarpon.hard_swish %[[X]] : (tensor<2x4xf32>) -> tensor<2x4xf32>
// CHECK-NEXT:    return %[[R]]
func.func @hard_swish_of_two_clips(%x: tensor<2x4xf32>) -> tensor<2x4xf32> {
  %0 = tarpon.constant {value = dense<3.0> : tensor<f32>} : tensor<f32>
  %1 = tarpon.add %x, %0 : (tensor<2x4xf32>, tensor<f32>) -> tensor<2x4xf32>
  %2 = tarpon.clip %1 {low = 0.0 : f64, high = 0x7FF0000000000000 : f64} : (tensor<2x4xf32>) -> tensor<2x4xf32>
  %3 = tarpon.clip %2 {low = 0xFFF0000000000000 : f64, high = 6.0 : f64} : (tensor<2x4xf32>) -> tensor<2x4xf32>
  %4 = tarpon.mul %x, %3 : (tensor<2x4xf32>, tensor<2x4xf32>) -> tensor<2x4xf32>
  %5 = tarpon.constant {value = dense<6.0> : tensor<f32>} : tensor<f32>
  %6 = tarpon.div %4, %5 : (tensor<2x4xf32>, tensor<f32>) -> tensor<2x4xf32>
  return %6 : tensor<2x4xf32>
}

// CHECK-LABEL: func @hard_swish_of_relu_and_min(
// CHECK-SAME:      %[[X:[^:]+]]: tensor<2x4xf32>
// CHECK-NEXT:    %[[R:.+]] = tarpon.hard_swish %[[X]] : (tensor<2x4xf32>) -> tensor<2x4xf32>
// CHECK-NEXT:    return %[[R]]
func.func @hard_swish_of_relu_and_min(%x: tensor<2x4xf32>) -> tensor<2x4xf32> {
  %0 = tarpon.constant {value = dense<3.0> : tensor<1x1xf32>} : tensor<1x1xf32>
  %1 = tarpon.add %0, %x : (tensor<1x1xf32>, tensor<2x4xf32>) -> tensor<2x4xf32>
  %2 = tarpon.relu %1 : (tensor<2x4xf32>) -> tensor<2x4xf32>
  %3 = tarpon.constant {value = dense<6.0> : tensor<1x1xf32>} : tensor<1x1xf32>
  %4 = tarpon.min %2, %3 : (tensor<2x4xf32>, tensor<1x1xf32>) -> tensor<2x4xf32>
  %5 = tarpon.constant {value = dense<0.16666667> : tensor<1xf32>} : tensor<1xf32>
  %6 = tarpon.mul %4, %5 : (tensor<2x4xf32>, tensor<1xf32>) -> tensor<2x4xf32>
  %7 = tarpon.mul %x, %6 : (tensor<2x4xf32>, tensor<2x4xf32>) -> tensor<2x4xf32>
  return %7 : tensor<2x4xf32>
}

// CHECK-LABEL: func @hard_swish_of_max_and_min(
// CHECK-SAME:      %[[X:[^:]+]]: tensor<2x4xf32>
// CHECK-NEXT:    %[[R:.+]] = tarpon.hard_swish %[[X]] : (tensor<2x4xf32>) -> tensor<2x4xf32>
// CHECK-NEXT:    return %[[R]]
func.func @hard_swish_of_max_and_min(%x: tensor<2x4xf32>) -> tensor<2x4xf32> {
  %0 = tarpon.constant {value = dense<-3.0> : tensor<f32>} : tensor<f32>
  %1 = tarpon.sub %x, %0 : (tensor<2x4xf32>, tensor<f32>) -> tensor<2x4xf32>
  %2 = tarpon.constant {value = dense<0.0> : tensor<f32>} : tensor<f32>
  %3 = tarpon.max %2, %1 : (tensor<f32>, tensor<2x4xf32>) -> tensor<2x4xf32>
  %4 = tarpon.constant {value = dense<6.0> : tensor<f32>} : tensor<f32>
  %5 = tarpon.min %4, %3 : (tensor<f32>, tensor<2x4xf32>) -> tensor<2x4xf32>
  %6 = tarpon.mul %5, %x : (tensor<2x4xf32>, tensor<2x4xf32>) -> tensor<2x4xf32>
  %7 = tarpon.constant {value = dense<0.166667> : tensor<f32>} : tensor<f32>
  %8 = tarpon.mul %7, %6 : (tensor<f32>, tensor<2x4xf32>) -> tensor<2x4xf32>
  return %8 : tensor<2x4xf32>
}

// CHECK-LABEL: func @hard_swish_of_unit_clip(
// CHECK-SAME:      %[[X:[^:]+]]: tensor<2x4xf32>
// CHECK-NEXT:    %[[R:.+]] = tarpon.hard_swish %[[X]] : (tensor<2x4xf32>) -> tensor<2x4xf32>
// CHECK-NEXT:    return %[[R]]
func.func @hard_swish_of_unit_clip(%x: tensor<2x4xf32>) -> tensor<2x4xf32> {
  %0 = tarpon.constant {value = dense<0.16666667> : tensor<f32>} : tensor<f32>
  %1 = tarpon.mul %x, %0 : (tensor<2x4xf32>, tensor<f32>) -> tensor<2x4xf32>
  %2 = tarpon.constant {value = dense<0.5> : tensor<f32>} : tensor<f32>
  %3 = tarpon.add %1, %2 : (tensor<2x4xf32>, tensor<f32>) -> tensor<2x4xf32>
  %4 = tarpon.clip %3 {low = 0.0 : f64, high = 1.0 : f64} : (tensor<2x4xf32>) -> tensor<2x4xf32>
  %5 = tarpon.mul %4, %x : (tensor<2x4xf32>, tensor<2x4xf32>) -> tensor<2x4xf32>
  return %5 : tensor<2x4xf32>
}

//===----------------------------------------------------------------------===//
// gelu
//===----------------------------------------------------------------------===//

// CHECK-LABEL: func @gelu_of_torch_script(
// CHECK-SAME:      %[[X:[^:]+]]: tensor<2x4xf32>
// CHECK-NEXT:    %[[R:.+]] = tarpon.gelu %[[X]] : (tensor<2x4xf32>) -> tensor<2x4xf32>
// CHECK-NEXT:    return %[[R]]
func.func @gelu_of_torch_script(%x: tensor<2x4xf32>) -> tensor<2x4xf32> {
  %0 = tarpon.constant {value = dense<1.41421354> : tensor<f32>} : tensor<f32>
  %1 = tarpon.div %x, %0 : (tensor<2x4xf32>, tensor<f32>) -> tensor<2x4xf32>
  %2 = tarpon.erf %1 : (tensor<2x4xf32>) -> tensor<2x4xf32>
  %3 = tarpon.constant {value = dense<1.0> : tensor<f32>} : tensor<f32>
  %4 = tarpon.add %2, %3 : (tensor<2x4xf32>, tensor<f32>) -> tensor<2x4xf32>
  %5 = tarpon.mul %x, %4 : (tensor<2x4xf32>, tensor<2x4xf32>) -> tensor<2x4xf32>
  %6 = tarpon.constant {value = dense<0.5> : tensor<f32>} : tensor<f32>
  %7 = tarpon.mul %5, %6 : (tensor<2x4xf32>, tensor<f32>) -> tensor<2x4xf32>
  return %7 : tensor<2x4xf32>
}

// CHECK-LABEL: func @gelu_of_dynamo(
// CHECK-SAME:      %[[X:[^:]+]]: tensor<2x4xf32>
// CHECK-NEXT:    %[[R:.+]] = tarpon.gelu %[[X]] : (tensor<2x4xf32>) -> tensor<2x4xf32>
// CHECK-NEXT:    return %[[R]]
func.func @gelu_of_dynamo(%x: tensor<2x4xf32>) -> tensor<2x4xf32> {
  %0 = tarpon.constant {value = dense<1.41421354> : tensor<f32>} : tensor<f32>
  %1 = tarpon.div %x, %0 : (tensor<2x4xf32>, tensor<f32>) -> tensor<2x4xf32>
  %2 = tarpon.erf %1 : (tensor<2x4xf32>) -> tensor<2x4xf32>
  %3 = tarpon.constant {value = dense<1.0> : tensor<f32>} : tensor<f32>
  %4 = tarpon.add %2, %3 : (tensor<2x4xf32>, tensor<f32>) -> tensor<2x4xf32>
  %5 = tarpon.constant {value = dense<0.5> : tensor<f32>} : tensor<f32>
  %6 = tarpon.mul %5, %4 : (tensor<f32>, tensor<2x4xf32>) -> tensor<2x4xf32>
  %7 = tarpon.mul %x, %6 : (tensor<2x4xf32>, tensor<2x4xf32>) -> tensor<2x4xf32>
  return %7 : tensor<2x4xf32>
}

// CHECK-LABEL: func @gelu_of_halves(
// CHECK-SAME:      %[[X:[^:]+]]: tensor<2x4xf32>
// CHECK-NEXT:    %[[R:.+]] = tarpon.gelu %[[X]] : (tensor<2x4xf32>) -> tensor<2x4xf32>
// CHECK-NEXT:    return %[[R]]
func.func @gelu_of_halves(%x: tensor<2x4xf32>) -> tensor<2x4xf32> {
  %0 = tarpon.constant {value = dense<0.5> : tensor<f32>} : tensor<f32>
  %1 = tarpon.mul %0, %x : (tensor<f32>, tensor<2x4xf32>) -> tensor<2x4xf32>
  %2 = tarpon.constant {value = dense<0.707106769> : tensor<f32>} : tensor<f32>
  %3 = tarpon.mul %x, %2 : (tensor<2x4xf32>, tensor<f32>) -> tensor<2x4xf32>
  %4 = tarpon.erf %3 : (tensor<2x4xf32>) -> tensor<2x4xf32>
  %5 = tarpon.constant {value = dense<1.0> : tensor<f32>} : tensor<f32>
  %6 = tarpon.add %5, %4 : (tensor<f32>, tensor<2x4xf32>) -> tensor<2x4xf32>
  %7 = tarpon.mul %1, %6 : (tensor<2x4xf32>, tensor<2x4xf32>) -> tensor<2x4xf32>
  return %7 : tensor<2x4xf32>
}

// CHECK-LABEL: func @gelu_divided(
// CHECK-SAME:      %[[X:[^:]+]]: tensor<2x4xf32>
// CHECK-NEXT:    %[[R:.+]] = tarpon.gelu %[[X]] : (tensor<2x4xf32>) -> tensor<2x4xf32>
// CHECK-NEXT:    return %[[R]]
func.func @gelu_divided(%x: tensor<2x4xf32>) -> tensor<2x4xf32> {
  %0 = tarpon.constant {value = dense<0.70710678> : tensor<f32>} : tensor<f32>
  %1 = tarpon.mul %0, %x : (tensor<f32>, tensor<2x4xf32>) -> tensor<2x4xf32>
  %2 = tarpon.erf %1 : (tensor<2x4xf32>) -> tensor<2x4xf32>
  %3 = tarpon.constant {value = dense<-1.0> : tensor<f32>} : tensor<f32>
  %4 = tarpon.sub %2, %3 : (tensor<2x4xf32>, tensor<f32>) -> tensor<2x4xf32>
  %5 = tarpon.mul %4, %x : (tensor<2x4xf32>, tensor<2x4xf32>) -> tensor<2x4xf32>
  %6 = tarpon.constant {value = dense<2.0> : tensor<f32>} : tensor<f32>
  %7 = tarpon.div %5, %6 : (tensor<2x4xf32>, tensor<f32>) -> tensor<2x4xf32>
  return %7 : tensor<2x4xf32>
}

// CHECK-LABEL: func @gelu_multiplied_out(
// CHECK-SAME:      %[[X:[^:]+]]: tensor<2x4xf32>
// CHECK-NEXT:    %[[R:.+]] = tarpon.gelu %[[X]] : (tensor<2x4xf32>) -> tensor<2x4xf32>
// CHECK-NEXT:    return %[[R]]
func.func @gelu_multiplied_out(%x: tensor<2x4xf32>) -> tensor<2x4xf32> {
  %0 = tarpon.constant {value = dense<1.4142135> : tensor<f32>} : tensor<f32>
  %1 = tarpon.div %x, %0 : (tensor<2x4xf32>, tensor<f32>) -> tensor<2x4xf32>
  %2 = tarpon.erf %1 : (tensor<2x4xf32>) -> tensor<2x4xf32>
  %3 = tarpon.mul %x, %2 : (tensor<2x4xf32>, tensor<2x4xf32>) -> tensor<2x4xf32>
  %4 = tarpon.add %x, %3 : (tensor<2x4xf32>, tensor<2x4xf32>) -> tensor<2x4xf32>
  %5 = tarpon.constant {value = dense<0.5> : tensor<f32>} : tensor<f32>
  %6 = tarpon.mul %4, %5 : (tensor<2x4xf32>, tensor<f32>) -> tensor<2x4xf32>
  return %6 : tensor<2x4xf32>
}

//===----------------------------------------------------------------------===//
// gelu_tanh
//===----------------------------------------------------------------------===//

// CHECK-LABEL: func @gelu_tanh_of_torch_script(
// CHECK-SAME:      %[[X:[^:]+]]: tensor<2x4xf32>
// CHECK-NEXT:    %[[R:.+]] = tarpon.gelu_tanh %[[X]] : (tensor<2x4xf32>) -> tensor<2x4xf32>
// CHECK-NEXT:    return %[[R]]
func.func @gelu_tanh_of_torch_script(%x: tensor<2x4xf32>) -> tensor<2x4xf32> {
  %0 = tarpon.mul %x, %x : (tensor<2x4xf32>, tensor<2x4xf32>) -> tensor<2x4xf32>
  %1 = tarpon.mul %x, %0 : (tensor<2x4xf32>, tensor<2x4xf32>) -> tensor<2x4xf32>
  %2 = tarpon.constant {value = dense<0.044715> : tensor<f32>} : tensor<f32>
  %3 = tarpon.mul %2, %1 : (tensor<f32>, tensor<2x4xf32>) -> tensor<2x4xf32>
  %4 = tarpon.add %x, %3 : (tensor<2x4xf32>, tensor<2x4xf32>) -> tensor<2x4xf32>
  %5 = tarpon.constant {value = dense<0.797884583> : tensor<f32>} : tensor<f32>
  %6 = tarpon.mul %5, %4 : (tensor<f32>, tensor<2x4xf32>) -> tensor<2x4xf32>
  %7 = tarpon.tanh %6 : (tensor<2x4xf32>) -> tensor<2x4xf32>
  %8 = tarpon.constant {value = dense<1.0> : tensor<f32>} : tensor<f32>
  %9 = tarpon.add %8, %7 : (tensor<f32>, tensor<2x4xf32>) -> tensor<2x4xf32>
  %10 = tarpon.mul %x, %9 : (tensor<2x4xf32>, tensor<2x4xf32>) -> tensor<2x4xf32>
  %11 = tarpon.constant {value = dense<0.5> : tensor<f32>} : tensor<f32>
  %12 = tarpon.mul %11, %10 : (tensor<f32>, tensor<2x4xf32>) -> tensor<2x4xf32>
  return %12 : tensor<2x4xf32>
}

// The newer exporter leaves the root of 2 / pi to constant folding.

// CHECK-LABEL: func @gelu_tanh_of_dynamo(
// CHECK-SAME:      %[[X:[^:]+]]: tensor<2x4xf32>
// CHECK-NEXT:    %[[R:.+]] = tarpon.gelu_tanh %[[X]] : (tensor<2x4xf32>) -> tensor<2x4xf32>
// CHECK-NEXT:    return %[[R]]
func.func @gelu_tanh_of_dynamo(%x: tensor<2x4xf32>) -> tensor<2x4xf32> {
  %0 = tarpon.constant {value = dense<3.0> : tensor<f32>} : tensor<f32>
  %1 = tarpon.pow %x, %0 : (tensor<2x4xf32>, tensor<f32>) -> tensor<2x4xf32>
  %2 = tarpon.constant {value = dense<0.044715> : tensor<f32>} : tensor<f32>
  %3 = tarpon.mul %2, %1 : (tensor<f32>, tensor<2x4xf32>) -> tensor<2x4xf32>
  %4 = tarpon.add %x, %3 : (tensor<2x4xf32>, tensor<2x4xf32>) -> tensor<2x4xf32>
  %5 = tarpon.constant {value = dense<2.0> : tensor<f32>} : tensor<f32>
  %6 = tarpon.constant {value = dense<3.14159274> : tensor<f32>} : tensor<f32>
  %7 = tarpon.div %5, %6 : (tensor<f32>, tensor<f32>) -> tensor<f32>
  %8 = tarpon.sqrt %7 : (tensor<f32>) -> tensor<f32>
  %9 = tarpon.mul %8, %4 : (tensor<f32>, tensor<2x4xf32>) -> tensor<2x4xf32>
  %10 = tarpon.tanh %9 : (tensor<2x4xf32>) -> tensor<2x4xf32>
  %11 = tarpon.constant {value = dense<1.0> : tensor<f32>} : tensor<f32>
  %12 = tarpon.add %10, %11 : (tensor<2x4xf32>, tensor<f32>) -> tensor<2x4xf32>
  %13 = tarpon.constant {value = dense<0.5> : tensor<f32>} : tensor<f32>
  %14 = tarpon.mul %13, %12 : (tensor<f32>, tensor<2x4xf32>) -> tensor<2x4xf32>
  %15 = tarpon.mul %x, %14 : (tensor<2x4xf32>, tensor<2x4xf32>) -> tensor<2x4xf32>
  return %15 : tensor<2x4xf32>
}

// CHECK-LABEL: func @gelu_tanh_factored(
// CHECK-SAME:      %[[X:[^:]+]]: tensor<2x4xf32>
// CHECK-NEXT:    %[[R:.+]] = tarpon.gelu_tanh %[[X]] : (tensor<2x4xf32>) -> tensor<2x4xf32>
// CHECK-NEXT:    return %[[R]]
func.func @gelu_tanh_factored(%x: tensor<2x4xf32>) -> tensor<2x4xf32> {
  %0 = tarpon.constant {value = dense<0.5> : tensor<f32>} : tensor<f32>
  %1 = tarpon.mul %x, %0 : (tensor<2x4xf32>, tensor<f32>) -> tensor<2x4xf32>
  %2 = tarpon.constant {value = dense<0.797884561> : tensor<f32>} : tensor<f32>
  %3 = tarpon.mul %x, %2 : (tensor<2x4xf32>, tensor<f32>) -> tensor<2x4xf32>
  %4 = tarpon.constant {value = dense<0.044715> : tensor<f32>} : tensor<f32>
  %5 = tarpon.mul %4, %x : (tensor<f32>, tensor<2x4xf32>) -> tensor<2x4xf32>
  %6 = tarpon.mul %5, %x : (tensor<2x4xf32>, tensor<2x4xf32>) -> tensor<2x4xf32>
  %7 = tarpon.constant {value = dense<1.0> : tensor<f32>} : tensor<f32>
  %8 = tarpon.add %6, %7 : (tensor<2x4xf32>, tensor<f32>) -> tensor<2x4xf32>
  %9 = tarpon.mul %3, %8 : (tensor<2x4xf32>, tensor<2x4xf32>) -> tensor<2x4xf32>
  %10 = tarpon.tanh %9 : (tensor<2x4xf32>) -> tensor<2x4xf32>
  %11 = tarpon.constant {value = dense<1.0> : tensor<f32>} : tensor<f32>
  %12 = tarpon.add %10, %11 : (tensor<2x4xf32>, tensor<f32>) -> tensor<2x4xf32>
  %13 = tarpon.mul %1, %12 : (tensor<2x4xf32>, tensor<2x4xf32>) -> tensor<2x4xf32>
  return %13 : tensor<2x4xf32>
}

//===----------------------------------------------------------------------===//
// mish
//===----------------------------------------------------------------------===//

// CHECK-LABEL: func @mish(
// CHECK-SAME:      %[[X:[^:]+]]: tensor<2x4xf32>
// CHECK-NEXT:    %[[R:.+]] = tarpon.mish %[[X]] : (tensor<2x4xf32>) -> tensor<2x4xf32>
// CHECK-NEXT:    return %[[R]]
func.func @mish(%x: tensor<2x4xf32>) -> tensor<2x4xf32> {
  %0 = tarpon.softplus %x : (tensor<2x4xf32>) -> tensor<2x4xf32>
  %1 = tarpon.tanh %0 : (tensor<2x4xf32>) -> tensor<2x4xf32>
  %2 = tarpon.mul %x, %1 : (tensor<2x4xf32>, tensor<2x4xf32>) -> tensor<2x4xf32>
  return %2 : tensor<2x4xf32>
}

//===----------------------------------------------------------------------===//
// Rounded constants
//===----------------------------------------------------------------------===//

// CHECK-LABEL: func @gelu_tanh_in_f16(
// CHECK-SAME:      %[[X:[^:]+]]: tensor<2x4xf16>
// CHECK-NEXT:    %[[R:.+]] = tarpon.gelu_tanh %[[X]] : (tensor<2x4xf16>) -> tensor<2x4xf16>
// CHECK-NEXT:    return %[[R]]
func.func @gelu_tanh_in_f16(%x: tensor<2x4xf16>) -> tensor<2x4xf16> {
  %0 = tarpon.mul %x, %x : (tensor<2x4xf16>, tensor<2x4xf16>) -> tensor<2x4xf16>
  %1 = tarpon.mul %x, %0 : (tensor<2x4xf16>, tensor<2x4xf16>) -> tensor<2x4xf16>
  %2 = tarpon.constant {value = dense<4.470830e-02> : tensor<f16>} : tensor<f16>
  %3 = tarpon.mul %2, %1 : (tensor<f16>, tensor<2x4xf16>) -> tensor<2x4xf16>
  %4 = tarpon.add %x, %3 : (tensor<2x4xf16>, tensor<2x4xf16>) -> tensor<2x4xf16>
  %5 = tarpon.constant {value = dense<7.978520e-01> : tensor<f16>} : tensor<f16>
  %6 = tarpon.mul %5, %4 : (tensor<f16>, tensor<2x4xf16>) -> tensor<2x4xf16>
  %7 = tarpon.tanh %6 : (tensor<2x4xf16>) -> tensor<2x4xf16>
  %8 = tarpon.constant {value = dense<1.0> : tensor<f16>} : tensor<f16>
  %9 = tarpon.add %8, %7 : (tensor<f16>, tensor<2x4xf16>) -> tensor<2x4xf16>
  %10 = tarpon.mul %x, %9 : (tensor<2x4xf16>, tensor<2x4xf16>) -> tensor<2x4xf16>
  %11 = tarpon.constant {value = dense<0.5> : tensor<f16>} : tensor<f16>
  %12 = tarpon.mul %11, %10 : (tensor<f16>, tensor<2x4xf16>) -> tensor<2x4xf16>
  return %12 : tensor<2x4xf16>
}

// CHECK-LABEL: func @hard_swish_in_bf16(
// CHECK-SAME:      %[[X:[^:]+]]: tensor<2x4xbf16>
// CHECK-NEXT:    %[[R:.+]] = tarpon.hard_swish %[[X]] : (tensor<2x4xbf16>) -> tensor<2x4xbf16>
// CHECK-NEXT:    return %[[R]]
func.func @hard_swish_in_bf16(%x: tensor<2x4xbf16>) -> tensor<2x4xbf16> {
  %0 = tarpon.constant {value = dense<3.0> : tensor<bf16>} : tensor<bf16>
  %1 = tarpon.add %x, %0 : (tensor<2x4xbf16>, tensor<bf16>) -> tensor<2x4xbf16>
  %2 = tarpon.clip %1 {low = 0.0 : f64, high = 6.0 : f64} : (tensor<2x4xbf16>) -> tensor<2x4xbf16>
  %3 = tarpon.constant {value = dense<1.669920e-01> : tensor<bf16>} : tensor<bf16>
  %4 = tarpon.mul %2, %3 : (tensor<2x4xbf16>, tensor<bf16>) -> tensor<2x4xbf16>
  %5 = tarpon.mul %x, %4 : (tensor<2x4xbf16>, tensor<2x4xbf16>) -> tensor<2x4xbf16>
  return %5 : tensor<2x4xbf16>
}

// CHECK-LABEL: func @rounded_to_f16_and_stored_as_f32(
// CHECK-SAME:      %[[X:[^:]+]]: tensor<2x4xf32>
// CHECK-NEXT:    %[[R:.+]] = tarpon.gelu %[[X]] : (tensor<2x4xf32>) -> tensor<2x4xf32>
// CHECK-NEXT:    return %[[R]]
func.func @rounded_to_f16_and_stored_as_f32(%x: tensor<2x4xf32>) -> tensor<2x4xf32> {
  %0 = tarpon.constant {value = dense<0.70703125> : tensor<f32>} : tensor<f32>
  %1 = tarpon.mul %x, %0 : (tensor<2x4xf32>, tensor<f32>) -> tensor<2x4xf32>
  %2 = tarpon.erf %1 : (tensor<2x4xf32>) -> tensor<2x4xf32>
  %3 = tarpon.constant {value = dense<1.0> : tensor<f32>} : tensor<f32>
  %4 = tarpon.add %2, %3 : (tensor<2x4xf32>, tensor<f32>) -> tensor<2x4xf32>
  %5 = tarpon.mul %x, %4 : (tensor<2x4xf32>, tensor<2x4xf32>) -> tensor<2x4xf32>
  %6 = tarpon.constant {value = dense<0.5> : tensor<f32>} : tensor<f32>
  %7 = tarpon.mul %5, %6 : (tensor<2x4xf32>, tensor<f32>) -> tensor<2x4xf32>
  return %7 : tensor<2x4xf32>
}

//===----------------------------------------------------------------------===//
// Epilogues
//===----------------------------------------------------------------------===//

// One launch for each, whatever stands between convolution and activation.

// FUSED-LABEL: func @conv_batch_norm_swish(
// FUSED:         tarpon.fused(
// FUSED-NEXT:      tarpon.conv
// FUSED-NEXT:      tarpon.add
// FUSED-NEXT:      tarpon.swish
// FUSED-NEXT:      tarpon.yield
// FUSED-NOT:     tarpon.fused
// FUSED:         return
func.func @conv_batch_norm_swish(%x: tensor<1x1x8x8xf32>) -> tensor<1x2x8x8xf32> {
  %w = tarpon.constant {value = dense<[[[[2.0]]], [[[3.0]]]]> : tensor<2x1x1x1xf32>} : tensor<2x1x1x1xf32>
  %p = tarpon.constant {value = dense<[1.0, 2.0]> : tensor<2xf32>} : tensor<2xf32>
  %0 = tarpon.conv %x, %w {strides = array<i64: 1, 1>, pads = array<i64: 0, 0, 0, 0>, dilations = array<i64: 1, 1>} : (tensor<1x1x8x8xf32>, tensor<2x1x1x1xf32>) -> tensor<1x2x8x8xf32>
  %1 = tarpon.batch_norm %0, %p, %p, %p, %p {epsilon = 0.0 : f32} : (tensor<1x2x8x8xf32>, tensor<2xf32>, tensor<2xf32>, tensor<2xf32>, tensor<2xf32>) -> tensor<1x2x8x8xf32>
  %2 = tarpon.sigmoid %1 : (tensor<1x2x8x8xf32>) -> tensor<1x2x8x8xf32>
  %3 = tarpon.mul %1, %2 : (tensor<1x2x8x8xf32>, tensor<1x2x8x8xf32>) -> tensor<1x2x8x8xf32>
  return %3 : tensor<1x2x8x8xf32>
}

// FUSED-LABEL: func @matmul_bias_gelu(
// FUSED:         tarpon.fused(
// FUSED-NEXT:      tarpon.matmul
// FUSED-NEXT:      tarpon.add
// FUSED-NEXT:      tarpon.gelu
// FUSED-NEXT:      tarpon.yield
// FUSED-NOT:     tarpon.fused
// FUSED:         return
func.func @matmul_bias_gelu(%x: tensor<1x5x4xf32>, %w: tensor<4x8xf32>, %b: tensor<8xf32>) -> tensor<1x5x8xf32> {
  %root = tarpon.constant {value = dense<1.41421354> : tensor<f32>} : tensor<f32>
  %one = tarpon.constant {value = dense<1.0> : tensor<f32>} : tensor<f32>
  %half = tarpon.constant {value = dense<0.5> : tensor<f32>} : tensor<f32>
  %0 = tarpon.matmul %x, %w : (tensor<1x5x4xf32>, tensor<4x8xf32>) -> tensor<1x5x8xf32>
  %1 = tarpon.add %b, %0 : (tensor<8xf32>, tensor<1x5x8xf32>) -> tensor<1x5x8xf32>
  %2 = tarpon.div %1, %root : (tensor<1x5x8xf32>, tensor<f32>) -> tensor<1x5x8xf32>
  %3 = tarpon.erf %2 : (tensor<1x5x8xf32>) -> tensor<1x5x8xf32>
  %4 = tarpon.add %3, %one : (tensor<1x5x8xf32>, tensor<f32>) -> tensor<1x5x8xf32>
  %5 = tarpon.mul %1, %4 : (tensor<1x5x8xf32>, tensor<1x5x8xf32>) -> tensor<1x5x8xf32>
  %6 = tarpon.mul %5, %half : (tensor<1x5x8xf32>, tensor<f32>) -> tensor<1x5x8xf32>
  return %6 : tensor<1x5x8xf32>
}
