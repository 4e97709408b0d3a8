//===- Compile.cpp - Compiles an ONNX file to a package -------------------===//
//
// Part of Tarpon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tarpon/Autotune/Tuning/Compile.h"

#include "Choice/ModelCompiler.h"
#include "Choice/ModelLoading.h"
#include "Choice/ReferencePackage.h"
#include "Choice/Replay.h"
#include "Measure/AccuracyGoal.h"
#include "Measure/PipelineMeasurer.h"
#include "Tuning/RegionTuner.h"
#include "Tuning/TunedCandidates.h"
#include "tarpon/Autotune/Learn/LearnedRanker.h"
#include "tarpon/Autotune/Measure/MeasurerFactory.h"
#include "tarpon/Autotune/Store/DeviceJournal.h"
#include "tarpon/Autotune/Store/SystemStore.h"
#include "tarpon/Autotune/Tuning/GlobalTuner.h"
#include "tarpon/Autotune/Tuning/PackageTuning.h"
#include "tarpon/Runtime/Executor.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Config/llvm-config.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/raw_ostream.h"

#include <cassert>
#include <chrono>
#include <cstdio>

using namespace tarpon;
using runtime::Error;
using runtime::Precision;
using runtime::Result;
using runtime::Status;
namespace fs = llvm::sys::fs;

namespace {

/// One run of the chain.
class Compilation {
public:
  explicit Compilation(const CompileOptions &options)
      : options(options),
        progress(llvm::errs(), Progress::detectStyle(options.quiet)),
        context(makeModelContext()) {}

  Result<CompileOutcome> run();

private:
  Status checkOutputs() const;
  Status setUp();
  Status openJournal();
  Status openMeasured();
  Status openSystem();
  Status openHeuristic();
  Status reportIgnored(const Journal &store);
  Status importModel();
  /// Makes a remark, or with --strict returns an error.
  Status fallBack(const std::string &what);

  bool wantsTuning() const;
  bool mayMeasure() const;
  Status makeKernelCompiler();
  Result<std::unique_ptr<PipelineMeasurer>>
  makePipelineMeasurer(const CalibrationInputs &inputs);
  bool wantsMetric() const;
  Status calibrate(CandidateRecord &record);
  Status replay();
  Status tune();
  Status compileQuickly();
  Status compileReference();
  CandidateSource makeCandidateSource();
  Status includeCandidates();
  Status checkSources(const std::set<std::string> &leftOut);
  Status checkReferenceLayers();
  void describe();
  Status writeOutputs();

  const CompileOptions &options;
  Progress progress;
  std::unique_ptr<mlir::MLIRContext> context;
  mlir::OwningOpRef<mlir::ModuleOp> module;
  std::shared_ptr<const Target> target;
  std::unique_ptr<KernelCompiler> kernels;
  std::unique_ptr<MeasurerFactory> measurers;
  /// `measured` holds measurements that a GPU made where it was.
  std::unique_ptr<Journal> journal, measured, system;
  FindPolicy findPolicy;
  std::unique_ptr<LearnedRanker> learned;
  std::unique_ptr<Tuner> tuner;
  std::unique_ptr<ModelCompiler> model;
  /// Set if the user has a metric.
  std::optional<AccuracyGoal> goal;
  CompileOutcome outcome;
};

} // namespace

//===----------------------------------------------------------------------===//
// Setting up
//===----------------------------------------------------------------------===//

/// Tuning takes minutes, so that unwritable files are reported before it.
Status tarpon::checkWritable(const std::string &path) {
  if (path.empty())
    return runtime::success();
  if (fs::is_directory(path))
    return Error{"cannot write " + path + ": it is a folder"};
  llvm::StringRef parent = llvm::sys::path::parent_path(path);
  std::string folder = parent.empty() ? "." : parent.str();
  if (!fs::is_directory(folder))
    return Error{"cannot write " + path + ": there is no folder " + folder};
  if (!fs::can_write(folder))
    return Error{"cannot write " + path + ": folder " + folder +
                 " is not writable"};
  return runtime::success();
}

Status Compilation::checkOutputs() const {
  if (Status status = checkWritable(options.output); !status)
    return status;
  return checkWritable(options.tuningFile);
}

Status Compilation::fallBack(const std::string &what) {
  if (options.strict)
    return Error{what};
  progress.remark(what);
  return runtime::success();
}

