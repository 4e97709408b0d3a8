//===- Buffers.cpp - Checks of a caller's buffers ---------------*- C++ -*-===//
//
// Part of Tarpon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tarpon/Runtime/Buffers.h"

#include <string>

namespace tarpon::runtime {

Status checkBuffers(const std::vector<TensorInfo> &tensors, const char *role,
                    std::span<const BufferView> buffers) {
  if (buffers.size() != tensors.size())
    return Error{"there are " + std::to_string(buffers.size()) + " " + role +
                 "s, expected " + std::to_string(tensors.size())};
  for (size_t i = 0; i < buffers.size(); ++i) {
    auto expected = static_cast<size_t>(tensors[i].numBytes());
    std::string name = std::string(role) + " '" + tensors[i].name + "'";
    if (buffers[i].bytes != expected)
      return Error{name + " has " + std::to_string(buffers[i].bytes) +
                   " bytes, expected " + std::to_string(expected)};
    if (!buffers[i].data && expected > 0)
      return Error{name + " is a null pointer"};
  }
  return success();
}

} // namespace tarpon::runtime
