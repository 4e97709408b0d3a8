//===- InnerLoopSpillTest.cpp - Inner loops keep vectors in registers -----===//
//
// Part of Tarpon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Compiles the kernels of every config that the solvers offer for convolutions
// and reads their instructions: the loop that sums products must not move a
// vector to or from the stack. A kernel that does is right, but slow, and
// belongs in no solver's list. Loops that pack, transform or store may multiply
// too; those that use the stack are counted.
//   TARPON_TEST_SPILL_ALL       1: all kernels for each CPU, and more
//   activations
//                               as epilogues (0: every other kernel for each
//                               CPU)
//   TARPON_TEST_SPILL_PROBLEMS  random convolutions on top of the list (0)
//   TARPON_TEST_SEED            the first seed of those (1)
//
//===----------------------------------------------------------------------===//

#include "SpillProblems.h"

#include "tarpon/Kernels/Common/KernelBuilder.h"
#include "tarpon/Runtime/ThreadPool.h"
#include "tarpon/Targets/Compiler/KernelCompiler.h"
#include "tarpon/Targets/Disassembly/Disassembly.h"
#include "tarpon/Targets/Host/HostBackend.h"
#include "tarpon/Targets/Host/HostTarget.h"

#include <gtest/gtest.h>

#include <atomic>
#include <cstdlib>
#include <iterator>
#include <map>
#include <mutex>
#include <thread>

using namespace tarpon;
using namespace tarpon::test;

static uint64_t getNumber(const char *variable, uint64_t otherwise) {
  const char *text = std::getenv(variable);
  return text ? std::strtoull(text, nullptr, 10) : otherwise;
}

//===----------------------------------------------------------------------===//
// Kernels
//===----------------------------------------------------------------------===//

namespace {
/// A kernel and one solution that launches it.
struct OfferedKernel {
  std::string solver, offer;
  KernelSource source;
};
} // namespace

static std::vector<OfferedKernel>
collectKernels(const std::vector<Problem> &problems, const TargetInfo &target) {
  std::map<std::string, OfferedKernel> kernels;
  for (const Problem &problem : problems)
    for (const Solver *solver : getApplicableSolvers(problem, target)) {
      // Slow by design.
      if (solver == &getReferenceSolver())
        continue;
      for (const PerfConfig &config : solver->configs(problem, target))
        for (const LaunchPlan &launch :
             solver->plan(problem, target, config).launches) {
          std::string offer = "{" + config.str() + "} for " + problem.key();
          kernels.try_emplace(
              launch.kernel.symbol,
              OfferedKernel{solver->id().str(), offer, launch.kernel});
        }
    }
  std::vector<OfferedKernel> list;
  for (auto &[symbol, kernel] : kernels)
    list.push_back(std::move(kernel));
  return list;
}

/// Half of the kernels, the first or the second of each two.
static std::vector<OfferedKernel>
takeEveryOther(std::vector<OfferedKernel> kernels, size_t first) {
  std::vector<OfferedKernel> half;
  for (size_t i = first; i < kernels.size(); i += 2)
    half.push_back(std::move(kernels[i]));
  return half;
}

namespace {
struct Verdict {
  std::string error;
  /// Instructions that use the stack in loops that sum products, and in others.
  std::vector<Instruction> spills, others;
  bool sumsProducts = false; ///< in a loop
};
} // namespace

static Verdict makeFault(std::string message) {
  Verdict verdict;
  verdict.error = std::move(message);
  return verdict;
}

static Verdict checkKernel(KernelCompiler &compiler, llvm::StringRef solver,
                           const KernelSource &source) {
  auto object = compiler.getObject(solver, source);
  if (!object)
    return makeFault(object.message());
  auto code = disassemble(**object);
  if (!code)
    return makeFault(code.message());
  Verdict verdict;
  for (const InnermostLoop &loop : findInnermostLoops(*code)) {
    llvm::append_range(loop.sumsProducts() ? verdict.spills : verdict.others,
                       loop.spills);
    verdict.sumsProducts |= loop.sumsProducts();
  }
  return verdict;
}

