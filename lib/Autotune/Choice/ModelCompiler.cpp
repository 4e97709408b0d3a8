//===- ModelCompiler.cpp - Compiles a graph for a choice ------------------===//
//
// Part of Tarpon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "ModelCompiler.h"

#include "tarpon/IR/FusedProblem.h"
#include "tarpon/IR/Locations.h"
#include "tarpon/Import/OnnxImport.h"
#include "tarpon/Passes/Pipelines.h"
#include "tarpon/Targets/Package/PackageBuilder.h"

#include "mlir/Pass/PassManager.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringSet.h"
#include "llvm/Support/raw_ostream.h"

using namespace mlir;
using namespace tarpon;
using runtime::Error;
using runtime::Result;
using runtime::Status;

//===----------------------------------------------------------------------===//
// Diagnostics
//===----------------------------------------------------------------------===//

ErrorCapture::ErrorCapture(MLIRContext *context,
                           std::function<void(std::string)> onRemark)
    : onRemark(std::move(onRemark)),
      handler(context, [this](Diagnostic &diagnostic) { handle(diagnostic); }) {
}

void ErrorCapture::handle(Diagnostic &diagnostic) {
  std::string name =
      "'" + getLocationName(diagnostic.getLocation()).str() + "'";
  std::string text = diagnostic.str();
  // The importer's own messages name the node already.
  if (name != "''" && !StringRef(text).contains(name))
    text = name + ": " + text;
  if (diagnostic.getSeverity() != DiagnosticSeverity::Error) {
    if (onRemark)
      onRemark(text);
  } else if (error.empty()) {
    error = text;
  }
}

Error ErrorCapture::getError(const std::string &otherwise) const {
  return {error.empty() ? otherwise : error};
}

//===----------------------------------------------------------------------===//
// Pipelines
//===----------------------------------------------------------------------===//

/// Runs the passes that `build` adds on the function.
static Status runPasses(func::FuncOp function, const std::string &what,
                        llvm::function_ref<void(OpPassManager &)> build) {
  ErrorCapture errors(function.getContext());
  PassManager pm(function.getContext(), func::FuncOp::getOperationName());
  build(pm);
  if (failed(pm.run(function)))
    return errors.getError(what + " has failed");
  return runtime::success();
}

ModelCompiler::ModelCompiler(ModuleOp module, KernelCompiler &compiler)
    : module(module), compiler(compiler),
      packager([this](func::FuncOp function) {
        return buildPackage(function, this->compiler);
      }) {}

func::FuncOp ModelCompiler::getMain() {
  return *module.getOps<func::FuncOp>().begin();
}

Status ModelCompiler::simplify() {
  return runPasses(getMain(), "simplification", buildSimplifyPipeline);
}

/// The distinct problems of the fused ops, which hold their problems from here
/// on.
static Result<std::vector<std::pair<std::string, Problem>>>
collectProblems(func::FuncOp function) {
  ErrorCapture errors(function.getContext());
  std::vector<std::pair<std::string, Problem>> problems;
  llvm::StringSet<> known;
  WalkResult walk = function.walk([&](FusedOp op) {
    ProblemAttr problem = poseProblem(op);
    if (!problem)
      return WalkResult::interrupt();
    if (known.insert(problem.getValue().key()).second)
      problems.emplace_back(getLocationName(op.getRoot()->getLoc()).str(),
                            problem.getValue());
    return WalkResult::advance();
  });
  if (walk.wasInterrupted())
    return errors.getError("a problem cannot be posed");
  return problems;
}

Result<OwningOpRef<func::FuncOp>> ModelCompiler::fuse(Fusion fusion) {
  OwningOpRef<func::FuncOp> function = getMain().clone();
  Status fused = runPasses(*function, "fusion", [&](OpPassManager &pm) {
    pm.addPass(createFusePass(fusion));
  });
  if (!fused)
    return fused.error();
  return function;
}

