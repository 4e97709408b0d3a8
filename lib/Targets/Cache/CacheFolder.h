//===- CacheFolder.h - The files of a kernel cache --------------*- C++ -*-===//
//
// Part of Tarpon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TARPON_LIB_TARGETS_CACHE_CACHEFOLDER_H
#define TARPON_LIB_TARGETS_CACHE_CACHEFOLDER_H

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Path.h"

#include <string>

namespace tarpon {

/// The path of a kernel's file.
inline std::string getKernelPath(llvm::StringRef folder,
                                 llvm::StringRef digest) {
  return (folder + "/kernels/" + digest.take_front(2) + "/" + digest).str();
}

/// Returns true for a SHA-256 in lower-case hexadecimal digits.
inline bool isKernelDigest(llvm::StringRef name) {
  return name.size() == 64 && llvm::all_of(name, [](char c) {
           return llvm::isDigit(c) || (c >= 'a' && c <= 'f');
         });
}

/// Calls `visit` with the path of each entry of a folder. A folder that cannot
/// be read has none.
template <typename Fn>
void visitFolder(const std::string &folder, Fn visit) {
  std::error_code error;
  // Links are not followed: their targets are not ours.
  for (llvm::sys::fs::directory_iterator it(folder, error, false), end;
       it != end && !error; it.increment(error))
    visit(it->path());
}

/// Calls `visit(path, name)` for all files of a folder's kernels. The folder is
/// ROOT/TARGET-BUILD, or ROOT itself in older versions.
template <typename Fn>
void visitKernelFiles(const std::string &folder, Fn visit) {
  visitFolder(folder + "/kernels", [&](const std::string &part) {
    llvm::StringRef prefix = llvm::sys::path::filename(part);
    if (prefix.size() != 2 || !llvm::all_of(prefix, llvm::isHexDigit))
      return;
    visitFolder(part, [&](const std::string &path) {
      visit(path, llvm::sys::path::filename(path));
    });
  });
}

} // namespace tarpon

#endif // TARPON_LIB_TARGETS_CACHE_CACHEFOLDER_H