Status Compilation::makeKernelCompiler() {
  Result<TargetCompiler> made = makeTargetCompiler(
      options.target, {options.threads, options.cpu, options.device});
  if (!made)
    return made.error();
  if (Status status = checkRunsHere(*made, options.target); !status)
    return status;
  target = std::move(made->target);
  kernels = std::move(made->kernels);
  if (options.candidates > 0 &&
      kernels->getKernelForm() != runtime::KernelForm::CodeObjects)
    return Error{"packages for " + target->getInfo().name() +
                 " are one shared object, and hold no candidates"};
  return runtime::success();
}

Status Compilation::setUp() {
  if (Status status = makeKernelCompiler(); !status)
    return status;
  Result<FindPolicy> policy =
      resolveFindPolicy(options.findMode, options.tuningPolicy,
                        wantsTuning() ? FindMode::Normal : FindMode::Fast);
  if (!policy)
    return policy.error();
  findPolicy = *policy;
  Result<SearchOptions> search = resolveSearchOptions(options.search);
  if (!search)
    return search.error();
  measurers = makeMeasurerFactory(*kernels, options.evaluatorProgram,
                                  /*onDevice=*/!options.device.empty());
  outcome.compared = measurers->getVerb();
  if (!search->iterations && !options.tuningTime)
    search->iterations = measurers->getDefaultIterations(options.candidates);
  for (auto open : {&Compilation::openJournal, &Compilation::openMeasured,
                    &Compilation::openSystem})
    if (Status status = (this->*open)(); !status)
      return status;
  tuner = std::make_unique<Tuner>(*kernels, *measurers, *journal, progress);
  tuner->setFindPolicy(findPolicy);
  tuner->setSystemStore(system.get());
  tuner->setSearchOptions(*search);
  return openHeuristic();
}

/// A damaged journal is set aside. If no journal can be made, that is a
/// fallback.
Status Compilation::openJournal() {
  const TargetInfo &target = kernels->getTarget();
  JournalContext journalContext = measurers->getJournalContext();
  std::string path = Journal::getDefaultPath(target);
  std::string folder = llvm::sys::path::parent_path(path).str();
  bool exists = fs::exists(path);
  // Without a journal, there is nothing to look up.
  if (!exists && !mayMeasure()) {
    journal = Journal::openInMemory(journalContext);
    return runtime::success();
  }
  bool writable = !fs::create_directories(folder) && fs::can_write(folder) &&
                  (!exists || fs::can_write(path));
  if (!writable) {
    journal = Journal::openInMemory(journalContext);
    return fallBack("cannot write to journal " + path +
                    ", so nothing that is measured is kept");
  }
  Result<std::unique_ptr<Journal>> opened =
      Journal::open(path, std::move(journalContext));
  if (!opened)
    return opened.error();
  journal = std::move(*opened);
  return reportIgnored(*journal);
}

/// Measurements made by tuning packages are used if one choice is compiled:
/// they are not comparable with the model's predictions for other choices.
Status Compilation::openMeasured() {
  Result<std::unique_ptr<Journal>> opened =
      measurers->openDeviceJournal(*target);
  if (!opened)
    return fallBack(opened.message());
  measured = std::move(*opened);
  return measured ? reportIgnored(*measured) : runtime::success();
}

/// A damaged system store is ignored: it is read-only and cannot be set aside.
Status Compilation::openSystem() {
  if (!measurers->usesSystemStore())
    return runtime::success();
  Result<std::unique_ptr<Journal>> opened =
      openSystemStore(kernels->getTarget());
  if (!opened)
    return fallBack(opened.message());
  system = std::move(*opened);
  return system ? reportIgnored(*system) : runtime::success();
}

/// If no store has an answer, a store's learned model answers.
Status Compilation::openHeuristic() {
  std::vector<std::string> remarks;
  learned =
      loadLearnedRanker(kernels->getTarget(), *journal, system.get(), remarks);
  tuner->setRanker(learned.get());
  for (const std::string &text : remarks)
    if (Status status = fallBack(text); !status)
      return status;
  return runtime::success();
}

Status Compilation::reportIgnored(const Journal &store) {
  for (const auto &what : {store.describeStale(), store.describeImpossible()})
    if (what)
      progress.remark(*what);
  return runtime::success();
}

