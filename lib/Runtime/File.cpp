//===- File.cpp - Whole files read and written ------------------*- C++ -*-===//
//
// Part of Tarpon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tarpon/Runtime/File.h"

#include <atomic>
#include <cerrno>
#include <fcntl.h>
#include <sys/stat.h>
#include <system_error>
#include <unistd.h>

namespace tarpon::runtime {

static std::string errnoText(int code) {
  return std::generic_category().message(code);
}

static Error cannot(const char *verb, const std::string &path,
                    const std::string &why) {
  return {std::string("cannot ") + verb + " '" + path + "': " + why};
}

//===----------------------------------------------------------------------===//
// Reading
//===----------------------------------------------------------------------===//

Result<InputFile> InputFile::open(const std::string &path) {
  // Non-blocking, so that a pipe without a writer is refused, not waited for.
  int descriptor = ::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK);
  if (descriptor < 0)
    return cannot("read", path, errnoText(errno));
  InputFile file(path, descriptor, 0);
  struct stat info;
  if (fstat(descriptor, &info) != 0)
    return cannot("read", path, errnoText(errno));
  if (!S_ISREG(info.st_mode))
    return cannot("read", path, "not a regular file");
  file.bytes = info.st_size;
  return file;
}

InputFile::~InputFile() {
  if (descriptor >= 0)
    close(descriptor);
}

InputFile::InputFile(InputFile &&other) noexcept
    : path(std::move(other.path)),
      descriptor(std::exchange(other.descriptor, -1)), bytes(other.bytes) {}

Status InputFile::read(int64_t offset, std::span<char> destination) const {
  while (!destination.empty()) {
    ssize_t count =
        pread(descriptor, destination.data(), destination.size(), offset);
    if (count < 0 && errno == EINTR)
      continue;
    if (count < 0)
      return cannot("read", path, errnoText(errno));
    if (count == 0)
      return cannot("read", path, "it ends too early");
    destination = destination.subspan(static_cast<size_t>(count));
    offset += count;
  }
  return success();
}

//===----------------------------------------------------------------------===//
// Writing
//===----------------------------------------------------------------------===//

/// 0, or the errno of the failure.
static int writeAll(int descriptor, std::span<const char> bytes) {
  while (!bytes.empty()) {
    ssize_t count = write(descriptor, bytes.data(), bytes.size());
    if (count < 0 && errno == EINTR)
      continue;
    if (count < 0)
      return errno;
    bytes = bytes.subspan(static_cast<size_t>(count));
  }
  return 0;
}

static int writePieces(int descriptor,
                       std::initializer_list<std::span<const char>> pieces) {
  for (std::span<const char> piece : pieces)
    if (int code = writeAll(descriptor, piece))
      return code;
  return fsync(descriptor) == 0 ? 0 : errno;
}

/// Makes the rename itself durable. A file system that cannot sync a folder
/// still has the file, so this is done as well as it can be.
static void syncFolderOf(const std::string &path) {
  size_t slash = path.rfind('/');
  std::string folder = slash == std::string::npos ? "." : path.substr(0, slash);
  int descriptor = open(folder.empty() ? "/" : folder.c_str(),
                        O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (descriptor < 0)
    return;
  fsync(descriptor);
  close(descriptor);
}

Status
writeFileAtomically(const std::string &path,
                    std::initializer_list<std::span<const char>> pieces) {
  // Unique among the threads of this process and among processes.
  static std::atomic<unsigned> counter = 0;
  std::string temporary = path + ".tmp-" + std::to_string(getpid()) + "-" +
                          std::to_string(counter.fetch_add(1));
  int descriptor =
      open(temporary.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
  if (descriptor < 0)
    return cannot("write", path, errnoText(errno));
  int code = writePieces(descriptor, pieces);
  if (close(descriptor) != 0 && code == 0)
    code = errno;
  if (code == 0 && rename(temporary.c_str(), path.c_str()) != 0)
    code = errno;
  if (code != 0) {
    unlink(temporary.c_str());
    return cannot("write", path, errnoText(code));
  }
  syncFolderOf(path);
  return success();
}

} // namespace tarpon::runtime
