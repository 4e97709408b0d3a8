// RUN: graph-opt %s -tarpon-fuse -split-input-file | FileCheck %s
// RUN: graph-opt %s -tarpon-fuse=mode=off -split-input-file | FileCheck %s --check-prefix=OFF
// RUN: graph-opt %s -tarpon-fuse -tarpon-fuse=mode=off -split-input-file | FileCheck %s

// The arguments are the root's operands, then bias and residual.

// CHECK-LABEL: func @fuses_bias_residual_relu(
// CHECK-SAME:      %[[X:[^:]+]]: tensor<1x4x8x8xf32>, %[[W:[^:]+]]: tensor<4x4x1x1xf32>, %[[B:[^:]+]]: tensor<1x4x1x1xf32>
// CHECK-NEXT:    %[[F:.+]] = tarpon.fused(%[[A0:.+]] = %[[X]], %[[A1:.+]] = %[[W]], %[[A2:.+]] = %[[B]], %[[A3:.+]] = %[[X]])
// CHECK-NEXT:      %[[C:.+]] = tarpon.conv %[[A0]], %[[A1]]
// CHECK-NEXT:      %[[D:.+]] = tarpon.add %[[C]], %[[A2]]
// CHECK-NEXT:      %[[E:.+]] = tarpon.add %[[A3]], %[[D]]
// CHECK-NEXT:      %[[R:.+]] = tarpon.relu %[[E]]
// CHECK-NEXT:      tarpon.yield %[[R]]
// CHECK:         return %[[F]]
// OFF-LABEL:   func @fuses_bias_residual_relu(
// OFF-COUNT-4:   tarpon.fused(
// OFF-NOT:       tarpon.fused(
// OFF:           return
func.func @fuses_bias_residual_relu(%x: tensor<1x4x8x8xf32>, %w: tensor<4x4x1x1xf32>, %b: tensor<1x4x1x1xf32>) -> tensor<1x4x8x8xf32> {
  %0 = tarpon.conv %x, %w {strides = array<i64: 1, 1>, pads = array<i64: 0, 0, 0, 0>, dilations = array<i64: 1, 1>} : (tensor<1x4x8x8xf32>, tensor<4x4x1x1xf32>) -> tensor<1x4x8x8xf32>
  %1 = tarpon.add %0, %b : (tensor<1x4x8x8xf32>, tensor<1x4x1x1xf32>) -> tensor<1x4x8x8xf32>
  %2 = tarpon.add %x, %1 : (tensor<1x4x8x8xf32>, tensor<1x4x8x8xf32>) -> tensor<1x4x8x8xf32>
  %3 = tarpon.relu %2 : (tensor<1x4x8x8xf32>) -> tensor<1x4x8x8xf32>
  return %3 : tensor<1x4x8x8xf32>
}

// -----

// CHECK-LABEL: func @fuses_behind_conv_transpose(
// CHECK-SAME:      %[[X:[^:]+]]: tensor<1x4x8x8xf32>, %[[W:[^:]+]]: tensor<4x2x2x2xf32>, %[[B:[^:]+]]: tensor<1x2x1x1xf32>
// CHECK-NEXT:    %[[F:.+]] = tarpon.fused(%[[A0:.+]] = %[[X]], %[[A1:.+]] = %[[W]], %[[A2:.+]] = %[[B]])
// CHECK-NEXT:      %[[C:.+]] = tarpon.conv_transpose %[[A0]], %[[A1]]
// CHECK-NEXT:      %[[D:.+]] = tarpon.add %[[C]], %[[A2]]
// CHECK-NEXT:      %[[R:.+]] = tarpon.relu %[[D]]
// CHECK-NEXT:      tarpon.yield %[[R]]
func.func @fuses_behind_conv_transpose(%x: tensor<1x4x8x8xf32>, %w: tensor<4x2x2x2xf32>, %b: tensor<1x2x1x1xf32>) -> tensor<1x2x16x16xf32> {
  %0 = tarpon.conv_transpose %x, %w {strides = array<i64: 2, 2>, pads = array<i64: 0, 0, 0, 0>, dilations = array<i64: 1, 1>, output_padding = array<i64: 0, 0>} : (tensor<1x4x8x8xf32>, tensor<4x2x2x2xf32>) -> tensor<1x2x16x16xf32>
  %1 = tarpon.add %0, %b : (tensor<1x2x16x16xf32>, tensor<1x2x1x1xf32>) -> tensor<1x2x16x16xf32>
  %2 = tarpon.relu %1 : (tensor<1x2x16x16xf32>) -> tensor<1x2x16x16xf32>
  return %2 : tensor<1x2x16x16xf32>
}

