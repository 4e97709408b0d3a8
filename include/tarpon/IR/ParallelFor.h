//===- ParallelFor.h - Work on several threads ------------------*- C++ -*-===//
//
// Part of Tarpon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// For the compiler's own work on large weights. tarpon/Runtime/ThreadPool.h
// runs layers.
//
//===----------------------------------------------------------------------===//

#ifndef TARPON_IR_PARALLELFOR_H
#define TARPON_IR_PARALLELFOR_H

#include "llvm/ADT/STLFunctionalExtras.h"

#include <cstddef>

namespace tarpon {

/// Calls work(0) to work(count - 1), each once, on up to `threads` threads, the
/// caller's included, or fewer if the system has no more; starts them in that
/// order, and returns when all are done.
void parallelFor(size_t count, int threads,
                 llvm::function_ref<void(size_t)> work);

} // namespace tarpon

#endif // TARPON_IR_PARALLELFOR_H
