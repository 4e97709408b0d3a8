//===- FileSystemKind.h - Detects network file systems -----------*- C++ -*-==//
//
// Part of Tarpon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// SQLite's write-ahead log needs memory that all of its users share, which
// those on different machines do not (https://sqlite.org/wal.html, "all
// processes using a database must be on the same host computer"). A store
// therefore has to know whether it lies on a file system that several machines
// may use.
//
//===----------------------------------------------------------------------===//

#ifndef TARPON_LIB_AUTOTUNE_STORE_FILESYSTEMKIND_H
#define TARPON_LIB_AUTOTUNE_STORE_FILESYSTEMKIND_H

#include "llvm/ADT/StringRef.h"

#include <cstdint>
#include <functional>
#include <string>

namespace tarpon {

/// The name of a file system that several machines may use at once: "nfs",
/// "fuse.sshfs"; "" for any other. `magic` is statfs(2)'s, and `type` that of
/// /proc/self/mountinfo, which is only used for FUSE and may be "".
std::string classifyFileSystem(uint64_t magic, llvm::StringRef type);

/// The name of such a file system that holds `path`, which has to exist; "" if
/// there is none or it is unknown. Thread-safe.
std::string findNetworkFileSystem(const std::string &path);

/// While it lives, answers for all paths. For tests, before threads are
/// started.
class ScopedFileSystemProbe {
public:
  using Probe = std::function<std::string(const std::string &path)>;
  explicit ScopedFileSystemProbe(Probe probe);
  ~ScopedFileSystemProbe();
  ScopedFileSystemProbe(const ScopedFileSystemProbe &) = delete;
  ScopedFileSystemProbe &operator=(const ScopedFileSystemProbe &) = delete;
};

} // namespace tarpon

#endif // TARPON_LIB_AUTOTUNE_STORE_FILESYSTEMKIND_H
