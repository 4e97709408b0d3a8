//===- LoopBenchmark.cpp - Lists the loops that multiply ------------------===//
//
// Part of Tarpon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// usage: loop-benchmark FILE CPU...
//
// FILE holds lines "NAME SOLVER PROBLEM_KEY". Compiles each problem's solution
// by the default config of the solver for each of LLVM's CPUs, which need not
// be this machine's, and prints as JSON the innermost loop that multiplies
// most.
//
//===----------------------------------------------------------------------===//

#include "tarpon/Solver/Solver.h"
#include "tarpon/Targets/Disassembly/Disassembly.h"
#include "tarpon/Targets/Host/HostBackend.h"
#include "tarpon/Targets/Host/HostTarget.h"

#include <cstdio>
#include <fstream>
#include <nlohmann/json.hpp>

using namespace tarpon;
using runtime::Error;
using runtime::Result;

namespace {
struct Case {
  std::string name, solver;
  Problem problem;
};
} // namespace

static Result<std::vector<Case>> readCases(const std::string &path) {
  std::ifstream file(path);
  if (!file)
    return Error{"cannot open '" + path + "'"};
  std::vector<Case> cases;
  for (std::string name, solver, key; file >> name >> solver;) {
    std::getline(file >> std::ws, key);
    std::string fault;
    llvm::FailureOr<Problem> problem = parseProblem(key, &fault);
    if (llvm::failed(problem))
      return Error{"'" + key + "' in '" + path + "': " + fault};
    cases.push_back({name, solver, std::move(*problem)});
  }
  return cases;
}

/// Returns true if `loop` rather sums the products that a kernel is made for:
/// transforms multiply, too.
static bool multipliesMore(const InnermostLoop &loop,
                           const InnermostLoop &other) {
  if (loop.sumsProducts() != other.sumsProducts())
    return loop.sumsProducts();
  return loop.multiplications.size() > other.multiplications.size();
}

/// The loop of a solution's kernels that multiplies most, or none.
static Result<std::optional<InnermostLoop>>
findMainLoop(KernelCompiler &compiler, const Solver &solver,
             const SolutionPlan &plan) {
  std::optional<InnermostLoop> main;
  for (const LaunchPlan &launch : plan.launches) {
    auto object = compiler.getObject(solver.id(), launch.kernel);
    if (!object)
      return object.error();
    auto code = disassemble(**object);
    if (!code)
      return code.error();
    for (InnermostLoop &loop : findInnermostLoops(*code))
      if (!main || multipliesMore(loop, *main))
        main = std::move(loop);
  }
  return main;
}

static nlohmann::ordered_json toJson(llvm::ArrayRef<Instruction> instructions) {
  nlohmann::ordered_json list = nlohmann::ordered_json::array();
  for (const Instruction &instruction : instructions)
    list.push_back(instruction.text);
  return list;
}

static Result<nlohmann::ordered_json> listLoop(const Case &entry,
                                               const TargetInfo &target) {
  nlohmann::ordered_json json = {{"name", entry.name}, {"cpu", target.cpu}};
  KernelCompiler compiler = makeHostCompiler(target, /*cache=*/nullptr);
  for (const Solver *solver : getApplicableSolvers(entry.problem, target)) {
    if (solver->id() != entry.solver)
      continue;
    PerfConfig config = solver->defaultConfig(entry.problem, target);
    auto loop = findMainLoop(compiler, *solver,
                             solver->plan(entry.problem, target, config));
    if (!loop)
      return loop.error();
    json["config"] = config.str();
    if (*loop)
      json.update({{"multiplications", toJson((*loop)->multiplications)},
                   {"spills", toJson((*loop)->spills)},
                   {"body", toJson((*loop)->body)}});
  }
  return json;
}

static Result<nlohmann::ordered_json>
listLoops(const std::string &path, llvm::ArrayRef<const char *> cpus) {
  auto cases = readCases(path);
  if (!cases)
    return cases.error();
  nlohmann::ordered_json loops = nlohmann::ordered_json::array();
  for (const char *cpu : cpus) {
    auto target = getCpuTarget(cpu, /*threads=*/1);
    if (!target)
      return target.error();
    for (const Case &entry : *cases) {
      auto loop = listLoop(entry, *target);
      if (!loop)
        return loop.error();
      loops.push_back(std::move(*loop));
    }
  }
  return loops;
}

int main(int argc, char **argv) {
  if (argc < 3) {
    std::fputs("loop-benchmark: usage: loop-benchmark FILE CPU...\n", stderr);
    return 2;
  }
  auto loops = listLoops(argv[1], llvm::ArrayRef(argv + 2, argv + argc));
  if (!loops) {
    std::fprintf(stderr, "loop-benchmark: error: %s\n",
                 loops.message().c_str());
    return 1;
  }
  std::puts(loops->dump(1).c_str());
  return 0;
}
