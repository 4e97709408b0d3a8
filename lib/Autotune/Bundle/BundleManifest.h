//===- BundleManifest.h - The description of a bundle -----------*- C++ -*-===//
//
// Part of Tarpon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TARPON_LIB_AUTOTUNE_BUNDLE_BUNDLEMANIFEST_H
#define TARPON_LIB_AUTOTUNE_BUNDLE_BUNDLEMANIFEST_H

#include "tarpon/Autotune/Bundle/CandidateBundle.h"

#include "llvm/ADT/StringRef.h"

#include <cstddef>
#include <string>

namespace tarpon {

/// The names of a bundle's members.
inline constexpr llvm::StringLiteral kManifestMember = "manifest.json";
inline constexpr llvm::StringLiteral kReferenceMember = "reference.tpn";
std::string getPackageMember(size_t candidate);

/// Returns everything but the packages' bytes, as JSON.
std::string printManifest(const CandidateBundle &bundle);

/// Reads such a text. Candidates without an error have no package yet. An error
/// says which field is wrong.
runtime::Result<CandidateBundle> parseManifest(llvm::StringRef text);

} // namespace tarpon

#endif // TARPON_LIB_AUTOTUNE_BUNDLE_BUNDLEMANIFEST_H
