//===- GpuInnerLoopTest.cpp - Machine code of the tiled engine ------------===//
//
// Part of Tarpon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The inner loop determines the speed of a product: it has only loads of 128
// bits, which are issued ahead of the matrix instructions, nothing spilled, and
// few enough registers and instructions that the matrix unit stays busy. The
// model is a bound: the busiest of the units of one compute unit.
//
//===----------------------------------------------------------------------===//

#include "tarpon/Solver/Solver.h"
#include "tarpon/Targets/AMDGPU/AmdGpuBackend.h"
#include "tarpon/Targets/AMDGPU/GpuCompiler.h"

#include "llvm/ADT/StringExtras.h"
#include "gtest/gtest.h"

#include <algorithm>
#include <cstdlib>
#include <map>

using namespace tarpon;

namespace {

/// Instructions of one iteration of the loop that multiplies.
class InnerLoop {
public:
  explicit InnerLoop(llvm::StringRef assembly) {
    llvm::SmallVector<llvm::StringRef> lines;
    assembly.split(lines, '\n');
    std::vector<llvm::StringRef> code;
    std::map<std::string, size_t> labels;
    for (llvm::StringRef line : lines) {
      line = line.split(';').first.trim();
      if (line.starts_with(".LBB"))
        labels[line.drop_back().str()] = code.size();
      else if (!line.empty())
        code.push_back(line);
      // From a label to a branch back to it.
      auto label = labels.find(line.split(' ').second.trim().str());
      if (!line.starts_with("s_") || label == labels.end())
        continue;
      llvm::ArrayRef<llvm::StringRef> body(code);
      body = body.drop_front(label->second);
      if (count(body, "v_mfma") + count(body, "v_wmma") > 0 &&
          (instructions.empty() || body.size() < instructions.size()))
        instructions.assign(body.begin(), body.end());
    }
  }

  int64_t count(llvm::StringRef prefix) const {
    return count(instructions, prefix);
  }
  int64_t count(llvm::StringRef prefix, llvm::StringRef suffix) const {
    return llvm::count_if(instructions, [&](llvm::StringRef line) {
      return line.starts_with(prefix) && line.ends_with(suffix);
    });
  }
  size_t find(llvm::StringRef prefix) const {
    return std::find_if(
               instructions.begin(), instructions.end(),
               [&](llvm::StringRef line) { return line.starts_with(prefix); }) -
           instructions.begin();
  }
  size_t findLast(llvm::StringRef prefix) const {
    for (size_t i = instructions.size(); i > 0; --i)
      if (instructions[i - 1].starts_with(prefix))
        return i - 1;
    return 0;
  }
  int64_t size() const { return static_cast<int64_t>(instructions.size()); }
  std::string print() const { return llvm::join(instructions, "\n"); }

private:
  static int64_t count(llvm::ArrayRef<llvm::StringRef> lines,
                       llvm::StringRef prefix) {
    return llvm::count_if(
        lines, [&](llvm::StringRef line) { return line.starts_with(prefix); });
  }
  std::vector<llvm::StringRef> instructions;
};

struct Compiled {
  KernelSource source;
  std::string assembly;
  KernelResources resources;
};

using Change = std::vector<std::pair<const char *, int64_t>>;

/// The kernel that multiplies, in the solver's default config or with a change.
Compiled compileMainKernel(const std::string &key, const GpuTarget &gpu,
                           const char *id = "gpu-igemm-v1",
                           const Change &change = {}) {
  auto problem = parseProblem(key);
  EXPECT_TRUE(mlir::succeeded(problem)) << key;
  TargetInfo target = makeGpuTargetInfo(gpu);
  const Solver *solver = findSolver(id);
  PerfConfig config = solver->defaultConfig(*problem, target);
  for (auto [field, value] : change)
    config.set(field, value);
  EXPECT_EQ(solver->explainConfig(*problem, target, config), "");
  SolutionPlan plan = solver->plan(*problem, target, config);
  size_t transforms = plan.launches.size() == 3 ? 1 : 0;
  EXPECT_EQ(plan.launches.size(), 1 + 2 * transforms) << config.str();
  const LaunchPlan &launch = plan.launches[transforms];
  Compiled compiled{launch.kernel, "", {}};
  compiled.source.numBuffers = static_cast<int64_t>(launch.buffers.size());
  compiled.source.numParams = static_cast<int64_t>(launch.params.size());
  auto assembly = makeAmdGpuBackend(gpu)->printAssembly(compiled.source);
  EXPECT_TRUE(assembly) << assembly.message();
  compiled.assembly = *assembly;
  auto object = compileGpuKernel(compiled.source, gpu);
  EXPECT_TRUE(object) << object.message();
  compiled.resources = object->kernels.front();
  return compiled;
}

} // namespace

