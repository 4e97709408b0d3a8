//===- TempDirectory.h - A temporary folder ---------------------*- C++ -*-===//
//
// Part of Tarpon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TARPON_LIB_AUTOTUNE_SEARCH_TEMPDIRECTORY_H
#define TARPON_LIB_AUTOTUNE_SEARCH_TEMPDIRECTORY_H

#include "tarpon/Runtime/Result.h"

#include <memory>
#include <string>

namespace tarpon {

/// A private folder for the files that the evaluator reads. It is in shared
/// memory if there is room, since packages are synced when they are written;
/// else in $TMPDIR or /tmp. Folders left by killed runs are removed.
class TempDirectory {
public:
  static runtime::Result<std::unique_ptr<TempDirectory>> create();
  ~TempDirectory();
  TempDirectory(const TempDirectory &) = delete;
  TempDirectory &operator=(const TempDirectory &) = delete;

  std::string file(const std::string &name) const { return path + "/" + name; }

private:
  explicit TempDirectory(std::string path) : path(std::move(path)) {}
  std::string path;
};

} // namespace tarpon

#endif // TARPON_LIB_AUTOTUNE_SEARCH_TEMPDIRECTORY_H
