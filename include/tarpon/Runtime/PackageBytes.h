//===- PackageBytes.h - Packages as bytes -----------------------*- C++ -*-===//
//
// Part of Tarpon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TARPON_RUNTIME_PACKAGEBYTES_H
#define TARPON_RUNTIME_PACKAGEBYTES_H

#include "tarpon/Runtime/Package.h"

#include <string>

namespace tarpon::runtime {

/// Returns the bytes of the file that writePackage would write.
Result<std::string> serializePackage(const Package &package);

} // namespace tarpon::runtime

#endif // TARPON_RUNTIME_PACKAGEBYTES_H
