//===- LayeredKernelCache.h - A user's kernels over installed ones -*- C++ -*-//
//
// Part of Tarpon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The kernel cache of programs: what this user has compiled, up to a limit, and
// below it what Tarpon was installed with. Both have the same form:
//
//   ROOT/TARGET-BUILD/kernels/01/0123...   one compressed, checksummed file per
//                                          kernel (KernelCache.h)
//
// TARGET-BUILD names the target and digests everything else that all kernels of
// one build for one target have in common, so that they can be exported
// together. What older versions have left in ROOT/kernels is never read, and
// leaves as the least recently used.
//
//===----------------------------------------------------------------------===//

#ifndef TARPON_TARGETS_CACHE_LAYEREDKERNELCACHE_H
#define TARPON_TARGETS_CACHE_LAYEREDKERNELCACHE_H

#include "tarpon/Runtime/Result.h"
#include "tarpon/Solver/TargetInfo.h"
#include "tarpon/Targets/KernelCache.h"

#include <cstdint>
#include <memory>
#include <string>

namespace tarpon {

class CacheLimiter;

/// What a user's cache may hold unless $TARPON_CACHE_LIMIT says otherwise.
/// Tuning the eight networks and all convolutions of benchmarks/ leaves 12 MiB,
/// so that this is room for many builds.
inline constexpr int64_t kDefaultCacheLimitBytes = int64_t(1) << 30;

struct KernelCacheOptions {
  /// The user's folder, which is made by the first write.
  std::string userDirectory;
  /// The installed one, which is only read; "" for none.
  std::string systemDirectory;
  /// What the user's folder may hold, in bytes of files; 0 for no limit.
  int64_t limitBytes = kDefaultCacheLimitBytes;

  /// As documented for KernelCache::defaultDirectory,
  /// getSystemKernelDirectory and $TARPON_CACHE_LIMIT, in MiB. A limit that is
  /// no number is said once on stderr, and the default is used.
  static KernelCacheOptions fromEnvironment();
};

/// Safe for many threads and processes. Whatever fails costs time only: a
/// kernel that cannot be read is compiled, one that cannot be written is not
/// kept.
class LayeredKernelCache final : public KernelCache {
public:
  /// For kernels of this build for `target`.
  LayeredKernelCache(const KernelCacheOptions &options,
                     const TargetInfo &target);
  ~LayeredKernelCache() override;

  /// The user's kernel, else the installed one. That it was used is noted in
  /// the time of the user's file, at most once an hour.
  std::optional<std::vector<char>>
  read(const std::string &digest) const override;
  /// Writes to the user's folder. When that holds more than its limit, the
  /// least recently used files of any build leave it, until an eighth of it is
  /// free.
  void write(const std::string &digest,
             const std::vector<char> &bytes) override;

private:
  std::string userFolder;
  std::unique_ptr<KernelCache> system;
  std::unique_ptr<CacheLimiter> limiter;
};

/// "x86-64-znver5-512-0123456789abcdef": the folder of this build's kernels for
/// `target` in a cache.
std::string getKernelFolderName(const TargetInfo &target);

/// $TARPON_SYSTEM_CACHE_DIR, else share/tarpon/kernels beside the folder of
/// this program.
std::string getSystemKernelDirectory();

/// The cache of this user for `target`, as the environment says.
std::shared_ptr<KernelCache> openKernelCache(const TargetInfo &target);

struct ExportedKernels {
  int64_t kernels = 0;
  /// Of the files that were written.
  int64_t bytes = 0;
  /// Files of the user's that were damaged and left out.
  int64_t damaged = 0;
};

/// Copies the kernels of this build for `target` from the user's cache
/// `directory` to the cache `output`, which can be installed as a system cache.
/// Files that are there already are written again; all others stay. It is an
/// error if there are none to copy, or if one cannot be written.
runtime::Result<ExportedKernels> exportKernels(const TargetInfo &target,
                                               const std::string &directory,
                                               const std::string &output);

} // namespace tarpon

#endif // TARPON_TARGETS_CACHE_LAYEREDKERNELCACHE_H