Status Compilation::importModel() {
  ImportOptions importOptions;
  importOptions.batch = options.batch;
  importOptions.assumedInputs = options.assumedInputs;
  // A package and a tuning file identify the model by its hash.
  importOptions.digest =
      wantsTuning() || !options.replay.empty() || !options.output.empty();
  importOptions.threads = static_cast<int>(options.threads);
  auto imported = tarpon::importModel(
      *context, options.model, importOptions,
      [this](const std::string &remark) { return fallBack(remark); });
  if (!imported)
    return imported.error();
  module = std::move(*imported);
  model = std::make_unique<ModelCompiler>(*module, *kernels);
  model->setRangeMethod(options.rangeMethod);
  return model->simplify();
}

//===----------------------------------------------------------------------===//
// Solutions
//===----------------------------------------------------------------------===//

bool Compilation::wantsTuning() const {
  if (!options.replay.empty())
    return false;
  return options.dtype.values.size() > 1 || options.layout.values.size() > 1 ||
         options.fusion.values.size() > 1 || !options.tuningFile.empty() ||
         options.tuningTime.has_value() || wantsMetric();
}

bool Compilation::wantsMetric() const {
  return !options.labels.empty() || !options.metric.empty();
}

bool Compilation::mayMeasure() const {
  return wantsTuning() || options.candidates > 0 ||
         getFindRule(findPolicy).mayMeasureOrStore() ||
         (options.replay.empty() && measurers->verifiesWhenCalibrating() &&
          options.dtype.values.front() == Precision::I8);
}

static TuningFile::Calibration
describeCalibration(const CalibrationInputs &inputs) {
  return {inputs.source, static_cast<int64_t>(inputs.samples.size()),
          inputs.digest};
}

Result<std::unique_ptr<PipelineMeasurer>>
Compilation::makePipelineMeasurer(const CalibrationInputs &inputs) {
  return measurers->createPipelineMeasurer(
      {*module, *model, *tuner, progress, inputs, options.evaluatorProgram,
       options.cpu, goal ? &*goal : nullptr});
}

/// Measures the ranges for a single choice.
Status Compilation::calibrate(CandidateRecord &record) {
  Result<CalibrationInputs> inputs =
      getCalibration(options.calibration, model->getInputs());
  if (!inputs)
    return inputs.error();
  Result<std::unique_ptr<PipelineMeasurer>> measurer =
      makePipelineMeasurer(*inputs);
  if (!measurer)
    return measurer.error();
  Fusion fusion = record.choice.fusion;
  if (Status status = (*measurer)->calibrate(fusion); !status)
    return status;
  outcome.record.calibration = describeCalibration(*inputs);
  record.ranges = model->getRanges(fusion);
  return runtime::success();
}

Status Compilation::tune() {
  outcome.mode = CompileOutcome::Tuned;
  Deadline deadline = options.tuningTime ? Deadline::after(*options.tuningTime)
                                         : Deadline::never();
  if (options.isStopped)
    deadline = deadline.orWhen(*options.isStopped);
  progress.setDeadline(deadline);
  Result<CalibrationInputs> inputs =
      getCalibration(options.calibration, model->getInputs());
  if (!inputs)
    return inputs.error();
  if (wantsMetric()) {
    Result<AccuracyGoal> made =
        makeAccuracyGoal(options.labels, options.metric, options.maxDrop,
                         options.calibration, *model);
    if (!made)
      return made.error();
    goal = std::move(*made);
  }
  Result<std::unique_ptr<PipelineMeasurer>> measurer =
      makePipelineMeasurer(*inputs);
  if (!measurer)
    return measurer.error();
  GlobalTuner global(*model, *tuner, *journal, progress, *inputs, **measurer);
  global.setMaxError(options.maxError);
  global.setGoal(goal ? &*goal : nullptr);
  global.setDeadline(deadline);
  RegionOptions regions = {options.dtype.values, options.layout.values,
                           options.fusion.values.front()};
  if (llvm::is_contained(options.fusion.values, Fusion::On))
    regions.fusion = Fusion::On;
  regions.choosesDtypes = options.dtype.perRegion;
  regions.choosesLayouts = options.layout.perRegion;
  regions.choosesFusion = options.fusion.perRegion;
  global.setRegionOptions(std::move(regions));
  Result<GlobalResult> result = global.run(enumerateChoices(
      options.dtype.values, options.layout.values, options.fusion.values));
  if (!result)
    return result.error();
  outcome.record.calibration = describeCalibration(*inputs);
  outcome.record.candidates = std::move(result->candidates);
  outcome.record.winner = static_cast<int64_t>(result->winner);
  outcome.record.progress = std::move(result->progress);
  outcome.package = std::move(result->package);
  if (!result->warning.empty())
    if (Status status = fallBack(result->warning); !status)
      return status;
  return checkSources(result->leftOut);
}

