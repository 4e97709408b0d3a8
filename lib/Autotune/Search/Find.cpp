//===- Find.cpp - Finds, runs and keeps solutions of problems -------------===//
//
// Part of Tarpon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tarpon/Autotune/Search/Find.h"

#include "Choice/ModelLoading.h"
#include "SolutionFile.h"
#include "Store/Digest.h"
#include "tarpon/Autotune/Store/SystemStore.h"
#include "tarpon/Driver/ProblemLog.h"
#include "tarpon/Problem/PerfConfigJson.h"
#include "tarpon/Runtime/Executor.h"
#include "tarpon/Runtime/KernelABI.h"
#include "tarpon/Solver/BehaviourVersion.h"
#include "tarpon/Solver/SolverRegistry.h"
#include "tarpon/Targets/Package/PackageBuilder.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/Alignment.h"
#include "llvm/Support/raw_ostream.h"

using namespace tarpon;
using runtime::AlignedBuffer;
using runtime::Error;
using runtime::Executor;
using runtime::Package;
using runtime::Result;
using runtime::Status;

/// A solution that is ready to run.
struct Finder::Invoker {
  std::unique_ptr<Executor> executor;
  /// The operands that are inputs of the package.
  std::vector<size_t> inputs;
  /// The addresses of the constants; empty if they came with a package.
  std::vector<std::pair<size_t, const void *>> constants;
  /// The arguments of calls, kept so that no run allocates.
  std::vector<const void *> inputPointers;
  /// The number of the call that used it last.
  int64_t lastUse = 0;
  /// It came with a package and cannot be made again.
  bool isLoaded = false;

  bool hasConstantsOf(llvm::ArrayRef<const void *> operands) const {
    return llvm::all_of(constants, [&](const auto &constant) {
      return operands[constant.first] == constant.second;
    });
  }
};

std::optional<double> FoundSolution::getMilliseconds() const {
  if (!solution.measurement)
    return std::nullopt;
  return solution.measurement->median;
}

//===----------------------------------------------------------------------===//
// Opening
//===----------------------------------------------------------------------===//

Finder::Finder(const FinderOptions &options)
    : options(options),
      progress(llvm::errs(), Progress::detectStyle(options.quiet)) {}

Finder::~Finder() = default;

Status Finder::openTarget() {
  Result<TargetCompiler> made = makeTargetCompiler(
      options.target, {options.threads, options.cpu, options.device});
  if (!made)
    return made.error();
  target = std::move(made->target);
  compiler = std::move(made->kernels);
  measurers = makeMeasurerFactory(*compiler, options.evaluatorProgram,
                                  /*onDevice=*/!options.device.empty());
  return runtime::success();
}

Status Finder::openStores() {
  const TargetInfo &info = target->getInfo();
  Result<std::unique_ptr<Journal>> user = Journal::open(
      Journal::getDefaultPath(info), measurers->getJournalContext());
  if (!user)
    return user.error();
  journal = std::move(*user);
  if (measurers->usesSystemStore()) {
    Result<std::unique_ptr<Journal>> shipped = openSystemStore(info);
    if (shipped)
      system = std::move(*shipped);
    else
      progress.remark(shipped.message());
  }
  for (const Journal *store : {journal.get(), system.get()})
    if (store)
      for (const auto &what :
           {store->describeStale(), store->describeImpossible()})
        if (what)
          progress.remark(*what);
  return runtime::success();
}

/// A caller that sets a time or a number gets it.
void Finder::setDeadline(Deadline value) {
  SearchOptions search = searchOptions;
  if (!search.iterations && !value.isBounded())
    search.iterations = measurers->getDefaultIterations(/*included=*/0);
  tuner->setSearchOptions(search);
  tuner->setDeadline(value);
}

