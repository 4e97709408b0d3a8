// RUN: graph-opt %s -tarpon-scale-operands -split-input-file | FileCheck %s

// CHECK-LABEL: func @scales_what_is_read(
// CHECK-SAME:      %[[X:[^:]+]]: tensor<6x5xf32>, %[[Y:[^:]+]]: tensor<5x4xf32>
// CHECK:         %[[A:.+]] = tarpon.mul %[[X]], %{{.+}} :
// CHECK:         %[[B:.+]] = tarpon.mul %[[A]], %{{.+}} :
// CHECK:         %[[M:.+]] = tarpon.matmul %[[B]], %[[Y]]
// CHECK-NEXT:    return %[[M]]
func.func @scales_what_is_read(%x: tensor<6x5xf32>, %y: tensor<5x4xf32>) -> tensor<6x4xf32> {
  %s = tarpon.constant {value = dense<0.5> : tensor<1xf32>} : tensor<1xf32>
  %m = tarpon.matmul %x, %y : (tensor<6x5xf32>, tensor<5x4xf32>) -> tensor<6x4xf32>
  %a = tarpon.mul %m, %s : (tensor<6x4xf32>, tensor<1xf32>) -> tensor<6x4xf32>
  %b = tarpon.mul %s, %a : (tensor<1xf32>, tensor<6x4xf32>) -> tensor<6x4xf32>
  return %b : tensor<6x4xf32>
}

// -----

// A larger number might overflow in front of the product.

// CHECK-LABEL: func @negative_large(
// CHECK:         %[[M:.+]] = tarpon.matmul
// CHECK-NEXT:    %[[A:.+]] = tarpon.mul %[[M]]
// CHECK-NEXT:    return %[[A]]
func.func @negative_large(%x: tensor<6x5xf32>, %y: tensor<5x4xf32>) -> tensor<6x4xf32> {
  %s = tarpon.constant {value = dense<2.0> : tensor<1xf32>} : tensor<1xf32>
  %m = tarpon.matmul %x, %y : (tensor<6x5xf32>, tensor<5x4xf32>) -> tensor<6x4xf32>
  %a = tarpon.mul %m, %s : (tensor<6x4xf32>, tensor<1xf32>) -> tensor<6x4xf32>
  return %a : tensor<6x4xf32>
}

// -----

// CHECK-LABEL: func @negative_product_is_returned(
// CHECK:         %[[M:.+]] = tarpon.matmul
// CHECK-NEXT:    %[[A:.+]] = tarpon.mul %[[M]]
// CHECK-NEXT:    return %[[A]], %[[M]]
func.func @negative_product_is_returned(%x: tensor<6x5xf32>, %y: tensor<5x4xf32>) -> (tensor<6x4xf32>, tensor<6x4xf32>) {
  %s = tarpon.constant {value = dense<0.5> : tensor<1xf32>} : tensor<1xf32>
  %m = tarpon.matmul %x, %y : (tensor<6x5xf32>, tensor<5x4xf32>) -> tensor<6x4xf32>
  %a = tarpon.mul %m, %s : (tensor<6x4xf32>, tensor<1xf32>) -> tensor<6x4xf32>
  return %a, %m : tensor<6x4xf32>, tensor<6x4xf32>
}

// -----

// CHECK-LABEL: func @negative_rank(
// CHECK:         %[[M:.+]] = tarpon.matmul
// CHECK-NEXT:    %[[A:.+]] = tarpon.mul %[[M]]
// CHECK-NEXT:    return %[[A]]
func.func @negative_rank(%x: tensor<6x5xf32>, %y: tensor<2x5x4xf32>) -> tensor<2x6x4xf32> {
  %s = tarpon.constant {value = dense<0.5> : tensor<1x1x1xf32>} : tensor<1x1x1xf32>
  %m = tarpon.matmul %x, %y : (tensor<6x5xf32>, tensor<2x5x4xf32>) -> tensor<2x6x4xf32>
  %a = tarpon.mul %m, %s : (tensor<2x6x4xf32>, tensor<1x1x1xf32>) -> tensor<2x6x4xf32>
  return %a : tensor<2x6x4xf32>
}
