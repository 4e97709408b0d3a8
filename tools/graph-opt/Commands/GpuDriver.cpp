//===- GpuDriver.cpp - graph-opt driver on a GPU ----------------*- C++ -*-===//
//
// Part of Tarpon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "GpuDriver.h"

#include "DriverSolution.h"
#include "GpuCase.h"
#include "GpuRun.h"
#include "Messages.h"

#include "tarpon/Runtime/Measure.h"
#include "tarpon/Targets/AMDGPU/GpuBackend.h"
#include "tarpon/Targets/Package/PackageBuilder.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/raw_ostream.h"

namespace tarpon {

using namespace runtime;
using llvm::formatv;

namespace {

class GpuDriver {
public:
  GpuDriver(const DriverArguments &arguments, const DriverLine &line,
            KernelCompiler &hostCompiler, const GpuTarget &gpu)
      : line(line), hostCompiler(hostCompiler), gpu(gpu),
        isEmulated(arguments.device == "emulated" ||
                   (arguments.device.empty() && !arguments.dumpCase.empty())),
        dumpCase(arguments.dumpCase) {}

  Status run(const DriverTask &task);
  bool allVerified() const { return numWrong == 0; }

private:
  Result<DriverSolution> choose(const Problem &problem) const;
  Result<Package> build(const Problem &problem, const DriverSolution &solution,
                        GpuCodeForm form) const;
  Status dump(const Problem &problem, const DriverSolution &solution,
              const Package &package, const std::vector<HostTensor> &inputs,
              const std::vector<HostTensor> &expected) const;
  void printTimes(const DriverTask &task, std::vector<double> timesMs) const;

  TargetInfo getTarget(GpuCodeForm form) const {
    TargetInfo target = makeGpuTargetInfo(gpu);
    if (form == GpuCodeForm::Ir)
      target.arch = kEmulatedArch;
    return target;
  }
  GpuCodeForm getForm() const {
    return isEmulated ? GpuCodeForm::Ir : GpuCodeForm::CodeObject;
  }

  const DriverLine &line;
  KernelCompiler &hostCompiler;
  GpuTarget gpu;
  bool isEmulated;
  std::string dumpCase;
  int numWrong = 0;
};

} // namespace

Result<DriverSolution> GpuDriver::choose(const Problem &problem) const {
  TargetInfo target = getTarget(getForm());
  // Nothing is measured here, so that the first one is the best that is known.
  if (line.solution == "0" || line.solution == "-1")
    return findFirstSolution(problem, target);
  return findNamedSolution(problem, target, line.solution);
}

Result<Package> GpuDriver::build(const Problem &problem,
                                 const DriverSolution &solution,
                                 GpuCodeForm form) const {
  KernelCompiler compiler(getTarget(form), /*cache=*/nullptr,
                          makeGpuBackend(gpu, form));
  return buildProblemPackage(problem, *solution.solver, solution.config,
                             compiler);
}

/// What lies between the rows of a slice is none of its own.
static void clearGaps(const TensorInfo &info, HostTensor &tensor) {
  if (info.usedPerRow == 0)
    return;
  int64_t size = dtypeBytes(info.dtype), row = info.shape.back();
  for (int64_t i = 0, e = tensor.numElements(); i < e; ++i)
    if (i % row >= info.usedPerRow)
      std::fill_n(tensor.data.data() + i * size, size, 0);
}

void GpuDriver::printTimes(const DriverTask &task,
                           std::vector<double> timesMs) const {
  if (isEmulated) {
    llvm::outs() << formatv("Kernel Time {0}: emulated, no time\n", task.name);
    return;
  }
  const Problem &problem = task.problem;
  double milliseconds = median(std::move(timesMs));
  double gflops = problem.flops() / milliseconds / 1e6,
         gbps = problem.bytes() / milliseconds / 1e6,
         peak = gpu.peakGflops(problem.operands[0].dtype);
  llvm::outs() << formatv(
      "Kernel Time {0} Elapsed: {1:f6} ms (median of {2})\n", task.name,
      milliseconds, line.iterations);
  llvm::outs() << formatv(
      "stats: {0}, {1:f0} FLOP, {2:f0} bytes, {3:f1} GFLOP/s ({4:P1} of the "
      "peak of {5:f1}), {6:f1} GB/s ({7:P1} of the {8:f1} of the memory)\n",
      line.base, problem.flops(), problem.bytes(), gflops, gflops / peak, peak,
      gbps, gbps / gpu.memoryGbps, gpu.memoryGbps);
}

Status GpuDriver::dump(const Problem &problem, const DriverSolution &solution,
                       const Package &package,
                       const std::vector<HostTensor> &inputs,
                       const std::vector<HostTensor> &expected) const {
  auto buildOther = [&](GpuCodeForm form) {
    return getForm() == form ? Result<Package>(package)
                             : build(problem, solution, form);
  };
  Result<Package> ir = buildOther(GpuCodeForm::Ir);
  if (!ir)
    return ir.error();
  Result<Package> code = buildOther(GpuCodeForm::CodeObject);
  if (!code)
    return code.error();
  Result<int> count =
      dumpCases(dumpCase, {problem, gpu, *code, *ir, inputs, expected});
  if (!count)
    return count.error();
  llvm::outs() << formatv("{0} {1} written to {2}\n", *count,
                          *count == 1 ? "launch" : "launches", dumpCase);
  return success();
}

Status GpuDriver::run(const DriverTask &task) {
  printProblem(task);
  Result<DriverSolution> solution = choose(task.problem);
  if (!solution)
    return solution.error();
  printSolution(task, *solution);
  Result<Package> package = build(task.problem, *solution, getForm());
  if (!package)
    return package.error();
  Result<std::vector<HostTensor>> inputs = makeRandomInputs(*package, 0);
  if (!inputs)
    return inputs.error();
  int64_t timedRuns = line.time && !isEmulated ? line.iterations : 0;
  Result<TimedGpuRun> outcome = runAndTimeOnGpu(*package, *inputs, timedRuns);
  if (!outcome)
    return outcome.error();
  if (line.verify || !dumpCase.empty()) {
    Result<std::vector<HostTensor>> expected =
        runReference(task.problem, hostCompiler, *inputs);
    if (!expected)
      return expected.error();
    for (auto [info, output] : llvm::zip(package->outputs, outcome->outputs))
      clearGaps(info, output);
    Result<bool> isRight = printVerdict(task, outcome->outputs, *expected);
    if (!isRight)
      return isRight.error();
    numWrong += !*isRight;
    if (!dumpCase.empty())
      if (Status status =
              dump(task.problem, *solution, *package, *inputs, *expected);
          !status)
        return status;
  }
  if (line.time)
    printTimes(task, std::move(outcome->timesMs));
  return success();
}

int runGpuDriver(const DriverArguments &arguments, const DriverLine &line,
                 KernelCompiler &hostCompiler) {
  // The command line has checked it.
  GpuTarget gpu = *parseGpuTarget(arguments.target);
  if (line.search)
    return fail("-s 1 measures all configs, which is not possible for " +
                gpu.name());
  if (!arguments.dumpCase.empty() && line.tasks.size() > 1)
    return failUsage("--dump-case writes the launches of one operation, and "
                     "this line asks for " +
                     std::to_string(line.tasks.size()));
  GpuDriver driver(arguments, line, hostCompiler, gpu);
  for (const DriverTask &task : line.tasks)
    if (Status status = driver.run(task); !status)
      return fail(task.name + ": " + status.message());
  llvm::outs().flush();
  return driver.allVerified() ? kSuccess : kUserError;
}

} // namespace tarpon
