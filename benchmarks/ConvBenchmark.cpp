//===- ConvBenchmark.cpp - Tunes and times problems on request ------------===//
//
// Part of Tarpon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// usage: conv-benchmark THREADS
//
// A contestant of benchmarks/convs. Reads requests from stdin, a line each,
// whose fields are separated by tabs, and answers each with a line of JSON:
//   peaks                    measures the peak rates of the machine
//   tune SECONDS KEY         races the solutions of a problem
//   load SOLVER CONFIG KEY   prepares one solution
//   time MILLISECONDS        times it for about so long
//   static ROUNDS MILLISECONDS   times it and its static variant in turn
//
//===----------------------------------------------------------------------===//

#include "ConvRace.h"
#include "Reports/PeakRates.h"
#include "Sampling.h"
#include "StaticKernels.h"

#include "tarpon/Targets/Cache/LayeredKernelCache.h"
#include "tarpon/Targets/Host/HostBackend.h"
#include "tarpon/Targets/Host/HostTarget.h"
#include "tarpon/Targets/Package/PackageBuilder.h"

#include "llvm/ADT/StringExtras.h"

#include <iostream>
#include <nlohmann/json.hpp>
#include <optional>

using namespace tarpon;
using namespace tarpon::benchmarks;
using nlohmann::json;

namespace {
class Server {
public:
  explicit Server(const TargetInfo &target)
      : compiler(makeHostCompiler(target, openKernelCache(target))) {}

  json answer(llvm::StringRef request);

private:
  json measurePeaks();
  json tune(double seconds, llvm::StringRef key);
  json load(llvm::StringRef solver, llvm::StringRef config,
            llvm::StringRef key);
  json time(double milliseconds);
  json compareWithStatic(int64_t rounds, double milliseconds);

  KernelCompiler compiler;
  std::optional<runtime::Package> package;
  std::unique_ptr<Entrant> current;
};
} // namespace

static json fail(const std::string &message) { return {{"error", message}}; }

json Server::measurePeaks() {
  const TargetInfo &target = compiler.getTarget();
  Precisions wanted = {runtime::Precision::F32};
  if (target.hasVnni)
    wanted.insert(runtime::Precision::I8);
  auto peaks = measurePeakRates(compiler, wanted);
  if (!peaks)
    return fail(peaks.message());
  json gflops = json::object();
  for (auto [arithmetic, rate] : peaks->gflops)
    gflops[std::string(getPrecisionName(arithmetic))] = rate;
  return {{"gflops", gflops}, {"gbps", peaks->gbps}, {"cpu", target.cpu}};
}

json Server::tune(double seconds, llvm::StringRef key) {
  std::string fault;
  auto problem = parseProblem(key, &fault);
  if (mlir::failed(problem))
    return fail("not a problem key: " + fault);
  current.reset();
  auto result = race(*problem, compiler, seconds);
  if (!result)
    return fail(result.message());
  return {{"solver", result->solver->id().str()},
          {"config", result->config.str()},
          {"median_ms", result->medianMs},
          {"candidates", result->candidates},
          {"measured", result->measured},
          {"rejected", result->rejected},
          {"seconds", result->seconds}};
}

json Server::load(llvm::StringRef solverId, llvm::StringRef configText,
                  llvm::StringRef key) {
  auto problem = parseProblem(key);
  auto config = PerfConfig::parse(configText);
  const Solver *solver = findSolver(solverId);
  if (mlir::failed(problem) || mlir::failed(config) || !solver)
    return fail("there is no such solution");
  const TargetInfo &target = compiler.getTarget();
  if (!checkApplicable(*solver, *problem, target) ||
      !solver->isValidConfig(*problem, target, *config))
    return fail("the solution is not valid any more");
  auto built = buildProblemPackage(*problem, *solver, *config, compiler);
  if (!built)
    return fail(built.message());
  package = *built;
  current.reset();
  auto entrant =
      Entrant::create(std::move(*built), compiler.getTarget().threads);
  if (!entrant)
    return fail(entrant.message());
  current = std::make_unique<Entrant>(std::move(*entrant));
  return {{"flops", problem->flops()}, {"bytes", problem->bytes()}};
}

json Server::time(double milliseconds) {
  if (!current)
    return fail("nothing is loaded");
  return {{"samples_ms", sampleRound([&] { current->run(); }, milliseconds)}};
}

json Server::compareWithStatic(int64_t rounds, double milliseconds) {
  if (!current || !package)
    return fail("nothing is loaded");
  StaticCost cost;
  auto built = makeStatic(*package, compiler.getTarget(), cost);
  if (!built)
    return fail(built.message());
  auto other = Entrant::create(std::move(*built), compiler.getTarget().threads);
  if (!other)
    return fail(other.message());
  std::vector<double> dynamicMs, staticMs;
  for (int64_t round = 0; round < rounds; ++round) {
    llvm::append_range(dynamicMs,
                       sampleRound([&] { current->run(); }, milliseconds));
    llvm::append_range(staticMs,
                       sampleRound([&] { other->run(); }, milliseconds));
  }
  return {{"dynamic_ms", runtime::median(std::move(dynamicMs))},
          {"static_ms", runtime::median(std::move(staticMs))},
          {"compile_ms", cost.compileMs},
          {"kernels", cost.kernels}};
}

json Server::answer(llvm::StringRef request) {
  llvm::SmallVector<llvm::StringRef> words;
  request.split(words, '\t');
  llvm::StringRef verb = words[0];
  auto number = [&](size_t index) {
    double value = 0;
    (void)llvm::to_float(words[index], value);
    return value;
  };
  if (verb == "peaks")
    return measurePeaks();
  if (verb == "tune" && words.size() == 3)
    return tune(number(1), words[2]);
  if (verb == "load" && words.size() == 4)
    return load(words[1], words[2], words[3]);
  if (verb == "time" && words.size() == 2)
    return time(number(1));
  if (verb == "static" && words.size() == 3)
    return compareWithStatic(static_cast<int64_t>(number(1)), number(2));
  return fail("not a request");
}

int main(int argc, char **argv) {
  int64_t threads = 0;
  if (argc != 2 || !llvm::to_integer(argv[1], threads) || threads < 1) {
    std::fprintf(stderr, "usage: conv-benchmark THREADS\n");
    return 2;
  }
  auto target = getHostTarget(threads);
  if (!target) {
    std::fprintf(stderr, "conv-benchmark: %s\n", target.message().c_str());
    return 1;
  }
  Server server(*target);
  for (std::string request; std::getline(std::cin, request);)
    std::cout << server.answer(request).dump() << '\n' << std::flush;
  return 0;
}