// -----

// The later of two roots takes what follows the add.

// CHECK-LABEL: func @fuses_into_later_root(
// CHECK-NEXT:    %[[F:.+]] = tarpon.fused(
// CHECK-NEXT:      tarpon.matmul
// CHECK-NEXT:      tarpon.yield
// CHECK:         tarpon.fused({{.*}} = %[[F]])
// CHECK-NEXT:      tarpon.matmul
// CHECK-NEXT:      tarpon.add
// CHECK-NEXT:      tarpon.relu
// CHECK-NEXT:      tarpon.yield
func.func @fuses_into_later_root(%x: tensor<4x4xf32>) -> tensor<4x4xf32> {
  %0 = tarpon.matmul %x, %x : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
  %1 = tarpon.matmul %x, %x {transpose_rhs = true} : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
  %2 = tarpon.add %0, %1 : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
  %3 = tarpon.relu %2 : (tensor<4x4xf32>) -> tensor<4x4xf32>
  return %3 : tensor<4x4xf32>
}

// -----

// The region stands where the residual, which comes after the root, is defined.

// CHECK-LABEL: func @fuses_behind_operands(
// CHECK-NEXT:    %[[P:.+]] = tarpon.fused(
// CHECK-NEXT:      tarpon.softmax
// CHECK:         tarpon.fused({{.*}} = %[[P]])
// CHECK-NEXT:      tarpon.matmul
// CHECK-NEXT:      tarpon.sub
func.func @fuses_behind_operands(%x: tensor<4x4xf32>) -> tensor<4x4xf32> {
  %0 = tarpon.matmul %x, %x : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
  %1 = tarpon.softmax %x {axis = 1 : i64} : (tensor<4x4xf32>) -> tensor<4x4xf32>
  %2 = tarpon.sub %1, %0 : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
  return %2 : tensor<4x4xf32>
}

// -----

// CHECK-LABEL: func @fuses_elementwise_chain(
// CHECK-NEXT:    tarpon.fused(%[[A:.+]] = %[[X:.+]], %[[B:.+]] = %[[X]])
// CHECK-NEXT:      %[[C:.+]] = tarpon.mul %[[A]], %[[B]]
// CHECK-NEXT:      tarpon.sigmoid %[[C]]
func.func @fuses_elementwise_chain(%x: tensor<4xf32>) -> tensor<4xf32> {
  %0 = tarpon.mul %x, %x : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  %1 = tarpon.sigmoid %0 : (tensor<4xf32>) -> tensor<4xf32>
  return %1 : tensor<4xf32>
}

// -----

// A value that is used twice must be stored.

// CHECK-LABEL: func @negative_two_uses(
// CHECK-NEXT:    %[[F:.+]] = tarpon.fused(
// CHECK-NEXT:      tarpon.matmul
// CHECK-NEXT:      tarpon.yield
// CHECK:         tarpon.fused({{.*}} = %[[F]])
// CHECK-NEXT:      tarpon.relu
func.func @negative_two_uses(%x: tensor<4x4xf32>) -> (tensor<4x4xf32>, tensor<4x4xf32>) {
  %0 = tarpon.matmul %x, %x : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
  %1 = tarpon.relu %0 : (tensor<4x4xf32>) -> tensor<4x4xf32>
  return %0, %1 : tensor<4x4xf32>, tensor<4x4xf32>
}

// -----

// Whichever of its users is met first.

