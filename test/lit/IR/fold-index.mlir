// RUN: graph-opt %s -canonicalize -split-input-file | FileCheck %s

// where and gather of constants, and comparisons and bits of them.

// CHECK-LABEL: func @where()
// CHECK:         value = dense<{{\[\[}}1.000000e+00, 2.000000e+00], [5.000000e+00, 5.000000e+00]]> : tensor<2x2xf32>
func.func @where() -> tensor<2x2xf32> {
  %c = tarpon.constant {value = dense<[[true], [false]]> : tensor<2x1xi1>} : tensor<2x1xi1>
  %x = tarpon.constant {value = dense<[1.0, 2.0]> : tensor<2xf32>} : tensor<2xf32>
  %z = tarpon.constant {value = dense<5.0> : tensor<f32>} : tensor<f32>
  %y = tarpon.where %c, %x, %z : (tensor<2x1xi1>, tensor<2xf32>, tensor<f32>) -> tensor<2x2xf32>
  return %y : tensor<2x2xf32>
}

// -----

// CHECK-LABEL: func @where_of_one_value(
// CHECK-SAME:      %[[X:.+]]: tensor<2xf32>, %{{.+}}: tensor<2xi1>
// CHECK-NEXT:    return %[[X]]
func.func @where_of_one_value(%x: tensor<2xf32>, %c: tensor<2xi1>) -> tensor<2xf32> {
  %y = tarpon.where %c, %x, %x : (tensor<2xi1>, tensor<2xf32>, tensor<2xf32>) -> tensor<2xf32>
  return %y : tensor<2xf32>
}

// -----

// CHECK-LABEL: func @gather()
// CHECK:         value = dense<{{\[\[}}2, 1, 2], [5, 4, 5]]> : tensor<2x3xi32>
func.func @gather() -> tensor<2x3xi32> {
  %x = tarpon.constant {value = dense<[[1, 2], [4, 5]]> : tensor<2x2xi32>} : tensor<2x2xi32>
  %i = tarpon.constant {value = dense<[-1, -9, 7]> : tensor<3xi64>} : tensor<3xi64>
  %y = tarpon.gather %x, %i {axis = 1 : i64} : (tensor<2x2xi32>, tensor<3xi64>) -> tensor<2x3xi32>
  return %y : tensor<2x3xi32>
}

// -----

// CHECK-LABEL: func @bits()
// CHECK-DAG:     value = dense<[0, 1]> : tensor<2xi32>
// CHECK-DAG:     value = dense<[4, -8]> : tensor<2xi32>
// CHECK-DAG:     value = dense<[24, 0]> : tensor<2xi32>
func.func @bits() -> (tensor<2xi32>, tensor<2xi32>, tensor<2xi32>) {
  %x = tarpon.constant {value = dense<[6, -8]> : tensor<2xi32>} : tensor<2xi32>
  %n = tarpon.constant {value = dense<[4, -8]> : tensor<2xi32>} : tensor<2xi32>
  %s = tarpon.constant {value = dense<[2, 64]> : tensor<2xi32>} : tensor<2xi32>
  %0 = tarpon.equal %x, %n : (tensor<2xi32>, tensor<2xi32>) -> tensor<2xi32>
  %1 = tarpon.bit_and %x, %n : (tensor<2xi32>, tensor<2xi32>) -> tensor<2xi32>
  %2 = tarpon.shift_left %x, %s : (tensor<2xi32>, tensor<2xi32>) -> tensor<2xi32>
  return %0, %1, %2 : tensor<2xi32>, tensor<2xi32>, tensor<2xi32>
}

// -----

// The sign of what is shifted to the right, compared, or divided, is unknown to a
// fold.
// CHECK-LABEL: func @negative_sign()
// CHECK:         tarpon.shift_right
// CHECK:         tarpon.less
// CHECK:         tarpon.div
func.func @negative_sign() -> (tensor<1xui64>, tensor<1xui64>, tensor<1xui64>) {
  %x = tarpon.constant {value = dense<18446744073709551615> : tensor<1xui64>} : tensor<1xui64>
  %s = tarpon.constant {value = dense<1> : tensor<1xui64>} : tensor<1xui64>
  %0 = tarpon.shift_right %x, %s : (tensor<1xui64>, tensor<1xui64>) -> tensor<1xui64>
  %1 = tarpon.less %x, %s : (tensor<1xui64>, tensor<1xui64>) -> tensor<1xui64>
  %two = tarpon.constant {value = dense<2> : tensor<1xui64>} : tensor<1xui64>
  %2 = tarpon.div %x, %two : (tensor<1xui64>, tensor<1xui64>) -> tensor<1xui64>
  return %0, %1, %2 : tensor<1xui64>, tensor<1xui64>, tensor<1xui64>
}

// A mask that hides nothing, as that of one token behind all others.

// CHECK-LABEL: func @where_selects_one(
// CHECK-SAME:    %[[X:.+]]: tensor<2x3xf32>, %[[Y:.+]]: tensor<3xf32>)
// CHECK-NEXT:    %[[BROADCAST:.+]] = tarpon.constant {value = dense<false> : tensor<1x3xi1>}
// CHECK-NEXT:    %[[KEPT:.+]] = tarpon.where %[[BROADCAST]], %[[X]], %[[Y]]
// CHECK-NEXT:    return %[[X]], %[[X]], %[[KEPT]]
func.func @where_selects_one(%x: tensor<2x3xf32>, %y: tensor<3xf32>) -> (tensor<2x3xf32>, tensor<2x3xf32>, tensor<2x3xf32>) {
  %true = tarpon.constant {value = dense<true> : tensor<1x3xi1>} : tensor<1x3xi1>
  %false = tarpon.constant {value = dense<false> : tensor<1x3xi1>} : tensor<1x3xi1>
  %0 = tarpon.where %true, %x, %y : (tensor<1x3xi1>, tensor<2x3xf32>, tensor<3xf32>) -> tensor<2x3xf32>
  %1 = tarpon.where %false, %y, %x : (tensor<1x3xi1>, tensor<3xf32>, tensor<2x3xf32>) -> tensor<2x3xf32>
  %2 = tarpon.where %false, %x, %y : (tensor<1x3xi1>, tensor<2x3xf32>, tensor<3xf32>) -> tensor<2x3xf32>
  return %0, %1, %2 : tensor<2x3xf32>, tensor<2x3xf32>, tensor<2x3xf32>
}
