//===- LayeredKernelCache.cpp - A user's kernels over installed ones ------===//
//
// Part of Tarpon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tarpon/Targets/Cache/LayeredKernelCache.h"

#include "CacheFolder.h"
#include "CacheLimiter.h"
#include "CodeDigest.h"

#include "tarpon/Runtime/Sha256.h"
#include "tarpon/Targets/Cache/ShareDirectory.h"

#include "llvm/Config/llvm-config.h"
#include "llvm/Support/raw_ostream.h"

#include <algorithm>
#include <atomic>
#include <cstdlib>
#include <ctime>
#include <fcntl.h>
#include <sys/stat.h>

using namespace tarpon;

//===----------------------------------------------------------------------===//
// Places
//===----------------------------------------------------------------------===//

std::string tarpon::getKernelFolderName(const TargetInfo &target) {
  runtime::Sha256 digest;
  auto add = [&](llvm::StringRef part) {
    digest.update(std::to_string(part.size()) + ":").update(part);
  };
  // The common parts of all of KernelCompiler's digests.
  for (llvm::StringRef part :
       {TARPON_VERSION, TARPON_CODE_DIGEST, LLVM_VERSION_STRING})
    add(part);
  add(target.name());
  add(target.cpu);
  for (const std::string &feature : target.features)
    add(feature);
  std::string name = target.name();
  std::replace(name.begin(), name.end(), '/', '-');
  return name + "-" + digest.finishHex().substr(0, 16);
}

std::string tarpon::getSystemKernelDirectory() {
  const char *directory = std::getenv("TARPON_SYSTEM_CACHE_DIR");
  if (directory && *directory)
    return directory;
  return getShareDirectory() + "/kernels";
}

/// The limit in bytes.
static int64_t getLimit() {
  const char *text = std::getenv("TARPON_CACHE_LIMIT");
  if (!text || !*text)
    return kDefaultCacheLimitBytes;
  uint64_t mebibytes;
  constexpr uint64_t kMost = uint64_t(1) << 40;
  if (!llvm::StringRef(text).getAsInteger(10, mebibytes) && mebibytes <= kMost)
    return static_cast<int64_t>(mebibytes << 20);
  static std::atomic<bool> reported = false;
  if (!reported.exchange(true))
    llvm::errs() << "remark: TARPON_CACHE_LIMIT='" << text
                 << "' is no number of MiB, so the limit of the kernel cache "
                    "is the default of "
                 << (kDefaultCacheLimitBytes >> 20) << "\n";
  return kDefaultCacheLimitBytes;
}

KernelCacheOptions KernelCacheOptions::fromEnvironment() {
  return {KernelCache::defaultDirectory(), getSystemKernelDirectory(),
          getLimit()};
}

std::shared_ptr<KernelCache> tarpon::openKernelCache(const TargetInfo &target) {
  return std::make_shared<LayeredKernelCache>(
      KernelCacheOptions::fromEnvironment(), target);
}

std::unique_ptr<KernelCompiler>
tarpon::openKernelCompiler(const Target &target) {
  const TargetInfo &info = target.getInfo();
  return std::make_unique<KernelCompiler>(info, openKernelCache(info),
                                          target.makeBackend());
}

//===----------------------------------------------------------------------===//
// The cache
//===----------------------------------------------------------------------===//

LayeredKernelCache::LayeredKernelCache(const KernelCacheOptions &options,
                                       const TargetInfo &target)
    : KernelCache(options.userDirectory + "/" + getKernelFolderName(target)),
      userFolder(options.userDirectory + "/" + getKernelFolderName(target)) {
  if (!options.systemDirectory.empty())
    system = std::make_unique<KernelCache>(options.systemDirectory + "/" +
                                           getKernelFolderName(target));
  if (options.limitBytes > 0)
    limiter = std::make_unique<CacheLimiter>(options.userDirectory,
                                             options.limitBytes);
}

LayeredKernelCache::~LayeredKernelCache() = default;

/// Notes a use in the file's time. Once an hour is enough for eviction, and
/// takes few writes.
static void touch(const std::string &path) {
  constexpr time_t kGranularitySeconds = 3600;
  struct stat status;
  if (stat(path.c_str(), &status) == 0 &&
      time(nullptr) - status.st_mtime > kGranularitySeconds)
    utimensat(AT_FDCWD, path.c_str(), nullptr, 0);
}

std::optional<std::vector<char>>
LayeredKernelCache::read(const std::string &digest) const {
  std::optional<std::vector<char>> bytes = KernelCache::read(digest);
  if (bytes)
    touch(getKernelPath(userFolder, digest));
  else if (system)
    bytes = system->read(digest);
  return bytes;
}

void LayeredKernelCache::write(const std::string &digest,
                               const std::vector<char> &bytes) {
  KernelCache::write(digest, bytes);
  struct stat status;
  if (limiter && stat(getKernelPath(userFolder, digest).c_str(), &status) == 0)
    limiter->add(status.st_size);
}
