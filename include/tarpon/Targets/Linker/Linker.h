//===- Linker.h - Links objects by lld --------------------------*- C++ -*-===//
//
// Part of Tarpon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TARPON_TARGETS_LINKER_LINKER_H
#define TARPON_TARGETS_LINKER_LINKER_H

#include "tarpon/Runtime/Result.h"

#include "llvm/ADT/ArrayRef.h"

#include <string>
#include <vector>

namespace tarpon {

/// Links ELF objects, in their order, to one shared object. `options` are
/// lld's, without those that name files. Deterministic. Thread-safe; since lld
/// keeps global state, one link runs at a time.
runtime::Result<std::vector<char>>
linkSharedObject(llvm::ArrayRef<llvm::ArrayRef<char>> objects,
                 llvm::ArrayRef<std::string> options);

} // namespace tarpon

#endif // TARPON_TARGETS_LINKER_LINKER_H
