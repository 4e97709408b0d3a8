//===- Buffers.h - Checks of a caller's buffers -----------------*- C++ -*-===//
//
// Part of Tarpon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TARPON_RUNTIME_BUFFERS_H
#define TARPON_RUNTIME_BUFFERS_H

#include "tarpon/Runtime/Package.h"
#include "tarpon/Runtime/Result.h"

#include <cstddef>
#include <span>
#include <vector>

namespace tarpon::runtime {

/// The caller's memory for an input or output of a model.
struct BufferView {
  const void *data = nullptr;
  size_t bytes = 0;
};

/// Checks that there is one buffer per tensor, each of as many bytes as its
/// tensor. `role` names the buffers in the error: "input" or "output".
Status checkBuffers(const std::vector<TensorInfo> &tensors, const char *role,
                    std::span<const BufferView> buffers);

} // namespace tarpon::runtime

#endif // TARPON_RUNTIME_BUFFERS_H
