//===- Tasks.h - How many tasks work is cut into ----------------*- C++ -*-===//
//
// Part of Tarpon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TARPON_LIB_KERNELS_HOST_TASKS_H
#define TARPON_LIB_KERNELS_HOST_TASKS_H

#include "tarpon/Solver/TargetInfo.h"

namespace tarpon {

/// Several tasks per thread, so that a thread that is done early takes over
/// from the others.
inline constexpr int64_t kTasksPerThread = 4;

/// The number of tasks that a launch should have at least; a single thread
/// needs no more than one.
inline int64_t getWantedTasks(const TargetInfo &target) {
  return target.threads <= 1 ? 1 : kTasksPerThread * target.threads;
}

} // namespace tarpon

#endif // TARPON_LIB_KERNELS_HOST_TASKS_H