/// Clocks in which the matrix unit works over those of the busiest unit, for
/// the waves of one workgroup.
static double getUtilisation(const InnerLoop &loop, const Compiled &kernel,
                             const GpuTarget &gpu) {
  int64_t waves = kernel.resources.workgroup / gpu.waveSize;
  double perSimd =
      static_cast<double>(waves) / static_cast<double>(gpu.simdsPerUnit);
  double matrices = static_cast<double>(loop.count("v_mfma"));
  double cycles = loop.count("v_mfma_f32_32x32") > 0 ? 32 : 16;
  double matrix = matrices * cycles * perSimd;
  // A wave starts an instruction in four clocks.
  double issue = (static_cast<double>(loop.size()) - matrices) * 4 * perSimd;
  // Loads to LDS are written there like any others.
  int64_t direct = loop.count("buffer_load", " lds");
  int64_t directBytes = direct * gpu.directToLdsBytes;
  double lanes = static_cast<double>(gpu.waveSize * waves);
  int64_t read = loop.count("ds_read") * 16;
  int64_t written = (loop.count("ds_write") * 16) + directBytes;
  double lds = lanes * (static_cast<double>(read) /
                            static_cast<double>(gpu.ldsReadBytesPerClock) +
                        static_cast<double>(written) /
                            static_cast<double>(gpu.ldsWriteBytesPerClock));
  int64_t loads = loop.count("buffer_load") - direct;
  double global = static_cast<double>(loads * 16 + directBytes) * lanes / 64;
  printf("matrix %.0f, issue %.0f, LDS %.0f, global %.0f clocks\n", matrix,
         issue, lds, global);
  return matrix / std::max({matrix, issue, lds, global});
}

/// What holds for every loop: nothing is spilled, and waves hide each other.
static void checkLoop(const InnerLoop &loop, const Compiled &kernel,
                      const GpuTarget &gpu, double atLeast) {
  EXPECT_EQ(kernel.resources.vectorSpills + kernel.resources.scalarSpills, 0);
  ASSERT_GT(loop.count("v_mfma"), 0);
  EXPECT_EQ(loop.count("scratch_"), 0);
  EXPECT_EQ(loop.count("v_accvgpr"), 0);
  // One block: no loop over lanes whose values differ, no branch.
  EXPECT_EQ(loop.count("s_cbranch"), 1);
  EXPECT_EQ(loop.count("v_readfirstlane"), 0);
  EXPECT_EQ(loop.count("global_") + loop.count("flat_"), 0);
  EXPECT_EQ(loop.count("ds_read_b128"), loop.count("ds_read"));
  int64_t waves =
      gpu.getOccupancy(kernel.resources.vectorRegisters,
                       kernel.resources.ldsBytes, kernel.resources.workgroup);
  EXPECT_GE(waves, 2);
  if (std::getenv("TARPON_TEST_PRINT_ASSEMBLY"))
    printf("%s\n", kernel.assembly.c_str());
  double utilisation = getUtilisation(loop, kernel, gpu);
  EXPECT_GE(utilisation, atLeast);
  printf("%s: %d registers, %d bytes of LDS, %d waves per SIMD, %.0f %%\n",
         kernel.source.symbol.c_str(),
         static_cast<int>(kernel.resources.vectorRegisters),
         static_cast<int>(kernel.resources.ldsBytes), static_cast<int>(waves),
         100 * utilisation);
}

static const std::string kThreeByThree =
    "conv(64x256x14x14xf16:nhwc, 256x256x3x3xf16:const; "
    "1x256x1x1xf16:const)->64x256x14x14xf16:nhwc {dilations=1,1 group=1 "
    "pads=1,1,1,1 strides=1,1} | add(2) | relu";
static const std::string kPointwise =
    "conv(64x1024x14x14xf16:nhwc, 256x1024x1x1xf16:const; "
    "1x256x1x1xf16:const)->64x256x14x14xf16:nhwc {dilations=1,1 group=1 "
    "pads=0,0,0,0 strides=1,1} | add(2) | relu";

/// Through registers: everything is loaded by 128 bits, and ahead of what needs
/// it a step later.
TEST(GpuInnerLoop, registers) {
  GpuTarget gpu = *parseGpuTarget("gfx942");
  for (const std::string &key : {kThreeByThree, kPointwise}) {
    EXPECT_EQ(getApplicableSolvers(*parseProblem(key), makeGpuTargetInfo(gpu))
                  .front()
                  ->id(),
              "gpu-igemm-v1");
    Compiled kernel = compileMainKernel(key, gpu);
    InnerLoop loop(kernel.assembly);
    SCOPED_TRACE(kernel.source.symbol + "\n" + loop.print());
    checkLoop(loop, kernel, gpu, 0.85);
    EXPECT_GT(loop.count("buffer_load_dwordx4"), 0);
    EXPECT_EQ(loop.count("buffer_load_dwordx4"), loop.count("buffer_load"));
    EXPECT_EQ(loop.count("ds_write_b128"), loop.count("ds_write"));
    EXPECT_LT(loop.findLast("buffer_load"), loop.find("v_mfma"));
  }
}

