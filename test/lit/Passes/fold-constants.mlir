// RUN: graph-opt %s -tarpon-fold-constants -split-input-file | FileCheck %s

// CHECK-LABEL: func @evaluates_constants(
// CHECK-NEXT:    %[[C:.+]] = tarpon.constant {value = dense<[4.000000e+00, 6.000000e+00]> : tensor<2xf32>}
// CHECK-NEXT:    return %[[C]]
func.func @evaluates_constants() -> tensor<2xf32> {
  %a = tarpon.constant {value = dense<[[1.0, 2.0]]> : tensor<1x2xf32>} : tensor<1x2xf32>
  %b = tarpon.constant {value = dense<[3.0, 4.0]> : tensor<2xf32>} : tensor<2xf32>
  %c = tarpon.reshape %a : (tensor<1x2xf32>) -> tensor<2xf32>
  %d = tarpon.add %b, %c : (tensor<2xf32>, tensor<2xf32>) -> tensor<2xf32>
  return %d : tensor<2xf32>
}

// -----

// CHECK-LABEL: func @drops_dead_ops(
// CHECK-SAME:      %[[X:[^:]+]]: tensor<2xf32>
// CHECK-NEXT:    return %[[X]]
func.func @drops_dead_ops(%x: tensor<2xf32>) -> tensor<2xf32> {
  %a = tarpon.relu %x : (tensor<2xf32>) -> tensor<2xf32>
  %b = tarpon.add %a, %x : (tensor<2xf32>, tensor<2xf32>) -> tensor<2xf32>
  return %x : tensor<2xf32>
}

// -----

// An argument is not known.
// CHECK-LABEL: func @negative_argument(
// CHECK:         %[[C:.+]] = tarpon.constant
// CHECK:         tarpon.add %{{.+}}, %[[C]]
func.func @negative_argument(%x: tensor<2xf32>) -> tensor<2xf32> {
  %a = tarpon.constant {value = dense<1.0> : tensor<2xf32>} : tensor<2xf32>
  %b = tarpon.add %x, %a : (tensor<2xf32>, tensor<2xf32>) -> tensor<2xf32>
  return %b : tensor<2xf32>
}