/// A layer that was not measured in time, or whose candidates were all wrong,
/// is a fallback; one that cannot make the model faster is not.
Status Compilation::checkSources(const std::set<std::string> &leftOut) {
  int64_t count = 0;
  bool isLearned = false;
  for (const LayerRecord &layer : outcome.record.getWinner().layers) {
    bool isGuess = layer.source == "default" || layer.source == "heuristic";
    if (!isGuess || layer.solver == getReferenceSolver().id() ||
        leftOut.count(layer.problem))
      continue;
    ++count;
    isLearned |= layer.source == "heuristic";
  }
  if (count == 0)
    return runtime::success();
  return fallBack(std::to_string(count) +
                  " layers take the default of their solver" +
                  (isLearned ? " or what the heuristic expects" : "") +
                  ", since they were not measured in time");
}

/// A layer that only the reference can compute is slow and may dominate the
/// model's time.
Status Compilation::checkReferenceLayers() {
  std::vector<std::string> names;
  for (const runtime::Layer &layer : outcome.package.layers)
    if (layer.solver == getReferenceSolver().id() &&
        layer.flops >= policy::kNotableReferenceFlops)
      names.push_back("'" + layer.name + "'");
  if (names.empty())
    return runtime::success();
  size_t count = names.size();
  constexpr size_t kShown = 3;
  names.resize(std::min(count, kShown));
  return fallBack(
      (count == 1 ? "a layer is" : std::to_string(count) + " layers are") +
      std::string(" computed by the slow reference solver: ") +
      llvm::join(names, ", ") + (count > kShown ? ", ..." : ""));
}

Status Compilation::compileQuickly() {
  outcome.mode = CompileOutcome::Quick;
  GlobalChoice choice = {options.dtype.values.front(),
                         options.layout.values.front(),
                         options.fusion.values.front()};
  auto solve = [this](const Problem &problem,
                      const std::string &) -> Result<Solution> {
    if (measured)
      if (auto known = findMeasured(*measured, problem, kernels->getTarget()))
        return std::move(*known);
    // For a package to be tuned elsewhere, this asks for candidates.
    return options.candidates > 0 ? tuner->tune(problem) : tuner->find(problem);
  };
  CandidateRecord record;
  record.choice = choice;
  if (choice.dtype == Precision::I8)
    if (Status status = calibrate(record); !status)
      return status;
  Result<PreparedModel> prepared = model->prepare(choice);
  if (!prepared)
    return prepared.error();
  Result<CompiledModel> compiled = model->lower(std::move(*prepared), solve);
  if (!compiled)
    return compiled.error();
  record.layers = std::move(compiled->layers);
  outcome.package = std::move(compiled->package);
  outcome.record.candidates = {std::move(record)};
  return runtime::success();
}

Status Compilation::compileReference() {
  Result<runtime::Package> reference = compileReferencePackage(
      *module, *kernels, {options.threads, options.cpu, /*device=*/""});
  if (!reference)
    return reference.error();
  outcome.reference = std::move(*reference);
  return runtime::success();
}

CandidateSource Compilation::makeCandidateSource() {
  if (options.candidates == 0)
    return {};
  return makeTunedSource(*tuner, *journal, target->getInfo(),
                         options.candidates, getKernelVersion(*target));
}

/// The winner is known only after all choices are compiled: it is compiled once
/// more, with candidates.
Status Compilation::includeCandidates() {
  if (options.candidates == 0 || outcome.mode == CompileOutcome::Replayed)
    return runtime::success();
  progress.setPhase("candidates");
  describe();
  ReplayOptions again;
  again.path = "the package with candidates";
  // Layers with one key may differ in scales, which a record does not hold.
  again.anyway = true;
  again.otherwise = [this](const Problem &problem, const std::string &) {
    return tuner->tune(problem);
  };
  again.candidates = makeCandidateSource();
  Result<ReplayedModel> made = replayTuningFile(outcome.record, *model, again);
  if (!made)
    return made.error();
  outcome.package = std::move(made->model.package);
  return runtime::success();
}

