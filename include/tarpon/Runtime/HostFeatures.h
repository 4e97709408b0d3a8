//===- HostFeatures.h - The CPU that this runs on ---------------*- C++ -*-===//
//
// Part of Tarpon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TARPON_RUNTIME_HOSTFEATURES_H
#define TARPON_RUNTIME_HOSTFEATURES_H

#include <string>
#include <string_view>

namespace tarpon::runtime {

/// The architecture this was built for, as in Package::arch: "x86-64",
/// "aarch64".
std::string_view hostArch();

/// Whether the CPU this runs on has the feature of that LLVM name
/// ("avx512f"), and the operating system supports its use. An unknown name is a
/// feature it does not have.
bool hostHasFeature(const std::string &feature);

/// Whether hostHasFeature can tell of the feature of that name. A package that
/// needs another one is refused everywhere.
bool isKnownFeature(const std::string &feature);

} // namespace tarpon::runtime

#endif // TARPON_RUNTIME_HOSTFEATURES_H
