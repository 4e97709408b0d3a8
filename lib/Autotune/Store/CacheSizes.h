//===- CacheSizes.h - The sizes of the host's caches as text ----*- C++ -*-===//
//
// Part of Tarpon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TARPON_LIB_AUTOTUNE_STORE_CACHESIZES_H
#define TARPON_LIB_AUTOTUNE_STORE_CACHESIZES_H

#include "tarpon/Solver/TargetInfo.h"

#include <string>

namespace tarpon {

/// "48K/1024K/32768K", on which plans of the host's kernels depend; "" for a
/// GPU. Inline, since tuning files hold it, which need no store.
inline std::string printCacheSizes(const TargetInfo &target) {
  if (target.gpu)
    return "";
  auto print = [](int64_t bytes) { return std::to_string(bytes >> 10) + "K"; };
  return print(target.l1Bytes) + "/" + print(target.l2Bytes) + "/" +
         print(target.l3Bytes);
}

} // namespace tarpon

#endif // TARPON_LIB_AUTOTUNE_STORE_CACHESIZES_H