// CHECK-LABEL: func @negative_two_uses_in_order(
// CHECK-NEXT:    %[[F:.+]] = tarpon.fused(
// CHECK-NEXT:      tarpon.matmul
// CHECK-NEXT:      tarpon.yield
// CHECK:         tarpon.fused({{.*}} = %[[F]])
// CHECK-NEXT:      tarpon.softmax
// CHECK:         tarpon.fused({{.*}} = %[[F]])
// CHECK-NEXT:      tarpon.relu
func.func @negative_two_uses_in_order(%x: tensor<4x4xf32>) -> (tensor<4x4xf32>, tensor<4x4xf32>) {
  %0 = tarpon.matmul %x, %x : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
  %1 = tarpon.softmax %0 {axis = 1 : i64} : (tensor<4x4xf32>) -> tensor<4x4xf32>
  %2 = tarpon.relu %0 : (tensor<4x4xf32>) -> tensor<4x4xf32>
  return %1, %2 : tensor<4x4xf32>, tensor<4x4xf32>
}

// -----

// The epilogue works on the elements of the root's result, here there are more.

// CHECK-LABEL: func @negative_result_grows(
// CHECK-COUNT-2: tarpon.fused(
func.func @negative_result_grows(%x: tensor<1x4xf32>, %w: tensor<4x4xf32>, %y: tensor<3x4xf32>) -> tensor<3x4xf32> {
  %0 = tarpon.matmul %x, %w : (tensor<1x4xf32>, tensor<4x4xf32>) -> tensor<1x4xf32>
  %1 = tarpon.add %0, %y : (tensor<1x4xf32>, tensor<3x4xf32>) -> tensor<3x4xf32>
  return %1 : tensor<3x4xf32>
}

// -----

// Pooling takes no epilogue.

// CHECK-LABEL: func @negative_pool(
// CHECK-COUNT-2: tarpon.fused(
func.func @negative_pool(%x: tensor<1x2x4x4xf32>) -> tensor<1x2x1x1xf32> {
  %0 = tarpon.global_max_pool %x : (tensor<1x2x4x4xf32>) -> tensor<1x2x1x1xf32>
  %1 = tarpon.relu %0 : (tensor<1x2x1x1xf32>) -> tensor<1x2x1x1xf32>
  return %1 : tensor<1x2x1x1xf32>
}

// -----

// Constants and views take no launch, and kernels have no 4-bit integers.

// CHECK-LABEL: func @negative_not_wrapped(
// CHECK-NOT:     tarpon.fused
// CHECK:         return
func.func @negative_not_wrapped(%x: tensor<2x2xi3>) -> (tensor<4xi3>, tensor<2xf32>) {
  %0 = tarpon.constant {value = dense<1.0> : tensor<2xf32>} : tensor<2xf32>
  %1 = tarpon.transpose %x {permutation = array<i64: 1, 0>} : (tensor<2x2xi3>) -> tensor<2x2xi3>
  %2 = tarpon.reshape %1 : (tensor<2x2xi3>) -> tensor<4xi3>
  return %2, %0 : tensor<4xi3>, tensor<2xf32>
}

// -----

// A convert is a launch of its own.

// CHECK-LABEL: func @wraps_convert(
// CHECK-NEXT:    tarpon.fused(
// CHECK-NEXT:      %[[C:.+]] = tarpon.convert
// CHECK-NEXT:      tarpon.yield %[[C]]
func.func @wraps_convert(%x: tensor<4xf32>) -> tensor<4xi64> {
  %0 = tarpon.convert %x : tensor<4xf32> -> tensor<4xi64>
  return %0 : tensor<4xi64>
}

// -----

// A root with several results stands alone: the mean is read before what would
// be the epilogue of the normalised values.

