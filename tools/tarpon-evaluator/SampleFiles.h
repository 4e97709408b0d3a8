//===- SampleFiles.h - Inputs from files ------------------------*- C++ -*-===//
//
// Part of Tarpon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TARPON_TOOLS_EVALUATOR_SAMPLEFILES_H
#define TARPON_TOOLS_EVALUATOR_SAMPLEFILES_H

#include "tarpon/Runtime/Measure.h"
#include "tarpon/Runtime/Result.h"
#include "tarpon/Runtime/Tensor.h"

#include <string>
#include <vector>

namespace tarpon::evaluator {

/// Reads one .npy file per tensor.
runtime::Result<std::vector<runtime::HostTensor>>
readTensors(const std::vector<std::string> &paths);

/// Reads a sample into the inputs of an instance, whose first sample had the
/// right types and shapes.
runtime::Status loadSample(const std::vector<std::string> &paths,
                           runtime::Instance &instance);

} // namespace tarpon::evaluator

#endif // TARPON_TOOLS_EVALUATOR_SAMPLEFILES_H
