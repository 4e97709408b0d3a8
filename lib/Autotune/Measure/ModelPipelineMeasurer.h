//===- ModelPipelineMeasurer.h - Models times of whole models ---*- C++ -*-===//
//
// Part of Tarpon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TARPON_LIB_AUTOTUNE_MEASURE_MODELPIPELINEMEASURER_H
#define TARPON_LIB_AUTOTUNE_MEASURE_MODELPIPELINEMEASURER_H

#include "Measure/HostModelRun.h"
#include "Measure/PipelineMeasurer.h"

#include <memory>

namespace tarpon {

/// Adds up a target model's predictions for the layers; accuracy and ranges are
/// those of the same choice on the host.
class ModelPipelineMeasurer final : public PipelineMeasurer {
public:
  static runtime::Result<std::unique_ptr<ModelPipelineMeasurer>>
  create(const PipelineContext &context);

  runtime::Status calibrate(Fusion fusion) override;
  runtime::Result<Solution> solve(const Problem &problem) override;
  runtime::Status time(const CompiledChoice &choice,
                       PipelineMeasurement &measurement) override;
  runtime::Status compare(const CompiledChoice &choice,
                          PipelineMeasurement &measurement) override;
  runtime::Status timeAgain(const CompiledChoice &choice,
                            PipelineMeasurement &measurement) override;
  bool isNoisy() const override { return false; }

protected:
  runtime::Result<SampleResults>
  runSamples(const CompiledChoice *choice,
             PipelineMeasurement &measurement) override;

private:
  using PipelineMeasurer::PipelineMeasurer;

  std::unique_ptr<HostModelRun> host;
};

} // namespace tarpon

#endif // TARPON_LIB_AUTOTUNE_MEASURE_MODELPIPELINEMEASURER_H
