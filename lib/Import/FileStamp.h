//===- FileStamp.h - Tells if a file has changed ----------------*- C++ -*-===//
//
// Part of Tarpon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TARPON_LIB_IMPORT_FILESTAMP_H
#define TARPON_LIB_IMPORT_FILESTAMP_H

#include "llvm/Support/Chrono.h"
#include "llvm/Support/FileSystem.h"

#include <string>

namespace tarpon {

/// Remembers the size and time of a file before it is opened and mapped. An
/// exporter that writes it meanwhile changes bytes that were read, or are yet
/// to be; one that puts another file in its place does not.
class FileStamp {
public:
  explicit FileStamp(std::string path);

  /// Returns true if the same file has another size or time now.
  bool hasChanged() const;
  const std::string &getPath() const { return path; }

private:
  std::string path;
  llvm::sys::fs::file_status status;
};

} // namespace tarpon

#endif // TARPON_LIB_IMPORT_FILESTAMP_H
