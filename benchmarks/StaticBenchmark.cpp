//===- StaticBenchmark.cpp - A package against its static variant ---------===//
//
// Part of Tarpon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// usage: static-benchmark PACKAGE.tpn THREADS
//
// Compiles every launch of the package with its parameters as constants, times
// both variants in turn, and prints what was measured as JSON.
//
//===----------------------------------------------------------------------===//

#include "Reports/CompileReport.h"
#include "StaticKernels.h"

#include "tarpon/Runtime/Measure.h"
#include "tarpon/Targets/Host/HostTarget.h"

#include "llvm/ADT/StringExtras.h"

#include <cstdio>
#include <nlohmann/json.hpp>

using namespace tarpon;
using namespace tarpon::benchmarks;
using runtime::Result;

/// LLVM may order the additions of an epilogue otherwise; sums are the same.
static constexpr double kMaxDifference = 1e-5;

static Result<std::vector<runtime::Instance>> load(runtime::Package package,
                                                   int64_t threads) {
  auto inputs = runtime::makeRandomInputs(package, /*seed=*/0);
  if (!inputs)
    return inputs.error();
  runtime::ExecutorOptions options;
  options.threads = static_cast<int>(threads);
  options.paddedBuffers = true;
  auto executor = runtime::Executor::create(std::move(package), options);
  if (!executor)
    return executor.error();
  auto instance =
      runtime::Instance::create(std::move(*executor), std::move(*inputs));
  if (!instance)
    return instance.error();
  std::vector<runtime::Instance> instances;
  instances.push_back(std::move(*instance));
  return instances;
}

static Result<nlohmann::ordered_json> compare(const std::string &path,
                                              int64_t threads) {
  auto target = getHostTarget(threads);
  if (!target)
    return target.error();
  auto package = runtime::readPackage(path);
  if (!package)
    return package.error();
  auto report = makeCompileReport(*package, *target);
  if (!report)
    return report.error();
  StaticCost cost;
  auto fixed = makeStatic(*package, *target, cost);
  if (!fixed)
    return fixed.error();
  auto ours = load(std::move(*package), threads);
  if (!ours)
    return ours.error();
  auto other = load(std::move(*fixed), threads);
  if (!other)
    return other.error();

  for (runtime::Instance *instance : {&ours->front(), &other->front()})
    if (auto status = instance->run(); !status)
      return status.error();
  for (size_t i = 0; i < ours->front().outputs().size(); ++i) {
    auto difference = runtime::compareTensors(other->front().outputs()[i],
                                              ours->front().outputs()[i]);
    if (!difference)
      return difference.error();
    if (!(difference->relativeL2 <= kMaxDifference))
      return runtime::Error{"static kernels give another result"};
  }

  runtime::MeasureOptions options;
  options.minSamples = 15;
  options.minTimeMs = 1500;
  options.maxTimeMs = 15000;
  std::span<runtime::Instance> contestants[] = {*ours, *other};
  auto measured = runtime::measureInterleaved(contestants, options);
  nlohmann::ordered_json json = report->toJson();
  json["dynamic_ms"] = measured[0].medianMs;
  json["static_ms"] = measured[1].medianMs;
  json["static_kernels"] = cost.kernels;
  json["static_compile_ms"] = cost.compileMs;
  json["static_code_bytes"] = cost.codeBytes;
  return json;
}

int main(int argc, char **argv) {
  int64_t threads = 0;
  if (argc != 3 || !llvm::to_integer(argv[2], threads) || threads < 1) {
    std::fprintf(stderr, "usage: static-benchmark PACKAGE.tpn THREADS\n");
    return 2;
  }
  auto result = compare(argv[1], threads);
  if (!result) {
    std::fprintf(stderr, "static-benchmark: %s\n", result.message().c_str());
    return 1;
  }
  std::printf("%s\n", result->dump(2).c_str());
  return 0;
}
