//===- Compile.cpp - Compiles an ONNX file to a package -------------------===//
//
// Part of Tarpon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tarpon/Autotune/Tuning/Compile.h"

#include "Compilation.h"

#include "tarpon/Autotune/Store/DeviceJournal.h"
#include "tarpon/Autotune/Store/SystemStore.h"

#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/raw_ostream.h"

#include <cassert>
#include <chrono>

using namespace tarpon;
using runtime::Error;
using runtime::Result;
using runtime::Status;
namespace fs = llvm::sys::fs;

Compilation::Compilation(const CompileOptions &options)
    : options(options),
      progress(llvm::errs(), Progress::detectStyle(options.quiet)),
      context(makeModelContext()) {
  for (const auto &[name, range] : options.dims)
    sizes[name] = range.low;
}

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
  if (remarks.insert(what).second)
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
  importOptions.dims = sizes;
  importOptions.assumedInputs = options.assumedInputs;
  // A package and a tuning file identify the model by its hash.
  importOptions.digest =
      wantsTuning() || !options.replays.empty() || !options.output.empty();
  importOptions.threads = static_cast<int>(options.threads);
  auto imported = tarpon::importModel(
      *context, onnx, options.model, importOptions,
      [this](const std::string &remark) { return fallBack(remark); });
  if (!imported)
    return imported.error();
  module = std::move(*imported);
  model = std::make_unique<ModelCompiler>(*module, *kernels);
  model->setRangeMethod(options.rangeMethod);
  return model->simplify();
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
  if (hasSeveralSizes(options))
    if (Status status = checkSizes(); !status)
      return status.error();
  for (auto step : steps)
    if (Status status = (this->*step)(); !status)
      return status.error();
  Status status = hasSeveralSizes(options)   ? compileSizes()
                  : !options.replays.empty() ? replay()
                  : wantsTuning()            ? tune()
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
