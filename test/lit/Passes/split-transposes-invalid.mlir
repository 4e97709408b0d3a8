// RUN: not graph-opt %s -tarpon-split-transposes=layout=chwn 2>&1 | FileCheck %s

// CHECK: error: expects the layout to be nchw, nhwc or blocked as nchw16c, got 'chwn'
func.func @other(%x: tensor<1x4x6xf32>) -> tensor<1x4x6xf32> {
  return %x : tensor<1x4x6xf32>
}
