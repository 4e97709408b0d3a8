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

/// Everything in `package` but the constants and the kernels, as JSON text.
std::string packageMetadataToJson(const Package &package);

/// The inverse. Checks the presence and type of each field, not its meaning:
/// that is validatePackage's job. An error names the field.
Result<Package> packageMetadataFromJson(std::string_view text);

} // namespace tarpon::runtime

#endif // TARPON_LIB_RUNTIME_PACKAGEMETADATA_H
