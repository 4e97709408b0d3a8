//===- ErrorFile.h - The errors that a builder writes -----------*- C++ -*-===//
//
// Part of Tarpon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TARPON_LIB_FLEET_ERRORFILE_H
#define TARPON_LIB_FLEET_ERRORFILE_H

#include "tarpon/Runtime/OutputPipe.h"

#include "llvm/ADT/StringRef.h"

#include <atomic>
#include <cstdint>
#include <string>

namespace tarpon::fleet {

/// The part of a job's log that holds what a process has written to its
/// standard error; "" if that is nothing. A mark in front of each line keeps it
/// from looking like the log's own.
std::string quoteErrors(llvm::StringRef who, const runtime::OutputTail &errors);

/// The standard error of a process, in memory that outlives the process,
/// however that ends. Made before the fork: the process writes, and either of
/// the two may take what was written. The process never waits for anybody.
class ErrorFile {
public:
  /// `taken`, which both processes share, is how much was taken.
  explicit ErrorFile(std::atomic<int64_t> &taken);
  ~ErrorFile();
  ErrorFile(const ErrorFile &) = delete;
  ErrorFile &operator=(const ErrorFile &) = delete;

  /// From now on, this process writes its errors there. Without a file, they go
  /// where they went.
  void redirect() const;

  /// Returns what was written since the last call, in whichever process.
  runtime::OutputTail take();

  /// Shows, on this process's standard error, the lines that were not shown
  /// yet, and frees the memory of what nobody will ask for. Called often.
  void show() { showSome(/*isEnded=*/false); }
  /// The same, with a last line that does not end.
  void showAll() { showSome(/*isEnded=*/true); }

  /// Returns how much memory it takes.
  int64_t countHeldBytes() const;

private:
  int64_t getSize() const;
  runtime::OutputTail read(int64_t begin, int64_t end) const;
  void showSome(bool isEnded);

  std::atomic<int64_t> &taken;
  int file;
  int64_t shown = 0, freed = 0;
};

} // namespace tarpon::fleet

#endif // TARPON_LIB_FLEET_ERRORFILE_H