// CHECK-LABEL: func @negative_several_results(
// CHECK:         %[[F:.+]]:3 = tarpon.fused(%[[A:.+]] = %{{.+}}) : (tensor<2x8xf32>) -> (tensor<2x8xf32>, tensor<2x1xf32>, tensor<2x1xf32>) {
// CHECK-NEXT:      %[[Y:.+]]:3 = tarpon.layer_norm %[[A]]
// CHECK-NEXT:      tarpon.yield %[[Y]]#0, %[[Y]]#1, %[[Y]]#2 : tensor<2x8xf32>, tensor<2x1xf32>, tensor<2x1xf32>
// CHECK:         %[[N:.+]] = tarpon.fused(%{{.+}} = %[[F]]#1)
// CHECK-NEXT:      tarpon.neg
// CHECK:         %[[R:.+]] = tarpon.fused(%{{.+}} = %[[F]]#0)
// CHECK-NEXT:      tarpon.relu
// CHECK:         return %[[N]], %[[R]], %[[F]]#2
func.func @negative_several_results(%x: tensor<2x8xf32>) -> (tensor<2x1xf32>, tensor<2x8xf32>, tensor<2x1xf32>) {
  %0:3 = tarpon.layer_norm %x {axis = 1 : i64, epsilon = 0.25 : f32, statistics} : (tensor<2x8xf32>) -> (tensor<2x8xf32>, tensor<2x1xf32>, tensor<2x1xf32>)
  %1 = tarpon.neg %0#1 : (tensor<2x1xf32>) -> tensor<2x1xf32>
  %2 = tarpon.relu %0#0 : (tensor<2x8xf32>) -> tensor<2x8xf32>
  return %1, %2, %0#2 : tensor<2x1xf32>, tensor<2x8xf32>, tensor<2x1xf32>
}

// -----

// Another result may be what an epilogue reads.

// CHECK-LABEL: func @reads_another_result(
// CHECK:         %[[F:.+]]:3 = tarpon.fused(
// CHECK-NEXT:      tarpon.layer_norm
// CHECK:         %[[R:.+]] = tarpon.fused(%{{.+}} = %[[F]]#0, %{{.+}} = %{{.+}}, %{{.+}} = %[[F]]#1)
// CHECK-NEXT:      tarpon.matmul
// CHECK-NEXT:      tarpon.add
// CHECK:         return %[[R]]
func.func @reads_another_result(%x: tensor<2x8xf32>, %w: tensor<8x4xf32>) -> tensor<2x4xf32> {
  %0:3 = tarpon.layer_norm %x {axis = 1 : i64, epsilon = 0.25 : f32, statistics} : (tensor<2x8xf32>) -> (tensor<2x8xf32>, tensor<2x1xf32>, tensor<2x1xf32>)
  %1 = tarpon.matmul %0#0, %w : (tensor<2x8xf32>, tensor<8x4xf32>) -> tensor<2x4xf32>
  %2 = tarpon.add %1, %0#1 : (tensor<2x4xf32>, tensor<2x1xf32>) -> tensor<2x4xf32>
  return %2 : tensor<2x4xf32>
}

// -----

// An int8 product wraps before it is clipped: what is clipped is read from
// memory. A sum of products wraps once.

// CHECK-LABEL: func @narrow_integers_wrap(
// CHECK:         tarpon.fused
// CHECK-NEXT:      tarpon.mul
// CHECK-NEXT:      tarpon.add
// CHECK-NEXT:      tarpon.yield
// CHECK:         tarpon.fused
// CHECK-NEXT:      tarpon.clip
// CHECK-NEXT:      tarpon.yield
func.func @narrow_integers_wrap(%x: tensor<4xi8>) -> tensor<4xi8> {
  %0 = tarpon.mul %x, %x : (tensor<4xi8>, tensor<4xi8>) -> tensor<4xi8>
  %1 = tarpon.add %0, %x : (tensor<4xi8>, tensor<4xi8>) -> tensor<4xi8>
  %2 = tarpon.clip %1 {low = -1.0 : f64, high = 1.0 : f64} : (tensor<4xi8>) -> tensor<4xi8>
  return %2 : tensor<4xi8>
}

// -----

