//===- ScopedBehaviourVersion.cpp - Raises a version for a while ----------===//
//
// Part of Tarpon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "ScopedBehaviourVersion.h"

#include "Solver/VersionOverrides.h"

#include "gtest/gtest.h"

using namespace tarpon;
using namespace tarpon::test;

ScopedBehaviourVersion::ScopedBehaviourVersion(llvm::StringRef part,
                                               int64_t version)
    : part(part.str()) {
  bool isNew = getVersionOverrides().emplace(this->part, version).second;
  EXPECT_TRUE(isNew) << "the part has another version already";
}

ScopedBehaviourVersion::~ScopedBehaviourVersion() {
  getVersionOverrides().erase(part);
}
