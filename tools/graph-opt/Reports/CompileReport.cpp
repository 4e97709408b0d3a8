//===- CompileReport.cpp - The cost of compiling a package ------*- C++ -*-===//
//
// Part of Tarpon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "CompileReport.h"

#include "tarpon/Problem/PerfConfigJson.h"
#include "tarpon/Solver/SolverRegistry.h"
#include "tarpon/Targets/Compiler/KernelCompiler.h"
#include "tarpon/Targets/Host/HostBackend.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/Object/ObjectFile.h"
#include "llvm/Support/FormatVariadic.h"

#include <chrono>
#include <map>
#include <nlohmann/json.hpp>
#include <set>

using llvm::formatv;
using nlohmann::ordered_json;

namespace tarpon {

using runtime::Error;
using runtime::Result;

//===----------------------------------------------------------------------===//
// Kernels of a package
//===----------------------------------------------------------------------===//

/// The problem with different scales for all quantised operands.
static Problem withUnequalScales(Problem problem) {
  for (auto [index, operand] : llvm::enumerate(problem.operands))
    for (float &scale : operand.scales)
      scale = 1.25f + static_cast<float>(index) / 16;
  return problem;
}

/// Replaces launches of `plan` that are not the layer's by those of `other`;
/// false if neither fit.
static bool mergeLaunches(const runtime::Layer &layer,
                          const SolutionPlan &other, SolutionPlan &plan) {
  size_t count = layer.launches.size();
  if (other.launches.size() != count && plan.launches.size() != count)
    return false;
  plan.launches.resize(count);
  for (size_t i = 0; i < count; ++i) {
    const std::string &symbol = layer.launches[i].symbol;
    if (plan.launches[i].kernel.symbol == symbol)
      continue;
    if (i >= other.launches.size() || other.launches[i].kernel.symbol != symbol)
      return false;
    plan.launches[i] = other.launches[i];
  }
  return true;
}

Result<SolutionPlan> planAgain(const runtime::Layer &layer,
                               const TargetInfo &target) {
  auto refuse = [&](const std::string &why) {
    return Error{"layer '" + layer.name + "' cannot be planned again: " + why};
  };
  mlir::FailureOr<Problem> problem = parseProblem(layer.problem);
  if (mlir::failed(problem))
    return refuse("'" + layer.problem + "' is not a problem key");
  const Solver *solver = findSolver(target, layer.solver);
  if (!solver)
    return refuse("there is no solver '" + layer.solver + "'");
  Result<PerfConfig> config = parseJsonConfig(layer.config);
  if (!config)
    return refuse(config.message());
  if (Applicability answer = solver->isApplicable(*problem, target); !answer)
    return refuse(answer.getReason().str());
  if (!solver->isValidConfig(*problem, target, *config))
    return refuse("its solver does not take the config '" + config->str() +
                  "'");
  // Keys hold no scales, but some kernels are for equal ones only.
  SolutionPlan plan = solver->plan(*problem, target, *config);
  SolutionPlan rescaling =
      solver->plan(withUnequalScales(*problem), target, *config);
  if (mergeLaunches(layer, rescaling, plan))
    return plan;
  return refuse("the package has other kernels, made by another version or "
                "for another CPU");
}

int64_t countCodeBytes(const std::vector<char> &object) {
  llvm::MemoryBufferRef buffer({object.data(), object.size()}, "kernel");
  auto file = llvm::object::ObjectFile::createObjectFile(buffer);
  if (!file) {
    llvm::consumeError(file.takeError());
    return 0;
  }
  int64_t bytes = 0;
  for (const llvm::object::SectionRef &section : (*file)->sections())
    if (section.isText())
      bytes += static_cast<int64_t>(section.getSize());
  return bytes;
}

//===----------------------------------------------------------------------===//
// The report
//===----------------------------------------------------------------------===//

namespace {
/// The users of a kernel.
struct KernelUse {
  std::string solver;
  KernelSource source;
  int64_t launches = 0;
  std::set<std::string> problems;
  std::set<std::vector<int64_t>> shapes;
};
} // namespace

static Result<KernelCost> compile(const std::string &symbol,
                                  const KernelUse &use,
                                  KernelCompiler &compiler) {
  using Clock = std::chrono::steady_clock;
  Clock::time_point start = Clock::now();
  auto object = compiler.getObject(use.solver, use.source);
  std::chrono::duration<double, std::milli> time = Clock::now() - start;
  if (!object)
    return object.error();
  KernelCost cost;
  cost.symbol = symbol;
  cost.solver = use.solver;
  cost.launches = use.launches;
  cost.problems = static_cast<int64_t>(use.problems.size());
  cost.shapes = static_cast<int64_t>(use.shapes.size());
  cost.compileMs = time.count();
  cost.codeBytes = countCodeBytes(**object);
  return cost;
}

Result<CompileReport> makeCompileReport(const runtime::Package &package,
                                        const TargetInfo &target) {
  CompileReport report;
  report.layers = static_cast<int64_t>(package.layers.size());
  std::map<std::string, KernelUse> uses;
  std::set<std::string> problems;
  for (const runtime::Layer &layer : package.layers) {
    if (layer.launches.empty())
      continue;
    Result<SolutionPlan> plan = planAgain(layer, target);
    if (!plan)
      return plan.error();
    problems.insert(layer.problem);
    for (LaunchPlan &launch : plan->launches) {
      KernelUse &use = uses[launch.kernel.symbol];
      use.solver = layer.solver;
      ++use.launches;
      use.problems.insert(layer.problem);
      use.shapes.insert(launch.params);
      use.source = std::move(launch.kernel);
    }
  }
  report.problems = static_cast<int64_t>(problems.size());

  KernelCompiler compiler = makeHostCompiler(target, /*cache=*/nullptr);
  for (const auto &[symbol, use] : uses) {
    Result<KernelCost> cost = compile(symbol, use, compiler);
    if (!cost)
      return cost.error();
    report.launches += cost->launches;
    report.shapes += cost->shapes;
    report.kernels.push_back(std::move(*cost));
  }
  llvm::stable_sort(report.kernels,
                    [](const KernelCost &a, const KernelCost &b) {
                      return a.compileMs > b.compileMs;
                    });
  return report;
}

double CompileReport::totalMs() const {
  double total = 0;
  for (const KernelCost &kernel : kernels)
    total += kernel.compileMs;
  return total;
}

int64_t CompileReport::totalBytes() const {
  int64_t total = 0;
  for (const KernelCost &kernel : kernels)
    total += kernel.codeBytes;
  return total;
}

void CompileReport::printTable(llvm::raw_ostream &os) const {
  os << formatv("\n{0,10}  {1,10}  {2,8}  {3,8}  {4,-20}  {5}\n", "compile ms",
                "code bytes", "launches", "problems", "solver", "kernel");
  for (const KernelCost &kernel : kernels)
    os << formatv("{0,10:F1}  {1,10}  {2,8}  {3,8}  {4,-20}  {5}\n",
                  kernel.compileMs, kernel.codeBytes, kernel.launches,
                  kernel.problems, kernel.solver, kernel.symbol);
  os << formatv("{0,10:F1}  {1,10}  {2,8}  {3,8}  {4} kernels; with the shapes "
                "compiled in it would be {5}\n",
                totalMs(), totalBytes(), launches, problems, kernels.size(),
                shapes);
}

ordered_json CompileReport::toJson() const {
  ordered_json list = ordered_json::array();
  for (const KernelCost &kernel : kernels)
    list.push_back({{"symbol", kernel.symbol},
                    {"solver", kernel.solver},
                    {"launches", kernel.launches},
                    {"problems", kernel.problems},
                    {"shapes", kernel.shapes},
                    {"compile_ms", kernel.compileMs},
                    {"code_bytes", kernel.codeBytes}});
  return {{"distinct_kernels", kernels.size()},
          {"launches", launches},
          {"problems", problems},
          {"shapes", shapes},
          {"compile_ms", totalMs()},
          {"code_bytes", totalBytes()},
          {"kernels", std::move(list)}};
}

} // namespace tarpon