// CHECK-LABEL: func @wide_integers_do_not(
// CHECK:         tarpon.fused
// CHECK-NEXT:      tarpon.mul
// CHECK-NEXT:      tarpon.clip
func.func @wide_integers_do_not(%x: tensor<4xi64>) -> tensor<4xi64> {
  %0 = tarpon.mul %x, %x : (tensor<4xi64>, tensor<4xi64>) -> tensor<4xi64>
  %1 = tarpon.clip %0 {low = -1.0 : f64, high = 1.0 : f64} : (tensor<4xi64>) -> tensor<4xi64>
  return %1 : tensor<4xi64>
}

// -----

// CHECK-LABEL: func @fuses_behind_narrow_weights(
// CHECK:         tarpon.fused(%[[A0:.+]] = %{{.+}}, %[[A1:.+]] = %{{.+}}, %[[A2:.+]] = %{{.+}}, %[[A3:.+]] = %{{.+}})
// CHECK-NEXT:      %[[M:.+]] = tarpon.block_matmul %[[A0]], %[[A1]], %[[A2]]
// CHECK-NEXT:      %[[S:.+]] = tarpon.add %[[M]], %[[A3]]
// CHECK-NEXT:      tarpon.yield %[[S]]
func.func @fuses_behind_narrow_weights(%x: tensor<1x64xf32>, %w: tensor<8x2x16xui8>, %s: tensor<8x2xf32>, %b: tensor<8xf32>) -> tensor<1x8xf32> {
  %0 = tarpon.block_matmul %x, %w, %s {bits = 4 : i64, block_size = 32 : i64} : (tensor<1x64xf32>, tensor<8x2x16xui8>, tensor<8x2xf32>) -> tensor<1x8xf32>
  %1 = tarpon.add %0, %b : (tensor<1x8xf32>, tensor<8xf32>) -> tensor<1x8xf32>
  return %1 : tensor<1x8xf32>
}

// -----

// The result is stored in 8 bits, and what is stored so is read so.

!u8 = !quant.uniform<u8:f32, 0.5:3>
!i8 = !quant.uniform<i8:f32, 0.25>

// CHECK-LABEL: func @converts_at_the_borders(
// CHECK-SAME:      %[[X:[^:]+]]: {{.*}}, %[[W:[^:]+]]: {{.*}}, %[[R:[^:]+]]: {{.*}}, %[[B:[^:]+]]: tensor<2xf32>
// CHECK-NEXT:    %[[F:.+]] = tarpon.fused(%[[A0:.+]] = %[[X]], %[[A1:.+]] = %[[W]], %[[A2:.+]] = %[[B]], %[[A3:.+]] = %[[R]])
// CHECK-NEXT:      %[[C:.+]] = tarpon.convert %[[A3]]
// CHECK-NEXT:      %[[M:.+]] = tarpon.matmul %[[A0]], %[[A1]]
// CHECK-NEXT:      %[[S:.+]] = tarpon.add %[[M]], %[[A2]]
// CHECK-NEXT:      %[[T:.+]] = tarpon.add %[[S]], %[[C]]
// CHECK-NEXT:      %[[U:.+]] = tarpon.relu %[[T]]
// CHECK-NEXT:      %[[Q:.+]] = tarpon.convert %[[U]] : tensor<4x2xf32> -> tensor<4x2x!quant.uniform<u8:f32, 5.000000e-01:3>>
// CHECK-NEXT:      tarpon.yield %[[Q]]
// CHECK-NEXT:    }
// CHECK-NEXT:    return %[[F]]
func.func @converts_at_the_borders(%x: tensor<4x3x!u8>, %w: tensor<3x2x!i8>, %r: tensor<4x2x!u8>, %b: tensor<2xf32>) -> tensor<4x2x!u8> {
  %0 = tarpon.convert %r : tensor<4x2x!u8> -> tensor<4x2xf32>
  %1 = tarpon.matmul %x, %w : (tensor<4x3x!u8>, tensor<3x2x!i8>) -> tensor<4x2xf32>
  %2 = tarpon.add %1, %b : (tensor<4x2xf32>, tensor<2xf32>) -> tensor<4x2xf32>
  %3 = tarpon.add %2, %0 : (tensor<4x2xf32>, tensor<4x2xf32>) -> tensor<4x2xf32>
  %4 = tarpon.relu %3 : (tensor<4x2xf32>) -> tensor<4x2xf32>
  %5 = tarpon.convert %4 : tensor<4x2xf32> -> tensor<4x2x!u8>
  return %5 : tensor<4x2x!u8>
}

