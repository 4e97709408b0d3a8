//===- DriverCommand.cpp - graph-opt driver ---------------------*- C++ -*-===//
//
// Part of Tarpon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Commands.h"
#include "DriverSolution.h"
#include "Files/ModelLoader.h"
#include "GpuDriver.h"
#include "Messages.h"
#include "Reports/PeakRates.h"

#include "tarpon/Autotune/Search/Find.h"
#include "tarpon/Autotune/Search/Policy.h"
#include "tarpon/Autotune/Store/Journal.h"
#include "tarpon/Driver/DriverLine.h"
#include "tarpon/Runtime/Measure.h"
#include "tarpon/Targets/Host/HostBackend.h"
#include "tarpon/Targets/Host/HostTarget.h"
#include "tarpon/Targets/Host/LayeredKernelCache.h"
#include "tarpon/Targets/Package/PackageBuilder.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/raw_ostream.h"

#include <limits>

namespace tarpon {

using namespace runtime;
using llvm::formatv;

namespace {

class DriverRun {
public:
  DriverRun(const DriverLine &line, KernelCompiler &compiler, std::string cpu)
      : line(line), compiler(compiler), cpu(std::move(cpu)) {}

  /// Does one task and prints what MIOpen's driver would print of it.
  Status run(const DriverTask &task);
  bool allVerified() const { return numWrong == 0; }

private:
  Result<DriverSolution> choose(const Problem &problem);
  Result<DriverSolution> findFastest(const Problem &problem);
  Result<Instance> makeInstance(const Problem &problem,
                                const DriverSolution &solution);
  Result<double> timeRuns(Instance instance);
  Status printTimes(const DriverTask &task, double milliseconds);
  Status verify(const DriverTask &task, Instance &instance);

  const TargetInfo &target() const { return compiler.getTarget(); }

