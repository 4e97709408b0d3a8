//===- Model.cpp - A model, compiled or loaded ------------------*- C++ -*-===//
//
// Part of Tarpon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tarpon/Embed/Model.h"

#include "ModelState.h"

#include "tarpon/Autotune/Tuning/Compile.h"
#include "tarpon/Problem/PerfConfigJson.h"
#include "tarpon/Targets/AllTargets.h"

namespace tarpon {

using namespace runtime;

std::vector<TensorSpec>
describeTensors(const std::vector<TensorInfo> &tensors) {
  std::vector<TensorSpec> specs;
  for (const TensorInfo &info : tensors)
    specs.push_back({info.name, std::string(dtypeName(info.dtype)), info.shape,
                     info.numBytes()});
  return specs;
}

Model::State::State(Package package)
    : package(std::move(package)),
      inputs(describeTensors(this->package.inputs)),
      outputs(describeTensors(this->package.outputs)) {}

Model::Model(std::unique_ptr<State> state) : state(std::move(state)) {}
Model::Model(Model &&other) noexcept = default;
Model &Model::operator=(Model &&other) noexcept = default;
Model::~Model() = default;

static Status setKnobs(CompileOptions &target, const ModelOptions &options) {
  Result<DtypeKnob> dtype = parseDtypeKnob(options.dtype);
  if (!dtype)
    return dtype.error();
  Result<LayoutKnob> layout = parseLayoutKnob(options.layout);
  if (!layout)
    return layout.error();
  Result<FusionKnob> fusion = parseFusionKnob(options.fusion);
  if (!fusion)
    return fusion.error();
  target.dtype = std::move(*dtype);
  target.layout = std::move(*layout);
  target.fusion = std::move(*fusion);
  return success();
}

static Result<CompileOptions> makeOptions(const std::string &onnxFile,
                                          const ModelOptions &options) {
  CompileOptions made;
  if (Status status = setKnobs(made, options); !status)
    return status.error();
  for (const std::string &text : options.dims) {
    Result<std::pair<std::string, SizeRange>> range = parseSizeRange(text);
    if (!range)
      return range.error();
    if (!made.dims.insert(*range).second)
      return Error{"the size of '" + range->first + "' is given twice"};
  }
  made.model = onnxFile;
  made.target = options.target;
  made.batch = options.batch;
  made.threads = options.threads;
  made.cpu = options.cpu;
  made.tuningTime = options.tuningTime;
  if (options.maxError)
    made.maxError = *options.maxError;
  made.calibration = options.calibration;
  made.tuningFile = options.tuningFile;
  if (!options.replay.empty())
    made.replays = {options.replay};
  made.strict = options.strict;
  made.quiet = !options.progress;
  return made;
}

Result<Model> Model::compile(const std::string &onnxFile,
                             const ModelOptions &options) {
  Result<CompileOptions> made = makeOptions(onnxFile, options);
  if (!made)
    return made.error();
  registerAllTargets();
  Result<CompileOutcome> outcome = compileModel(*made);
  if (!outcome)
    return outcome.error();
  return Model(std::make_unique<State>(std::move(outcome->package)));
}

Result<Model> Model::load(const std::string &path) {
  Result<Package> package = readPackage(path);
  if (!package)
    return package.error();
  return Model(std::make_unique<State>(std::move(*package)));
}

Status Model::save(const std::string &path) const {
  return writePackage(state->package, path);
}

const std::vector<TensorSpec> &Model::inputs() const { return state->inputs; }

const std::vector<TensorSpec> &Model::outputs() const { return state->outputs; }

/// The config of a layer, in the form of search and stores.
static std::string printConfig(const std::string &json) {
  runtime::Result<PerfConfig> config = parseJsonConfig(json);
  return config ? config->str() : json;
}

std::vector<LayerSolution> Model::solutions() const {
  std::vector<LayerSolution> solutions;
  for (const Layer &layer : state->package.layers)
    solutions.push_back({layer.name, layer.problem, layer.solver,
                         printConfig(layer.config), layer.source});
  return solutions;
}

} // namespace tarpon
