//===- HipLibrary.cpp - Loads the HIP runtime -----------------------------===//
//
// Part of Tarpon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "HipLibrary.h"

using namespace tarpon;
using namespace tarpon::hip;
using runtime::Result;
using runtime::Status;

/// The names are the newest first; the last one comes with ROCm's development
/// files.
const VendorLibrary::Description &hip::getDescription() {
  static const VendorLibrary::Description description = {
      "the HIP runtime",
      "libamdhip64.so",
      "AMD GPUs",
      "ROCm 5",
      "TARPON_HIP_LIBRARY",
      {"libamdhip64.so.7", "libamdhip64.so.6", "libamdhip64.so.5",
       "libamdhip64.so"}};
  return description;
}

Result<Api> hip::loadApi(const std::string &path) {
  Result<VendorLibrary> library = VendorLibrary::load(getDescription(), path);
  if (!library)
    return library.error();
  Api api;
#define TARPON_HIP_RESOLVE(member, symbol, parameters)                         \
  library->resolve(api.member, #symbol);
  TARPON_HIP_FUNCTIONS(TARPON_HIP_RESOLVE)
#undef TARPON_HIP_RESOLVE
  library->resolve(api.getErrorString, "hipGetErrorString");
  if (Status status = library->checkComplete(getDescription()); !status)
    return status.error();
  return api;
}
