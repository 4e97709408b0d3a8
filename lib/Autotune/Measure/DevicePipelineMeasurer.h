//===- DevicePipelineMeasurer.h - Measures models on a GPU ------*- C++ -*-===//
//
// Part of Tarpon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TARPON_LIB_AUTOTUNE_MEASURE_DEVICEPIPELINEMEASURER_H
#define TARPON_LIB_AUTOTUNE_MEASURE_DEVICEPIPELINEMEASURER_H

#include "Measure/HostModelRun.h"
#include "Measure/ProcessPipelineMeasurer.h"

namespace tarpon {

/// Times and accuracies are those of the GPU, on which the evaluator process
/// runs the models. Ranges of int8 are measured on the host.
class DevicePipelineMeasurer final : public ProcessPipelineMeasurer {
public:
  using ProcessPipelineMeasurer::ProcessPipelineMeasurer;

  runtime::Status calibrate(Fusion fusion) override;

private:
  /// Made when ranges are needed.
  std::unique_ptr<HostModelRun> host;
};

} // namespace tarpon

#endif // TARPON_LIB_AUTOTUNE_MEASURE_DEVICEPIPELINEMEASURER_H
