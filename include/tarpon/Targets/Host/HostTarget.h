//===- HostTarget.h - The CPU that this process runs on -*- C++ -*-===//
//
// Part of Tarpon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TARPON_TARGETS_HOST_HOSTTARGET_H
#define TARPON_TARGETS_HOST_HOSTTARGET_H

#include "tarpon/Runtime/Package.h"
#include "tarpon/Runtime/Result.h"
#include "tarpon/Targets/Target.h"

#include "llvm/ADT/StringRef.h"

#include <memory>

namespace tarpon {

/// Describes this machine for packages that run on `threads` threads (0: one
/// per core that the process may use). `cpu` names another CPU of LLVM's list
/// ("x86-64-v3", "znver5") whose features are used instead, as far as this
/// machine has them, so that code for narrower machines can be compiled and
/// tested; "native" is this machine's, or the one that the environment names in
/// TARPON_CPU. An error names an unknown CPU or a negative number of threads.
runtime::Result<TargetInfo> getHostTarget(int64_t threads = 0,
                                          llvm::StringRef cpu = "native");

/// Returns true if LLVM knows a CPU with that name.
bool isCpuName(llvm::StringRef name);

/// Describes a CPU of LLVM's list with all of its features that a package can
/// be checked for, whether this machine has them or not. Caches are of common
/// sizes.
runtime::Result<TargetInfo> getCpuTarget(llvm::StringRef cpu, int64_t threads);

/// Describes the CPU of a name in a journal, "x86-64/znver4/512/2c4b9a78", like
/// getCpuTarget: the digest at its end does not tell which features that
/// machine had. An error names a CPU that is unknown or has other vectors.
runtime::Result<TargetInfo> getNamedCpu(llvm::StringRef name, int64_t threads);

/// Takes over the sizes that TargetTraits::printCacheSizes has printed; other
/// texts, as of journals that do not know them, leave the target as it is.
void readCacheSizes(llvm::StringRef text, TargetInfo &target);

/// Describes the CPU that a package was compiled for, with this machine's
/// caches and name.
runtime::Result<TargetInfo> getPackageCpu(const runtime::Package &package);

/// Makes a target from one of these descriptions.
std::shared_ptr<const Target> makeHostTarget(const TargetInfo &info);

/// Registers "host" and the names of CPUs with findTarget.
void registerHostTargets();

} // namespace tarpon

#endif // TARPON_TARGETS_HOST_HOSTTARGET_H
