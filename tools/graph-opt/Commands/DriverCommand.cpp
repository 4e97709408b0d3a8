//===- DriverCommand.cpp - graph-opt driver ---------------------*- C++ -*-===//
//
// Part of Tarpon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "CaseDump.h"
#include "CommandLineValues.h"
#include "CommandSet.h"
#include "Commands.h"
#include "DriverSolution.h"
#include "Messages.h"
#include "PackageRun.h"
#include "Reports/PeakRates.h"
#include "SharedOptions.h"

#include "tarpon/Autotune/Search/Find.h"
#include "tarpon/Autotune/Search/Policy.h"
#include "tarpon/Autotune/Store/Journal.h"
#include "tarpon/Driver/DriverLine.h"
#include "tarpon/Runtime/DeviceRotation.h"
#include "tarpon/Runtime/Measure.h"
#include "tarpon/Targets/Cache/LayeredKernelCache.h"
#include "tarpon/Targets/Package/PackageBuilder.h"
#include "tarpon/Targets/Registry/TargetRegistry.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/raw_ostream.h"

#include <limits>

namespace tarpon {

namespace {

struct DriverArguments {
  /// A MIOpenDriver command line: "conv", "-n", "16", ...
  std::vector<std::string> words;
  int64_t threads = 0;
  std::string cpu = "native";
  /// "host" or a GPU; the device: "hip", "emulated", or "" for the default.
  std::string target = "host", device;
  /// The folder to which the launches are written, or "".
  std::string dumpCase;
};

} // namespace

using namespace runtime;
using llvm::formatv;

namespace {

/// The target for which every task of a line is compiled, and its device.
struct DriverTarget {
  std::shared_ptr<const Target> target;
  /// The device that it was asked for with; see TargetOptions.
  std::string device;
  std::unique_ptr<KernelCompiler> compiler;
  /// For the host, where the reference runs.
  std::unique_ptr<KernelCompiler> reference;

  const TargetInfo &getInfo() const { return target->getInfo(); }
};

class DriverRun {
public:
  DriverRun(const DriverArguments &arguments, const DriverLine &line,
            DriverTarget target)
      : arguments(arguments), line(line), target(std::move(target)) {}

  /// Runs one task and prints the output of MIOpen's driver for it.
  Status run(const DriverTask &task);
  bool allVerified() const { return numWrong == 0; }

private:
  Result<DriverSolution> choose(const Problem &problem);
  Result<DriverSolution> findFastest(const Problem &problem);
  Result<Instance> makeInstance(const Package &package);
  Result<double> timeRuns(Instance instance);
  Status time(const DriverTask &task, Instance instance);
  Status printTimes(const DriverTask &task, double milliseconds);
  Status verify(const DriverTask &task, const DriverSolution &solution,
                const Package &package, Instance &instance);
  Status dump(const DriverTask &task, const DriverSolution &solution,
              const Package &package, std::span<const HostTensor> inputs,
              const std::vector<HostTensor> &expected);

