//===- AccuracyGoal.cpp - How much a metric may drop ----------------------===//
//
// Part of Tarpon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Measure/AccuracyGoal.h"

#include "Measure/MetricCommand.h"
#include "Measure/TopOne.h"

using namespace tarpon;
using runtime::Error;
using runtime::Result;

Result<AccuracyGoal> tarpon::makeAccuracyGoal(const std::string &labels,
                                              const std::string &command,
                                              double maxDrop,
                                              const std::string &folder,
                                              ModelCompiler &model) {
  if (folder.empty())
    return Error{"a metric needs the inputs that it judges, and there is no "
                 "folder of calibration inputs"};
  Result<CalibrationInputs> inputs = readAllSamples(folder, model.getInputs());
  if (!inputs)
    return inputs.error();
  AccuracyGoal goal;
  goal.inputs = std::move(*inputs);
  goal.maxDrop = maxDrop;
  std::vector<runtime::TensorInfo> outputs = model.getOutputs();
  if (labels.empty()) {
    goal.metric = std::make_unique<MetricCommand>(command, std::move(outputs));
    return goal;
  }
  Result<std::unique_ptr<OutputMetric>> metric =
      TopOne::read(labels, goal.inputs.samples.size(), outputs.front());
  if (!metric)
    return metric.error();
  goal.metric = std::move(*metric);
  return goal;
}
