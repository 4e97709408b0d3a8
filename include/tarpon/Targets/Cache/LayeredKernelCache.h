//===- LayeredKernelCache.h - A user's kernels over installed ones -*- C++ -*-//
//
// Part of Tarpon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The kernel cache of programs: the kernels that this user has compiled, up to
// a limit, and below them those that Tarpon was installed with. Both have the
// same form:
//
//   ROOT/TARGET-BUILD/kernels/01/0123...   one compressed, checksummed file per
//                                          kernel (KernelCache.h)
//
// TARGET-BUILD names the target and digests everything else that all kernels of
// one build for one target have in common, so that they can be exported
// together. Files of older versions in ROOT/kernels are never read, and are
// evicted as the least recently used.
//
//===----------------------------------------------------------------------===//

#ifndef TARPON_TARGETS_CACHE_LAYEREDKERNELCACHE_H
#define TARPON_TARGETS_CACHE_LAYEREDKERNELCACHE_H

#include "tarpon/Runtime/Result.h"
#include "tarpon/Solver/TargetInfo.h"
#include "tarpon/Targets/Compiler/KernelCache.h"
#include "tarpon/Targets/Compiler/KernelCompiler.h"
#include "tarpon/Targets/Target.h"

#include <cstdint>
#include <memory>
#include <string>

namespace tarpon {

class CacheLimiter;

/// The default limit of a user's cache, which $TARPON_CACHE_LIMIT overrides.
/// Tuning the eight networks and all convolutions of benchmarks/ takes 12 MiB,
/// so that this is room for many builds.
inline constexpr int64_t kDefaultCacheLimitBytes = int64_t(1) << 30;

struct KernelCacheOptions {
  /// The user's folder; the first write creates it.
  std::string userDirectory;
  /// The installed folder, which is only read; "" for none.
  std::string systemDirectory;
  /// The limit of the user's folder, in bytes of files; 0 for no limit.
  int64_t limitBytes = kDefaultCacheLimitBytes;

  /// As documented for KernelCache::defaultDirectory, getSystemKernelDirectory
  /// and $TARPON_CACHE_LIMIT, in MiB. A limit that is no number is reported
  /// once on stderr, and the default is used.
  static KernelCacheOptions fromEnvironment();
};

/// Safe for many threads and processes. A failure costs only time: a kernel
/// that cannot be read is compiled, one that cannot be written is not kept.
class LayeredKernelCache final : public KernelCache {
public:
  /// For kernels of this build for `target`.
  LayeredKernelCache(const KernelCacheOptions &options,
                     const TargetInfo &target);
  ~LayeredKernelCache() override;

  /// Reads the user's kernel, else the installed one. A use updates the time
  /// stamp of the user's file, at most once an hour.
  std::optional<std::vector<char>>
  read(const std::string &digest) const override;
  /// Writes to the user's folder. When it exceeds its limit, the least recently
  /// used files of any build are deleted until an eighth of it is free.
  void write(const std::string &digest,
             const std::vector<char> &bytes) override;

private:
  std::string userFolder;
  std::unique_ptr<KernelCache> system;
  std::unique_ptr<CacheLimiter> limiter;
};

/// The name of the folder of this build's kernels for `target` in a cache:
/// "x86-64-znver5-512-0123456789abcdef".
std::string getKernelFolderName(const TargetInfo &target);

/// $TARPON_SYSTEM_CACHE_DIR, else share/tarpon/kernels beside the folder of
/// this program.
std::string getSystemKernelDirectory();

/// Opens the user's cache for `target`, as the environment says.
std::shared_ptr<KernelCache> openKernelCache(const TargetInfo &target);

/// Makes the compiler of a target's kernels, which uses that cache.
std::unique_ptr<KernelCompiler> openKernelCompiler(const Target &target);

struct ExportedKernels {
  int64_t kernels = 0;
  /// The size of the files that were written.
  int64_t bytes = 0;
  /// The number of the user's files that were damaged and left out.
  int64_t damaged = 0;
};

/// Copies the kernels of this build for `target` from the user's cache
/// `directory` to the cache `output`, which can be installed as a system cache.
/// Existing files of these kernels are written again; all others stay. An error
/// if there are no kernels to copy, or if one cannot be written.
runtime::Result<ExportedKernels> exportKernels(const TargetInfo &target,
                                               const std::string &directory,
                                               const std::string &output);

} // namespace tarpon

#endif // TARPON_TARGETS_CACHE_LAYEREDKERNELCACHE_H
