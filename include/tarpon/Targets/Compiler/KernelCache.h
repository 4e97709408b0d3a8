//===- KernelCache.h - Compiled kernels on disk -----------------*- C++ -*-===//
//
// Part of Tarpon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TARPON_TARGETS_COMPILER_KERNELCACHE_H
#define TARPON_TARGETS_COMPILER_KERNELCACHE_H

#include "llvm/ADT/StringRef.h"

#include <atomic>
#include <optional>
#include <string>
#include <vector>

namespace tarpon {

/// A folder of checksummed files, named by a digest of everything that made
/// them. Safe for many threads and processes: files are written to temporary
/// names and renamed. A damaged file counts as absent and is replaced.
///
/// Folders are made with mode 0700 and files with 0600. A file counts as
/// absent, and a folder as empty and read-only, if anybody but this user and
/// root owns it or can write to it; a remark on stderr names the first one.
///
/// This class is the bare folder, which grows without bound; programs use
/// openKernelCache of LayeredKernelCache.h.
class KernelCache {
public:
  explicit KernelCache(std::string directory);
  virtual ~KernelCache() = default;

  /// $TARPON_CACHE_DIR, else $XDG_CACHE_HOME/tarpon, else ~/.cache/tarpon.
  static std::string defaultDirectory();

  virtual std::optional<std::vector<char>>
  read(const std::string &digest) const;
  /// Failure to write (a full or read-only disk) is reported once on stderr as
  /// a remark and otherwise ignored: the cache only saves time.
  virtual void write(const std::string &digest, const std::vector<char> &bytes);

private:
  bool isTrusted() const;
  /// Reports a reason in a remark; returns true if there is one.
  bool reportDistrust(llvm::StringRef path, const std::string &reason) const;

  std::string directory;
  std::atomic<bool> reportedFailure = false;
  mutable std::atomic<bool> reportedDistrust = false;
};

} // namespace tarpon

#endif // TARPON_TARGETS_COMPILER_KERNELCACHE_H
