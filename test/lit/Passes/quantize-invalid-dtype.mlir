// RUN: graph-opt %s -tarpon-quantize=dtype=fp8 -verify-diagnostics

// expected-error@below {{expects the dtype to be fp32, fp16, bf16 or int8, got 'fp8'}}
func.func @unknown_dtype() {
  return
}
