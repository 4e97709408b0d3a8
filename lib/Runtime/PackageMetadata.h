//===- PackageMetadata.h - The JSON part of a package file ------*- C++ -*-===//
//
// Part of Tarpon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TARPON_LIB_RUNTIME_PACKAGEMETADATA_H
#define TARPON_LIB_RUNTIME_PACKAGEMETADATA_H

#include "tarpon/Runtime/Package.h"

#include <string>
#include <string_view>

namespace tarpon::runtime {

/// Converts everything in `package` except the constants and the kernels to
/// JSON text.
std::string packageMetadataToJson(const Package &package);

/// Parses such a text. Checks the presence and type of each field, but not its
/// meaning, which validatePackage checks. An error names the field.
Result<Package> packageMetadataFromJson(std::string_view text);

} // namespace tarpon::runtime

#endif // TARPON_LIB_RUNTIME_PACKAGEMETADATA_H
