// RUN: graph-opt %s -tarpon-split-regions -verify-diagnostics

!x = tensor<2x2xf32>
func.func @int8(%x: !x) -> !x {
  // expected-error @+1 {{cannot be split in int8: the ranges of the values within it are unknown}}
  %0 = tarpon.fused(%a = %x) : (!x) -> !x attributes {tarpon.precision = "int8", tarpon.unfused} {
    %1 = tarpon.relu %a : (!x) -> !x
    %2 = tarpon.abs %1 : (!x) -> !x
    tarpon.yield %2 : !x
  }
  return %0 : !x
}