/// Returns the model with what the passes of the choice read of it: the ranges
/// for int8, and the choice of each region.
Result<OwningOpRef<func::FuncOp>>
ModelCompiler::mark(const GlobalChoice &choice) {
  bool isQuantized = choice.dtype == runtime::Precision::I8;
  if (!isQuantized && choice.regions.empty())
    return OwningOpRef<func::FuncOp>(getMain().clone());
  auto function = fuse(choice.fusion);
  if (!function)
    return function;
  if (isQuantized)
    if (Status status = applyRanges(**function, getRanges(choice.fusion));
        !status)
      return status.error();
  ErrorCapture errors((*function)->getContext());
  if (!choice.regions.empty() &&
      failed(setRegionChoices(**function, choice.regions)))
    return errors.getError("regions cannot be chosen");
  return function;
}

static std::map<size_t, PreparedRegion> collectRegions(func::FuncOp function) {
  std::map<size_t, PreparedRegion> regions;
  function.walk([&](FusedOp op) {
    std::optional<size_t> index = getRegionIndex(op);
    if (!index)
      return;
    auto [region, isNew] = regions.try_emplace(*index);
    region->second.problems.push_back(poseProblem(op).getValue().key());
    Layout layout = getTensorDesc(op.getType(), /*constant=*/false).layout;
    if (isNew)
      region->second.layout = layout;
    region->second.hasOneLayout &= layout == region->second.layout;
  });
  return regions;
}

Result<PreparedModel> ModelCompiler::prepare(const GlobalChoice &choice) {
  PreparedModel model;
  model.choice = choice;
  auto marked = mark(choice);
  if (!marked)
    return marked.error();
  model.function = std::move(*marked);
  func::FuncOp function = *model.function;
  Builder builder(function.getContext());
  function->setAttr("tarpon.dtype",
                    builder.getStringAttr(choice.getDtypeName()));
  function->setAttr("tarpon.layout",
                    builder.getStringAttr(choice.getLayoutName()));
  function->setAttr("tarpon.fusion",
                    builder.getStringAttr(choice.getFusionName()));
  Status chosen = runPasses(function, choice.name(), [&](OpPassManager &pm) {
    buildChoicePipeline(pm, {choice.dtype, choice.layout, choice.fusion,
                             compiler.getTarget(),
                             /*perRegion=*/!choice.regions.empty()});
  });
  if (!chosen)
    return chosen.error();
  auto problems = collectProblems(function);
  if (!problems)
    return problems.error();
  model.problems = std::move(*problems);
  function.walk(
      [&](FusedOp op) { ++model.counts[poseProblem(op).getValue().key()]; });
  model.regions = collectRegions(function);
  return model;
}

//===----------------------------------------------------------------------===//
// Lowering
//===----------------------------------------------------------------------===//

namespace {

/// A problem with the solution that the source gave it.
struct SolvedProblem {
  Problem problem;
  Solution solution;
};

} // namespace

static LayerRecord makeRecord(const runtime::Layer &layer,
                              const SolvedProblem &solved,
                              const TargetInfo &target) {
  const Solution &solution = solved.solution;
  LayerRecord record;
  record.name = layer.name;
  record.problem = layer.problem;
  record.solver = layer.solver;
  record.source = layer.source;
  record.config = solution.config;
  record.workspaceBytes =
      solution.solver->workspaceSize(solved.problem, target);
  if (solution.measurement) {
    const Measurement &m = *solution.measurement;
    record.timing = {m.median, m.mad, static_cast<int64_t>(m.samples.size()),
                     m.maxError};
  }
  return record;
}

