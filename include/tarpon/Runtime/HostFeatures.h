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

/// The architecture that this code was built for, spelled as in Package::arch:
/// "x86-64", "aarch64".
std::string_view hostArch();

/// Returns true if this machine's CPU has the feature with that LLVM name
/// ("avx512f") and the operating system supports its use. False for unknown
/// names. A process may have to ask for AMX's registers: the first question
/// about a feature of theirs does, and so does every package that needs one,
/// when it is loaded.
bool hostHasFeature(const std::string &feature);

/// Returns true if hostHasFeature knows that name. A package that needs a
/// feature with another name is refused everywhere.
bool isKnownFeature(const std::string &feature);

} // namespace tarpon::runtime

#endif // TARPON_RUNTIME_HOSTFEATURES_H