Status Finder::open() {
  Result<FindPolicy> resolved = resolveFindPolicy(options.mode, options.policy);
  if (!resolved)
    return resolved.error();
  policy = *resolved;
  Result<SearchOptions> search = resolveSearchOptions(options.search);
  if (!search)
    return search.error();
  searchOptions = *search;
  for (auto step : {&Finder::openTarget, &Finder::openStores})
    if (Status status = (this->*step)(); !status)
      return status;
  tuner = std::make_unique<Tuner>(*compiler, *measurers, *journal, progress);
  tuner->setSystemStore(system.get());
  setDeadline(Deadline::never());
  std::vector<std::string> remarks;
  learned =
      loadLearnedRanker(compiler->getTarget(), *journal, system.get(), remarks);
  for (const std::string &text : remarks)
    progress.remark(text);
  tuner->setRanker(learned.get());
  return runtime::success();
}

Result<std::unique_ptr<Finder>> Finder::create(const FinderOptions &options) {
  std::unique_ptr<Finder> finder(new Finder(options));
  if (Status status = finder->open(); !status)
    return status.error();
  return finder;
}

//===----------------------------------------------------------------------===//
// Finding
//===----------------------------------------------------------------------===//

/// Digests what a problem's key leaves out although its launches depend on it.
static std::string digestScales(const Problem &problem) {
  Digest digest;
  auto add = [&](const TensorDesc &desc) {
    digest.add(
        llvm::StringRef(reinterpret_cast<const char *>(desc.scales.data()),
                        desc.scales.size() * sizeof(float)));
    digest.add(llvm::StringRef(std::to_string(desc.zeroPoint)));
  };
  llvm::for_each(problem.operands, add);
  for (int64_t i = 0; i < problem.numResults(); ++i)
    add(problem.getResult(i));
  return digest.hex().substr(0, 16);
}

FoundSolution Finder::describe(const Problem &problem,
                               Solution solution) const {
  FoundSolution found;
  found.problem = problem;
  found.workspaceBytes =
      solution.solver->workspaceSize(problem, compiler->getTarget());
  found.key = problem.key() + "|" + digestScales(problem) + "|" +
              solution.solver->id().str() + "|" + solution.config.str();
  found.solution = std::move(solution);
  return found;
}

/// Sorts solutions; they come ordered by time.
static void putInOrder(std::vector<FoundSolution> &list, SolutionOrder order) {
  if (order == SolutionOrder::ByWorkspace)
    llvm::stable_sort(list, [](const FoundSolution &a, const FoundSolution &b) {
      return a.workspaceBytes < b.workspaceBytes;
    });
}

/// A problem that a program asks for repeatedly is logged once.
Status Finder::log(const Problem &problem) {
  if (!logged.insert(problem.key()).second)
    return runtime::success();
  return logProblems(problem, options.logDriver);
}

Result<std::vector<FoundSolution>>
Finder::findSolutions(const Problem &problem, const FindOptions &request) {
  if (Status status = log(problem); !status)
    return status.error();
  tuner->setFindPolicy({request.mode.value_or(policy.mode),
                        request.policy.value_or(policy.tuning)});
  Result<Solution> best =
      tuner->find(problem, {request.tuning, request.limits});
  progress.finish();
  if (!best)
    return best.error();
  std::vector<FoundSolution> list = listSolutions(problem, request.limits);
  // Only the tuner knows its latest measurements.
  llvm::erase_if(list, [&](const FoundSolution &found) {
    return found.solution.solver == best->solver;
  });
  list.insert(list.begin(), describe(problem, std::move(*best)));
  putInOrder(list, request.order);
  return list;
}

std::vector<FoundSolution> Finder::listSolutions(const Problem &problem,
                                                 const SolutionLimits &limits,
                                                 size_t max,
                                                 SolutionOrder order) const {
  std::vector<FoundSolution> list;
  for (Solution &solution : tuner->list(problem, limits))
    list.push_back(describe(problem, std::move(solution)));
  putInOrder(list, order);
  if (list.size() > max)
    list.resize(max);
  return list;
}

size_t Finder::countSolutions(const Problem &problem,
                              const SolutionLimits &limits) const {
  return tuner->list(problem, limits).size();
}

