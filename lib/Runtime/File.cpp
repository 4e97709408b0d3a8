//===- File.cpp - Reads and writes whole files ------------------*- C++ -*-===//
//
// Part of Tarpon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tarpon/Runtime/File.h"

#include "tarpon/Runtime/TemporaryFile.h"

#include <cerrno>
#include <fcntl.h>
#include <filesystem>
#include <optional>
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
  // Non-blocking, so that a pipe without a writer is refused instead of waited
  // for.
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
// Comparing
//===----------------------------------------------------------------------===//

/// Resolves the place that writing to `path` leads to: it is no symbolic link,
/// and need not exist. Fails if it is unknown, for example for a cycle of
/// links.
static Result<std::string> resolve(const std::string &path) {
  namespace fs = std::filesystem;
  constexpr int kMaxLinks = 40;
  fs::path place = path;
  std::error_code code;
  for (int links = 0; fs::is_symlink(fs::symlink_status(place, code));
       ++links) {
    fs::path target = fs::read_symlink(place, code);
    if (code)
      return cannot("write", path, code.message());
    if (links == kMaxLinks)
      return cannot("write", path, errnoText(ELOOP));
    place = place.parent_path() / target;
  }
  return place.string();
}

bool isSameFile(const std::string &a, const std::string &b) {
  struct stat first, second;
  bool hasFirst = stat(a.c_str(), &first) == 0;
  bool hasSecond = stat(b.c_str(), &second) == 0;
  if (hasFirst != hasSecond)
    return false;
  if (hasFirst)
    return (S_ISREG(first.st_mode) || S_ISDIR(first.st_mode)) &&
           first.st_dev == second.st_dev && first.st_ino == second.st_ino;
  Result<std::string> placeA = resolve(a), placeB = resolve(b);
  if (!placeA || !placeB)
    return false;
  std::error_code code;
  auto canonical = [&](const std::string &place) {
    return std::filesystem::weakly_canonical(
        std::filesystem::absolute(place, code), code);
  };
  return canonical(*placeA) == canonical(*placeB);
}

//===----------------------------------------------------------------------===//
// Writing
//===----------------------------------------------------------------------===//

/// Returns 0, or the errno of the failure.
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
  return 0;
}

/// Makes the rename itself durable. If a file system cannot sync a folder, the
/// file exists all the same, so that failures are ignored.
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

static bool isNullDevice(const struct stat &info) {
  struct stat null;
  return S_ISCHR(info.st_mode) && stat("/dev/null", &null) == 0 &&
         info.st_rdev == null.st_rdev;
}

/// Writes and syncs; the lock is released when the file has its name. Returns
/// 0, or the errno of the failure.
static int replaceFile(const std::string &target, std::optional<mode_t> mode,
                       std::initializer_list<std::span<const char>> pieces) {
  TemporaryFile temporary(target);
  if (int code = temporary.open(mode.value_or(0666)))
    return code;
  // The mode is set before the file has contents that others must not read.
  if (mode && fchmod(temporary.descriptor(), *mode) != 0)
    return errno;
  if (int code = writePieces(temporary.descriptor(), pieces))
    return code;
  if (fsync(temporary.descriptor()) != 0)
    return errno;
  return temporary.replaceTarget();
}

/// `target` is no link; `mode` is that of the file that is replaced, if any.
static Status replaceFile(const std::string &path, const std::string &target,
                          std::optional<mode_t> mode,
                          std::initializer_list<std::span<const char>> pieces) {
  if (int code = replaceFile(target, mode, pieces))
    return cannot("write", path, errnoText(code));
  syncFolderOf(target);
  return success();
}

Status
writeFileAtomically(const std::string &path,
                    std::initializer_list<std::span<const char>> pieces) {
  // If it were opened again, standard output to a file would be written from
  // its start.
  if (path == "/dev/stdout") {
    if (int code = writePieces(STDOUT_FILENO, pieces))
      return cannot("write", path, errnoText(code));
    return success();
  }
  Result<std::string> target = resolve(path);
  if (!target)
    return target.error();
  struct stat info;
  if (stat(target->c_str(), &info) != 0)
    return replaceFile(path, *target, std::nullopt, pieces);
  if (isNullDevice(info))
    return success();
  if (!S_ISREG(info.st_mode))
    return cannot("write", path, "not a regular file");
  return replaceFile(path, *target, info.st_mode & 07777, pieces);
}

} // namespace tarpon::runtime
