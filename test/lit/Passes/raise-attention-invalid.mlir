// RUN: graph-opt %s -tarpon-raise-attention=dtype=int8 -verify-diagnostics

// expected-error@below {{expects the dtype to be fp32, fp16 or bf16, got 'int8'}}
func.func @quantised() {
  return
}
