//===- SystemStore.cpp - The records shipped with Tarpon ------------------===//
//
// Part of Tarpon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tarpon/Autotune/Store/SystemStore.h"

#include "tarpon/Targets/Cache/ShareDirectory.h"

#include "llvm/ADT/SmallString.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Path.h"

#include <cstdlib>

using namespace tarpon;
using runtime::Error;
using runtime::Result;
namespace path = llvm::sys::path;

std::string tarpon::getSystemStoreDirectory() {
  const char *directory = std::getenv("TARPON_SYSTEM_DB_PATH");
  if (directory && *directory)
    return directory;
  return getShareDirectory();
}

Result<std::unique_ptr<Journal>>
tarpon::openSystemStore(const TargetInfo &target) {
  llvm::SmallString<256> file(getSystemStoreDirectory());
  // The default folder may be missing, but one that the user names must exist.
  if (const char *named = std::getenv("TARPON_SYSTEM_DB_PATH");
      named && *named && !llvm::sys::fs::is_directory(file))
    return Error{"the system store is ignored: there is no folder " +
                 file.str().str() + ", which TARPON_SYSTEM_DB_PATH names"};
  path::append(file, path::filename(Journal::getDefaultPath(target)));
  if (!llvm::sys::fs::exists(file))
    return std::unique_ptr<Journal>();
  Result<std::unique_ptr<Journal>> journal = Journal::openReadOnly(
      file.str().str(), JournalContext::forTarget(target));
  if (!journal)
    return Error{"the system store is ignored: " + journal.message()};
  return journal;
}
