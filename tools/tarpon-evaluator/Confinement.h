//===- Confinement.h - Limits of what candidates do -------------*- C++ -*-===//
//
// Part of Tarpon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TARPON_EVALUATOR_CONFINEMENT_H
#define TARPON_EVALUATOR_CONFINEMENT_H

#include "tarpon/Runtime/Result.h"

namespace tarpon::evaluator {

/// Takes from this process, for ever and in all of its threads, what evaluating
/// kernels of the host does not need: sockets, other processes, and every
/// change to a file system. Such calls then fail with EPERM. Its memory is
/// limited to what the machine has. Files may still be read, as packages are.
/// Fails where the kernel has no seccomp filters.
///
/// The drivers of GPUs need more than this leaves.
runtime::Status confineProcess();

} // namespace tarpon::evaluator

#endif // TARPON_EVALUATOR_CONFINEMENT_H
