//===- GpuModelBehaviour.cpp - Digests the static model of GPUs -----------===//
//
// Part of Tarpon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Most kernels are fixed assembly (Inputs/kernels.s), so that a change of a
// solver or of the code generator is none of the model. Those that are compiled
// belong to no solver, and all modelled times depend on the code generator's
// version anyway.
//
//===----------------------------------------------------------------------===//

#include "GpuModelBehaviour.h"

#include "FixedKernels.h"
#include "Store/Digest.h"

#include "tarpon/Solver/BehaviourVersion.h"
#include "tarpon/Solver/GpuTarget.h"
#include "tarpon/Targets/AMDGPU/GpuCompiler.h"
#include "tarpon/Targets/AMDGPU/Model/AmdAssembly.h"
#include "tarpon/Targets/GPU/Model/SolutionModel.h"

#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/MemoryBuffer.h"

#include "gtest/gtest.h"

using namespace tarpon;
using namespace tarpon::test;

static constexpr const char *kKernels =
    TARPON_SOURCE_DIR "/test/unit/Versions/Inputs/kernels.s";

static std::vector<std::string> readKernels() {
  auto file = llvm::MemoryBuffer::getFile(kKernels);
  EXPECT_TRUE(file) << kKernels;
  llvm::SmallVector<llvm::StringRef> parts;
  if (file)
    (*file)->getBuffer().split(parts, "; kernel:");
  std::vector<std::string> kernels;
  // The first part is the file's comment, and each begins with a title.
  for (llvm::StringRef part : llvm::drop_begin(parts))
    kernels.push_back(part.split('\n').second.str());
  return kernels;
}

/// Seven digits: compilers may differ in the last ones of a sum.
static void add(Digest &digest, double value) {
  digest.add(llvm::formatv("{0:e6}", value).str());
}

static void add(Digest &digest, const LaunchEstimate &estimate) {
  for (double value :
       {estimate.milliseconds, estimate.computeMs, estimate.memoryMs,
        estimate.launchMs, estimate.iterations, estimate.waves,
        estimate.terms.matrix, estimate.terms.vector, estimate.terms.lds,
        estimate.terms.global, estimate.terms.latency, estimate.outsideClocks})
    add(digest, value);
}

/// From one workgroup to more than a GPU holds, with little and with much
/// memory, and without floating-point work.
static std::vector<LaunchWork> makeWorks() {
  using runtime::DType;
  std::vector<LaunchWork> works;
  for (DType dtype : {DType::F16, DType::F32, DType::I8})
    for (int64_t workgroups : {1, 500, 20000})
      for (double products : {0, 100, 5000}) {
        LaunchWork work;
        work.dtype = dtype;
        work.workgroups = workgroups;
        work.results = 3000.0 * static_cast<double>(workgroups);
        work.flops = 2 * products * work.results;
        work.bytes = 1e6 * static_cast<double>(workgroups % 7);
        work.splitK = products > 1000 ? 4 : 1;
        work.expectedFraction = 0.25;
        works.push_back(work);
      }
  return works;
}

/// With few registers and no LDS, and with so many that few waves fit.
static std::vector<KernelResources> makeResources(const GpuTarget &gpu) {
  KernelResources small;
  small.symbol = "kernel";
  small.waveSize = gpu.waveSize;
  small.workgroup = 64;
  small.vectorRegisters = 48;
  KernelResources large = small;
  large.workgroup = 256;
  large.vectorRegisters = 200;
  large.ldsBytes = 20 << 10;
  return {small, large};
}

static void addAssembly(Digest &digest, const std::string &assembly,
                        const GpuTarget &gpu) {
  for (const KernelResources &resources : makeResources(gpu)) {
    auto profile = profileAssembly(assembly, resources, gpu);
    ASSERT_TRUE(profile) << profile.message();
    for (const LaunchWork &work : makeWorks())
      add(digest, estimateLaunch(*profile, work, gpu));
  }
}

/// The launches write one place of the workspace after the other, all but the
/// last, and read what the one before them has written.
static SolutionPlan makePlan(llvm::ArrayRef<KernelSource> kernels) {
  constexpr int64_t kPlace = 4096;
  SolutionPlan plan;
  plan.workspaceBytes = 1 << 20;
  plan.constants.resize(1);
  BufferSlot input = {BufferSlot::Operand, 0};
  for (auto [index, kernel] : llvm::enumerate(kernels)) {
    BufferSlot output = {BufferSlot::Workspace,
                         kPlace * static_cast<int64_t>(index)};
    if (index + 1 == kernels.size())
      output = {BufferSlot::Result, 0};
    plan.launches.push_back({kernel,
                             {input, {BufferSlot::Constant, 0}, output},
                             /*params=*/{1000},
                             /*tasks=*/300});
    input = output;
  }
  return plan;
}

static void addSolution(Digest &digest, const char *key, const char *config,
                        llvm::ArrayRef<KernelSource> kernels,
                        const GpuTarget &gpu) {
  auto problem = parseProblem(key);
  auto parsed = PerfConfig::parse(config);
  ASSERT_TRUE(succeeded(problem) && succeeded(parsed)) << key;
  SolutionPlan plan = makePlan(kernels);
  CompiledSolution solution = {
      *problem, *parsed, plan, /*expectedFraction=*/0.5, {}};
  for (const KernelSource &kernel : kernels) {
    auto object = compileGpuKernel(kernel, gpu);
    ASSERT_TRUE(object) << object.message();
    solution.objects.push_back(
        std::make_shared<const std::vector<char>>(std::move(object->bytes)));
  }
  auto profile = [&](const LaunchPlan &launch, llvm::ArrayRef<char> code) {
    return profileKernel(code, launch.kernel.symbol, gpu);
  };
  auto estimate = estimateGpuSolution(solution, profile, gpu);
  ASSERT_TRUE(estimate) << estimate.message();
  add(digest, estimate->milliseconds);
}

Digests tarpon::test::digestGpuModel() {
  constexpr std::pair<const char *, const char *> kSolutions[] = {
      {"matmul(512x256xf16, 256x384xf16:const)->512x384xf16 {transpose_lhs=0 "
       "transpose_rhs=0}",
       "split_k=4"},
      {"conv(8x64x28x28xf32:nhwc, 64x64x3x3xf32:const)->8x64x28x28xf32:nhwc "
       "{dilations=1,1 group=1 pads=1,1,1,1 strides=1,1}",
       "out_tile=2"}};
  Digest digest;
  std::vector<std::string> kernels = readKernels();
  for (const std::string &chip : getGpuChips(GpuVendor::AMD)) {
    GpuTarget gpu = *parseGpuTarget(chip);
    for (const std::string &kernel : kernels)
      addAssembly(digest, kernel, gpu);
    std::vector<KernelSource> compiled = makeFixedKernels();
    for (auto [problem, config] : kSolutions)
      addSolution(digest, problem, config, compiled, gpu);
    // Without a loop, the peak of the dtype counts.
    addSolution(digest,
                "matmul(512x4096xu8q, 4096x384xi8q:const)->512x384xf32 "
                "{transpose_lhs=0 transpose_rhs=0}",
                "", compiled.back(), gpu);
  }
  return {{kGpuModel.str(), digest.hex()}};
}