// -----

// Each reader converts by itself.

!u8 = !quant.uniform<u8:f32, 0.5:3>

// CHECK-LABEL: func @converts_for_each_reader(
// CHECK:         tarpon.fused(%[[A:.+]] = %[[X:.+]]) :
// CHECK-NEXT:      %[[C:.+]] = tarpon.convert %[[A]]
// CHECK-NEXT:      tarpon.global_avg_pool %[[C]]
// CHECK:         tarpon.fused(%{{.+}} = %[[X]]) :
// CHECK-NEXT:      tarpon.convert
// CHECK-NEXT:      tarpon.softmax
// CHECK-NEXT:      tarpon.convert
// CHECK-NEXT:      tarpon.yield
// CHECK-NOT:     tarpon.fused
// CHECK:         return
func.func @converts_for_each_reader(%x: tensor<1x2x4x4x!u8>) -> (tensor<1x2x1x1xf32>, tensor<1x2x4x4x!u8>) {
  %0 = tarpon.convert %x : tensor<1x2x4x4x!u8> -> tensor<1x2x4x4xf32>
  %1 = tarpon.global_avg_pool %0 : (tensor<1x2x4x4xf32>) -> tensor<1x2x1x1xf32>
  %2 = tarpon.softmax %0 {axis = 3 : i64} : (tensor<1x2x4x4xf32>) -> tensor<1x2x4x4xf32>
  %3 = tarpon.convert %2 : tensor<1x2x4x4xf32> -> tensor<1x2x4x4x!u8>
  return %1, %3 : tensor<1x2x1x1xf32>, tensor<1x2x4x4x!u8>
}

// -----

// Products of f32 and ops that move elements have kernels for one type; the
// result of the relu is read in f32, too.

!u8 = !quant.uniform<u8:f32, 0.5:3>

// CHECK-LABEL: func @negative_converts(
// CHECK-COUNT-2: tarpon.fused{{.*}}!quant.uniform{{.*}} -> tensor<4x4xf32>
// CHECK:         tarpon.fused{{.*}} -> tensor<4x4xf32>
// CHECK-NEXT:      tarpon.matmul
// CHECK-NEXT:      tarpon.relu
// CHECK-NEXT:      tarpon.yield
// CHECK:         tarpon.fused{{.*}} -> tensor<4x4x!quant
// CHECK:         tarpon.fused{{.*}} -> tensor<4x4xf32>
// CHECK-NEXT:      tarpon.transpose
// CHECK-NEXT:      tarpon.yield
// CHECK:         tarpon.fused{{.*}} -> tensor<4x4x!quant
func.func @negative_converts(%x: tensor<4x4x!u8>, %y: tensor<4x4x!u8>) -> (tensor<4x4xf32>, tensor<4x4x!u8>, tensor<4x4x!u8>) {
  %0 = tarpon.convert %x : tensor<4x4x!u8> -> tensor<4x4xf32>
  %1 = tarpon.convert %y : tensor<4x4x!u8> -> tensor<4x4xf32>
  %2 = tarpon.matmul %0, %1 : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
  %3 = tarpon.relu %2 : (tensor<4x4xf32>) -> tensor<4x4xf32>
  %4 = tarpon.convert %3 : tensor<4x4xf32> -> tensor<4x4x!u8>
  %5 = tarpon.transpose %0 {permutation = array<i64: 1, 0>} : (tensor<4x4xf32>) -> tensor<4x4xf32>
  %6 = tarpon.convert %5 : tensor<4x4xf32> -> tensor<4x4x!u8>
  return %3, %4, %6 : tensor<4x4xf32>, tensor<4x4x!u8>, tensor<4x4x!u8>
}
