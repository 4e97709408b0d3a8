// RUN: graph-opt %s -tarpon-select-solutions=solver=nobody-v7 -verify-diagnostics

// expected-error@below {{expects the id of a solver, got 'nobody-v7'}}
func.func @unknown_solver() {
  return
}
