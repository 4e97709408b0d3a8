//===- FileStamp.cpp - Tells if a file has changed ------------------------===//
//
// Part of Tarpon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "FileStamp.h"

namespace fs = llvm::sys::fs;

namespace tarpon {

/// A file that is not there leaves the status of none.
static fs::file_status readStatus(const std::string &path) {
  fs::file_status status;
  (void)fs::status(path, status);
  return status;
}

FileStamp::FileStamp(std::string path)
    : path(std::move(path)), status(readStatus(this->path)) {}

bool FileStamp::hasChanged() const {
  fs::file_status now = readStatus(path);
  return now.getUniqueID() == status.getUniqueID() &&
         (now.getSize() != status.getSize() ||
          now.getLastModificationTime() != status.getLastModificationTime());
}

} // namespace tarpon
