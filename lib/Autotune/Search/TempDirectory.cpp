//===- TempDirectory.cpp - A temporary folder -----------------------------===//
//
// Part of Tarpon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "TempDirectory.h"

#include "Store/ProcessId.h"

#include "llvm/ADT/StringRef.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Path.h"

#include <cerrno>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

using namespace tarpon;
namespace fs = llvm::sys::fs;

/// The free shared memory that is always left to others.
static constexpr uint64_t kMinShared = uint64_t(4) << 30;
static constexpr llvm::StringLiteral kPrefix = "tarpon-";

static std::string chooseParent() {
  struct statvfs info = {};
  if (statvfs("/dev/shm", &info) == 0 &&
      uint64_t(info.f_bavail) * info.f_frsize >= kMinShared &&
      fs::can_write("/dev/shm"))
    return "/dev/shm";
  const char *parent = std::getenv("TMPDIR");
  return parent && *parent ? parent : "/tmp";
}

/// Returns true if a folder is this user's, and no link to one: in a folder
/// that all users write to, others may have made it to have something deleted.
static bool isOwnFolder(const std::string &path) {
  struct stat info;
  return lstat(path.c_str(), &info) == 0 && S_ISDIR(info.st_mode) &&
         info.st_uid == geteuid();
}

/// Removes a folder without following links, even if a folder is replaced by a
/// link meanwhile: libstdc++ ensures that since GCC 12 (its bug 104161), LLVM's
/// remove_directories does not.
static void removeFolder(const std::string &path) {
  std::error_code ignored;
  std::filesystem::remove_all(path, ignored);
}

/// Removes the folders of dead processes. Their names are "tarpon-<process
/// id>-XXXXXX", see ProcessId.h.
static void removeOrphans(const std::string &parent) {
  std::error_code error;
  for (fs::directory_iterator it(parent, error, /*follow_symlinks=*/false), end;
       it != end && !error; it.increment(error)) {
    llvm::StringRef name = llvm::sys::path::filename(it->path());
    if (!name.consume_front(kPrefix))
      continue;
    llvm::StringRef owner = name.rsplit('-').first;
    if (isProcessGone(owner) && isOwnFolder(it->path()))
      removeFolder(it->path());
  }
}

runtime::Result<std::unique_ptr<TempDirectory>> TempDirectory::create() {
  std::string parent = chooseParent();
  removeOrphans(parent);
  std::string path = parent + "/" + kPrefix.str() + getProcessId() + "-XXXXXX";
  if (!mkdtemp(path.data()))
    return runtime::Error{"cannot make a temporary folder in " + parent + ": " +
                          std::strerror(errno)};
  return std::unique_ptr<TempDirectory>(new TempDirectory(path));
}

TempDirectory::~TempDirectory() { removeFolder(path); }
