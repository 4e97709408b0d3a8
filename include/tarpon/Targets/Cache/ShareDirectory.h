//===- ShareDirectory.h - The folder of installed data ----------*- C++ -*-===//
//
// Part of Tarpon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TARPON_TARGETS_CACHE_SHAREDIRECTORY_H
#define TARPON_TARGETS_CACHE_SHAREDIRECTORY_H

#include <string>

namespace tarpon {

/// share/tarpon beside the folder of this program: PREFIX/share/tarpon for
/// PREFIX/bin/graph-opt. It need not exist. Thread-safe.
std::string getShareDirectory();

} // namespace tarpon

#endif // TARPON_TARGETS_CACHE_SHAREDIRECTORY_H
