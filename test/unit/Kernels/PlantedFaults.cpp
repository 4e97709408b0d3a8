//===- PlantedFaults.cpp --------------------------------------------------===//
//
// Part of Tarpon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "PlantedFaults.h"

#include "tarpon/Solver/SolverRegistry.h"

#include "llvm/Support/Regex.h"

using namespace tarpon;
using namespace tarpon::test;

/// Stores to pixels behind the last one, and copies from there.
static std::string reachOutside(std::string text) {
  const std::string from = "arith.cmpi slt", to = "arith.cmpi sge";
  for (size_t at = text.find(from); at != std::string::npos;
       at = text.find(from, at))
    text.replace(at, from.size(), to);
  return text;
}

/// Reads LDS before other waves have written it.
static std::string dropBarrier(std::string text) {
  size_t at = text.rfind("gpu.barrier");
  return at == std::string::npos ? text : text.erase(at, 11);
}

/// A few lanes of the first wave wait, and others do not.
static std::string divideBarrier(std::string text) {
  size_t at = text.rfind("gpu.barrier");
  return at == std::string::npos
             ? text
             : text.replace(at, 11,
                            "%planted_lane = gpu.thread_id x\n"
                            "%planted_few = arith.constant 5 : index\n"
                            "%planted_is = arith.cmpi ult, %planted_lane, "
                            "%planted_few : index\n"
                            "scf.if %planted_is {\ngpu.barrier\n}\n");
}

/// The launch behind this one reads sums that nobody has stored.
static std::string storeNothing(std::string text) {
  if (text.find("_split") == std::string::npos)
    return text;
  llvm::Regex compare("arith.cmpi slt, (%[A-Za-z0-9_]+), %[A-Za-z0-9_]+");
  while (compare.match(text))
    text = compare.sub("arith.cmpi ugt, \\1, \\1", text);
  return text;
}

static std::string leave(std::string text) { return text; }

llvm::ArrayRef<PlantedFault> test::getPlantedFaults() {
  static const std::vector<std::pair<const char *, int64_t>> kRegisters = {
      {"block_m", 32}, {"block_n", 32}, {"wave_m", 16},
      {"wave_n", 16},  {"inst", 16},    {"stages", 1}};
  static const std::vector<std::pair<const char *, int64_t>> kSplit = {
      {"block_m", 32}, {"block_n", 32}, {"wave_m", 16}, {"wave_n", 16},
      {"inst", 16},    {"stages", 2},   {"split_k", 2}};
  static const std::vector<PlantedFault> faults = {
      {"none", {}, leave},
      {"outside", {}, reachOutside},
      {"no-barrier", kRegisters, dropBarrier},
      {"divergent-barrier", kRegisters, divideBarrier},
      {"unwritten", kSplit, storeNothing}};
  return faults;
}

std::string test::runPlanted(SolverRunner &gpu, const PlantedFault &fault) {
  auto problem = parseProblem(
      "conv(1x64x9x9xf16:nhwc, 40x64x3x3xf16:const; 1x40x1x1xf16:const, "
      "1x40x9x9xf16:nhwc)->1x40x9x9xf16:nhwc {dilations=1,1 group=1 "
      "pads=1,1,1,1 strides=1,1} | add(2) | add(3) | relu");
  auto host = SolverRunner::create("native");
  if (mlir::failed(problem) || !host)
    return "there is no problem or no host";
  const Solver &solver = *findSolver("gpu-igemm-v1");
  PerfConfig config = solver.defaultConfig(*problem, gpu.getTarget());
  config.set("split_k", 1);
  for (auto [field, value] : fault.change)
    config.set(field, value);
  auto expected = (*host)->run(*problem, getReferenceSolver(), {}, {}, 3);
  if (!expected)
    return expected.message();
  auto actual = gpu.run(*problem, solver, config, {}, 3);
  return actual ? compare(*problem, *actual, *expected) : actual.message();
}