  const DriverLine &line;
  KernelCompiler &compiler;
  std::string cpu;
  std::unique_ptr<Finder> finder;
  int numWrong = 0;
};

} // namespace

//===----------------------------------------------------------------------===//
// Solutions
//===----------------------------------------------------------------------===//

Result<Instance> DriverRun::makeInstance(const Problem &problem,
                                         const DriverSolution &solution) {
  Result<Package> package =
      buildProblemPackage(problem, *solution.solver, solution.config, compiler);
  if (!package)
    return package.error();
  Result<std::vector<HostTensor>> inputs = makeRandomInputs(*package, 0);
  if (!inputs)
    return inputs.error();
  Result<std::unique_ptr<Executor>> executor =
      makeExecutor(std::move(*package), target().threads);
  if (!executor)
    return executor.error();
  return Instance::create(std::move(*executor), std::move(*inputs));
}

/// The median of the runs that the line asks for, on rotating buffers.
Result<double> DriverRun::timeRuns(Instance instance) {
  Result<std::vector<Instance>> rotation =
      makeRotation(std::move(instance), policy::kRotateBytes);
  if (!rotation)
    return rotation.error();
  MeasureOptions options;
  options.minSamples = static_cast<int>(
      std::min<int64_t>(line.iterations, std::numeric_limits<int>::max()));
  options.minTimeMs = 0;
  options.maxTimeMs = std::numeric_limits<double>::infinity();
  return measure(*rotation, options).medianMs;
}

/// The fastest that is known, or is found as `graph-opt find` does; with -s of
/// all configs.
Result<DriverSolution> DriverRun::findFastest(const Problem &problem) {
  if (!finder) {
    FinderOptions options;
    options.threads = target().threads;
    options.cpu = cpu;
    Result<std::unique_ptr<Finder>> created = Finder::create(options);
    if (!created)
      return created.error();
    finder = std::move(*created);
  }
  FindOptions options;
  options.tuning = line.search;
  Result<std::vector<FoundSolution>> found =
      finder->findSolutions(problem, options);
  if (!found)
    return found.error();
  const Solution &best = found->front().solution;
  return DriverSolution{best.solver, best.config};
}

Result<DriverSolution> DriverRun::choose(const Problem &problem) {
  if (line.search || line.solution == "-1")
    return findFastest(problem);
  if (line.solution != "0")
    return findNamedSolution(problem, target(), line.solution);
  return findFirstSolution(problem, target());
}

//===----------------------------------------------------------------------===//
// Times
//===----------------------------------------------------------------------===//

Status DriverRun::printTimes(const DriverTask &task, double milliseconds) {
  const Problem &problem = task.problem;
  Arithmetic arithmetic = getArithmetic(problem, target());
  Result<PeakRates> peaks = measurePeakRates(compiler, {arithmetic});
  if (!peaks)
    return peaks.error();
  double gflops = problem.flops() / milliseconds / 1e6,
         gbps = problem.bytes() / milliseconds / 1e6,
         peak = peaks->gflops.at(arithmetic);
  llvm::outs() << formatv(
      "Kernel Time {0} Elapsed: {1:f6} ms (median of {2})\n", task.name,
      milliseconds, line.iterations);
  llvm::outs() << formatv(
      "stats: {0}, {1:f0} FLOP, {2:f0} bytes, {3:f1} GFLOP/s ({4:P1} of the "
      "{5} peak of {6:f1}), {7:f1} GB/s ({8:P1} of the {9:f1} that memory can "
      "be read with)\n",
      line.base, problem.flops(), problem.bytes(), gflops, gflops / peak,
      getArithmeticName(arithmetic), peak, gbps, gbps / peaks->gbps,
      peaks->gbps);
  return success();
}

//===----------------------------------------------------------------------===//
// Results
//===----------------------------------------------------------------------===//

Status DriverRun::verify(const DriverTask &task, Instance &instance) {
  Result<std::vector<HostTensor>> expected =
      runReference(task.problem, compiler, instance.inputs());
  if (!expected)
    return expected.error();
  instance.run();
  Result<bool> isRight = printVerdict(task, instance.outputs(), *expected);
  if (!isRight)
    return isRight.error();
  numWrong += !*isRight;
  return success();
}

Status DriverRun::run(const DriverTask &task) {
  printProblem(task);
  Result<DriverSolution> solution = choose(task.problem);
  if (!solution)
    return solution.error();
  printSolution(task, *solution);
  Result<Instance> instance = makeInstance(task.problem, *solution);
  if (!instance)
    return instance.error();
  if (line.verify)
    if (Status status = verify(task, *instance); !status)
      return status;
  if (!line.time)
    return success();
  Result<double> milliseconds = timeRuns(std::move(*instance));
  if (!milliseconds)
    return milliseconds.error();
  return printTimes(task, *milliseconds);
}

/// "conv --help": the flags of a base.
static bool asksForHelp(const std::vector<std::string> &words) {
  return words.size() > 1 && (words.back() == "--help" || words.back() == "-h");
}

int runDriver(const DriverArguments &arguments) {
  if (asksForHelp(arguments.words)) {
    llvm::outs() << "The flags of " << arguments.words.front()
                 << " and their defaults:\n"
                 << describeDriverFlags(arguments.words.front());
    return kSuccess;
  }
  Result<DriverLine> line = parseDriverLine(arguments.words);
  if (!line)
    return failUsage(line.message());
  Result<TargetInfo> target = getHostTarget(arguments.threads, arguments.cpu);
  if (!target)
    return fail(target.message());
  KernelCompiler compiler = makeHostCompiler(*target, openKernelCache(*target));
  if (arguments.target != "host")
    return runGpuDriver(arguments, *line, compiler);
  if (!arguments.dumpCase.empty())
    return failUsage("--dump-case writes kernels of a GPU, expected one as "
                     "--target");
  if (!arguments.device.empty())
    return failUsage("--device is for a GPU, expected one as --target");
  DriverRun run(*line, compiler, arguments.cpu);
  for (const DriverTask &task : line->tasks)
    if (Status status = run.run(task); !status)
      return fail(task.name + ": " + status.message());
  llvm::outs().flush();
  return run.allVerified() ? kSuccess : kUserError;
}

} // namespace tarpon
