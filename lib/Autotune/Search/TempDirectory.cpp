//===- TempDirectory.cpp - A folder that is gone at the end ---------------===//
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
#include <sys/statvfs.h>

using namespace tarpon;
namespace fs = llvm::sys::fs;

/// Less free shared memory than that is left to others.
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

/// Names are "tarpon-<process id>-XXXXXX", see ProcessId.h.
static void removeOrphans(const std::string &parent) {
  std::error_code error;
  for (fs::directory_iterator it(parent, error), end; it != end && !error;
       it.increment(error)) {
    llvm::StringRef name = llvm::sys::path::filename(it->path());
    if (!name.consume_front(kPrefix))
      continue;
    llvm::StringRef owner = name.rsplit('-').first;
    if (isProcessGone(owner))
      (void)fs::remove_directories(it->path());
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

TempDirectory::~TempDirectory() { (void)fs::remove_directories(path); }
