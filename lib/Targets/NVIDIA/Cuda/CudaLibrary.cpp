//===- CudaLibrary.cpp - Loads the CUDA driver ----------------------------===//
//
// Part of Tarpon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "CudaLibrary.h"

using namespace tarpon;
using namespace tarpon::cuda;
using runtime::Result;
using runtime::Status;

const VendorLibrary::Description &cuda::getDescription() {
  static const VendorLibrary::Description description = {
      "the CUDA driver", "libcuda.so.1",        "NVIDIA GPUs",
      "CUDA 12",         "TARPON_CUDA_LIBRARY", {"libcuda.so.1"}};
  return description;
}

Result<Api> cuda::loadApi(const std::string &path) {
  Result<VendorLibrary> library = VendorLibrary::load(getDescription(), path);
  if (!library)
    return library.error();
  Api api;
#define TARPON_CUDA_RESOLVE(member, symbol, parameters)                        \
  library->resolve(api.member, #symbol);
  TARPON_CUDA_FUNCTIONS(TARPON_CUDA_RESOLVE)
#undef TARPON_CUDA_RESOLVE
  if (Status status = library->checkComplete(getDescription()); !status)
    return status.error();
  return api;
}
