//===- MetricCommand.h - A user's program that judges results ---*- C++ -*-===//
//
// Part of Tarpon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TARPON_LIB_AUTOTUNE_MEASURE_METRICCOMMAND_H
#define TARPON_LIB_AUTOTUNE_MEASURE_METRICCOMMAND_H

#include "Measure/OutputMetric.h"
#include "tarpon/Runtime/Package.h"

namespace tarpon {

/// Runs `COMMAND FOLDER` by the shell, where the folder has `output_K.npy` for
/// each output K of the model: of all samples, one after the other, in a first
/// dimension of its own, in f4. It prints the number.
class MetricCommand final : public OutputMetric {
public:
  MetricCommand(std::string command, std::vector<runtime::TensorInfo> outputs)
      : command(std::move(command)), outputs(std::move(outputs)) {}

  std::string getName() const override { return command; }
  runtime::Result<double> compute(const SampleResults &results) const override;

private:
  std::string command;
  std::vector<runtime::TensorInfo> outputs;
};

} // namespace tarpon

#endif // TARPON_LIB_AUTOTUNE_MEASURE_METRICCOMMAND_H
