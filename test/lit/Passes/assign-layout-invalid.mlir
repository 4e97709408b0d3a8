// RUN: graph-opt %s -tarpon-assign-layout=layout=chwn -verify-diagnostics

// expected-error@below {{expects the layout to be nchw, nhwc or blocked as nchw16c, got 'chwn'}}
func.func @unknown_layout() {
  return
}
