//===- AmxInnerLoopTest.cpp - The instructions of products with AMX -------===//
//
// Part of Tarpon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Kernels with AMX are compiled for CPUs that have it, whatever this machine
// is, and their instructions are read.
//
//===----------------------------------------------------------------------===//

#include "tarpon/Targets/Compiler/KernelCompiler.h"
#include "tarpon/Targets/Disassembly/Disassembly.h"
#include "tarpon/Targets/Host/HostBackend.h"
#include "tarpon/Targets/Host/HostTarget.h"

#include "llvm/ADT/STLExtras.h"

#include <gtest/gtest.h>

#include <set>

using namespace tarpon;

static const char *const kBytes =
    "conv(1x64x14x14xu8q:nhwc, 70x64x3x3xi8q:const; 70x1x1xf32, "
    "1x70x14x14xi8q:nhwc)->1x70x14x14xu8q:nhwc {dilations=1,1 group=1 "
    "pads=1,1,1,1 strides=1,1} | add(2) | add(3) | relu";
static const char *const kBf16 =
    "conv(1x64x14x14xbf16:nhwc, 70x64x3x3xbf16:const; 70x1x1xf32, "
    "1x70x14x14xbf16)->1x70x14x14xbf16 {dilations=1,1 group=1 pads=1,1,1,1 "
    "strides=1,1} | add(2) | sigmoid";
/// Taps of padding are skipped.
static const char *const kAtrous =
    "conv(1x128x13x5xbf16:nhwc, 16x128x3x3xbf16:const)->1x16x13x5xbf16:nhwc "
    "{dilations=6,4 group=1 pads=6,4,6,4 strides=1,1}";

static size_t count(llvm::ArrayRef<Instruction> code, llvm::StringRef start) {
  return llvm::count_if(code, [&](const Instruction &instruction) {
    return llvm::StringRef(instruction.text).starts_with(start);
  });
}

/// Compiles the kernel that a config runs for a CPU.
static std::vector<Instruction> compile(llvm::StringRef cpu, const char *key,
                                        const PerfConfig &config) {
  TargetInfo target = *getCpuTarget(cpu, /*threads=*/1);
  std::string fault;
  mlir::FailureOr<Problem> parsed = parseProblem(key, &fault);
  EXPECT_TRUE(mlir::succeeded(parsed)) << fault;
  if (mlir::failed(parsed))
    return {};
  const Problem &problem = *parsed;
  const Solver *solver = findSolver("conv-igemm-v1");
  EXPECT_TRUE(solver->isValidConfig(problem, target, config));
  KernelCompiler compiler = makeHostCompiler(target, /*cache=*/nullptr);
  SolutionPlan plan = solver->plan(problem, target, config);
  EXPECT_NE(plan.launches.back().kernel.symbol.find("_amx_"),
            std::string::npos);
  auto object = compiler.getObject(solver->id(), plan.launches.back().kernel);
  EXPECT_TRUE(object) << object.message();
  if (!object)
    return {};
  auto code = disassemble(**object);
  EXPECT_TRUE(code) << code.message();
  return code ? *code : std::vector<Instruction>();
}

/// The loops that multiply: for whole tiles, and perhaps for the tail of the
/// pixels.
static std::vector<InnermostLoop>
findProducts(const std::vector<Instruction> &code) {
  std::vector<InnermostLoop> products;
  for (InnermostLoop &loop : findInnermostLoops(code))
    if (loop.sumsProducts())
      products.push_back(std::move(loop));
  return products;
}

namespace {
class AmxInnerLoop : public testing::TestWithParam<const char *> {};
} // namespace

/// A loop loads each tile once, and keeps all sums in registers.
TEST_P(AmxInnerLoop, holdsTilesInRegisters) {
  for (const char *key : {kBytes, kBf16, kAtrous})
    for (int64_t m : {16, 32})
      for (int64_t n : {16, 32}) {
        SCOPED_TRACE(key);
        SCOPED_TRACE(std::to_string(m) + "x" + std::to_string(n));
        std::vector<Instruction> code =
            compile(GetParam(), key,
                    {{"amx", 1}, {"tile_m", m}, {"tile_n", n}, {"block_m", 2}});
        std::vector<InnermostLoop> products = findProducts(code);
        // A tile of 32 pixels has a tail of 16. LLVM may copy loops.
        std::set<size_t> rows = {1}, found;
        if (m == 32)
          rows.insert(2);
        for (const InnermostLoop &loop : products) {
          EXPECT_TRUE(loop.spills.empty()) << loop.spills.front().text;
          size_t columns = n / 16, sums = loop.multiplications.size();
          found.insert(sums / columns);
          EXPECT_EQ(loop.sums.size(), sums);
          EXPECT_EQ(count(loop.body, "tileload"), sums / columns + columns);
          for (const char *other : {"tilestore", "tilezero", "ldtilecfg", "v"})
            EXPECT_EQ(count(loop.body, other), 0u) << other;
        }
        EXPECT_EQ(found, rows);
      }
}

/// Tiles are configured once in a call, before the loops over tasks, and given
/// back at its end. They go to memory only where the kernel says so.
TEST_P(AmxInnerLoop, isConfiguredOnce) {
  for (const char *key : {kBytes, kBf16, kAtrous}) {
    SCOPED_TRACE(key);
    std::vector<Instruction> code =
        compile(GetParam(), key,
                {{"amx", 1}, {"tile_m", 32}, {"tile_n", 32}, {"block_m", 2}});
    EXPECT_EQ(count(code, "ldtilecfg"), 1u);
    EXPECT_EQ(count(code, "tilerelease"), count(code, "ret"));
    size_t configured =
        llvm::find_if(
            code,
            [](const Instruction &instruction) {
              return llvm::StringRef(instruction.text).starts_with("ldtilecfg");
            }) -
        code.begin();
    ASSERT_LT(configured, code.size());
    // No jump leads back to it or in front of it.
    for (size_t i = configured; i < code.size(); ++i)
      if (code[i].target)
        EXPECT_GT(*code[i].target, code[configured].address) << code[i].text;
    // The sums of a whole tile and of a tail are stored, to the scratch.
    EXPECT_GE(count(code, "tilestore"), 4u + 2u);
    for (const Instruction &instruction : code)
      if (llvm::StringRef(instruction.text).starts_with("tile"))
        EXPECT_EQ(instruction.text.find("(%rsp"), std::string::npos)
            << instruction.text;
    // A called function would not keep the tiles.
    EXPECT_EQ(count(code, "call"), 0u);
  }
}

INSTANTIATE_TEST_SUITE_P(Cpus, AmxInnerLoop,
                         testing::Values("sapphirerapids", "emeraldrapids",
                                         "graniterapids"),
                         [](const auto &info) {
                           return std::string(info.param);
                         });
