// RUN: graph-opt %s -tarpon-plan-memory -split-input-file | FileCheck %s

// The plan depends on the types, not on the problems, which are all the same here.

// Each buffer has 64 bytes behind it: 1024 become 1088, 256 become 320. Result a
// is dead when c is written, and c takes its place; what is returned has memory
// of its own.

// CHECK-LABEL: func @reuses_memory(
// CHECK-SAME:      attributes {tarpon.arena_bytes = 2176 : i64}
// CHECK:         tarpon.launch "a"{{.*}}offset = 0 : i64
// CHECK:         tarpon.launch "b"{{.*}}offset = 1088 : i64
// CHECK:         tarpon.launch "c"{{.*}}offset = 0 : i64
// CHECK:         tarpon.launch "d"{{.*}}offset = -1 : i64
func.func @reuses_memory(%x: tensor<256xf32>) -> tensor<256xf32> {
  %a = tarpon.launch "a"(%x) {problem = #tarpon.problem<"relu(4xf32)->4xf32">, solution = #tarpon.solution<"s", "", "default">} : (tensor<256xf32>) -> tensor<256xf32>
  %b = tarpon.launch "b"(%a) {problem = #tarpon.problem<"relu(4xf32)->4xf32">, solution = #tarpon.solution<"s", "", "default">} : (tensor<256xf32>) -> tensor<256xf32>
  %c = tarpon.launch "c"(%b) {problem = #tarpon.problem<"relu(4xf32)->4xf32">, solution = #tarpon.solution<"s", "", "default">} : (tensor<256xf32>) -> tensor<256xf32>
  %d = tarpon.launch "d"(%c) {problem = #tarpon.problem<"relu(4xf32)->4xf32">, solution = #tarpon.solution<"s", "", "default">} : (tensor<256xf32>) -> tensor<256xf32>
  return %d : tensor<256xf32>
}

// -----

// A view keeps what it views in use.

// CHECK-LABEL: func @negative_view_is_read(
// CHECK-SAME:      attributes {tarpon.arena_bytes = 3264 : i64}
// CHECK:         tarpon.launch "a"{{.*}}offset = 0 : i64
// CHECK:         tarpon.launch "b"{{.*}}offset = 1088 : i64
// CHECK:         tarpon.launch "c"{{.*}}offset = 2176 : i64
func.func @negative_view_is_read(%x: tensor<256xf32>) -> tensor<16x16xf32> {
  %a = tarpon.launch "a"(%x) {problem = #tarpon.problem<"relu(4xf32)->4xf32">, solution = #tarpon.solution<"s", "", "default">} : (tensor<256xf32>) -> tensor<256xf32>
  %v = tarpon.reshape %a : (tensor<256xf32>) -> tensor<16x16xf32>
  %b = tarpon.launch "b"(%a) {problem = #tarpon.problem<"relu(4xf32)->4xf32">, solution = #tarpon.solution<"s", "", "default">} : (tensor<256xf32>) -> tensor<256xf32>
  %c = tarpon.launch "c"(%b) {problem = #tarpon.problem<"relu(4xf32)->4xf32">, solution = #tarpon.solution<"s", "", "default">} : (tensor<256xf32>) -> tensor<256xf32>
  %d = tarpon.launch "d"(%c, %v) {problem = #tarpon.problem<"relu(4xf32)->4xf32">, solution = #tarpon.solution<"s", "", "default">} : (tensor<256xf32>, tensor<16x16xf32>) -> tensor<16x16xf32>
  return %d : tensor<16x16xf32>
}

// -----

// So does a bitcast.

// CHECK-LABEL: func @negative_bitcast_is_read(
// CHECK-SAME:      attributes {tarpon.arena_bytes = 3264 : i64}
// CHECK:         tarpon.launch "a"{{.*}}offset = 0 : i64
// CHECK:         tarpon.launch "b"{{.*}}offset = 1088 : i64
// CHECK:         tarpon.launch "c"{{.*}}offset = 2176 : i64
func.func @negative_bitcast_is_read(%x: tensor<256xf32>) -> tensor<256xi32> {
  %a = tarpon.launch "a"(%x) {problem = #tarpon.problem<"relu(4xf32)->4xf32">, solution = #tarpon.solution<"s", "", "default">} : (tensor<256xf32>) -> tensor<256xf32>
  %v = tarpon.bitcast %a : (tensor<256xf32>) -> tensor<256xi32>
  %b = tarpon.launch "b"(%a) {problem = #tarpon.problem<"relu(4xf32)->4xf32">, solution = #tarpon.solution<"s", "", "default">} : (tensor<256xf32>) -> tensor<256xf32>
  %c = tarpon.launch "c"(%b) {problem = #tarpon.problem<"relu(4xf32)->4xf32">, solution = #tarpon.solution<"s", "", "default">} : (tensor<256xf32>) -> tensor<256xf32>
  %d = tarpon.launch "d"(%c, %v) {problem = #tarpon.problem<"relu(4xf32)->4xf32">, solution = #tarpon.solution<"s", "", "default">} : (tensor<256xf32>, tensor<256xi32>) -> tensor<256xi32>
  return %d : tensor<256xi32>
}

// -----

// So does a slice.

// CHECK-LABEL: func @negative_slice_is_read(
// CHECK-SAME:      attributes {tarpon.arena_bytes = 3264 : i64}
// CHECK:         tarpon.launch "a"{{.*}}offset = 0 : i64
// CHECK:         tarpon.launch "b"{{.*}}offset = 1088 : i64
// CHECK:         tarpon.launch "c"{{.*}}offset = 2176 : i64
func.func @negative_slice_is_read(%x: tensor<1x16x16xf32>) -> tensor<1x8x16xf32> {
  %a = tarpon.launch "a"(%x) {problem = #tarpon.problem<"relu(4xf32)->4xf32">, solution = #tarpon.solution<"s", "", "default">} : (tensor<1x16x16xf32>) -> tensor<1x16x16xf32>
  %v = tarpon.slice %a {offset = 8 : i64} : (tensor<1x16x16xf32>) -> tensor<1x8x16xf32>
  %b = tarpon.launch "b"(%a) {problem = #tarpon.problem<"relu(4xf32)->4xf32">, solution = #tarpon.solution<"s", "", "default">} : (tensor<1x16x16xf32>) -> tensor<1x16x16xf32>
  %c = tarpon.launch "c"(%b) {problem = #tarpon.problem<"relu(4xf32)->4xf32">, solution = #tarpon.solution<"s", "", "default">} : (tensor<1x16x16xf32>) -> tensor<1x16x16xf32>
  %d = tarpon.launch "d"(%c, %v) {problem = #tarpon.problem<"relu(4xf32)->4xf32">, solution = #tarpon.solution<"s", "", "default">} : (tensor<1x16x16xf32>, tensor<1x8x16xf32>) -> tensor<1x8x16xf32>
  return %d : tensor<1x8x16xf32>
}

// -----

// A workspace is in use during its launch only: that of b fits where a's was,
// and neither overlaps the operand or the result.

// CHECK-LABEL: func @places_workspaces(
// CHECK-SAME:      attributes {tarpon.arena_bytes = 2496 : i64}
// CHECK:         tarpon.launch "a"{{.*}}offset = 2176 : i64{{.*}}workspace_bytes = 2112 : i64, workspace_offset = 0 : i64
// CHECK:         tarpon.launch "b"{{.*}}offset = -1 : i64{{.*}}workspace_bytes = 1000 : i64, workspace_offset = 0 : i64
func.func @places_workspaces(%x: tensor<64xf32>) -> tensor<64xf32> {
  %a = tarpon.launch "a"(%x) {problem = #tarpon.problem<"relu(4xf32)->4xf32">, solution = #tarpon.solution<"s", "", "default">, workspace_bytes = 2112 : i64} : (tensor<64xf32>) -> tensor<64xf32>
  %b = tarpon.launch "b"(%a) {problem = #tarpon.problem<"relu(4xf32)->4xf32">, solution = #tarpon.solution<"s", "", "default">, workspace_bytes = 1000 : i64} : (tensor<64xf32>) -> tensor<64xf32>
  return %b : tensor<64xf32>
}

// -----

// What is joined is one buffer, in use from the first launch that writes to it
// to the last that reads it: b, which is dead in between, is not in it.

// CHECK-LABEL: func @joins(
// CHECK-SAME:      attributes {tarpon.arena_bytes = 512 : i64}
// CHECK:         tarpon.launch "a"{{.*}}offset = 0 : i64
// CHECK:         tarpon.launch "b"{{.*}}offset = 320 : i64
// CHECK:         tarpon.launch "c"{{.*}}offset = 192 : i64
// CHECK:         tarpon.launch "d"{{.*}}offset = -1 : i64
func.func @joins(%x: tensor<1x12x4xf32>) -> tensor<1x16x4xf32> {
  %a = tarpon.launch "a"(%x) {problem = #tarpon.problem<"relu(4xf32)->4xf32">, solution = #tarpon.solution<"s", "", "default">} : (tensor<1x12x4xf32>) -> tensor<1x12x4xf32>
  %b = tarpon.launch "b"(%a) {problem = #tarpon.problem<"relu(4xf32)->4xf32">, solution = #tarpon.solution<"s", "", "default">} : (tensor<1x12x4xf32>) -> tensor<1x8x4xf32>
  %c = tarpon.launch "c"(%b) {problem = #tarpon.problem<"relu(4xf32)->4xf32">, solution = #tarpon.solution<"s", "", "default">} : (tensor<1x8x4xf32>) -> tensor<1x4x4xf32>
  %j = tarpon.join %a, %c : (tensor<1x12x4xf32>, tensor<1x4x4xf32>) -> tensor<1x16x4xf32>
  %d = tarpon.launch "d"(%j) {problem = #tarpon.problem<"relu(4xf32)->4xf32">, solution = #tarpon.solution<"s", "", "default">} : (tensor<1x16x4xf32>) -> tensor<1x16x4xf32>
  return %d : tensor<1x16x4xf32>
}

// -----

// In nhwc a slice starts at its first channel, also through a second join.

// CHECK-LABEL: func @joins_slices(
// CHECK-SAME:      attributes {tarpon.arena_bytes = 320 : i64}
// CHECK:         tarpon.launch "a"{{.*}}offset = 0 : i64
// CHECK:         tarpon.launch "b"{{.*}}offset = 48 : i64
// CHECK:         tarpon.launch "c"{{.*}}offset = 32 : i64
func.func @joins_slices(%x: tensor<1x8x4xf32>) -> tensor<1x16x4xf32> {
  %a = tarpon.launch "a"(%x) {problem = #tarpon.problem<"relu(4xf32)->4xf32">, solution = #tarpon.solution<"s", "", "default">} : (tensor<1x8x4xf32>) -> tensor<1x8x4xf32, #tarpon.layout<nhwc, pitch = 16>>
  %b = tarpon.launch "b"(%x) {problem = #tarpon.problem<"relu(4xf32)->4xf32">, solution = #tarpon.solution<"s", "", "default">} : (tensor<1x8x4xf32>) -> tensor<1x4x4xf32, #tarpon.layout<nhwc, pitch = 16>>
  %c = tarpon.launch "c"(%x) {problem = #tarpon.problem<"relu(4xf32)->4xf32">, solution = #tarpon.solution<"s", "", "default">} : (tensor<1x8x4xf32>) -> tensor<1x4x4xf32, #tarpon.layout<nhwc, pitch = 16>>
  %i = tarpon.join %c, %b : (tensor<1x4x4xf32, #tarpon.layout<nhwc, pitch = 16>>, tensor<1x4x4xf32, #tarpon.layout<nhwc, pitch = 16>>) -> tensor<1x8x4xf32, #tarpon.layout<nhwc, pitch = 16>>
  %j = tarpon.join %a, %i : (tensor<1x8x4xf32, #tarpon.layout<nhwc, pitch = 16>>, tensor<1x8x4xf32, #tarpon.layout<nhwc, pitch = 16>>) -> tensor<1x16x4xf32, #tarpon.layout<nhwc>>
  %d = tarpon.launch "d"(%j) {problem = #tarpon.problem<"relu(4xf32)->4xf32">, solution = #tarpon.solution<"s", "", "default">} : (tensor<1x16x4xf32, #tarpon.layout<nhwc>>) -> tensor<1x16x4xf32>
  return %d : tensor<1x16x4xf32>
}

// -----

// One piece of memory cannot be both results; the runtime copies.

// CHECK-LABEL: func @negative_result_returned_twice(
// CHECK:         tarpon.launch "a"{{.*}}offset = {{[0-9]+}} : i64
func.func @negative_result_returned_twice(%x: tensor<64xf32>) -> (tensor<64xf32>, tensor<64xf32>) {
  %a = tarpon.launch "a"(%x) {problem = #tarpon.problem<"relu(4xf32)->4xf32">, solution = #tarpon.solution<"s", "", "default">} : (tensor<64xf32>) -> tensor<64xf32>
  return %a, %a : tensor<64xf32>, tensor<64xf32>
}

// -----

// The view has another shape than the memory that the launch would write to.

// CHECK-LABEL: func @negative_view_returned(
// CHECK:         tarpon.launch "a"{{.*}}offset = 0 : i64
func.func @negative_view_returned(%x: tensor<64xf32>) -> tensor<8x8xf32> {
  %a = tarpon.launch "a"(%x) {problem = #tarpon.problem<"relu(4xf32)->4xf32">, solution = #tarpon.solution<"s", "", "default">} : (tensor<64xf32>) -> tensor<64xf32>
  %v = tarpon.reshape %a : (tensor<64xf32>) -> tensor<8x8xf32>
  return %v : tensor<8x8xf32>
}

// -----

// Blocks are padded with channels, quantised elements take one byte.

// CHECK-LABEL: func @counts_stored_bytes(
// CHECK-SAME:      attributes {tarpon.arena_bytes = 320 : i64}
func.func @counts_stored_bytes(%x: tensor<1x3x4x4x!quant.uniform<u8:f32, 0.5>>) -> tensor<64xf32> {
  %a = tarpon.launch "a"(%x) {problem = #tarpon.problem<"relu(4xf32)->4xf32">, solution = #tarpon.solution<"s", "", "default">} : (tensor<1x3x4x4x!quant.uniform<u8:f32, 0.5>>) -> tensor<1x3x4x4x!quant.uniform<u8:f32, 0.5>, #tarpon.layout<nchw16c>>
  %b = tarpon.launch "b"(%a) {problem = #tarpon.problem<"relu(4xf32)->4xf32">, solution = #tarpon.solution<"s", "", "default">} : (tensor<1x3x4x4x!quant.uniform<u8:f32, 0.5>, #tarpon.layout<nchw16c>>) -> tensor<64xf32>
  return %b : tensor<64xf32>
}

// -----

// Every result has a place, one that nobody reads too: in the arena during its
// launch, or memory of its own if it is returned.

// CHECK-LABEL: func @several_results(
// CHECK-SAME:      attributes {tarpon.arena_bytes = 1408 : i64}
// CHECK:         tarpon.launch "a"{{.*}}more_offsets = array<i64: -1, 1088>, offset = 0 : i64
// CHECK:         tarpon.launch "b"{{.*}}offset = -1 : i64
func.func @several_results(%x: tensor<256xf32>) -> (tensor<256xf32>, tensor<64xf32>) {
  %a:3 = tarpon.launch "a"(%x) {problem = #tarpon.problem<"relu(4xf32)->4xf32">, solution = #tarpon.solution<"s", "", "default">} : (tensor<256xf32>) -> (tensor<256xf32>, tensor<64xf32>, tensor<64xf32>)
  %b = tarpon.launch "b"(%a#0) {problem = #tarpon.problem<"relu(4xf32)->4xf32">, solution = #tarpon.solution<"s", "", "default">} : (tensor<256xf32>) -> tensor<256xf32>
  return %b, %a#1 : tensor<256xf32>, tensor<64xf32>
}

// -----

// Another result lives as long as it is read: c's cannot lie in its place.

// CHECK-LABEL: func @another_result_lives(
// CHECK-SAME:      attributes {tarpon.arena_bytes = 2496 : i64}
// CHECK:         tarpon.launch "a"{{.*}}more_offsets = array<i64: 2176>, offset = 0 : i64
// CHECK:         tarpon.launch "b"{{.*}}offset = 1088 : i64
// CHECK:         tarpon.launch "c"{{.*}}offset = 0 : i64
// CHECK:         tarpon.launch "d"{{.*}}offset = -1 : i64
func.func @another_result_lives(%x: tensor<256xf32>) -> tensor<256xf32> {
  %a:2 = tarpon.launch "a"(%x) {problem = #tarpon.problem<"relu(4xf32)->4xf32">, solution = #tarpon.solution<"s", "", "default">} : (tensor<256xf32>) -> (tensor<256xf32>, tensor<64xf32>)
  %b = tarpon.launch "b"(%a#0) {problem = #tarpon.problem<"relu(4xf32)->4xf32">, solution = #tarpon.solution<"s", "", "default">} : (tensor<256xf32>) -> tensor<256xf32>
  %c = tarpon.launch "c"(%b) {problem = #tarpon.problem<"relu(4xf32)->4xf32">, solution = #tarpon.solution<"s", "", "default">} : (tensor<256xf32>) -> tensor<256xf32>
  %d = tarpon.launch "d"(%c, %a#1) {problem = #tarpon.problem<"relu(4xf32)->4xf32">, solution = #tarpon.solution<"s", "", "default">} : (tensor<256xf32>, tensor<64xf32>) -> tensor<256xf32>
  return %d : tensor<256xf32>
}

// -----

// A result takes the place of an input that it may overwrite: b that of a, and
// d that of c, its second input, since b is read later.

// CHECK-LABEL: func @overwrites(
// CHECK-SAME:      attributes {tarpon.arena_bytes = 2176 : i64}
// CHECK:         tarpon.launch "a"{{.*}}offset = [[A:[0-9]+]] : i64
// CHECK:         tarpon.launch "b"{{.*}}offset = [[A]] : i64
// CHECK:         tarpon.launch "c"{{.*}}offset = [[C:[0-9]+]] : i64
// CHECK:         tarpon.launch "d"{{.*}}offset = [[C]] : i64
func.func @overwrites(%x: tensor<256xf32>) -> tensor<256xf32> {
  %a = tarpon.launch "a"(%x) {problem = #tarpon.problem<"relu(4xf32)->4xf32">, solution = #tarpon.solution<"s", "", "default">} : (tensor<256xf32>) -> tensor<256xf32>
  %b = tarpon.launch "b"(%a) {may_overwrite = array<i64: 0>, problem = #tarpon.problem<"relu(4xf32)->4xf32">, solution = #tarpon.solution<"s", "", "default">} : (tensor<256xf32>) -> tensor<256xf32>
  %c = tarpon.launch "c"(%b) {problem = #tarpon.problem<"relu(4xf32)->4xf32">, solution = #tarpon.solution<"s", "", "default">} : (tensor<256xf32>) -> tensor<256xf32>
  %d = tarpon.launch "d"(%b, %c) {may_overwrite = array<i64: 0, 1>, problem = #tarpon.problem<"relu(4xf32)->4xf32">, solution = #tarpon.solution<"s", "", "default">} : (tensor<256xf32>, tensor<256xf32>) -> tensor<256xf32>
  %e = tarpon.launch "e"(%b, %d) {problem = #tarpon.problem<"relu(4xf32)->4xf32">, solution = #tarpon.solution<"s", "", "default">} : (tensor<256xf32>, tensor<256xf32>) -> tensor<256xf32>
  return %e : tensor<256xf32>
}

// -----

// But neither that of the model's input, nor of what is read twice, nor of what
// has another size: c fits where a was, at the start.

// CHECK-LABEL: func @negative_overwrites(
// CHECK-SAME:      attributes {tarpon.arena_bytes = 2176 : i64}
// CHECK:         tarpon.launch "a"{{.*}}offset = 0 : i64
// CHECK:         tarpon.launch "b"{{.*}}offset = 1088 : i64
// CHECK:         tarpon.launch "c"{{.*}}offset = 0 : i64
func.func @negative_overwrites(%x: tensor<256xf32>) -> tensor<64xf32> {
  %a = tarpon.launch "a"(%x) {may_overwrite = array<i64: 0>, problem = #tarpon.problem<"relu(4xf32)->4xf32">, solution = #tarpon.solution<"s", "", "default">} : (tensor<256xf32>) -> tensor<256xf32>
  %b = tarpon.launch "b"(%a, %a) {may_overwrite = array<i64: 0, 1>, problem = #tarpon.problem<"relu(4xf32)->4xf32">, solution = #tarpon.solution<"s", "", "default">} : (tensor<256xf32>, tensor<256xf32>) -> tensor<256xf32>
  %c = tarpon.launch "c"(%b) {may_overwrite = array<i64: 0>, problem = #tarpon.problem<"relu(4xf32)->4xf32">, solution = #tarpon.solution<"s", "", "default">} : (tensor<256xf32>) -> tensor<64xf32>
  %d = tarpon.launch "d"(%c) {problem = #tarpon.problem<"relu(4xf32)->4xf32">, solution = #tarpon.solution<"s", "", "default">} : (tensor<64xf32>) -> tensor<64xf32>
  return %d : tensor<64xf32>
}
