// RUN: graph-opt %s -tarpon-assign-dtype=dtype=fp8 -verify-diagnostics

// expected-error@below {{expects the dtype to be fp32, fp16 or bf16, got 'fp8'}}
func.func @unknown_dtype() {
  return
}
