//===- OutputPipe.h - The end of what a process writes ----------*- C++ -*-===//
//
// Part of Tarpon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TARPON_RUNTIME_OUTPUTPIPE_H
#define TARPON_RUNTIME_OUTPUTPIPE_H

#include "tarpon/Runtime/Result.h"

#include <cstddef>
#include <cstdint>
#include <string>

namespace tarpon::runtime {

/// The largest part of an output that is kept.
inline constexpr size_t kMostOutputBytes = size_t(64) << 10;

/// The end of an output, and the number of bytes in front of it that were not
/// kept.
struct OutputTail {
  std::string text;
  int64_t cutBytes = 0;
};

/// A pipe for a process that may write anything, and without end. Whoever waits
/// for the process has to look at the pipe, too (poll): a writer stops when it
/// is full. Not thread-safe.
class OutputPipe {
public:
  OutputPipe() = default;
  ~OutputPipe();
  OutputPipe(const OutputPipe &) = delete;
  OutputPipe &operator=(const OutputPipe &) = delete;

  /// Does nothing if the pipe is open. Both ends are closed by exec.
  Status open();

  /// The ends; -1 before the pipe is open.
  int getReader() const { return reader; }
  int getWriter() const { return writer; }

  /// Reads what there is; returns soon, even if the writer never stops.
  void drain();

  /// Returns what was written since the last call.
  OutputTail take();

private:
  void cut();

  int reader = -1, writer = -1;
  OutputTail tail;
};

} // namespace tarpon::runtime

#endif // TARPON_RUNTIME_OUTPUTPIPE_H
