//===- BundleEvaluator.cpp - Measures bundles of candidates ---------------===//
//
// Part of Tarpon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tarpon/Autotune/Bundle/BundleEvaluator.h"

#include "Bundle/BundleFile.h"
#include "Bundle/BundleMeasurer.h"
#include "Bundle/BundledPackages.h"
#include "Bundle/EmulatedMeasurer.h"
#include "Measure/EvaluationConditions.h"
#include "Measure/PackageEvaluation.h"
#include "Search/Race.h"
#include "Search/TempDirectory.h"
#include "tarpon/Runtime/Evaluator.h"
#include "tarpon/Targets/Registry/TargetRegistry.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/SmallString.h"
#include "llvm/Support/Path.h"

#include <optional>
#include <set>

using namespace tarpon;
using runtime::Error;
using runtime::Result;
using runtime::Status;

/// The program that runs candidates on an emulated GPU.
static std::string findEmulatorProgram(llvm::StringRef evaluatorProgram) {
  llvm::SmallString<256> path(llvm::sys::path::parent_path(evaluatorProgram));
  llvm::sys::path::append(path, "tarpon-emulator");
  return path.str().str();
}

struct BundleEvaluator::State {
  State(const std::string &evaluatorProgram, Progress &progress,
        bool onEmulatedDevice)
      : evaluator(onEmulatedDevice ? findEmulatorProgram(evaluatorProgram)
                                   : evaluatorProgram),
        progress(progress), onEmulatedDevice(onEmulatedDevice) {}

  Status openDirectory();
  Status checkDevice(const TargetInfo &target);
  Result<std::unique_ptr<Measurer>> makeMeasurer(const CandidateBundle &bundle,
                                                 BundledPackages &packages);

  runtime::EvaluatorProcess evaluator;
  Progress &progress;
  bool onEmulatedDevice;
  std::unique_ptr<TempDirectory> directory;
  /// The targets whose GPU this machine has.
  std::set<std::string> checked;
};

Status BundleEvaluator::State::openDirectory() {
  if (directory)
    return runtime::success();
  Result<std::unique_ptr<TempDirectory>> created = TempDirectory::create();
  if (!created)
    return created.error();
  directory = std::move(*created);
  return runtime::success();
}

Status BundleEvaluator::State::checkDevice(const TargetInfo &target) {
  if (checked.count(target.name()))
    return runtime::success();
  Status status = checkMeasuringDevice(target);
  if (status)
    checked.insert(target.name());
  return status;
}

//===----------------------------------------------------------------------===//
// The race
//===----------------------------------------------------------------------===//

/// Rivals that are known take part with their times: a candidate that cannot
/// reach the final is dropped early.
static std::vector<Contender>
makeContenders(const CandidateBundle &bundle,
               llvm::ArrayRef<Measurement> known) {
  std::vector<Contender> contenders;
  for (const BundledCandidate &candidate : bundle.candidates) {
    Contender contender;
    contender.key = candidate.key;
    contender.workspaceBytes = candidate.workspaceBytes;
    contenders.push_back(std::move(contender));
  }
  for (const Measurement &row : known) {
    auto entry = llvm::find_if(contenders, [&](const Contender &contender) {
      return contender.key == row.key;
    });
    bool isBundled = entry - contenders.begin() <
                     static_cast<ptrdiff_t>(bundle.candidates.size());
    if (isBundled && bundle.stage == MeasurementStage::Final) {
      entry->result = row;
    } else if (entry == contenders.end() && row.key.problem == bundle.problem) {
      Contender rival;
      rival.key = row.key;
      rival.result = row;
      contenders.push_back(std::move(rival));
    }
  }
  return contenders;
}

static Status raceAll(Race &race, size_t count) {
  for (size_t i = 0; i < count && !race.isOver(); ++i)
    if (Status status = race.measure(i); !status)
      return status;
  return runtime::success();
}

/// The records of finalists may be those of another store.
static Status runFinal(Race &race, size_t count) {
  std::vector<size_t> finalists;
  for (size_t i = 0; i < count; ++i) {
    Contender &contender = race.getContenders()[i];
    finalists.push_back(i);
    if (contender.result)
      continue;
    contender.result.emplace();
    contender.result->key = contender.key;
    contender.result->status = MeasurementStatus::Ok;
  }
  return race.timeInTurn(finalists);
}

