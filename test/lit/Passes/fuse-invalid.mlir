// RUN: graph-opt %s -tarpon-fuse=mode=maybe -verify-diagnostics

// expected-error@below {{expects the fusion mode to be on, producers or off, got 'maybe'}}
func.func @unknown_mode() {
  return
}
