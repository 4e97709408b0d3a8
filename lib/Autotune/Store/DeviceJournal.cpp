//===- DeviceJournal.cpp - Journals of measurements on GPUs ---------------===//
//
// Part of Tarpon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tarpon/Autotune/Store/DeviceJournal.h"

#include "Store/Digest.h"
#include "Store/RecordVersion.h"
#include "tarpon/Solver/BehaviourVersion.h"
#include "tarpon/Solver/SolverRegistry.h"

#include "llvm/Config/llvm-config.h"
#include "llvm/Support/FileSystem.h"

using namespace tarpon;
using runtime::Result;

/// The architecture tells code objects from the IR that an emulated device
/// runs.
std::string tarpon::getKernelVersion(const TargetInfo &target) {
  Digest digest;
  for (llvm::StringRef part :
       {llvm::StringRef(target.cpu), llvm::StringRef(LLVM_VERSION_STRING),
        llvm::StringRef(target.arch)})
    digest.add(part);
  for (const Solver *solver : getSolvers(target)) {
    std::string version = std::to_string(getBehaviourVersion(solver->id()));
    digest.add(solver->id()).add(llvm::StringRef(version));
  }
  return getRecordVersion(target) + "+" + digest.hex().substr(0, 12);
}

std::string tarpon::getKernelVersion(const Target &target) {
  return getKernelVersion(target.getInfo());
}

JournalContext tarpon::getMeasuredContext(const TargetInfo &target,
                                          const std::string &kernelVersion) {
  JournalContext context = JournalContext::forTarget(target);
  TargetInfo measured = target;
  measured.arch = target.traits->getMeasuredArch(target);
  if (kernelVersion == getKernelVersion(measured))
    return context;
  context.tarpon =
      translateRecordVersion(kernelVersion, context.llvm, context.target);
  // A package from before there were versions: its records were migrated, and
  // all parts of its kernels are version 1.
  if (context.tarpon != kernelVersion)
    context.solverVersion = 1;
  return context;
}

Result<std::unique_ptr<Journal>>
tarpon::openMeasuredJournal(const Target &target) {
  std::string path = Journal::getDefaultPath(target.getInfo());
  if (!llvm::sys::fs::exists(path))
    return std::unique_ptr<Journal>();
  JournalContext context =
      getMeasuredContext(target.getInfo(), getKernelVersion(target));
  // Compiling only reads the journal.
  return llvm::sys::fs::can_write(path)
             ? Journal::open(path, context)
             : Journal::openForReading(path, context);
}
