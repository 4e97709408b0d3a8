// RUN: graph-opt %s -split-input-file -verify-diagnostics

// The constraints of #tarpon.layout by their numbers, and its syntax.

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
