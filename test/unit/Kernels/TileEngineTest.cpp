//===- TileEngineTest.cpp - How threads share transformed tiles -----------===//
//
// Part of Tarpon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tarpon/Runtime/AlignedBuffer.h"
#include "tarpon/Runtime/KernelABI.h"
#include "tarpon/Solver/Solver.h"
#include "tarpon/Targets/Compiler/KernelCompiler.h"
#include "tarpon/Targets/Host/HostBackend.h"
#include "tarpon/Targets/Host/HostTarget.h"
#include "tarpon/Targets/Package/PackageBuilder.h"

#include "llvm/Support/FileUtilities.h"

#include <cmath>
#include <cstring>
#include <dlfcn.h>
#include <fstream>
#include <gtest/gtest.h>

using namespace tarpon;
using namespace tarpon::runtime;

/// A convolution of 64 to 128 channels on a square of `size`, padded to give as
/// many pixels.
static Problem makeProblem(int64_t size, int64_t filter) {
  std::string s = std::to_string(size), f = std::to_string(filter),
              p = std::to_string(filter / 2);
  return *parseProblem("conv(1x64x" + s + "x" + s + "xf32:nhwc, 128x64x" + f +
                       "x" + f + "xf32:const)->1x128x" + s + "x" + s +
                       "xf32:nhwc {dilations=1,1 group=1 pads=" + p + "," + p +
                       "," + p + "," + p + " strides=1,1}");
}

namespace {

struct Engine {
  const char *solver;
  int64_t filter;
  PerfConfig tile;
};

/// A launch of one kernel, whose tasks are called by hand.
class Launched {
public:
  explicit Launched(const Engine &engine);
  ~Launched() { dlclose(library); }

  void call(int64_t begin, int64_t end) {
    kernel(pointers.data(), launch().params.data(), begin, end, scratch.data());
  }
  void beginLaunch() { std::memset(scratch.data(), 0, kScratchNoteBytes); }
  int64_t tasks() const { return launch().tasks; }
  /// Counts the pixels and channels that are numbers.
  int64_t countNumbers() const;

  AlignedBuffer input, output;

private:
  const Launch &launch() const { return package.layers[0].launches[0]; }
  void load();

  Package package;
  AlignedBuffer scratch;
  std::vector<void *> pointers;
  void *library = nullptr;
  KernelFn kernel = nullptr;
};

class TileEngine : public testing::TestWithParam<Engine> {};

} // namespace

Launched::Launched(const Engine &engine) {
  Problem problem = makeProblem(12, engine.filter);
  // Two threads, so that the channels of the one block are cut.
  TargetInfo target = *getHostTarget(/*threads=*/2);
  KernelCompiler compiler = makeHostCompiler(target, nullptr);
  PerfConfig config = engine.tile;
  config.set("tile_m", 4);
  config.set("tile_n", target.lanes());
  config.set("block_m", 64);
  package = std::move(*buildProblemPackage(problem, *findSolver(engine.solver),
                                           config, compiler));
  input = std::move(*AlignedBuffer::allocate(problem.operands[0].numBytes()));
  output = std::move(*AlignedBuffer::allocate(problem.result.numBytes()));
  output.fill(0xff);
  scratch = std::move(*AlignedBuffer::allocate(launch().scratchBytes));
  for (const BufferRef &buffer : launch().buffers) {
    char *base = buffer.space == BufferSpace::Input ? input.data()
                 : buffer.space == BufferSpace::Constant
                     ? package.constants.data()
                     : output.data();
    pointers.push_back(base + buffer.offset);
  }
  load();
}

void Launched::load() {
  llvm::SmallString<64> path;
  ASSERT_FALSE(llvm::sys::fs::createTemporaryFile("kernels", "so", path));
  llvm::FileRemover remover(path);
  std::ofstream(path.c_str(), std::ios::binary)
      .write(package.kernels.data(),
             static_cast<std::streamsize>(package.kernels.size()));
  library = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
  ASSERT_TRUE(library) << dlerror();
  kernel = reinterpret_cast<KernelFn>(dlsym(library, launch().symbol.c_str()));
  ASSERT_TRUE(kernel);
}

int64_t Launched::countNumbers() const {
  int64_t count = 0;
  for (int64_t at = 0; at < output.size(); at += 4) {
    float value;
    std::memcpy(&value, output.data() + at, sizeof(value));
    count += std::isnan(value) ? 0 : 1;
  }
  return count;
}

/// Calls that follow each other in a launch use the panels that the first one
/// has made; those of another launch do not.
TEST_P(TileEngine, transformsABlockOncePerLaunch) {
  Launched launched(GetParam());
  ASSERT_EQ(launched.tasks(), 8);
  int64_t perTask = launched.output.size() / 4 / 8;
  launched.beginLaunch();
  launched.call(0, 1);
  EXPECT_EQ(launched.countNumbers(), perTask);
  launched.input.fill(0xff);
  launched.call(2, 3);
  launched.call(1, 2);
  EXPECT_EQ(launched.countNumbers(), 3 * perTask);
  launched.beginLaunch();
  launched.call(3, 4);
  EXPECT_EQ(launched.countNumbers(), 3 * perTask);
}

namespace {
/// Caches of CPUs that cost models must be right for, wherever the test runs.
struct Caches {
  const char *cpu;
  int64_t l1Bytes, l2Bytes, l3Bytes;
};
} // namespace

static constexpr Caches kCaches[] = {
    {"Haswell", 32 << 10, 256 << 10, 8 << 20},
    {"Zen 3", 32 << 10, 512 << 10, 32 << 20},
    {"Zen 4", 32 << 10, 1 << 20, 32 << 20},
    {"Zen 5", 48 << 10, 1 << 20, 32 << 20},
    {"Cascade Lake", 32 << 10, 1 << 20, 36 << 20},
    {"Ice Lake", 48 << 10, 1280 << 10, 54 << 20},
    {"Sapphire Rapids", 48 << 10, 2 << 20, 105 << 20},
};

/// The part of the peak that two threads are expected to reach is that of one
/// where there is enough to share, and less where they repeat each other's
/// work.
TEST_P(TileEngine, knowsWhatThreadsShare) {
  const Solver &solver = *findSolver(GetParam().solver);
  TargetInfo one = *getHostTarget(/*threads=*/1, "x86-64-v3");
  auto compare = [&](int64_t size) {
    Problem problem = makeProblem(size, GetParam().filter);
    TargetInfo two = one;
    two.threads = 2;
    return solver.expectedFraction(problem, two) /
           solver.expectedFraction(problem, one);
  };
  for (const Caches &caches : kCaches) {
    SCOPED_TRACE(caches.cpu);
    one.l1Bytes = caches.l1Bytes;
    one.l2Bytes = caches.l2Bytes;
    one.l3Bytes = caches.l3Bytes;
    EXPECT_NEAR(compare(448), 1, 0.05);
    EXPECT_LT(compare(4), 0.995);
  }
}

INSTANTIATE_TEST_SUITE_P(
    Solvers, TileEngine,
    testing::Values(Engine{"conv-winograd-f2x3-v1", 3, {}},
                    Engine{"conv-winograd-f4x3-v1", 3, {}},
                    Engine{"conv-fft-v1", 5, {{"tile_h", 16}, {"tile_w", 16}}}),
    [](const testing::TestParamInfo<Engine> &info) {
      std::string name = info.param.solver;
      std::replace(name.begin(), name.end(), '-', '_');
      return name;
    });
