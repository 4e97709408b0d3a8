//===- ModelPipelineMeasurer.cpp - Models times of whole models -----------===//
//
// Part of Tarpon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Measure/ModelPipelineMeasurer.h"

using namespace tarpon;
using runtime::Result;
using runtime::Status;

Result<std::unique_ptr<ModelPipelineMeasurer>>
ModelPipelineMeasurer::create(const PipelineContext &context) {
  std::unique_ptr<ModelPipelineMeasurer> measurer(
      new ModelPipelineMeasurer(context));
  Result<std::unique_ptr<HostModelRun>> host = HostModelRun::create(
      context.module, context.cpu, context.progress, context.evaluatorProgram);
  if (!host)
    return host.error();
  measurer->host = std::move(*host);
  return measurer;
}

Status ModelPipelineMeasurer::calibrate(Fusion fusion) {
  Result<std::vector<TensorRange>> ranges = host->measureRanges(
      fusion, context.inputs, context.model.getRangeMethod());
  if (!ranges)
    return ranges.error();
  context.model.setRanges(fusion, std::move(*ranges));
  return runtime::success();
}

/// Asking the model is cheap, and every layer needs a time.
Result<Solution> ModelPipelineMeasurer::solve(const Problem &problem) {
  return context.tuner.tune(problem);
}

Status ModelPipelineMeasurer::time(const CompiledChoice &choice,
                                   PipelineMeasurement &measurement) {
  measurement.status = MeasurementStatus::Ok;
  for (const LayerRecord &layer : choice.record.layers) {
    if (layer.timing) {
      measurement.median += layer.timing->median;
      continue;
    }
    // A layer whose time is unknown must not make its choice look fast.
    measurement.status = MeasurementStatus::Failed;
    measurement.detail = "the model gave layer '" + layer.name + "' no time";
  }
  return runtime::success();
}

Status ModelPipelineMeasurer::compare(const CompiledChoice &choice,
                                      PipelineMeasurement &measurement) {
  context.progress.setPhase(choice.record.choice.name() +
                            ": accuracy on the host");
  Result<double> error = host->measureError(
      choice.record.choice, context.inputs,
      countSamples(choice.record.choice, context.inputs.samples.size()));
  if (error) {
    measurement.accuracy = *error;
  } else {
    measurement.status = MeasurementStatus::Failed;
    measurement.detail = "on the host: " + error.message();
  }
  return runtime::success();
}

Result<SampleResults>
ModelPipelineMeasurer::runSamples(const CompiledChoice *choice,
                                  PipelineMeasurement &measurement) {
  GlobalChoice made = choice ? choice->record.choice : kReferenceChoice;
  context.progress.setPhase(made.name() + ": " +
                            context.goal->metric->getName() + " on the host");
  auto outputs = host->run(made, context.goal->inputs);
  SampleResults results;
  if (!outputs) {
    measurement.status = MeasurementStatus::Failed;
    measurement.detail = "on the host: " + outputs.message();
    return results;
  }
  for (const auto &sample : *outputs) {
    results.emplace_back();
    for (const runtime::HostTensor &output : sample)
      results.back().push_back(runtime::toDoubles(output));
  }
  return results;
}

Status ModelPipelineMeasurer::timeAgain(const CompiledChoice &,
                                        PipelineMeasurement &) {
  return runtime::success();
}
