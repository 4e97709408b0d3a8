//===- OutputPipe.cpp - The end of what a process writes --------*- C++ -*-===//
//
// Part of Tarpon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tarpon/Runtime/OutputPipe.h"

#include <cerrno>
#include <fcntl.h>
#include <system_error>
#include <unistd.h>
#include <utility>

using namespace tarpon::runtime;

OutputPipe::~OutputPipe() {
  for (int end : {reader, writer})
    if (end >= 0)
      close(end);
}

Status OutputPipe::open() {
  if (reader >= 0)
    return success();
  int ends[2];
  if (pipe2(ends, O_CLOEXEC) != 0)
    return Error{std::generic_category().message(errno)};
  // The writer waits, and the reader does not.
  (void)fcntl(ends[0], F_SETFL, O_NONBLOCK);
  reader = ends[0];
  writer = ends[1];
  return success();
}

void OutputPipe::cut() {
  if (tail.text.size() <= kMostOutputBytes)
    return;
  size_t excess = tail.text.size() - kMostOutputBytes;
  tail.text.erase(0, excess);
  tail.cutBytes += static_cast<int64_t>(excess);
}

void OutputPipe::drain() {
  constexpr int kMostBlocks = 64;
  char block[16384];
  for (int i = 0; reader >= 0 && i < kMostBlocks; ++i) {
    ssize_t count = read(reader, block, sizeof(block));
    if (count < 0 && errno == EINTR)
      continue;
    if (count <= 0)
      return;
    tail.text.append(block, static_cast<size_t>(count));
    if (tail.text.size() > 2 * kMostOutputBytes)
      cut();
  }
}

OutputTail OutputPipe::take() {
  drain();
  cut();
  return std::exchange(tail, {});
}
