//===- KernelBenchmark.cpp - Times solvers on lists of problems -----------===//
//
// Part of Tarpon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// usage: kernel-benchmark [--solver ID] [--config CONFIG] [--threads N] FILE
//                         [GOOGLE_BENCHMARK_FLAG]...
//
// FILE holds one problem key a line. Each problem is solved by the solver that
// ranks first, or by the given one (problems that it does not take are left
// out), with its default config or the given one ("tile_m=14,tile_n=32"), on
// one thread or N, with everything in the cache that fits there. The counters
// are FLOP/s and bytes/s over all runs, and FLOP/s of the shortest run.
//
//===----------------------------------------------------------------------===//

#include "tarpon/Runtime/AlignedBuffer.h"
#include "tarpon/Runtime/Executor.h"
#include "tarpon/Runtime/Tensor.h"
#include "tarpon/Solver/Solver.h"
#include "tarpon/Targets/Compiler/KernelCompiler.h"
#include "tarpon/Targets/Host/HostBackend.h"
#include "tarpon/Targets/Host/HostTarget.h"
#include "tarpon/Targets/Package/PackageBuilder.h"

#include <benchmark/benchmark.h>

#include <algorithm>
#include <chrono>
#include <fstream>
#include <optional>

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

namespace {
/// The command line's options.
struct Options {
  /// Null for the one that ranks first.
  const Solver *solver = nullptr;
  std::optional<PerfConfig> config;
  int threads = 1;
  std::string file;
};
} // namespace

/// The problem in a solver's hands, ready to run.
static runtime::Result<std::unique_ptr<runtime::Executor>>
prepare(const Problem &problem, KernelCompiler &compiler,
        const Options &chosen) {
  const TargetInfo &target = compiler.getTarget();
  const Solver *solver = chosen.solver
                             ? chosen.solver
                             : getApplicableSolvers(problem, target).front();
  PerfConfig config =
      chosen.config ? *chosen.config : solver->defaultConfig(problem, target);
  if (!solver->isValidConfig(problem, target, config))
    return runtime::Error{"the config '" + config.str() + "' is not one of " +
                          solver->id().str()};
  auto package = buildProblemPackage(problem, *solver, config, compiler);
  if (!package)
    return package.error();
  runtime::ExecutorOptions options;
  options.threads = chosen.threads;
  options.paddedBuffers = true;
  return runtime::Executor::create(std::move(*package), options);
}

static void timeProblem(benchmark::State &state, const Problem &problem,
                        KernelCompiler &compiler, const Options &options) {
  auto executor = prepare(problem, compiler, options);
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
  using Clock = std::chrono::steady_clock;
  Clock::duration shortest = Clock::duration::max();
  for ([[maybe_unused]] auto _ : state) {
    Clock::time_point start = Clock::now();
    // Runs on the host do not fail.
    (void)(*executor)->run(inputPointers, outputPointers);
    shortest = std::min(shortest, Clock::now() - start);
  }
  double seconds = std::chrono::duration<double>(shortest).count();
  auto perIteration = benchmark::Counter::kIsIterationInvariantRate;
  state.counters["FLOP/s"] = {problem.flops(), perIteration};
  state.counters["B/s"] = {problem.bytes(), perIteration};
  state.counters["best FLOP/s"] = problem.flops() / seconds;
  const runtime::Layer &layer = (*executor)->package().layers.front();
  state.SetLabel(layer.solver + " " + layer.config);
}

/// Registers the problems of a file; returns the line that is none, or 0.
static int registerProblems(std::ifstream &file, KernelCompiler &compiler,
                            const Options &options) {
  std::string line;
  for (int number = 1; std::getline(file, line); ++number) {
    if (line.empty() || line.front() == '#')
      continue;
    auto problem = parseProblem(line);
    if (mlir::failed(problem))
      return number;
    if (options.solver &&
        !options.solver->isApplicable(*problem, compiler.getTarget()))
      continue;
#ifndef __clang_analyzer__ // It does not see that the library keeps these.
    benchmark::RegisterBenchmark(
        line.c_str(), [=, &compiler](benchmark::State &state) {
          timeProblem(state, *problem, compiler, options);
        });
#endif
  }
  return 0;
}

/// "" if the command line could be read, else what is wrong with it.
static std::string parseOptions(int argc, char **argv, Options &options) {
  auto take = [&](llvm::StringRef flag, const char *value) -> std::string {
    if (flag == "--solver") {
      options.solver = findSolver(value);
      return options.solver ? ""
                            : "there is no solver '" + std::string(value) + "'";
    }
    if (flag == "--config") {
      auto config = PerfConfig::parse(value);
      if (mlir::failed(config))
        return "'" + std::string(value) + "' is not a config";
      options.config = *config;
      return "";
    }
    bool valid = !llvm::StringRef(value).getAsInteger(10, options.threads) &&
                 options.threads >= 1;
    return valid ? "" : "'" + std::string(value) + "' is no number of threads";
  };
  for (int i = 1; i < argc; ++i) {
    llvm::StringRef flag = argv[i];
    if (!flag.starts_with("--") && options.file.empty()) {
      options.file = flag;
      continue;
    }
    if ((flag != "--solver" && flag != "--config" && flag != "--threads") ||
        i + 1 == argc)
      return "usage: kernel-benchmark [--solver ID] [--config CONFIG] "
             "[--threads N] FILE [FLAG]...";
    if (std::string fault = take(flag, argv[++i]); !fault.empty())
      return fault;
  }
  return options.file.empty() ? "no file of problems was given" : "";
}

int main(int argc, char **argv) {
  benchmark::Initialize(&argc, argv);
  Options options;
  if (std::string fault = parseOptions(argc, argv, options); !fault.empty()) {
    std::fprintf(stderr, "kernel-benchmark: %s\n", fault.c_str());
    return 2;
  }
  std::ifstream file(options.file);
  if (!file) {
    std::fprintf(stderr, "kernel-benchmark: cannot read '%s'\n",
                 options.file.c_str());
    return 1;
  }
  auto target = getHostTarget(options.threads);
  if (!target) {
    std::fprintf(stderr, "kernel-benchmark: %s\n", target.message().c_str());
    return 1;
  }
  KernelCompiler compiler = makeHostCompiler(*target, nullptr);
  if (int line = registerProblems(file, compiler, options)) {
    std::fprintf(stderr, "kernel-benchmark: %s:%d: not a problem key\n",
                 options.file.c_str(), line);
    return 1;
  }
  benchmark::RunSpecifiedBenchmarks();
  return 0;
}
