//===- RegisterTargets.cpp - Targets for unit tests -----------------------===//
//
// Part of Tarpon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Test programs have GoogleTest's main, so that targets are registered before.
//
//===----------------------------------------------------------------------===//

#include "tarpon/Targets/AllTargets.h"

[[maybe_unused]] static const bool areTargetsRegistered = [] {
  tarpon::registerAllTargets();
  return true;
}();
