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
using runtime::Result;

/// The digest of the target's features follows its name.
static Result<std::shared_ptr<const Target>> findNamed(llvm::StringRef target) {
  return findTarget(target.split('/').first);
}

/// Finds the version of the code generator of a record's target; none if that
/// is not registered.
static std::optional<std::string> findVersion(llvm::StringRef target) {
  auto found = findNamed(target);
  if (!found)
    return std::nullopt;
  return getRecordVersion((*found)->getInfo());
}

/// Returns true if the name lacks a feature that GPUs are told apart by: before
/// there was ":bw=4800", records of an H100 and an H200 had one name.
static bool isAmbiguous(llvm::StringRef target) {
  auto found = findNamed(target);
  if (!found)
    return false;
  std::string name = (*found)->getInfo().name();
  return llvm::StringRef(name).split('/').first != target.split('/').first;
}

bool tarpon::isStale(const JournalContext &context) {
  if (context.llvm != LLVM_VERSION_STRING || isAmbiguous(context.target))
    return true;
  // Another program may have the code generator of an unknown target.
  std::optional<std::string> version = findVersion(context.target);
  return version && context.tarpon != *version;
}

bool tarpon::isOfThisBuild(const JournalContext &context) {
  return findVersion(context.target) && !isStale(context);
}
