//===- BehaviourVersion.cpp - Versions of what code does ------------------===//
//
// Part of Tarpon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tarpon/Solver/BehaviourVersion.h"

#include "llvm/ADT/STLExtras.h"

#include <cassert>
#include <utility>

using namespace tarpon;

static constexpr BehaviourVersion kVersions[] = {
#define TARPON_BEHAVIOUR(part, version, digest) {part, version, digest},
#include "BehaviourVersions.def"
#undef TARPON_BEHAVIOUR
};

/// The version that ScopedBehaviourVersion has set.
static std::pair<std::string, int64_t> &getOverride() {
  static std::pair<std::string, int64_t> value;
  return value;
}

llvm::ArrayRef<BehaviourVersion> tarpon::getBehaviourVersions() {
  return kVersions;
}

int64_t tarpon::getBehaviourVersion(llvm::StringRef part) {
  if (getOverride().first == part)
    return getOverride().second;
  const auto *row = llvm::lower_bound(
      kVersions, part,
      [](const BehaviourVersion &version, llvm::StringRef part) {
        return version.part < part;
      });
  bool isListed = row != std::end(kVersions) && row->part == part;
  return isListed ? row->version : 1;
}

ScopedBehaviourVersion::ScopedBehaviourVersion(llvm::StringRef part,
                                               int64_t version) {
  assert(getOverride().first.empty() && "one at a time");
  getOverride() = {part.str(), version};
}

ScopedBehaviourVersion::~ScopedBehaviourVersion() { getOverride() = {}; }