std::string Finder::explainGuess(const FoundSolution &found) const {
  if (found.solution.measurement)
    return "";
  const TargetInfo &target = compiler->getTarget();
  if (!learned)
    return "there is no heuristic for " +
           JournalContext::forTarget(target).target + " with " +
           std::to_string(target.threads) +
           " thread(s), so solvers are ranked by the fraction of the peak that "
           "they expect ('graph-opt train' makes one)";
  if (auto reason = learned->explainAbstention(found.problem, target))
    return *reason +
           ", so solvers are ranked by the fraction of the peak that they "
           "expect";
  return learned->describeError(found.problem, target);
}

//===----------------------------------------------------------------------===//
// Running
//===----------------------------------------------------------------------===//

/// The number of solutions that are kept ready to run, with their packed
/// constants.
static constexpr int64_t kMaxInvokers = 256;

/// Evicts an invoker to make room for one more.
void Finder::evictInvoker() {
  int64_t count = 0;
  InvokerList *oldestList = nullptr;
  size_t oldest = 0;
  for (auto &[key, list] : invokers)
    for (size_t i = 0; i < list.size(); ++i) {
      if (list[i]->isLoaded)
        continue;
      ++count;
      if (!oldestList || list[i]->lastUse < (*oldestList)[oldest]->lastUse) {
        oldestList = &list;
        oldest = i;
      }
    }
  if (count >= kMaxInvokers)
    oldestList->erase(oldestList->begin() + static_cast<int64_t>(oldest));
}

Result<runtime::Device *> Finder::getDevice() {
  if (device)
    return device.get();
  Result<std::unique_ptr<runtime::Device>> opened =
      target->openDevice(compiler->getTarget().threads);
  if (!opened)
    return opened.error();
  device = std::move(*opened);
  return device.get();
}

/// Loads the package into an executor and keeps it.
Result<Finder::Invoker *> Finder::load(const FoundSolution &found,
                                       Package package) {
  auto invoker = std::make_unique<Invoker>();
  for (auto [index, operand] : llvm::enumerate(found.problem.operands))
    if (!operand.constant)
      invoker->inputs.push_back(index);
  if (package.inputs.size() != invoker->inputs.size() ||
      static_cast<int64_t>(package.outputs.size()) !=
          found.problem.numResults())
    return Error{"the package is not one of " + found.problem.key()};
  Result<runtime::Device *> on = getDevice();
  if (!on)
    return on.error();
  // Other devices have a workspace of their own for each solution.
  bool sharesWorkspace = (*on)->sharesHostMemory();
  if (sharesWorkspace && package.arenaBytes > workspace.size()) {
    Result<AlignedBuffer> larger = AlignedBuffer::allocate(package.arenaBytes);
    if (!larger)
      return larger.error();
    workspace = std::move(*larger);
  }
  runtime::ExecutorOptions executorOptions;
  executorOptions.paddedBuffers = options.paddedBuffers;
  executorOptions.callerArena = sharesWorkspace;
  Result<std::unique_ptr<Executor>> executor =
      Executor::create(std::move(package), **on, executorOptions);
  if (!executor)
    return executor.error();
  invoker->executor = std::move(*executor);
  invoker->inputPointers.resize(invoker->inputs.size());
  ++preparations;
  invoker->lastUse = ++calls;
  evictInvoker();
  return invokers[found.key].emplace_back(std::move(invoker)).get();
}

Result<Package> Finder::build(const FoundSolution &found,
                              llvm::ArrayRef<const void *> operands) const {
  if (operands.size() != found.problem.operands.size())
    return Error{"expected " + std::to_string(found.problem.operands.size()) +
                 " operands for " + found.problem.key() + ", got " +
                 std::to_string(operands.size())};
  ConstantOperands constants(found.problem.operands.size());
  for (auto [index, operand] : llvm::enumerate(found.problem.operands))
    if (operand.constant)
      constants[index] = {static_cast<const char *>(operands[index]),
                          static_cast<size_t>(operand.numBytes())};
  return buildProblemPackage(found.problem, *found.solution.solver,
                             found.solution.config, *compiler, constants);
}

