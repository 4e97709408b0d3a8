//===- VersionOverrides.h - Other versions, for tests -----------*- C++ -*-===//
//
// Part of Tarpon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TARPON_LIB_SOLVER_VERSIONOVERRIDES_H
#define TARPON_LIB_SOLVER_VERSIONOVERRIDES_H

#include <cstdint>
#include <functional>
#include <map>
#include <string>

namespace tarpon {

using VersionOverrides = std::map<std::string, int64_t, std::less<>>;

/// The versions that getBehaviourVersion returns instead of those in the table.
/// Empty but in tests, which set them through ScopedBehaviourVersion. Not
/// thread-safe.
VersionOverrides &getVersionOverrides();

} // namespace tarpon

#endif // TARPON_LIB_SOLVER_VERSIONOVERRIDES_H