Status Compilation::replay() {
  outcome.mode = CompileOutcome::Replayed;
  Result<TuningFile> file = readTuningFile(options.replay);
  if (!file)
    return file.error();
  if (Status status = pickCandidate(*file, options.replay, options.point,
                                    options.replayMaxError);
      !status)
    return status;
  TuningFile::Toolchain current = {getTarponVersion().str(),
                                   LLVM_VERSION_STRING};
  if (file->toolchain != current)
    if (Status status = fallBack(
            options.replay + " was made by tarpon " + file->toolchain.tarpon +
            " with LLVM " + file->toolchain.llvm +
            ", so kernels may differ from those that were measured");
        !status)
      return status;
  ReplayOptions replayOptions;
  replayOptions.path = options.replay;
  replayOptions.anyway = options.replayAnyway;
  replayOptions.otherwise = [this](const Problem &problem,
                                   const std::string &) {
    return tuner->lookUp(problem);
  };
  replayOptions.candidates = makeCandidateSource();
  Result<ReplayedModel> replayed =
      replayTuningFile(*file, *model, replayOptions);
  if (!replayed)
    return replayed.error();
  for (const std::string &what : replayed->replaced)
    if (Status status = fallBack(what); !status)
      return status;
  outcome.record = std::move(*file);
  outcome.record.candidates[outcome.record.winner].layers =
      std::move(replayed->model.layers);
  outcome.package = std::move(replayed->model.package);
  outcome.replaced = std::move(replayed->replaced);
  return runtime::success();
}

//===----------------------------------------------------------------------===//
// The run
//===----------------------------------------------------------------------===//

void Compilation::describe() {
  outcome.search = tuner->getStatistics();
  outcome.kernels = kernels->getStatistics();
  outcome.assumedInputs = getModelInfo(*module).assumedInputs;
  if (outcome.mode == CompileOutcome::Replayed)
    return;
  outcome.record.model = model->describeModel();
  outcome.record.target = describeTarget(kernels->getTarget());
  outcome.record.toolchain = {getTarponVersion().str(), LLVM_VERSION_STRING};
  outcome.record.knobs = {
      options.dtype.text, options.layout.text, options.fusion.text,
      options.rangeMethod
          ? std::string(getRangeMethodName(*options.rangeMethod))
          : "pick"};
}

Status Compilation::writeOutputs() {
  if (!options.output.empty())
    if (Status status = runtime::writePackage(outcome.package, options.output);
        !status)
      return status;
  if (options.tuningFile.empty())
    return runtime::success();
  return writeTuningFile(outcome.record, options.tuningFile);
}

Result<CompileOutcome> Compilation::run() {
  auto start = std::chrono::steady_clock::now();
  auto steps = {&Compilation::setUp, &Compilation::importModel};
  if (Status status = checkOutputs(); !status)
    return status.error();
  for (auto step : steps)
    if (Status status = (this->*step)(); !status)
      return status.error();
  Status status = !options.replay.empty() ? replay()
                  : wantsTuning()         ? tune()
                                          : compileQuickly();
  if (status)
    status = includeCandidates();
  progress.finish();
  if (status && outcome.mode != CompileOutcome::Replayed)
    status = checkReferenceLayers();
  if (status && options.withReference)
    status = compileReference();
  if (!status)
    return status.error();
  describe();
  if (Status written = writeOutputs(); !written)
    return written.error();
  outcome.seconds =
      std::chrono::duration<double>(std::chrono::steady_clock::now() - start)
          .count();
  return std::move(outcome);
}

Result<CompileOutcome> tarpon::compileModel(const CompileOptions &options) {
  return Compilation(options).run();
}

Result<runtime::Package> tarpon::compileForRun(CompileOptions options) {
  assert(options.dtype.values.size() == 1 &&
         options.layout.values.size() == 1 &&
         options.fusion.values.size() == 1 && "one choice only");
  options.quiet = true;
  Result<CompileOutcome> outcome = compileModel(options);
  if (!outcome)
    return outcome.error();
  return std::move(outcome->package);
}
