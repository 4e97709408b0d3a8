//===- KernelCache.h - Compiled kernels on disk -*- C++ -*-===//
//
// Part of Tarpon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TARPON_TARGETS_HOST_KERNELCACHE_H
#define TARPON_TARGETS_HOST_KERNELCACHE_H

#include <atomic>
#include <optional>
#include <string>
#include <vector>

namespace tarpon {

/// A folder of checksummed files, named by a digest of everything that made
/// them. Safe for many threads and processes: files are written to temporary
/// names and renamed. A damaged file counts as absent and is replaced.
///
/// This is the bare folder, which grows without bound; programs use
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
  std::string directory;
  std::atomic<bool> reportedFailure = false;
};

} // namespace tarpon

#endif // TARPON_TARGETS_HOST_KERNELCACHE_H
