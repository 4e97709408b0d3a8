//===- HostFeatures.h - Which CPU features can be told apart ----*- C++ -*-===//
//
// Part of Tarpon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TARPON_RUNTIME_HOSTFEATURES_H
#define TARPON_RUNTIME_HOSTFEATURES_H

#include <string>

namespace tarpon::runtime {

/// Whether hostHasFeature (Executor.h) can tell of the feature of that name. A
/// package that needs another one is refused everywhere.
bool isKnownFeature(const std::string &feature);

} // namespace tarpon::runtime

#endif // TARPON_RUNTIME_HOSTFEATURES_H
