//===- ScopedBehaviourVersion.h - Raises a version for a while --*- C++ -*-===//
//
// Part of Tarpon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TARPON_TEST_UNIT_AUTOTUNE_SCOPEDBEHAVIOURVERSION_H
#define TARPON_TEST_UNIT_AUTOTUNE_SCOPEDBEHAVIOURVERSION_H

#include "llvm/ADT/StringRef.h"

#include <cstdint>
#include <string>

namespace tarpon::test {

/// Gives a part another version while the object lives. Not thread-safe.
class ScopedBehaviourVersion {
public:
  ScopedBehaviourVersion(llvm::StringRef part, int64_t version);
  ~ScopedBehaviourVersion();
  ScopedBehaviourVersion(const ScopedBehaviourVersion &) = delete;
  ScopedBehaviourVersion &operator=(const ScopedBehaviourVersion &) = delete;

private:
  std::string part;
};

} // namespace tarpon::test

#endif // TARPON_TEST_UNIT_AUTOTUNE_SCOPEDBEHAVIOURVERSION_H
