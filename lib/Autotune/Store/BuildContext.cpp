//===- BuildContext.cpp - The context of this build's records -------------===//
//
// Part of Tarpon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "BuildContext.h"

#include "RecordVersion.h"

#include "tarpon/Targets/Registry/TargetRegistry.h"

#include "llvm/Config/llvm-config.h"

using namespace tarpon;

/// Finds the version of the code generator of a record's target; none if that
/// is not registered.
static std::optional<std::string> findVersion(llvm::StringRef target) {
  // The digest of the target's features follows its name.
  auto found = findTarget(target.split('/').first);
  if (!found)
    return std::nullopt;
  return getRecordVersion((*found)->getInfo());
}

bool tarpon::isStale(const JournalContext &context) {
  if (context.llvm != LLVM_VERSION_STRING)
    return true;
  // Another program may have the code generator of an unknown target.
  std::optional<std::string> version = findVersion(context.target);
  return version && context.tarpon != *version;
}

bool tarpon::isOfThisBuild(const JournalContext &context) {
  return findVersion(context.target) && !isStale(context);
}