  const DriverArguments &arguments;
  const DriverLine &line;
  DriverTarget target;
  std::unique_ptr<Device> device;
  std::unique_ptr<Finder> finder;
  int numWrong = 0;
};

} // namespace

//===----------------------------------------------------------------------===//
// Solutions
//===----------------------------------------------------------------------===//

/// Makes an instance on the device of the first task, which all tasks share.
Result<Instance> DriverRun::makeInstance(const Package &package) {
  if (!device) {
    Result<std::unique_ptr<Device>> opened =
        openDevice(package, target.getInfo().threads);
    if (!opened)
      return opened.error();
    device = std::move(*opened);
  }
  Result<std::vector<HostTensor>> inputs = makeRandomInputs(package, 0);
  if (!inputs)
    return inputs.error();
  return Instance::create(package, *device, std::move(*inputs));
}

/// Measures the median of the runs that the line asks for, on rotating buffers.
Result<double> DriverRun::timeRuns(Instance instance) {
  MeasureOptions options;
  options.minSamples = static_cast<int>(
      std::min<int64_t>(line.iterations, std::numeric_limits<int>::max()));
  options.minTimeMs = 0;
  options.maxTimeMs = std::numeric_limits<double>::infinity();
  if (!device->sharesHostMemory()) {
    // Replicas copy the inputs of a run.
    if (Status status = instance.run(); !status)
      return status.error();
    Result<Timing> timing = measureOnDevice(
        instance, std::max(policy::kRotateBytes, 2 * target.getInfo().l2Bytes),
        options);
    if (!timing)
      return timing.error();
    return timing->medianMs;
  }
  Result<std::vector<Instance>> rotation =
      makeRotation(std::move(instance), policy::kRotateBytes);
  if (!rotation)
    return rotation.error();
  double medianMs = measure(*rotation, options).medianMs;
  if (!rotation->front().failure())
    return rotation->front().failure().error();
  return medianMs;
}

/// Returns the fastest known solution, or finds one like `graph-opt find`; with
/// -s among all configs.
Result<DriverSolution> DriverRun::findFastest(const Problem &problem) {
  if (!finder) {
    FinderOptions options;
    options.target = arguments.target;
    options.device = target.device;
    options.threads = arguments.threads;
    options.cpu = arguments.cpu;
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
  bool isFastest = line.solution == "-1";
  // With a model every candidate is compiled, so that the user has to ask for
  // it.
  bool isCheap = target.compiler->describeCostModel().empty();
  if (line.search || (isFastest && isCheap))
    return findFastest(problem);
  if (isFastest || line.solution == "0")
    return findFirstSolution(problem, target.getInfo());
  return findNamedSolution(problem, target.getInfo(), line.solution);
}

//===----------------------------------------------------------------------===//
// Times
//===----------------------------------------------------------------------===//

Status DriverRun::printTimes(const DriverTask &task, double milliseconds) {
  const Problem &problem = task.problem;
  Precision arithmetic =
      target.getInfo().traits->getArithmetic(problem, target.getInfo());
  Result<PeakRates> peaks = getPeakRates(*target.target, {arithmetic});
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
      getPrecisionName(arithmetic), peak, gbps, gbps / peaks->gbps,
      peaks->gbps);
  return success();
}

Status DriverRun::time(const DriverTask &task, Instance instance) {
  if (!device->hasTimes()) {
    llvm::outs() << formatv("Kernel Time {0}: emulated, no time\n", task.name);
    return success();
  }
  Result<double> milliseconds = timeRuns(std::move(instance));
  return milliseconds ? printTimes(task, *milliseconds)
                      : Status(milliseconds.error());
}

//===----------------------------------------------------------------------===//
// Results
//===----------------------------------------------------------------------===//

/// Finds the target of the command line for that device.
static Result<std::shared_ptr<const Target>>
findDevice(const DriverArguments &arguments, const std::string &device) {
  return findTarget(arguments.target,
                    {arguments.threads, arguments.cpu, device});
}

/// Writes the launches of the solution, compiled both for the emulated device
/// and to code objects, whatever device the command uses.
Status DriverRun::dump(const DriverTask &task, const DriverSolution &solution,
                       const Package &package,
                       std::span<const HostTensor> inputs,
                       const std::vector<HostTensor> &expected) {
  Result<std::shared_ptr<const Target>> emulated =
      findDevice(arguments, "emulated");
  if (!emulated)
    return emulated.error();
  Result<std::shared_ptr<const Target>> real = findDevice(arguments, "hip");
  if (!real)
    return real.error();
  auto build = [&](const Target &other) -> Result<Package> {
    const TargetInfo &info = other.getInfo();
    if (info.arch == package.arch)
      return package;
    KernelCompiler compiler(info, /*cache=*/nullptr, other.makeBackend());
    return buildProblemPackage(task.problem, *solution.solver, solution.config,
                               compiler);
  };
  Result<Package> ir = build(**emulated);
  if (!ir)
    return ir.error();
  Result<Package> code = build(**real);
  if (!code)
    return code.error();
  Result<std::unique_ptr<Device>> emulator =
      (*emulated)->openDevice(arguments.threads);
  if (!emulator)
    return emulator.error();
  Result<int> count =
      dumpCases(arguments.dumpCase,
                {task.problem, *code, *ir, **emulator, inputs, expected});
  if (!count)
    return count.error();
  llvm::outs() << formatv("{0} {1} written to {2}\n", *count,
                          *count == 1 ? "launch" : "launches",
                          arguments.dumpCase);
  return success();
}

Status DriverRun::verify(const DriverTask &task, const DriverSolution &solution,
                         const Package &package, Instance &instance) {
  Result<std::vector<HostTensor>> expected =
      runReference(task.problem, *target.reference, instance.inputs());
  if (!expected)
    return expected.error();
  if (Status status = instance.run(); !status)
    return status;
  Result<bool> isRight =
      printVerdict(task, target.getInfo(), instance.outputs(), *expected);
  if (!isRight)
    return isRight.error();
  numWrong += !*isRight;
  if (arguments.dumpCase.empty())
    return success();
  return dump(task, solution, package, instance.inputs(), *expected);
}

Status DriverRun::run(const DriverTask &task) {
  printProblem(task);
  Result<DriverSolution> solution = choose(task.problem);
  if (!solution)
    return solution.error();
  printSolution(task, *solution);
  Result<Package> package = buildProblemPackage(
      task.problem, *solution->solver, solution->config, *target.compiler);
  if (!package)
    return package.error();
  Result<Instance> instance = makeInstance(*package);
  if (!instance)
    return instance.error();
  if (line.verify || !arguments.dumpCase.empty())
    if (Status status = verify(task, *solution, *package, *instance); !status)
      return status;
  return line.time ? time(task, std::move(*instance)) : success();
}

/// Returns true for "conv --help", which asks for the flags of a base.
static bool asksForHelp(const std::vector<std::string> &words) {
  return words.size() > 1 && (words.back() == "--help" || words.back() == "-h");
}

/// Returns what the line asks for and the target cannot do; "" if there is
/// nothing.
static std::string findMisuse(const DriverArguments &arguments,
                              const DriverLine &line) {
  if (arguments.dumpCase.empty())
    return "";
  if (findTarget(arguments.target) && !findDevice(arguments, "emulated"))
    return "--dump-case writes kernels of a GPU, expected one as --target";
  if (line.tasks.size() > 1)
    return "--dump-case writes the launches of one operation, and this line "
           "asks for " +
           std::to_string(line.tasks.size());
  return "";
}

/// Makes the target that the command line names.
static Result<DriverTarget> makeTarget(const DriverArguments &arguments) {
  DriverTarget made;
  // Dumping cases of a GPU's kernels needs no GPU.
  bool isCase = arguments.device.empty() && !arguments.dumpCase.empty();
  made.device = isCase ? "emulated" : arguments.device;
  Result<std::shared_ptr<const Target>> target =
      findDevice(arguments, made.device);
  if (!target)
    return target.error();
  made.target = std::move(*target);
  made.compiler = openKernelCompiler(*made.target);
  Result<std::shared_ptr<const Target>> host =
      findTarget("host", {arguments.threads, arguments.cpu, /*device=*/""});
  if (!host)
    return host.error();
  made.reference = openKernelCompiler(**host);
  return made;
}

static int runDriver(const DriverArguments &arguments) {
  if (asksForHelp(arguments.words)) {
    llvm::outs() << "The flags of " << arguments.words.front()
                 << " and their defaults:\n"
                 << describeDriverFlags(arguments.words.front());
    return kSuccess;
  }
  Result<DriverLine> line = parseDriverLine(arguments.words);
  if (!line)
    return failUsage(line.message());
  if (std::string misuse = findMisuse(arguments, *line); !misuse.empty())
    return failUsage(misuse);
  Result<DriverTarget> target = makeTarget(arguments);
  if (!target)
    return arguments.device.empty() ? fail(target.message())
                                    : failUsage(target.message());
  DriverRun run(arguments, *line, std::move(*target));
  for (const DriverTask &task : line->tasks)
    if (Status status = run.run(task); !status)
      return fail(task.name + ": " + status.message());
  llvm::outs().flush();
  return run.allVerified() ? kSuccess : kUserError;
}

//===----------------------------------------------------------------------===//
// The command line
//===----------------------------------------------------------------------===//

void addDriver(CommandSet &commands) {
  using namespace options;
  auto [sub, driver] =
      commands.add("driver", "Run one operation, as MIOpenDriver does",
                   "graph-opt driver convfp16 -n 8 -c 256 -H 14 -W 14 -k "
                   "256 -y 3 -x 3 -p 1 -q 1 \\\n      -F 1 -V 1 -t 1",
                   runDriver);
  addThreads(sub, driver.threads);
  addCpu(sub, driver.cpu);
  addTarget(sub, driver.target, "Target to run on (default: host)");
  addDevice(sub, driver.device,
            "Device that runs a GPU's kernels (default: hip, with --dump-case "
            "emulated)");
  sub->add_option("--dump-case", driver.dumpCase,
                  "Write each launch with its arguments and expected outputs "
                  "to folders of this one, for scripts/emulate-case")
      ->type_name("DIR");
  // The other words are not parsed by CLI11, which does not accept flags such
  // as -! and -@.
  sub->prefix_command();
  sub->description(
      sub->get_description() +
      "\ngraph-opt driver [OPTIONS] BASE [FLAGS]; \"graph-opt driver BASE "
      "--help\" lists the flags.\nBASE is " +
      join(getDriverBases(), ", ", " or ") + ".");
  sub->parse_complete_callback(
      [sub = sub, &words = driver.words] { words = sub->remaining(); });
}

} // namespace tarpon
