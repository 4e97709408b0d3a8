//===- BuildContext.cpp - Which records are this build's ------------------===//
//
// Part of Tarpon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "BuildContext.h"

#include "tarpon/Autotune/Store/DeviceJournal.h"
#include "tarpon/Solver/SolverRegistry.h"
#include "tarpon/Targets/TargetRegistry.h"

using namespace tarpon;

JournalContext tarpon::getBuildContext(const std::string &target,
                                       int64_t threads) {
  JournalContext context = JournalContext::forTarget(TargetInfo());
  context.target = target;
  context.threads = threads;
  // The digest of the target's features is behind its name.
  if (context.getTimeSource() == TimeSource::Modelled)
    return context;
  llvm::StringRef name = llvm::StringRef(target).split('/').first;
  if (auto found = findTarget(name);
      found && !getChip((*found)->getInfo()).empty())
    context.tarpon = getKernelVersion(**found);
  return context;
}

bool tarpon::isStale(const JournalContext &context) {
  JournalContext build = getBuildContext(context.target, context.threads);
  return context.tarpon != build.tarpon || context.llvm != build.llvm;
}