/// By loads to LDS, for which LLVM waits nowhere but where the kernel does.
static void checkLoadsToLds(const char *chip, const Change &change,
                            int64_t loads, double atLeast) {
  GpuTarget gpu = *parseGpuTarget(chip);
  for (const std::string &key : {kThreeByThree, kPointwise}) {
    Compiled kernel = compileMainKernel(key, gpu, "gpu-igemm-v1", change);
    InnerLoop loop(kernel.assembly);
    SCOPED_TRACE(kernel.source.symbol + "\n" + loop.print());
    checkLoop(loop, kernel, gpu, atLeast);
    EXPECT_EQ(loop.count("buffer_load", " lds"), loads);
    EXPECT_EQ(loop.count("buffer_load"), loads);
    EXPECT_EQ(loop.count("ds_write"), 0);
    EXPECT_EQ(loop.count("s_barrier"), 1);
    EXPECT_EQ(loop.count("s_waitcnt vmcnt"), 1);
  }
}

TEST(GpuInnerLoop, loadsToLdsOfDwords) {
  checkLoadsToLds("gfx942",
                  {{"block_m", 128},
                   {"block_n", 128},
                   {"block_k", 32},
                   {"wave_m", 64},
                   {"wave_n", 64},
                   {"stages", 2}},
                  16, 0.85);
}

/// The default. LDS takes one and a half times as long as the matrix unit.
TEST(GpuInnerLoop, loadsToLdsOfChunks) {
  checkLoadsToLds("gfx950", {}, 8, 0.85);
}

/// What the tuner is offered.
TEST(GpuInnerLoop, proposedLoadsToLds) {
  for (const char *chip : {"gfx942", "gfx950"}) {
    GpuTarget gpu = *parseGpuTarget(chip);
    int64_t count = 0;
    for (const PerfConfig &config :
         findSolver("gpu-igemm-v1")
             ->configs(*parseProblem(kThreeByThree), makeGpuTargetInfo(gpu))) {
      if (config.get("stages") < 2 || config.get("split_k") > 1)
        continue;
      SCOPED_TRACE(chip + (" " + config.str()));
      Change change;
      for (const auto &[field, value] : config.getFields())
        change.emplace_back(field.c_str(), value);
      Compiled kernel =
          compileMainKernel(kThreeByThree, gpu, "gpu-igemm-v1", change);
      InnerLoop loop(kernel.assembly);
      EXPECT_EQ(kernel.resources.vectorSpills + kernel.resources.scalarSpills,
                0);
      EXPECT_GT(loop.count("buffer_load", " lds"), 0);
      EXPECT_EQ(loop.count("s_waitcnt vmcnt"), 1);
      ++count;
    }
    EXPECT_GT(count, 4) << chip;
  }
}

/// One block without branches, loads and stores of 128 bits, nothing spilled.
static void checkTargets(const char *id, std::vector<const char *> dtypes) {
  for (const std::string &chip : getGpuChips(GpuVendor::AMD))
    for (const char *dtype : dtypes) {
      GpuTarget gpu = *parseGpuTarget(chip);
      if (gpu.getMatrixInstructions(*runtime::parseDType(dtype)).empty())
        continue;
      std::string t = dtype;
      Compiled kernel = compileMainKernel(
          "conv(64x256x14x14x" + t + ":nhwc, 256x256x3x3x" + t +
              ":const)->64x256x14x14x" + t +
              ":nhwc {dilations=1,1 group=1 pads=1,1,1,1 strides=1,1} | relu",
          gpu, id);
      InnerLoop loop(kernel.assembly);
      SCOPED_TRACE(chip + " " + kernel.source.symbol + "\n" + loop.print());
      EXPECT_EQ(kernel.resources.vectorSpills + kernel.resources.scalarSpills,
                0);
      EXPECT_GT(loop.count("v_mfma") + loop.count("v_wmma"), 0);
      EXPECT_EQ(loop.count("s_cbranch"), 1);
      EXPECT_EQ(loop.count("scratch_"), 0);
      EXPECT_EQ(loop.count("buffer_load_dwordx4") +
                    loop.count("buffer_load_b128"),
                loop.count("buffer_load"));
      EXPECT_EQ(loop.count("ds_read_b128") + loop.count("ds_load_b128") +
                    loop.count("ds_write_b128") + loop.count("ds_store_b128"),
                loop.count("ds_"));
    }
}

/// Every float dtype with matrix instructions.
TEST(GpuInnerLoop, everyTarget) {
  checkTargets("gpu-igemm-v1", {"f16", "bf16", "f32"});
}

/// The products of transformed tiles.
TEST(GpuInnerLoop, everyTargetOfWinograd) {
  checkTargets("gpu-winograd-f2x3-v1", {"f16", "f32"});
}
