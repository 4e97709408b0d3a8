//===- KernelBenchmark.cpp - Times solvers on lists of problems -----------===//
//
// Part of Tarpon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// usage: kernel-benchmark FILE [GOOGLE_BENCHMARK_FLAG]...
//
// FILE holds one problem key a line. Each problem is solved by the solver that
// ranks first, with its default config, on one thread, with everything in the
// cache that fits there; the counters are FLOP/s and bytes/s.
//
//===----------------------------------------------------------------------===//

#include "tarpon/Kernels/Solver.h"
#include "tarpon/Runtime/AlignedBuffer.h"
#include "tarpon/Runtime/Executor.h"
#include "tarpon/Runtime/Tensor.h"
#include "tarpon/Targets/Host/HostTarget.h"
#include "tarpon/Targets/Host/KernelCompiler.h"
#include "tarpon/Targets/Host/PackageBuilder.h"

#include <benchmark/benchmark.h>
#include <fstream>

using namespace tarpon;

static std::vector<runtime::HostTensor>
makeTensors(const std::vector<runtime::TensorInfo> &infos) {
  std::vector<runtime::HostTensor> tensors;
  for (const runtime::TensorInfo &info : infos) {
    auto tensor = runtime::HostTensor::create(info.dtype, info.shape);
    if (!tensor)
      continue;
    runtime::fillRandom(*tensor, /*seed=*/tensors.size() + 1);
    tensors.push_back(std::move(*tensor));
  }
  return tensors;
}

/// The problem in the first solver's hands, ready to run.
static runtime::Result<std::unique_ptr<runtime::Executor>>
prepare(const Problem &problem, KernelCompiler &compiler) {
  const TargetInfo &target = compiler.getTarget();
  const Solver *solver = getApplicableSolvers(problem, target).front();
  auto package = buildProblemPackage(
      problem, *solver, solver->defaultConfig(problem, target), compiler);
  if (!package)
    return package.error();
  runtime::ExecutorOptions options;
  options.threads = 1;
  options.paddedBuffers = true;
  return runtime::Executor::create(std::move(*package), options);
}

static void timeProblem(benchmark::State &state, const Problem &problem,
                        KernelCompiler &compiler) {
  auto executor = prepare(problem, compiler);
  if (!executor)
    return state.SkipWithError(executor.message().c_str());
  auto inputs = makeTensors((*executor)->package().inputs);
  auto outputs = makeTensors((*executor)->package().outputs);
  std::vector<const void *> inputPointers;
  std::vector<void *> outputPointers;
  for (runtime::HostTensor &tensor : inputs)
    inputPointers.push_back(tensor.data.data());
  for (runtime::HostTensor &tensor : outputs)
    outputPointers.push_back(tensor.data.data());
  for (auto _ : state)
    (*executor)->run(inputPointers, outputPointers);
  auto perIteration = benchmark::Counter::kIsIterationInvariantRate;
  state.counters["FLOP/s"] = {problem.flops(), perIteration};
  state.counters["B/s"] = {problem.bytes(), perIteration};
  state.SetLabel((*executor)->package().layers.front().solver);
}

/// Registers the problems of a file; returns the line that is none, or 0.
static int registerProblems(std::ifstream &file, KernelCompiler &compiler) {
  std::string line;
  for (int number = 1; std::getline(file, line); ++number) {
    if (line.empty() || line.front() == '#')
      continue;
    auto problem = parseProblem(line);
    if (mlir::failed(problem))
      return number;
    benchmark::RegisterBenchmark(
        line.c_str(), [problem = *problem, &compiler](benchmark::State &state) {
          timeProblem(state, problem, compiler);
        });
  }
  return 0;
}

int main(int argc, char **argv) {
  benchmark::Initialize(&argc, argv);
  if (argc != 2) {
    std::fprintf(stderr, "usage: kernel-benchmark FILE [FLAG]...\n");
    return 2;
  }
  std::ifstream file(argv[1]);
  if (!file) {
    std::fprintf(stderr, "kernel-benchmark: cannot read '%s'\n", argv[1]);
    return 1;
  }
  auto target = getHostTarget(/*threads=*/1);
  if (!target) {
    std::fprintf(stderr, "kernel-benchmark: %s\n", target.message().c_str());
    return 1;
  }
  KernelCompiler compiler(*target, nullptr);
  if (int line = registerProblems(file, compiler)) {
    std::fprintf(stderr, "kernel-benchmark: %s:%d: not a problem key\n",
                 argv[1], line);
    return 1;
  }
  benchmark::RunSpecifiedBenchmarks();
  return 0;
}
