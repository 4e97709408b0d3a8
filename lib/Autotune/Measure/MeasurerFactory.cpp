//===- MeasurerFactory.cpp - Makes the measurers of a target --------------===//
//
// Part of Tarpon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tarpon/Autotune/Measure/MeasurerFactory.h"

#include "Measure/DeviceMeasurerFactory.h"
#include "Measure/EvaluationConditions.h"
#include "Measure/ModelMeasurerFactory.h"
#include "Measure/ModelPipelineMeasurer.h"
#include "Measure/ProcessMeasurerFactory.h"

#include <map>
#include <utility>

using namespace tarpon;
using runtime::Result;
using runtime::Status;

MeasurerFactory::~MeasurerFactory() = default;

Result<std::unique_ptr<PipelineMeasurer>>
MeasurerFactory::createPipelineMeasurer(const PipelineContext &context) {
  auto created = ModelPipelineMeasurer::create(context);
  if (!created)
    return created.error();
  return std::unique_ptr<PipelineMeasurer>(std::move(*created));
}

JournalContext MeasurerFactory::getJournalContext() const {
  return JournalContext::forTarget(compiler.getTarget());
}

std::string MeasurerFactory::getVerb() const { return "measured"; }

bool MeasurerFactory::usesSystemStore() const { return true; }

Result<std::unique_ptr<Journal>>
MeasurerFactory::openDeviceJournal(const Target &) const {
  return std::unique_ptr<Journal>();
}

std::optional<int64_t> MeasurerFactory::getDefaultIterations(size_t) const {
  return std::nullopt;
}

bool MeasurerFactory::verifiesWhenCalibrating() const { return true; }

Status MeasurerFactory::checkReference(const Problem &) const {
  return runtime::success();
}

static std::map<std::string, MakeMeasurerFactory> &getRegistered() {
  static std::map<std::string, MakeMeasurerFactory> registered;
  return registered;
}

void tarpon::registerMeasurerFactory(const std::string &arch,
                                     MakeMeasurerFactory make) {
  getRegistered()[arch] = std::move(make);
}

std::unique_ptr<MeasurerFactory>
tarpon::makeMeasurerFactory(KernelCompiler &compiler,
                            const std::string &evaluatorProgram,
                            bool onDevice) {
  auto known = getRegistered().find(compiler.getTarget().arch);
  if (known != getRegistered().end())
    return known->second(compiler, evaluatorProgram);
  bool hasModel = !compiler.describeCostModel().empty();
  // A backend has a model of its target if kernels need not run here.
  if (hasModel && !(onDevice && hasTimes(compiler.getTarget())))
    return std::make_unique<ModelMeasurerFactory>(compiler);
  if (compiler.getKernelForm() == runtime::KernelForm::CodeObjects)
    return std::make_unique<DeviceMeasurerFactory>(compiler, evaluatorProgram);
  return std::make_unique<ProcessMeasurerFactory>(compiler, evaluatorProgram);
}
