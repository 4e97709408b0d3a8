// RUN: graph-opt %s -split-input-file -verify-diagnostics

// The constraints of #tarpon.layout and #tarpon.problem by their numbers, and the
// syntax of attributes.

// expected-error@below {{expects nchw, nhwc or nchwXc with X 4, 8, 16, 32 or 64, got nwhc}}
func.func private @unknown_name(tensor<1x3x8x8xf32, #tarpon.layout<nwhc>>)

// -----

// C1
// expected-error@below {{expects nchw, nhwc or nchwXc with X 4, 8, 16, 32 or 64, got nchw5c}}
func.func private @unknown_block(tensor<1x3x8x8xf32, #tarpon.layout<nchw5c>>)

// -----

// C2
// expected-error@below {{expects a tensor of rank 3 or more for layout nhwc, got rank 2}}
func.func private @low_rank(tensor<3x8xf32, #tarpon.layout<nhwc>>)

// -----

// C3
// expected-error@below {{expects no encoding on a row-major tensor, got nchw}}
func.func private @nchw_has_one_spelling(tensor<1x3x8x8xf32, #tarpon.layout<nchw>>)

// -----

// C4
// expected-error@below {{expects a pitch for nhwc only, got blocked}}
func.func private @pitch_of_blocks(tensor<1x8x8x8xf32, #tarpon.layout<nchw8c, pitch = 16>>)

// -----

// C4
// expected-error@below {{expects a pitch that is not negative, got -4}}
func.func private @negative_pitch(tensor<1x3x8x8xf32, #tarpon.layout<nhwc, pitch = -4>>)

// -----

// C5
// expected-error@below {{expects a pitch of more than the 3 channels, got 3}}
func.func private @small_pitch(tensor<1x3x8x8xf32, #tarpon.layout<nhwc, pitch = 3>>)

// -----

// problem: a key
// expected-error@below {{'relu(' is not a problem key: it does not have the form of one}}
func.func private @f() attributes {a = #tarpon.problem<"relu(">}

// -----

// problem C1
// expected-error@below {{'relu(5xf32)->4xf32' is not a problem key: relu has a result of 4, expected 5}}
func.func private @f() attributes {a = #tarpon.problem<"relu(5xf32)->4xf32">}

// -----

// problem: scales of each quantised tensor
// expected-error@below {{expected ','}}
func.func private @f() attributes {a = #tarpon.problem<"relu(4xu8q)->4xu8q", 0.5>}

// -----

// problem: scales of no other tensor
// expected-error@below {{expected '>'}}
func.func private @f() attributes {a = #tarpon.problem<"relu(4xf32)->4xf32", 0.5>}

// -----

// problem: scales are written with a point
// expected-error@below {{unexpected decimal integer literal for a floating point value}}
// expected-note@below {{add a trailing dot to make the literal a float}}
func.func private @f() attributes {a = #tarpon.problem<"relu(4xu8q)->4xf32", 1>}

// -----

// problem: where several scales belong
// expected-error@below {{expected 'along'}}
func.func private @f() attributes {a = #tarpon.problem<"relu(2xu8q)->2xf32", {0.5, 0.25}>}

// -----

// problem C2: how many
// expected-error@below {{expects a problem that a graph can pose: a tensor has 3 scales, expected 2}}
func.func private @f() attributes {a = #tarpon.problem<"relu(2x4xi8q)->2x4xf32", {0.5, 0.25, 0.125} along 0>}

// -----

// problem C2: the dimension
// expected-error@below {{expects a problem that a graph can pose: scales along dimension 2 of a tensor of rank 2}}
func.func private @f() attributes {a = #tarpon.problem<"relu(2x4xi8q)->2x4xf32", {0.5, 0.25} along 2>}

// -----

// problem C2: positive
// expected-error@below {{expects a problem that a graph can pose: a scale is not a positive number}}
func.func private @f() attributes {a = #tarpon.problem<"relu(4xu8q)->4xf32", -0.5>}

// -----

// problem C3
// expected-error@below {{expects a problem that a graph can pose: a zero point is 200, expected -128 to 127}}
func.func private @f() attributes {a = #tarpon.problem<"relu(4xf32)->4xi8q", 0.5 : 200>}

// -----

// problem C3
// expected-error@below {{expects a problem that a graph can pose: a zero point is -1, expected 0 to 255}}
func.func private @f() attributes {a = #tarpon.problem<"relu(4xu8q)->4xf32", 0.5 : -1>}

// -----

// solution: its config
// expected-error@below {{expects a perf config as in "tile_m=14,tile_n=32", got "tile_m=wide"}}
func.func private @f() attributes {a = #tarpon.solution<"reference-v1", "tile_m=wide", "default">}

// -----

// solution: each field once
// expected-error@below {{expects a perf config as in "tile_m=14,tile_n=32", got "a=1,a=2"}}
func.func private @f() attributes {a = #tarpon.solution<"reference-v1", "a=1,a=2", "default">}

// -----

// solution: a string
// expected-error@below {{expected string}}
func.func private @f() attributes {a = #tarpon.solution<"reference-v1", {tile_m = 14}, "default">}
