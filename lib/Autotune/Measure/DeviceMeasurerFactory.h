//===- DeviceMeasurerFactory.h - Measurers for a GPU of here ----*- C++ -*-===//
//
// Part of Tarpon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TARPON_LIB_AUTOTUNE_MEASURE_DEVICEMEASURERFACTORY_H
#define TARPON_LIB_AUTOTUNE_MEASURE_DEVICEMEASURERFACTORY_H

#include "Measure/ProcessMeasurerFactory.h"

namespace tarpon {

/// The evaluator process runs candidates on the GPU that is their target: a
/// kernel that faults ends everything that its process has on the GPU.
class DeviceMeasurerFactory final : public ProcessMeasurerFactory {
public:
  using ProcessMeasurerFactory::ProcessMeasurerFactory;

  runtime::Result<std::unique_ptr<PipelineMeasurer>>
  createPipelineMeasurer(const PipelineContext &context) override;
  bool verifiesWhenCalibrating() const override { return false; }
  runtime::Status checkReference(const Problem &problem) const override;

protected:
  /// An error unless this machine has the target's GPU.
  runtime::Status checkMachine() override;

private:
  bool isChecked = false;
};

} // namespace tarpon

#endif // TARPON_LIB_AUTOTUNE_MEASURE_DEVICEMEASURERFACTORY_H