Result<Finder::Invoker *>
Finder::prepare(const FoundSolution &found,
                llvm::ArrayRef<const void *> operands) {
  Result<Package> package = build(found, operands);
  if (!package)
    return package.error();
  Result<Invoker *> invoker = load(found, std::move(*package));
  if (invoker)
    for (auto [index, operand] : llvm::enumerate(found.problem.operands))
      if (operand.constant)
        (*invoker)->constants.emplace_back(index, operands[index]);
  return invoker;
}

Status Finder::compileSolution(const FoundSolution &found,
                               llvm::ArrayRef<const void *> operands) {
  // An invoker of the same addresses may be out of date.
  if (Invoker *known = findInvoker(found, operands))
    llvm::erase_if(invokers[found.key],
                   [&](const auto &entry) { return entry.get() == known; });
  Result<Invoker *> invoker = prepare(found, operands);
  return invoker ? runtime::success() : Status(invoker.error());
}

/// Returns the invoker that was made with these constants, or null.
Finder::Invoker *Finder::findInvoker(const FoundSolution &found,
                                     llvm::ArrayRef<const void *> operands) {
  auto known = invokers.find(found.key);
  if (known == invokers.end() ||
      operands.size() != found.problem.operands.size())
    return nullptr;
  for (const std::unique_ptr<Invoker> &invoker : known->second)
    if (invoker->hasConstantsOf(operands))
      return invoker.get();
  return nullptr;
}

/// Checks that a solution can use the caller's workspace.
static Status checkWorkspace(llvm::ArrayRef<char> given,
                             const FoundSolution &found, int64_t needed) {
  std::string who =
      found.solution.solver->id().str() + " for " + found.problem.key();
  if (static_cast<int64_t>(given.size()) < needed)
    return Error{"a workspace of " + std::to_string(given.size()) +
                 " bytes is too small for " + who + ": it needs " +
                 std::to_string(needed)};
  if (!llvm::isAddrAligned(llvm::Align(runtime::kBufferAlignment),
                           given.data()))
    return Error{"the workspace for " + who + " is not aligned to " +
                 std::to_string(runtime::kBufferAlignment) + " bytes"};
  return runtime::success();
}

Status Finder::runSolution(
    const FoundSolution &found, llvm::ArrayRef<const void *> operands,
    llvm::ArrayRef<void *> results,
    std::optional<llvm::MutableArrayRef<char>> callersWorkspace) {
  if (static_cast<int64_t>(results.size()) != found.problem.numResults())
    return Error{"expected " + std::to_string(found.problem.numResults()) +
                 " results for " + found.problem.key() + ", got " +
                 std::to_string(results.size())};
  Invoker *invoker = findInvoker(found, operands);
  if (!invoker) {
    if (Status status = log(found.problem); !status)
      return status;
    Result<Invoker *> prepared = prepare(found, operands);
    if (!prepared)
      return prepared.error();
    // The analyzer does not see that std::variant copies the pointer.
    // NOLINTNEXTLINE(clang-analyzer-core.uninitialized.Assign)
    invoker = *prepared;
  }
  int64_t needed = invoker->executor->package().arenaBytes;
  if (callersWorkspace && needed > 0)
    if (Status status = checkWorkspace(*callersWorkspace, found, needed);
        !status)
      return status;
  invoker->lastUse = ++calls;
  for (auto [slot, index] : llvm::enumerate(invoker->inputs))
    invoker->inputPointers[slot] = operands[index];
  return invoker->executor->run(
      {invoker->inputPointers.data(), invoker->inputPointers.size()},
      {results.data(), results.size()},
      callersWorkspace ? callersWorkspace->data() : workspace.data());
}

//===----------------------------------------------------------------------===//
// Files
//===----------------------------------------------------------------------===//

