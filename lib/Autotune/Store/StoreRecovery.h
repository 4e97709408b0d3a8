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

/// Held by who replaces the store at `path`, in the file `path`.lock, which
/// stays: the store itself cannot be the lock, since closing any descriptor of
/// it would drop the locks that SQLite has on it in this process.
class StoreReplacementLock {
public:
  /// Waits for whoever holds it.
  explicit StoreReplacementLock(const std::string &path);
  ~StoreReplacementLock();
  StoreReplacementLock(const StoreReplacementLock &) = delete;
  StoreReplacementLock &operator=(const StoreReplacementLock &) = delete;

  bool isHeld() const { return descriptor >= 0; }

private:
  int descriptor;
};

/// Renames the store at `path` with its logs, and returns its new path. Only
/// with the lock. Who has it open goes on with it there.
runtime::Result<std::string> setStoreAside(const std::string &path);

} // namespace tarpon

#endif // TARPON_LIB_AUTOTUNE_STORE_STORERECOVERY_H
