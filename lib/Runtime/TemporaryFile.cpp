//===- TemporaryFile.cpp - A file that replaces another one -----*- C++ -*-===//
//
// Part of Tarpon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tarpon/Runtime/TemporaryFile.h"

#include <algorithm>
#include <cerrno>
#include <cinttypes>
#include <cstdio>
#include <fcntl.h>
#include <filesystem>
#include <string_view>
#include <sys/file.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <unistd.h>

using namespace tarpon::runtime;
namespace fs = std::filesystem;

static constexpr std::string_view kMark = ".tmp-";
static constexpr size_t kSuffixDigits = 16;

/// Returns 16 digits that nobody can guess.
static std::string makeRandomSuffix() {
  uint64_t bits = 0;
  // Without random numbers, O_EXCL alone keeps others out.
  if (getrandom(&bits, sizeof(bits), 0) != sizeof(bits))
    bits = static_cast<uint64_t>(getpid());
  char digits[kSuffixDigits + 1];
  std::snprintf(digits, sizeof(digits), "%016" PRIx64, bits);
  return digits;
}

//===----------------------------------------------------------------------===//
// Files of killed processes
//===----------------------------------------------------------------------===//

static bool isTemporaryName(std::string_view name, std::string_view target) {
  if (!name.starts_with(target))
    return false;
  name.remove_prefix(target.size());
  return name.starts_with(kMark) &&
         name.size() == kMark.size() + kSuffixDigits &&
         std::all_of(name.begin() + kMark.size(), name.end(),
                     [](unsigned char c) { return std::isxdigit(c); });
}

/// Removes a file whose writer is gone. The lock is held meanwhile, so that no
/// writer can take the file for its own: see TemporaryFile::isLocked(). NFS
/// locks only files that are open for writing.
static void removeIfOrphan(const std::string &path) {
  int descriptor =
      open(path.c_str(), O_RDWR | O_NONBLOCK | O_NOFOLLOW | O_CLOEXEC);
  if (descriptor < 0)
    return;
  struct stat info;
  if (fstat(descriptor, &info) == 0 && S_ISREG(info.st_mode) &&
      info.st_uid == geteuid() && flock(descriptor, LOCK_EX | LOCK_NB) == 0)
    unlink(path.c_str());
  close(descriptor);
}

static void removeOrphans(const std::string &target) {
  fs::path path = target;
  std::string name = path.filename();
  fs::path folder = path.has_parent_path() ? path.parent_path() : ".";
  std::error_code code;
  for (fs::directory_iterator it(folder, code), end; !code && it != end;
       it.increment(code))
    if (isTemporaryName(it->path().filename().native(), name))
      removeIfOrphan(it->path());
}

//===----------------------------------------------------------------------===//
// The file
//===----------------------------------------------------------------------===//

/// Locks the file. Returns false if it was removed before: another process may
/// take it for an orphan before it is locked. File systems without locks refuse
/// them to that process, too.
bool TemporaryFile::isLocked() const {
  while (flock(handle, LOCK_EX) != 0 && errno == EINTR)
    continue;
  struct stat info;
  return fstat(handle, &info) != 0 || info.st_nlink > 0;
}

int TemporaryFile::create(mode_t mode) {
  name = target + std::string(kMark) + makeRandomSuffix();
  handle = ::open(name.c_str(),
                  O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, mode);
  if (handle < 0)
    return errno;
  if (isLocked())
    return 0;
  close(handle);
  handle = -1;
  return EEXIST;
}

int TemporaryFile::open(mode_t mode) {
  constexpr int kMaxTries = 16;
  removeOrphans(target);
  int code = EEXIST;
  for (int i = 0; i < kMaxTries && code == EEXIST; ++i)
    code = create(mode);
  return code;
}

int TemporaryFile::replaceTarget() {
  if (rename(name.c_str(), target.c_str()) != 0)
    return errno;
  name.clear();
  return 0;
}

TemporaryFile::~TemporaryFile() {
  if (handle < 0)
    return;
  if (!name.empty())
    unlink(name.c_str());
  close(handle);
}
