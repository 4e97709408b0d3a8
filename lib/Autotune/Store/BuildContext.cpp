//===- BuildContext.cpp - The context of this build's records -------------===//
//
// Part of Tarpon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "BuildContext.h"

#include "RecordVersion.h"

#include "tarpon/Targets/TargetRegistry.h"

using namespace tarpon;

JournalContext tarpon::getBuildContext(const std::string &target,
                                       int64_t threads) {
  JournalContext context = JournalContext::forTarget(TargetInfo());
  context.target = target;
  context.threads = threads;
  // The machine is unknown.
  context.caches = "";
  // The digest of the target's features follows its name.
  if (auto found = findTarget(llvm::StringRef(target).split('/').first))
    context.tarpon = getRecordVersion((*found)->getInfo());
  return context;
}

bool tarpon::isStale(const JournalContext &context) {
  JournalContext build = getBuildContext(context.target, context.threads);
  return context.tarpon != build.tarpon || context.llvm != build.llvm;
}
