//===- CacheLimiter.cpp - Keeps a kernel cache below its limit ------------===//
//
// Part of Tarpon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "CacheLimiter.h"

#include "CacheFolder.h"

#include <algorithm>
#include <chrono>
#include <fcntl.h>
#include <sys/file.h>
#include <unistd.h>
#include <vector>

using namespace tarpon;
namespace fs = llvm::sys::fs;

/// A temporary file of this age was left by a process that died.
static constexpr std::chrono::hours kStaleTemporary{1};

namespace {

/// The file with the folder's size, open and locked.
class UsageFile {
public:
  explicit UsageFile(const std::string &root)
      : descriptor(open((root + "/usage").c_str(),
                        O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600)) {
    if (descriptor >= 0)
      while (flock(descriptor, LOCK_EX) != 0 && errno == EINTR)
        continue;
  }
  ~UsageFile() {
    if (descriptor >= 0)
      close(descriptor);
  }
  UsageFile(const UsageFile &) = delete;
  UsageFile &operator=(const UsageFile &) = delete;

  bool isOpen() const { return descriptor >= 0; }

  /// Returns the size, or -1 if the file holds none.
  int64_t get() const {
    char text[32];
    ssize_t length = pread(descriptor, text, sizeof(text), 0);
    int64_t bytes;
    llvm::StringRef number(text, std::max<ssize_t>(length, 0));
    if (!number.consume_back("\n") || number.getAsInteger(10, bytes))
      return -1;
    return std::max<int64_t>(bytes, -1);
  }

  /// A write that is cut short leaves no number or one that is too small, until
  /// the folder is listed again.
  void set(int64_t bytes) const {
    std::string text = std::to_string(bytes) + "\n";
    if (ftruncate(descriptor, 0) == 0)
      (void)!pwrite(descriptor, text.data(), text.size(), 0);
  }

private:
  int descriptor;
};

struct CachedFile {
  std::string path;
  int64_t bytes;
  llvm::sys::TimePoint<> lastUse;
};

} // namespace

/// Lists the kernels of a folder, and removes temporary files of dead
/// processes.
static void listFiles(const std::string &folder,
                      std::vector<CachedFile> &files) {
  auto now = std::chrono::system_clock::now();
  visitKernelFiles(folder, [&](const std::string &path, llvm::StringRef name) {
    auto [digest, rest] = name.split('.');
    fs::file_status status;
    // Files of other users are neither removed nor counted.
    if (!isKernelDigest(digest) || fs::status(path, status, false) ||
        !fs::is_regular_file(status))
      return;
    if (rest.empty())
      files.push_back({path, static_cast<int64_t>(status.getSize()),
                       status.getLastModificationTime()});
    else if (rest.contains("tmp") &&
             now - status.getLastModificationTime() > kStaleTemporary)
      (void)fs::remove(path);
  });
}

/// Removes the least recently used files until the others have at most `target`
/// bytes; returns their size. A process that is about to read a removed file
/// finds it absent; one that has it open continues to read it.
int64_t CacheLimiter::evict(int64_t target) const {
  std::vector<CachedFile> files;
  listFiles(root, files);
  visitFolder(root, [&](const std::string &folder) {
    if (llvm::sys::path::filename(folder) != "kernels")
      listFiles(folder, files);
  });
  int64_t total = 0;
  for (const CachedFile &file : files)
    total += file.bytes;
  if (total <= target)
    return total;
  std::sort(files.begin(), files.end(),
            [](const CachedFile &a, const CachedFile &b) {
              return a.lastUse < b.lastUse;
            });
  for (const CachedFile &file : files) {
    if (total <= target)
      break;
    if (!fs::remove(file.path))
      total -= file.bytes;
  }
  return total;
}

void CacheLimiter::add(int64_t bytes) const {
  UsageFile usage(root);
  if (!usage.isOpen())
    return;
  int64_t known = usage.get();
  int64_t total = known + bytes;
  if (known < 0)
    total = evict(limitBytes);
  if (total > limitBytes)
    total = evict(limitBytes / 8 * 7);
  usage.set(total);
}