/// Whatever this machine is: no code is run.
static const char *const kCpus[] = {
    "x86-64-v3",  "haswell",        "znver2",         "znver3",
    "alderlake",  "x86-64-v4",      "skylake-avx512", "cascadelake",
    "cooperlake", "icelake-server", "sapphirerapids", "graniterapids",
    "znver4",     "znver5"};

/// Neighbours in the list compile the halves that the other leaves out.
static size_t findCpu(llvm::StringRef name) {
  return llvm::find(kCpus, name) - std::begin(kCpus);
}

namespace {
class InnerLoopSpill : public testing::TestWithParam<const char *> {};
} // namespace

TEST_P(InnerLoopSpill, noOfferedConvolutionSpills) {
  auto target = getCpuTarget(GetParam(), /*threads=*/1);
  ASSERT_TRUE(target) << target.message();
  bool all = getNumber("TARPON_TEST_SPILL_ALL", 0) != 0;
  std::vector<Problem> problems = makeSpillProblems(/*moreActivations=*/all);
  addRandomConvolutions(getNumber("TARPON_TEST_SPILL_PROBLEMS", 0),
                        getNumber("TARPON_TEST_SEED", 1), problems);
  std::vector<OfferedKernel> kernels = collectKernels(problems, *target);
  // Each problem is solved by a kernel of its own at least.
  ASSERT_GE(kernels.size(), problems.size());
  if (!all)
    kernels = takeEveryOther(std::move(kernels), findCpu(GetParam()) % 2);
  KernelCompiler compiler = makeHostCompiler(*target, /*cache=*/nullptr);
  std::mutex mutex;
  int spilling = 0, storing = 0, summing = 0;
  std::string list;
  std::atomic<size_t> next = 0;
  auto work = [&] {
    for (size_t i; (i = next++) < kernels.size();) {
      const OfferedKernel &kernel = kernels[i];
      Verdict verdict = checkKernel(compiler, kernel.solver, kernel.source);
      std::lock_guard<std::mutex> lock(mutex);
      EXPECT_EQ(verdict.error, "")
          << kernel.source.symbol << " of " << kernel.solver;
      if (!verdict.spills.empty()) {
        ++spilling;
        list += "\n" + std::to_string(verdict.spills.size()) + " in " +
                kernel.source.symbol + " of " + kernel.solver + " " +
                kernel.offer + ", as '" + verdict.spills.front().text + "'";
      }
      storing += !verdict.others.empty();
      summing += verdict.sumsProducts;
    }
  };
  std::vector<std::thread> threads;
  for (int i = 1; i < runtime::availableCores(); ++i)
    threads.emplace_back(work);
  work();
  for (std::thread &thread : threads)
    thread.join();
  EXPECT_EQ(spilling, 0) << "of " << kernels.size() << " kernels:" << list;
  // The others transform, convert and copy.
  EXPECT_GE(summing, kernels.size() * 3 / 4) << "of " << kernels.size();
  RecordProperty("summing", summing);
  RecordProperty("kernels", static_cast<int>(kernels.size()));
  RecordProperty("spilling", spilling);
  RecordProperty("stack_in_other_loops", storing);
}

INSTANTIATE_TEST_SUITE_P(Cpus, InnerLoopSpill, testing::ValuesIn(kCpus),
                         [](const auto &info) {
                           std::string name = info.param;
                           std::replace(name.begin(), name.end(), '-', '_');
                           return name;
                         });