Status Finder::save(const FoundSolution &found, const std::string &path,
                    bool hasKernels) const {
  SolutionFile file;
  file.candidate = {found.problem.key(), found.solution.solver->id().str(),
                    found.solution.config.str()};
  file.source = found.solution.source;
  file.medianMs = found.getMilliseconds();
  file.madeBy = JournalContext::forTarget(compiler->getTarget());
  file.version = getBehaviourVersion(file.candidate.solver);
  file.hasKernels = hasKernels;
  return writeSolutionFile(file, path);
}

Status Finder::saveSolution(const FoundSolution &found,
                            const std::string &path) {
  return save(found, path, /*hasKernels=*/false);
}

Status Finder::saveSolutionWithKernels(const FoundSolution &found,
                                       const std::string &path,
                                       llvm::ArrayRef<const void *> operands) {
  Result<Package> package = build(found, operands);
  if (!package)
    return package.error();
  // The package is written first: who finds the file finds the package too.
  if (Status status =
          runtime::writePackage(*package, getSolutionPackagePath(path));
      !status)
    return status;
  return save(found, path, /*hasKernels=*/true);
}

/// Returns true if a package's JSON is the same config.
static bool isConfig(llvm::StringRef json, const PerfConfig &config) {
  Result<PerfConfig> parsed = parseJsonConfig(json);
  return parsed && *parsed == config;
}

Status Finder::loadKernels(const FoundSolution &found,
                           const std::string &path) {
  std::string file = getSolutionPackagePath(path);
  Result<Package> package = runtime::readPackage(file);
  if (!package)
    return package.error();
  bool fits = package->layers.size() == 1 &&
              package->layers[0].problem == found.problem.key() &&
              package->layers[0].solver == found.solution.solver->id() &&
              isConfig(package->layers[0].config, found.solution.config);
  if (!fits)
    return Error{file + " is not the package of the solution in " + path};
  Result<Invoker *> invoker = load(found, std::move(*package));
  if (!invoker)
    return Error{file + ": " + invoker.message()};
  (*invoker)->isLoaded = true;
  return runtime::success();
}

Result<FoundSolution> Finder::loadSolution(const std::string &path) {
  const TargetInfo &target = compiler->getTarget();
  Result<SolutionFile> file = readSolutionFile(path);
  if (!file)
    return file.error();
  if (Status status =
          checkSolutionFile(*file, JournalContext::forTarget(target), path);
      !status)
    return status.error();
  const CandidateKey &candidate = file->candidate;
  std::string fault;
  auto problem = parseProblem(candidate.problem, &fault);
  if (mlir::failed(problem))
    return Error{path + ": problem: '" + candidate.problem +
                 "' is not a problem key: " + fault};
  const Solver *solver = findSolver(target, candidate.solver);
  if (!solver)
    return Error{path + ": solver: there is no solver '" + candidate.solver +
                 "'"};
  if (Applicability answer = checkApplicable(*solver, *problem, target);
      !answer)
    return Error{path + ": solver: " + candidate.solver + " cannot solve " +
                 candidate.problem + ": it " + answer.getReason().str()};
  auto config = PerfConfig::parse(candidate.config);
  if (mlir::failed(config) || !solver->isValidConfig(*problem, target, *config))
    return Error{path + ": config: '" + candidate.config +
                 "' is no config of " + candidate.solver + " for " +
                 candidate.problem};
  Solution solution;
  solution.solver = solver;
  solution.config = *config;
  solution.source = file->source;
  if (file->medianMs) {
    solution.measurement.emplace();
    solution.measurement->key = candidate;
    solution.measurement->status = MeasurementStatus::Ok;
    solution.measurement->median = *file->medianMs;
    solution.measurement->isEarlier = true;
  }
  FoundSolution found = describe(*problem, std::move(solution));
  if (!file->hasKernels)
    return found;
  // The kernels come with constants: it is another solution than the one with
  // the caller's.
  found.key = "loaded " + std::to_string(preparations) + "|" + found.key;
  if (Status status = loadKernels(found, path); !status)
    return status.error();
  return found;
}
