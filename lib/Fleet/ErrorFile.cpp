//===- ErrorFile.cpp - The errors that a builder writes -------------------===//
//
// Part of Tarpon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "ErrorFile.h"

#include "tarpon/Page/SafeText.h"

#include "llvm/Support/raw_ostream.h"

#include <algorithm>
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

using namespace tarpon;
using namespace tarpon::fleet;
using runtime::kMostOutputBytes;
using runtime::OutputTail;

static std::string describeCut(int64_t bytes) {
  return "(" + std::to_string(bytes) + " bytes before this were left out)\n";
}

std::string tarpon::fleet::quoteErrors(llvm::StringRef who,
                                       const OutputTail &errors) {
  if (errors.text.empty())
    return "";
  std::string quoted = who.str() + " wrote:\n";
  if (errors.cutBytes > 0)
    quoted += describeCut(errors.cutBytes);
  for (llvm::StringRef left = errors.text; !left.empty();) {
    auto [line, rest] = left.split('\n');
    quoted += ("| " + line + "\n").str();
    left = rest;
  }
  return quoted;
}

/// A process that appends does not care where the other one reads.
ErrorFile::ErrorFile(std::atomic<int64_t> &taken)
    : taken(taken), file(memfd_create("tarpon-errors", MFD_CLOEXEC)) {
  if (file >= 0)
    (void)fcntl(file, F_SETFL, O_APPEND);
}

ErrorFile::~ErrorFile() {
  if (file >= 0)
    close(file);
}

void ErrorFile::redirect() const {
  if (file >= 0)
    (void)dup2(file, STDERR_FILENO);
}

int64_t ErrorFile::getSize() const {
  struct stat status;
  return file >= 0 && fstat(file, &status) == 0 ? status.st_size : 0;
}

int64_t ErrorFile::countHeldBytes() const {
  constexpr int64_t kBlock = 512;
  struct stat status;
  return file >= 0 && fstat(file, &status) == 0 ? status.st_blocks * kBlock : 0;
}

OutputTail ErrorFile::read(int64_t begin, int64_t end) const {
  constexpr auto kMost = static_cast<int64_t>(kMostOutputBytes);
  OutputTail tail;
  int64_t first = std::max(begin, end - kMost);
  tail.cutBytes = first - begin;
  tail.text.resize(static_cast<size_t>(end - first));
  ssize_t count = pread(file, tail.text.data(), tail.text.size(), first);
  tail.text.resize(static_cast<size_t>(std::max<ssize_t>(count, 0)));
  return tail;
}

OutputTail ErrorFile::take() {
  int64_t end = getSize();
  return read(std::min(taken.exchange(end), end), end);
}

void ErrorFile::showSome(bool isEnded) {
  // More than either process may be about to read.
  constexpr auto kKept = static_cast<int64_t>(16 * kMostOutputBytes);
  int64_t end = getSize();
  if (end == shown)
    return;
  OutputTail tail = read(shown, end);
  llvm::StringRef lines = tail.text;
  if (!isEnded && lines.size() < kMostOutputBytes)
    lines = lines.take_front(lines.rfind('\n') + 1);
  if (tail.cutBytes > 0)
    llvm::errs() << describeCut(tail.cutBytes);
  llvm::errs() << showLines(lines);
  // A full disk loses lines, and not the worker.
  llvm::errs().clear_error();
  shown += tail.cutBytes + static_cast<int64_t>(lines.size());
  if (end - freed < 2 * kKept)
    return;
  (void)fallocate(file, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, 0,
                  end - kKept);
  freed = end - kKept;
}
