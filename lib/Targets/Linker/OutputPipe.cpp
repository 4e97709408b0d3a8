//===- OutputPipe.cpp - An output file that is kept in memory -------------===//
//
// Part of Tarpon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "OutputPipe.h"

#include <array>
#include <cerrno>
#include <fcntl.h>
#include <poll.h>
#include <sys/stat.h>
#include <unistd.h>
#include <utility>

using namespace tarpon;

static std::error_code getLastError() {
  return {errno, std::generic_category()};
}

OutputPipe::OutputPipe(const std::string &path) {
  // Opened like this, it does not wait for a writer, who may never come.
  if (mkfifo(path.c_str(), S_IRUSR | S_IWUSR) == 0)
    descriptor = open(path.c_str(), O_RDONLY | O_NONBLOCK | O_CLOEXEC);
  if (descriptor < 0)
    error = getLastError();
  else
    reader = std::thread([this] { read(); });
}

OutputPipe::~OutputPipe() {
  finish();
  if (descriptor >= 0)
    close(descriptor);
}

/// Without a writer there is nothing to read, which is the end only once the
/// writer has been there.
void OutputPipe::read() {
  std::array<char, 1 << 16> chunk;
  while (true) {
    bool wasClosed = isClosed;
    ssize_t count = ::read(descriptor, chunk.data(), chunk.size());
    if (count > 0) {
      bytes.insert(bytes.end(), chunk.data(), chunk.data() + count);
      continue;
    }
    if (count < 0 && errno == EINTR)
      continue;
    if (wasClosed)
      return;
    // An end of file makes poll() return at once, over and over.
    constexpr int kMilliseconds = 1;
    if (count == 0) {
      ::poll(nullptr, 0, kMilliseconds);
    } else {
      pollfd wanted = {descriptor, POLLIN, 0};
      ::poll(&wanted, 1, kMilliseconds);
    }
  }
}

std::vector<char> OutputPipe::finish() {
  isClosed = true;
  if (reader.joinable())
    reader.join();
  return std::move(bytes);
}
