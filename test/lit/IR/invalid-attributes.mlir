// RUN: graph-opt %s -split-input-file -verify-diagnostics

// The constraints of attributes by their numbers, and their syntax.

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

// #tarpon.problem, C1
// expected-error@below {{'relu(5xf32)->4xf32' is not a problem key: relu has a result of 4, expected 5}}
func.func private @no_problem() attributes {p = #tarpon.problem<"relu(5xf32)->4xf32">}

// -----

// C1
// expected-error@below {{'relu(' is not a problem key: it does not have the form of one}}
func.func private @no_key() attributes {p = #tarpon.problem<"relu(">}

// -----

// C2
// expected-error@below {{expected ','}}
func.func private @no_scales() attributes {p = #tarpon.problem<"relu(4xi8q)->4xi8q", {0.5}>}

// -----

// C3
// expected-error@below {{expects 1 scales, got 2}}
func.func private @many_scales() attributes {p = #tarpon.problem<"relu(4xi8q)->4xi8q", {0.5, 0.5}, {0.5}>}

// -----

// C3
// expected-error@below {{expects 4 scales, got 1}}
func.func private @few_scales() attributes {p = #tarpon.problem<"relu(4xi8q)->4xi8q", {0.5} along 0, {0.5}>}

// -----

// C3
// expected-error@below {{expects scales along a dimension of rank 1, got 1}}
func.func private @no_dimension() attributes {p = #tarpon.problem<"relu(4xi8q)->4xi8q", {0.5} along 1, {0.5}>}

// -----

// expected-error@below {{expects a perf config of 64-bit integers, got {tile_m = 1 : i32}}}
func.func private @no_config() attributes {s = #tarpon.solution<"s", {tile_m = 1 : i32}, "default">}