static Result<std::vector<Measurement>>
raceCandidates(const CandidateBundle &bundle, llvm::ArrayRef<Measurement> known,
               Measurer &measurer, Progress &progress, Deadline deadline) {
  std::unique_ptr<Journal> journal = Journal::openInMemory(JournalContext());
  SearchStatistics statistics;
  Race race({measurer, *journal, progress, statistics, deadline},
            bundle.problem);
  race.getContenders() = makeContenders(bundle, known);
  size_t count = bundle.candidates.size();
  Status status = bundle.stage == MeasurementStage::Final
                      ? runFinal(race, count)
                      : raceAll(race, count);
  Status finished = race.finish();
  for (const Status *step : {&status, &finished})
    if (!*step)
      return step->error();
  std::vector<Measurement> measured;
  for (const Contender &contender :
       llvm::ArrayRef(race.getContenders()).take_front(count))
    if (contender.result && contender.result->stage == bundle.stage)
      measured.push_back(*contender.result);
  return measured;
}

//===----------------------------------------------------------------------===//
// The public interface
//===----------------------------------------------------------------------===//

BundleEvaluator::BundleEvaluator(const std::string &evaluatorProgram,
                                 Progress &progress, bool onEmulatedDevice)
    : state(std::make_unique<State>(evaluatorProgram, progress,
                                    onEmulatedDevice)) {}

BundleEvaluator::~BundleEvaluator() = default;

void BundleEvaluator::keepErrors() { state->evaluator.keepErrors(); }

runtime::OutputTail BundleEvaluator::takeErrors() {
  return state->evaluator.takeErrors();
}

/// The target of a bundle, if its packages are for that one.
static Result<std::shared_ptr<const Target>>
findBundleTarget(const CandidateBundle &bundle,
                 const runtime::Package &reference, bool onEmulatedDevice) {
  TargetOptions options;
  options.threads = bundle.threads;
  if (onEmulatedDevice)
    options.device = "emulated";
  Result<std::shared_ptr<const Target>> target =
      findTarget(bundle.target, options);
  if (target && (*target)->getInfo().arch != reference.arch)
    return Error{"the packages are for " + reference.arch + ", and " +
                 bundle.target + " is " + (*target)->getInfo().arch};
  return target;
}

Result<std::unique_ptr<Measurer>>
BundleEvaluator::State::makeMeasurer(const CandidateBundle &bundle,
                                     BundledPackages &packages) {
  Result<runtime::Package> reference =
      runtime::readPackage(packages.getReferencePath());
  if (!reference)
    return reference.error();
  Result<std::shared_ptr<const Target>> target =
      findBundleTarget(bundle, *reference, onEmulatedDevice);
  if (!target)
    return target.error();
  const TargetInfo &info = (*target)->getInfo();
  runtime::KernelForm form = reference->getKernelForm();
  // Reading the manifest has parsed it.
  Problem problem = *parseProblem(bundle.problem);
  EvaluationConditions conditions =
      getEvaluationConditions(problem, info, form);
  PackageEvaluation evaluation(problem, evaluator, conditions);
  if (onEmulatedDevice)
    return std::unique_ptr<Measurer>(
        std::make_unique<EmulatedMeasurer>(packages, std::move(evaluation)));
  if (form == runtime::KernelForm::CodeObjects)
    if (Status status = checkDevice(info); !status)
      return status.error();
  return std::unique_ptr<Measurer>(
      std::make_unique<BundleMeasurer>(packages, std::move(evaluation)));
}

Result<std::vector<Measurement>>
BundleEvaluator::measure(const std::string &path,
                         llvm::ArrayRef<Measurement> known, Deadline deadline) {
  Result<BundleFile> file = BundleFile::open(path);
  if (!file)
    return file.error();
  if (Status status = state->openDirectory(); !status)
    return status.error();
  const CandidateBundle &bundle = file->getHead();
  BundledPackages packages(*file, *state->directory);
  if (Status status = packages.writeReference(); !status)
    return status.error();
  Result<std::unique_ptr<Measurer>> measurer =
      state->makeMeasurer(bundle, packages);
  if (!measurer)
    return Error{"bundle '" + path + "': " + measurer.message()};
  Result<std::vector<Measurement>> measured =
      raceCandidates(bundle, known, **measurer, state->progress, deadline);
  if (measured && state->onEmulatedDevice)
    for (Measurement &m : *measured)
      m.timeSource = TimeSource::Modelled;
  return measured;
}
