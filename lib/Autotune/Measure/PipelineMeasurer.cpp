//===- PipelineMeasurer.cpp - Measures whole models -----------------------===//
//
// Part of Tarpon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Measure/PipelineMeasurer.h"

#include "tarpon/Autotune/Search/Policy.h"

#include <algorithm>
#include <cmath>

using namespace tarpon;
using runtime::Error;
using runtime::Result;

PipelineMeasurer::~PipelineMeasurer() = default;

size_t PipelineMeasurer::countSamples(const GlobalChoice &choice,
                                      size_t samples) {
  return choice.dtype == kReferenceChoice.dtype
             ? std::min(samples, policy::kMaxExactSamples)
             : samples;
}

Result<std::optional<MetricValues>>
PipelineMeasurer::judge(const CompiledChoice &choice,
                        PipelineMeasurement &measurement) {
  const OutputMetric &metric = *context.goal->metric;
  if (!referenceValue) {
    PipelineMeasurement ofReference;
    ofReference.status = MeasurementStatus::Ok;
    Result<SampleResults> results = runSamples(nullptr, ofReference);
    if (!results)
      return results.error();
    if (ofReference.status != MeasurementStatus::Ok)
      return Error{"the model cannot be run in fp32: " + ofReference.detail};
    Result<double> value = metric.compute(*results);
    if (!value)
      return value.error();
    if (!std::isfinite(*value))
      return Error{"the metric '" + metric.getName() +
                   "' of fp32 is no finite number"};
    referenceValue = *value;
  }
  Result<SampleResults> results = runSamples(&choice, measurement);
  if (!results)
    return results.error();
  if (measurement.status != MeasurementStatus::Ok)
    return std::optional<MetricValues>();
  Result<double> value = metric.compute(*results);
  if (!value)
    return value.error();
  if (!std::isfinite(*value))
    context.progress.remark(choice.record.choice.name() +
                            " is over the budget, since the metric '" +
                            metric.getName() + "' of it is no finite number");
  return std::optional<MetricValues>({*referenceValue, *value});
}