Result<CompiledModel>
ModelCompiler::lowerFunction(func::FuncOp function, const SolutionSource &solve,
                             const Packager &makePackage,
                             const CandidateSource &candidates) {
  std::map<std::string, SolvedProblem> solutions;
  std::string problemError;
  LoweringOptions options;
  options.target = compiler.getTarget();
  options.chooser = [&](FusedOp op,
                        const Problem &problem) -> FailureOr<SolutionAttr> {
    std::string key = problem.key();
    auto known = solutions.find(key);
    if (known == solutions.end()) {
      Result<Solution> solution =
          solve(problem, getLocationName(op.getRoot()->getLoc()).str());
      if (!solution) {
        problemError = solution.message();
        return failure();
      }
      SolvedProblem solved{problem, std::move(*solution)};
      known = solutions.emplace(key, std::move(solved)).first;
    }
    const Solution &solution = known->second.solution;
    return makeSolutionAttr(op.getContext(), *solution.solver, solution.config,
                            solution.source);
  };
  Status lowered = runPasses(function, "lowering", [&](OpPassManager &pm) {
    buildLoweringPipeline(pm, options);
  });
  if (!lowered)
    return problemError.empty() ? lowered.error() : Error{problemError};
  Result<runtime::Package> package = makePackage(function);
  if (!package)
    return package.error();
  if (candidates)
    if (Status status = addCandidates(function, compiler, candidates, *package);
        !status)
      return status.error();
  CompiledModel model;
  // The copies to outputs that buildPackage adds had no solution to choose.
  for (const runtime::Layer &layer : package->layers)
    if (auto solved = solutions.find(layer.problem); solved != solutions.end())
      model.layers.push_back(
          makeRecord(layer, solved->second, compiler.getTarget()));
  model.package = std::move(*package);
  return model;
}

Result<CompiledModel> ModelCompiler::lower(PreparedModel model,
                                           const SolutionSource &solve,
                                           const CandidateSource &candidates) {
  return lowerFunction(*model.function, solve, packager, candidates);
}

//===----------------------------------------------------------------------===//
// Calibration
//===----------------------------------------------------------------------===//

Status ModelCompiler::calibrate(Fusion fusion, const CalibrationInputs &inputs,
                                const SolutionSource &solve) {
  if (rangesByFusion.count(fusion))
    return runtime::success();
  auto function = fuse(fusion);
  if (!function)
    return function.error();
  auto compile = [&](func::FuncOp exposed) -> Result<runtime::Package> {
    Result<CompiledModel> model =
        lowerFunction(exposed, solve, [this](func::FuncOp main) {
          return buildPackage(main, compiler);
        });
    if (!model)
      return model.error();
    return std::move(model->package);
  };
  int threads = static_cast<int>(compiler.getTarget().threads);
  Result<std::vector<TensorRange>> ranges =
      measureRanges(**function, inputs, compile, threads, rangeMethod);
  if (!ranges)
    return ranges.error();
  setRanges(fusion, std::move(*ranges));
  return runtime::success();
}

//===----------------------------------------------------------------------===//
// Model and target in the record
//===----------------------------------------------------------------------===//

/// Describes arguments or results. Those without a name are `kind` and their
/// index.
static std::vector<runtime::TensorInfo>
describeTensors(TypeRange types, llvm::ArrayRef<std::string> names,
                const std::string &kind) {
  std::vector<runtime::TensorInfo> tensors;
  for (auto [index, type] : llvm::enumerate(types)) {
    TensorDesc desc =
        getTensorDesc(cast<RankedTensorType>(type), /*constant=*/false);
    runtime::TensorInfo tensor;
    tensor.name =
        index < names.size() ? names[index] : kind + std::to_string(index);
    tensor.dtype = desc.dtype;
    tensor.shape = desc.shape;
    tensors.push_back(std::move(tensor));
  }
  return tensors;
}

std::vector<runtime::TensorInfo> ModelCompiler::getInputs() {
  return describeTensors(getMain().getArgumentTypes(),
                         getModelInfo(module).inputs, "input");
}

std::vector<runtime::TensorInfo> ModelCompiler::getOutputs() {
  return describeTensors(getMain().getResultTypes(),
                         getModelInfo(module).outputs, "output");
}

TuningFile::Model ModelCompiler::describeModel() {
  ModelInfo info = getModelInfo(module);
  TuningFile::Model model;
  model.sha256 = info.sha256;
  model.name = info.name;
  for (const runtime::TensorInfo &input : getInputs())
    model.inputs[input.name] = input.shape;
  return model;
}
