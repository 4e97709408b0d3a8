//===- HipLibrary.h - Loads the HIP runtime ---------------------*- C++ -*-===//
//
// Part of Tarpon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TARPON_LIB_TARGETS_AMDGPU_HIP_HIPLIBRARY_H
#define TARPON_LIB_TARGETS_AMDGPU_HIP_HIPLIBRARY_H

#include "HipApi.h"

#include "tarpon/Runtime/Result.h"

#include <memory>
#include <string>

namespace tarpon::hip {

/// Never unloaded: HIP has threads and handlers of its own.
class Library {
public:
  /// `path` is that of HipOptions::library.
  static runtime::Result<std::shared_ptr<const Library>>
  load(const std::string &path);

  const Api &api() const { return functions; }

  /// Returns an error of `call` unless the code is success: "hipMalloc of 64
  /// bytes has failed: out of memory (2)".
  runtime::Status check(ErrorCode code, const std::string &call) const;

private:
  Library() = default;
  Api functions;
};

} // namespace tarpon::hip

#endif // TARPON_LIB_TARGETS_AMDGPU_HIP_HIPLIBRARY_H
