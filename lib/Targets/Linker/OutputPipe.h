//===- OutputPipe.h - An output file that is kept in memory -----*- C++ -*-===//
//
// Part of Tarpon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TARPON_LIB_TARGETS_LINKER_OUTPUTPIPE_H
#define TARPON_LIB_TARGETS_LINKER_OUTPUTPIPE_H

#include <atomic>
#include <string>
#include <system_error>
#include <thread>
#include <vector>

namespace tarpon {

/// A named pipe that a library writes its output to, as to a file, and that is
/// read meanwhile. A file would have to be on a disk, and LLVM ends the process
/// where that is full: it maps output files without reserving their room, and
/// what cannot be written is a fatal error.
class OutputPipe {
public:
  /// Makes the pipe at `path`, where there must be no file.
  explicit OutputPipe(const std::string &path);
  ~OutputPipe();
  OutputPipe(const OutputPipe &) = delete;
  OutputPipe &operator=(const OutputPipe &) = delete;

  std::error_code getError() const { return error; }

  /// Returns all that was written. The writer must have closed the pipe.
  std::vector<char> finish();

private:
  void read();

  std::error_code error;
  int descriptor = -1;
  std::atomic<bool> isClosed = false;
  std::vector<char> bytes;
  std::thread reader;
};

} // namespace tarpon

#endif // TARPON_LIB_TARGETS_LINKER_OUTPUTPIPE_H
