//===- DeviceJournal.h - What was measured on devices -----------*- C++ -*-===//
//
// Part of Tarpon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TARPON_AUTOTUNE_STORE_DEVICEJOURNAL_H
#define TARPON_AUTOTUNE_STORE_DEVICEJOURNAL_H

#include "tarpon/Autotune/Store/Journal.h"
#include "tarpon/Targets/Target.h"

#include <memory>
#include <string>

namespace tarpon {

/// Of Tarpon, with a digest of what makes the target's kernels.
std::string getKernelVersion(const Target &target);

/// What is measured on a GPU is valid for it and for one version of kernels.
JournalContext getMeasuredContext(const TargetInfo &target,
                                  const std::string &kernelVersion);

/// The journal of a GPU for what this build's packages have left there when
/// they were tuned; null if there is none. Read-only where it cannot be
/// written.
runtime::Result<std::unique_ptr<Journal>>
openMeasuredJournal(const Target &target);

} // namespace tarpon

#endif // TARPON_AUTOTUNE_STORE_DEVICEJOURNAL_H
