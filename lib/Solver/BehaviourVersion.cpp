//===- BehaviourVersion.cpp - Versions of what code does ------------------===//
//
// Part of Tarpon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tarpon/Solver/BehaviourVersion.h"

#include "llvm/ADT/STLExtras.h"

#include <cassert>
#include <functional>
#include <map>

using namespace tarpon;

static constexpr BehaviourVersion kVersions[] = {
#define TARPON_BEHAVIOUR(part, version, digest) {part, version, digest},
#include "BehaviourVersions.def"
#undef TARPON_BEHAVIOUR
};

/// The versions that ScopedBehaviourVersion has set.
static std::map<std::string, int64_t, std::less<>> &getOverrides() {
  static std::map<std::string, int64_t, std::less<>> versions;
  return versions;
}

llvm::ArrayRef<BehaviourVersion> tarpon::getBehaviourVersions() {
  return kVersions;
}

int64_t tarpon::getBehaviourVersion(llvm::StringRef part) {
  if (auto set = getOverrides().find(part); set != getOverrides().end())
    return set->second;
  const auto *row = llvm::lower_bound(
      kVersions, part,
      [](const BehaviourVersion &version, llvm::StringRef part) {
        return version.part < part;
      });
  bool isListed = row != std::end(kVersions) && row->part == part;
  return isListed ? row->version : 1;
}

ScopedBehaviourVersion::ScopedBehaviourVersion(llvm::StringRef part,
                                               int64_t version)
    : part(part.str()) {
  [[maybe_unused]] bool isNew =
      getOverrides().emplace(this->part, version).second;
  assert(isNew && "the part has another version already");
}

ScopedBehaviourVersion::~ScopedBehaviourVersion() {
  getOverrides().erase(part);
}