/// LLVM takes vpdpwssd apart for CPUs of Intel's, where that shortens a chain.
TEST(DotProducts, stayOneInstruction) {
  Problem problem = *parseProblem(
      "conv(1x64x28x28xu8q:nhwc, 64x64x3x3xi8q:const)->1x64x28x28xu8q:nhwc "
      "{dilations=1,1 group=1 pads=1,1,1,1 strides=1,1}");
  const Solver &solver = *findSolver("conv-winograd-f4x3-i8-v1");
  for (const char *cpu : {"cascadelake", "icelake-server", "znver4"}) {
    SCOPED_TRACE(cpu);
    auto target = getCpuTarget(cpu, /*threads=*/1);
    ASSERT_TRUE(target) << target.message();
    KernelCompiler compiler = makeHostCompiler(*target, /*cache=*/nullptr);
    SolutionPlan plan =
        solver.plan(problem, *target, solver.defaultConfig(problem, *target));
    auto object = compiler.getObject(solver.id(), plan.launches[0].kernel);
    ASSERT_TRUE(object) << object.message();
    auto code = disassemble(**object);
    ASSERT_TRUE(code) << code.message();
    auto count = [&](llvm::StringRef mnemonic) {
      return llvm::count_if(*code, [&](const Instruction &instruction) {
        return llvm::StringRef(instruction.text).starts_with(mnemonic);
      });
    };
    EXPECT_GT(count("vpdpwssd"), 0);
    EXPECT_EQ(count("vpmaddwd"), 0);
  }
}

//===----------------------------------------------------------------------===//
// The test of the test
//===----------------------------------------------------------------------===//

/// A loop that carries `sums` vectors.
static KernelSource makeSums(int64_t sums) {
  auto emit = [=](KernelBuilder &b) {
    using mlir::Value;
    mlir::VectorType type = b.vec(b.f32(), b.lanes());
    Value data = b.getBuffer(0), result = b.getBuffer(1);
    llvm::SmallVector<Value> start(sums, b.cstLike(type, 0));
    auto total = b.forLoop(
        b.cst(0), b.getParam(0), b.cst(1), start,
        [&](Value i, mlir::ValueRange carried) {
          Value at = b.offset(data, b.mul(i, sums * type.getNumElements() * 4));
          llvm::SmallVector<Value> next;
          for (auto [index, sum] : llvm::enumerate(carried)) {
            Value x = b.load(
                b.offset(at, static_cast<int64_t>(index) * b.lanes() * 4),
                type);
            next.push_back(b.fma(x, x, sum));
          }
          return next;
        });
    for (auto [index, sum] : llvm::enumerate(total))
      b.store(sum,
              b.offset(result, static_cast<int64_t>(index) * b.lanes() * 4));
  };
  return {"sums" + std::to_string(sums), emit};
}

TEST(InnerLoopSpills, areFoundWhereThereAreAny) {
  for (const char *cpu : {"native", "x86-64-v3", "x86-64-v2"}) {
    SCOPED_TRACE(cpu);
    auto target = getHostTarget(/*threads=*/1, cpu);
    ASSERT_TRUE(target) << target.message();
    KernelCompiler compiler = makeHostCompiler(*target, /*cache=*/nullptr);
    int64_t registers = target->vectorRegisters;
    Verdict many = checkKernel(compiler, "test-v1", makeSums(registers + 8));
    EXPECT_EQ(many.error, "");
    EXPECT_GE(many.spills.size(), 8u);
    Verdict few = checkKernel(compiler, "test-v1", makeSums(registers - 4));
    EXPECT_EQ(few.error, "");
    EXPECT_EQ(few.spills.size(), 0u);
  }
}

static std::vector<Instruction> makeNestedLoops() {
  auto at = [](uint64_t address, std::string text,
               std::optional<uint64_t> target = std::nullopt) {
    return Instruction{address, std::move(text), target};
  };
  return {at(0, "pushq %rbp"),
          at(1, "je 13", 13),
          at(2, "vmovups %ymm2, (%rsp)"), // the outer loop
          at(3, "vmovups (%rbp), %zmm0"), // the inner loop
          at(4, "vfmadd231ps 128(%rsp), %zmm1, %zmm2"),
          at(5, "movq 8(%rsp), %rax"),
          at(6, "je 11", 11), // to a block of the inner loop far away
          at(7, "jne 3", 3),
          at(8, "vmovups (%rsp), %ymm2"),
          at(9, "jne 2", 2),
          at(10, "retq"),
          at(11, "vmovups %xmm1, 32(%rsp)"),
          at(12, "jmp 7", 7),
          at(13, "vmovups (%rsp), %zmm3"),
          at(14, "jmp 10", 10)}; // back, but round nothing
}

