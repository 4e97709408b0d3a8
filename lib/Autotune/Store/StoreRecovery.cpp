//===- StoreRecovery.cpp - Sets damaged stores aside ----------------------===//
//
// Part of Tarpon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "StoreRecovery.h"

#include "llvm/Support/FileSystem.h"

#include <cerrno>
#include <fcntl.h>
#include <sys/file.h>
#include <system_error>
#include <unistd.h>

using namespace tarpon;
using runtime::Error;
using runtime::Result;
namespace fs = llvm::sys::fs;

StoreReplacementLock::StoreReplacementLock(const std::string &path)
    : descriptor(::open((path + ".lock").c_str(), O_RDWR | O_CREAT | O_CLOEXEC,
                        0666)) {
  if (descriptor >= 0)
    while (flock(descriptor, LOCK_EX) != 0 && errno == EINTR)
      continue;
}

StoreReplacementLock::~StoreReplacementLock() {
  if (descriptor >= 0)
    close(descriptor);
}

/// Returns a path that does not exist yet.
static std::string getFreePlace(const std::string &path) {
  for (int number = 1;; ++number) {
    std::string place = path + ".damaged-" + std::to_string(number);
    if (!fs::exists(place) && !fs::exists(place + "-wal") &&
        !fs::exists(place + "-journal"))
      return place;
  }
}

/// The logs are moved first: a new store must never be made beside the log of
/// an old one, which SQLite would play back into it. Processes that have the
/// old store open continue with it: SQLite detects that it was moved and leaves
/// the new one's log alone (SQLITE_FCNTL_HAS_MOVED).
Result<std::string> tarpon::setStoreAside(const std::string &path) {
  std::string place = getFreePlace(path);
  for (const char *suffix : {"-wal", "-journal", "-shm", ""}) {
    std::error_code error = fs::rename(path + suffix, place + suffix);
    bool isNone = error == std::errc::no_such_file_or_directory;
    if (error && !(isNone && *suffix))
      return Error{"it cannot be set aside as " + place + suffix + ": " +
                   error.message()};
  }
  return place;
}
