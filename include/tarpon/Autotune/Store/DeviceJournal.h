//===- DeviceJournal.h - Journals of measurements on GPUs -------*- C++ -*-===//
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

/// The text by which a package names its kernels: the version of the code
/// generator, and a digest of the versions of the target's solvers.
std::string getKernelVersion(const Target &target);
std::string getKernelVersion(const TargetInfo &target);

/// The context of records that are measured on a GPU. They are this build's
/// records if the package's kernels are as this build makes them. The version
/// of a package that is older than versions is translated like that of its
/// records (RecordVersion.h).
JournalContext getMeasuredContext(const TargetInfo &target,
                                  const std::string &kernelVersion);

/// The journal of the measurements on a GPU that tuning of this build's
/// packages has made; null if there is none. Read-only where it cannot be
/// written.
runtime::Result<std::unique_ptr<Journal>>
openMeasuredJournal(const Target &target);

} // namespace tarpon

#endif // TARPON_AUTOTUNE_STORE_DEVICEJOURNAL_H
