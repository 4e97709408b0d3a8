//===- DevicePipelineMeasurer.cpp - Measures models on a GPU --------------===//
//
// Part of Tarpon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Measure/DevicePipelineMeasurer.h"

using namespace tarpon;
using runtime::Result;
using runtime::Status;

Status DevicePipelineMeasurer::calibrate(Fusion fusion) {
  if (!host) {
    Result<std::unique_ptr<HostModelRun>> made =
        HostModelRun::create(context.module, context.cpu, context.progress,
                             context.evaluatorProgram);
    if (!made)
      return made.error();
    host = std::move(*made);
  }
  Result<std::vector<TensorRange>> ranges = host->measureRanges(
      fusion, context.inputs, context.model.getRangeMethod());
  if (!ranges)
    return ranges.error();
  context.model.setRanges(fusion, std::move(*ranges));
  return runtime::success();
}
