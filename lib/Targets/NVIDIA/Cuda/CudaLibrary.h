//===- CudaLibrary.h - Loads the CUDA driver ---------------------*- C++
//-*-===//
//
// Part of Tarpon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TARPON_LIB_TARGETS_NVIDIA_CUDA_CUDALIBRARY_H
#define TARPON_LIB_TARGETS_NVIDIA_CUDA_CUDALIBRARY_H

#include "CudaApi.h"

#include "tarpon/Targets/GPU/VendorLibrary.h"

#include <string>

namespace tarpon::cuda {

const VendorLibrary::Description &getDescription();

/// Loads the functions from CudaOptions::library.
runtime::Result<Api> loadApi(const std::string &path);

} // namespace tarpon::cuda

#endif // TARPON_LIB_TARGETS_NVIDIA_CUDA_CUDALIBRARY_H
