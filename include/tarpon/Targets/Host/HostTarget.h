//===- HostTarget.h - The CPU that this process runs on -*- C++ -*-===//
//
// Part of Tarpon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TARPON_TARGETS_HOST_HOSTTARGET_H
#define TARPON_TARGETS_HOST_HOSTTARGET_H

#include "tarpon/Runtime/Result.h"
#include "tarpon/Solver/TargetInfo.h"

#include "llvm/ADT/StringRef.h"

namespace tarpon {

/// Describes this machine for packages that run on `threads` threads (0: one
/// per core that the process may use). `cpu` names another CPU of LLVM's list
/// ("x86-64-v3", "znver5") whose features are used instead, as far as this
/// machine has them: code for narrower machines can thus be made and tested.
/// An error names an unknown CPU.
runtime::Result<TargetInfo> getHostTarget(int64_t threads = 0,
                                          llvm::StringRef cpu = "native");

} // namespace tarpon

#endif // TARPON_TARGETS_HOST_HOSTTARGET_H