TEST(InnerLoopSpills, areThoseOfNaturalLoops) {
  std::vector<Instruction> code = makeNestedLoops();
  std::vector<InnermostLoop> loops = findInnermostLoops(code);
  ASSERT_EQ(loops.size(), 1u);
  EXPECT_FALSE(loops[0].multiplications.empty());
  EXPECT_EQ(loops[0].sums, std::vector<int>{2});
  ASSERT_EQ(loops[0].spills.size(), 2u);
  EXPECT_EQ(loops[0].spills[0].address, 4u);
  EXPECT_EQ(loops[0].spills[1].address, 11u);
}

TEST(InnerLoopSpills, goThroughFramePointersToo) {
  std::vector<Instruction> code = makeNestedLoops();
  code[0].text = "movq %rsp, %rbp";
  std::vector<InnermostLoop> loops = findInnermostLoops(code);
  ASSERT_EQ(loops.size(), 1u);
  EXPECT_EQ(loops[0].spills.size(), 3u);
}

TEST(InnerLoopSpills, areAsBadWhereEpiloguesMultiply) {
  std::vector<Instruction> code = makeNestedLoops();
  code[8].text = "vpdpbusd %zmm0, %zmm1, %zmm2"; // in the outer loop
  std::vector<InnermostLoop> loops = findInnermostLoops(code);
  ASSERT_EQ(loops.size(), 1u);
  EXPECT_TRUE(loops[0].multiplications.empty());
}

TEST(InnerLoopSpills, matterWhereProductsAreSummed) {
  std::vector<Instruction> code = makeNestedLoops();
  ASSERT_TRUE(findInnermostLoops(code)[0].sumsProducts());
  code[5].text = "vmovups 64(%rax), %zmm2"; // the sum begins anew each time
  EXPECT_FALSE(findInnermostLoops(code)[0].sumsProducts());
  // A sum in two steps, with a mask.
  code[4].text = "vpmaddwd 128(%rsp), %zmm1, %zmm3";
  code[5].text = "vpaddd %zmm3, %zmm2, %zmm2 {%k1}";
  EXPECT_EQ(findInnermostLoops(code)[0].sums, std::vector<int>{2});
}

TEST(InnerLoopSpills, countProductsWithAPrefix) {
  std::vector<Instruction> code = makeNestedLoops();
  code[4].text = "{vex} vpdpwssd 128(%rsp), %zmm1, %zmm2";
  std::vector<InnermostLoop> loops = findInnermostLoops(code);
  ASSERT_EQ(loops.size(), 1u);
  EXPECT_EQ(loops[0].multiplications.size(), 1u);
  EXPECT_EQ(loops[0].sums, std::vector<int>{2});
}

TEST(InnerLoopSpills, areThoseOfTilesToo) {
  std::vector<Instruction> code = makeNestedLoops();
  code[3].text = "tileloadd (%rbp,%rax), %tmm0";
  code[4].text = "tdpbusd %tmm0, %tmm1, %tmm2";
  code[11].text = "tilestored %tmm1, 32(%rsp,%rax)";
  std::vector<InnermostLoop> loops = findInnermostLoops(code);
  ASSERT_EQ(loops.size(), 1u);
  EXPECT_EQ(loops[0].multiplications.size(), 1u);
  EXPECT_EQ(loops[0].sums, std::vector<int>{2});
  ASSERT_EQ(loops[0].spills.size(), 1u);
  EXPECT_EQ(loops[0].spills[0].address, 11u);
}

TEST(InnerLoopSpills, areNoneOfAlignedBlocks) {
  // Behind the jump lies padding, which no way leads through.
  std::vector<Instruction> code = {
      {0, "jmp 2", 2},
      {1, "nop", std::nullopt},
      {2, "vfmadd231ps (%rsp), %zmm1, %zmm2", std::nullopt},
      {3, "retq", std::nullopt}};
  EXPECT_TRUE(findInnermostLoops(code).empty());
}
