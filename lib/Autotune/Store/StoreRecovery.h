//===- StoreRecovery.h - Sets damaged stores aside --------------*- C++ -*-===//
//
// Part of Tarpon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TARPON_LIB_AUTOTUNE_STORE_STORERECOVERY_H
#define TARPON_LIB_AUTOTUNE_STORE_STORERECOVERY_H

#include "tarpon/Runtime/Result.h"

#include <string>

namespace tarpon {

/// A lock on replacing the store at `path`, in the file `path`.lock, which is
/// never deleted. The store itself cannot be the lock, since closing any
/// descriptor of it would release SQLite's locks in this process.
class StoreReplacementLock {
public:
  /// Waits until the lock is free.
  explicit StoreReplacementLock(const std::string &path);
  ~StoreReplacementLock();
  StoreReplacementLock(const StoreReplacementLock &) = delete;
  StoreReplacementLock &operator=(const StoreReplacementLock &) = delete;

  bool isHeld() const { return descriptor >= 0; }

private:
  int descriptor;
};

/// Renames the store at `path` with its logs, and returns its new path. The
/// caller holds the lock. Processes that have it open continue with it there.
runtime::Result<std::string> setStoreAside(const std::string &path);

} // namespace tarpon

#endif // TARPON_LIB_AUTOTUNE_STORE_STORERECOVERY_H
