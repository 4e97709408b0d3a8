//===- ModelState.h - The data of a model and a session ---------*- C++ -*-===//
//
// Part of Tarpon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TARPON_LIB_EMBED_MODELSTATE_H
#define TARPON_LIB_EMBED_MODELSTATE_H

#include "tarpon/Embed/Model.h"
#include "tarpon/Runtime/Package.h"

namespace tarpon {

/// Describes tensors at the border of a model.
std::vector<TensorSpec>
describeTensors(const std::vector<runtime::TensorInfo> &tensors);

struct Model::State {
  explicit State(runtime::Package package);

  runtime::Package package;
  std::vector<TensorSpec> inputs, outputs;
};

} // namespace tarpon

#endif // TARPON_LIB_EMBED_MODELSTATE_H
