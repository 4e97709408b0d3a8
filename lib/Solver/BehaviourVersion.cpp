//===- BehaviourVersion.cpp - Versions of what code does ------------------===//
//
// Part of Tarpon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tarpon/Solver/BehaviourVersion.h"

#include "VersionOverrides.h"

#include "llvm/ADT/STLExtras.h"

using namespace tarpon;

static constexpr BehaviourVersion kVersions[] = {
#define TARPON_BEHAVIOUR(part, version, digest) {part, version, digest},
#include "BehaviourVersions.def"
#undef TARPON_BEHAVIOUR
};

VersionOverrides &tarpon::getVersionOverrides() {
  static VersionOverrides versions;
  return versions;
}

llvm::ArrayRef<BehaviourVersion> tarpon::getBehaviourVersions() {
  return kVersions;
}

int64_t tarpon::getBehaviourVersion(llvm::StringRef part) {
  const VersionOverrides &overrides = getVersionOverrides();
  if (auto set = overrides.find(part); set != overrides.end())
    return set->second;
  const auto *row = llvm::lower_bound(
      kVersions, part,
      [](const BehaviourVersion &version, llvm::StringRef part) {
        return version.part < part;
      });
  bool isListed = row != std::end(kVersions) && row->part == part;
  return isListed ? row->version : 1;
}
