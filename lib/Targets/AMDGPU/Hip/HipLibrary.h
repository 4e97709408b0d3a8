//===- HipLibrary.h - Loads the HIP runtime ---------------------*- C++ -*-===//
//
// Part of Tarpon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TARPON_LIB_TARGETS_AMDGPU_HIP_HIPLIBRARY_H
#define TARPON_LIB_TARGETS_AMDGPU_HIP_HIPLIBRARY_H

#include "HipApi.h"

#include "tarpon/Targets/GPU/VendorLibrary.h"

#include <string>

namespace tarpon::hip {

const VendorLibrary::Description &getDescription();

/// Loads the functions from HipOptions::library.
runtime::Result<Api> loadApi(const std::string &path);

} // namespace tarpon::hip

#endif // TARPON_LIB_TARGETS_AMDGPU_HIP_HIPLIBRARY_H
