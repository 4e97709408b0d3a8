//===- GpuProductTest.cpp - Checks products of the tiled engine -----------===//
//
// Part of Tarpon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "GpuProductTest.h"

#include "llvm/Support/FormatVariadic.h"
#include "gtest/gtest.h"

using namespace tarpon;
using namespace tarpon::test;

SolverRunner &Runners::get(const std::string &name) {
  auto &runner = runners[name];
  if (!runner) {
    auto made = name == "native" ? SolverRunner::create(name)
                                 : SolverRunner::createEmulated(name);
    EXPECT_TRUE(made) << made.message();
    runner = std::move(*made);
  }
  return *runner;
}

std::string test::getKey(const Conv &c, const std::string &dtype,
                         const std::string &layout) {
  int64_t outHeight =
      (c.height + c.pads[0] + c.pads[2] - c.dilation * (c.kernelH - 1) - 1) /
          c.stride +
      1;
  int64_t outWidth =
      (c.width + c.pads[1] + c.pads[3] - c.dilation * (c.kernelW - 1) - 1) /
          c.stride +
      1;
  std::string epilogue = c.epilogue;
  std::string filter = dtype == "u8q" ? "i8q" : dtype;
  std::string plain = filter == "i8q" ? "f32" : dtype;
  std::string result =
      llvm::formatv("{0}x{1}x{2}x{3}x{4}{5}", c.batch, c.outChannels, outHeight,
                    outWidth, dtype, layout);
  std::string operands;
  if (epilogue.find("add(2)") != std::string::npos)
    operands = llvm::formatv("; 1x{0}x1x1x{1}:const", c.outChannels, plain);
  if (epilogue.find("add(3)") != std::string::npos)
    operands += ", " + result;
  std::string key = llvm::formatv(
      "conv({0}x{1}x{2}x{3}x{4}{5}, {6}x{7}x{8}x{9}x{10}:const{11})->{12} ",
      c.batch, c.channels, c.height, c.width, dtype, layout, c.outChannels,
      c.channels / c.group, c.kernelH, c.kernelW, filter, operands, result);
  key += llvm::formatv("{{dilations={0},{0} group={1} pads={2},{3},{4},{5} "
                       "strides={6},{6}}",
                       c.dilation, c.group, c.pads[0], c.pads[1], c.pads[2],
                       c.pads[3], c.stride);
  return epilogue.empty() ? key : key + " | " + epilogue;
}

/// Scales and zero points, which a key does not tell.
static void quantize(Problem &problem) {
  for (TensorDesc &desc : problem.operands)
    if (desc.quantized)
      desc.scales = {0.02f};
  problem.operands[0].zeroPoint =
      problem.operands[0].dtype == DType::U8 ? 131 : -3;
  if (problem.operands[1].quantized && problem.op == OpKind::Conv) {
    problem.operands[1].quantAxis = 0;
    problem.operands[1].scales.clear();
    for (int64_t c = 0; c < problem.operands[1].shape[0]; ++c)
      problem.operands[1].scales.push_back(0.01f + 0.001f * (c % 5));
  }
  if (problem.result.quantized)
    problem.result.scales = {0.05f};
}

Problem test::makeProblem(const std::string &key) {
  std::string fault;
  auto problem = parseProblem(key, &fault);
  EXPECT_TRUE(mlir::succeeded(problem)) << key << ": " << fault;
  if (problem->operands[0].quantized)
    quantize(*problem);
  return *problem;
}

void test::check(Runners &runners, const std::string &gpu,
                 const Problem &problem, const ConfigChange &change) {
  SCOPED_TRACE(gpu + " " + problem.key());
  const Solver &solver =
      *findSolver(problem.op == OpKind::Conv ? "gpu-igemm-v1" : "gpu-gemm-v1");
  SolverRunner &runner = runners.get(gpu);
  const TargetInfo &target = runner.getTarget();
  Applicability answer = checkApplicable(solver, problem, target);
  ASSERT_TRUE(answer) << answer.getReason().str();
  PerfConfig config = solver.defaultConfig(problem, target);
  for (auto [field, value] : change)
    config.set(field, value);
  SCOPED_TRACE(config.str());
  ASSERT_TRUE(solver.isValidConfig(problem, target, config));
  auto expected =
      runners.get("native").run(problem, getReferenceSolver(), {}, {}, 3);
  ASSERT_TRUE(expected) << expected.message();
  auto actual = runner.run(problem, solver, config, {}, 3);
  ASSERT_TRUE(actual) << actual.message();
  EXPECT_EQ(compare(problem, *actual, *expected), "");
}

void test::check(Runners &runners, const std::string &gpu,
                 const std::string &key, const ConfigChange &change) {
  check(runners, gpu, makeProblem(key), change);
}
