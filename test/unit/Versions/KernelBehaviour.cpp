//===- KernelBehaviour.cpp - Digests the kernels of solvers ---------------===//
//
// Part of Tarpon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "KernelBehaviour.h"

#include "BehaviourDigest.h"
#include "FixedKernels.h"
#include "Store/Digest.h"

#include "tarpon/Kernels/Common/KernelBuilder.h"
#include "tarpon/Solver/BehaviourVersion.h"
#include "tarpon/Solver/GpuTarget.h"
#include "tarpon/Solver/SolverRegistry.h"
#include "tarpon/Targets/AMDGPU/AmdGpuBackend.h"
#include "tarpon/Targets/AMDGPU/GpuCompiler.h"
#include "tarpon/Targets/Host/HostBackend.h"
#include "tarpon/Targets/Host/HostTarget.h"
#include "tarpon/Targets/NVIDIA/NvidiaGpuBackend.h"

#include "mlir/IR/Verifier.h"

#include "gtest/gtest.h"

#include <set>

using namespace tarpon;
using namespace tarpon::test;

TargetInfo tarpon::test::makeVersionCpu(llvm::StringRef cpu, int64_t threads) {
  auto target = getCpuTarget(cpu, threads);
  EXPECT_TRUE(target) << target.message();
  return target ? *target : TargetInfo();
}

std::vector<TargetInfo> tarpon::test::makeVersionTargets() {
  std::vector<TargetInfo> targets = {
      makeVersionCpu("x86-64", 1),         // 128 bits, neither FMA nor F16C
      makeVersionCpu("x86-64-v3", 1),      // 256 bits
      makeVersionCpu("x86-64-v4", 1),      // 512 bits, neither VNNI nor bf16
      makeVersionCpu("icelake-server", 2), // VNNI
      makeVersionCpu("znver5", 2),         // VNNI and bf16
  };
  std::vector<std::string> chips = getGpuChips(GpuVendor::AMD);
  chips.insert(chips.end(), {"sm_80", "sm_90a"}); // mma.sync, and wgmma
  for (const std::string &chip : chips)
    targets.push_back(makeGpuTargetInfo(*parseGpuTarget(chip)));
  return targets;
}

//===----------------------------------------------------------------------===//
// Solvers
//===----------------------------------------------------------------------===//

namespace {

/// Emits distinct kernels.
class Emitter {
public:
  Emitter() {
    mlir::DialectRegistry registry;
    KernelBuilder::registerDialects(registry);
    context.appendDialectRegistry(registry);
    context.loadAllAvailableDialects();
  }

  void add(const Solver &solver, const Problem &problem,
           const TargetInfo &target, const PerfConfig &config);
  Digests finish();

private:
  std::string digest(const KernelSource &kernel, const TargetInfo &target);
  void addLaunch(Digest &digest, const LaunchPlan &launch,
                 const TargetInfo &target);

  mlir::MLIRContext context;
  std::map<std::string, Digest> solvers;
  std::map<std::pair<std::string, std::string>, std::string> kernels;
};

} // namespace

std::string Emitter::digest(const KernelSource &kernel,
                            const TargetInfo &target) {
  std::string &known = kernels[{target.name(), kernel.symbol}];
  if (!known.empty())
    return known;
  if (target.gpu) {
    auto emitted = EmittedGpuKernel::emit(kernel, *target.gpu);
    EXPECT_TRUE(emitted) << emitted.message();
    return known = digestBehaviour(emitted->getModule());
  }
  // Digests ignore the symbol.
  mlir::OwningOpRef<mlir::ModuleOp> module =
      mlir::ModuleOp::create(mlir::UnknownLoc::get(&context));
  KernelBuilder builder(*module, kernel.symbol, target);
  kernel.emit(builder);
  builder.finish();
  EXPECT_TRUE(mlir::succeeded(mlir::verify(*module))) << kernel.symbol;
  return known = digestBehaviour(*module);
}

void Emitter::addLaunch(Digest &digest, const LaunchPlan &launch,
                        const TargetInfo &target) {
  KernelSource kernel = launch.kernel;
  kernel.numBuffers = static_cast<int64_t>(launch.buffers.size());
  kernel.numParams = static_cast<int64_t>(launch.params.size());
  digest.add(this->digest(kernel, target));
  for (int64_t value :
       {kernel.workgroup, kernel.ldsBytes, launch.tasks, launch.scratchBytes})
    digest.add(std::to_string(value));
  for (const BufferSlot &slot : launch.buffers) {
    digest.add(std::to_string(slot.kind));
    digest.add(std::to_string(slot.index));
  }
  for (int64_t param : launch.params)
    digest.add(std::to_string(param));
}

/// Small numbers of either sign in every dtype of fewer than 32 bits, and small
/// positive ones in f32; integers of more bits are zero.
static std::vector<char> makeConstant(const TensorDesc &desc) {
  std::vector<char> bytes(static_cast<size_t>(desc.numBytes()));
  bool isWide = desc.dtype == DType::I32 || desc.dtype == DType::I64;
  for (size_t i = 0; i < bytes.size() && !isWide; ++i)
    bytes[i] = static_cast<char>(i * 7 % 64);
  return bytes;
}

static void addConstants(Digest &digest, const Problem &problem,
                         const SolutionPlan &plan) {
  std::vector<std::vector<char>> contents;
  for (const TensorDesc &operand : problem.operands)
    contents.push_back(operand.constant ? makeConstant(operand)
                                        : std::vector<char>());
  ConstantOperands operands(contents.begin(), contents.end());
  for (const ConstantPlan &constant : plan.constants) {
    std::vector<char> bytes = constant.make(operands);
    digest.add(std::string(bytes.begin(), bytes.end()));
  }
}

void Emitter::add(const Solver &solver, const Problem &problem,
                  const TargetInfo &target, const PerfConfig &config) {
  Digest &digest = solvers[solver.id().str()];
  digest.add(problem.key());
  digest.add(target.name());
  digest.add(config.str());
  // Modelled times depend on it.
  if (target.gpu)
    digest.add(std::to_string(solver.expectedFraction(problem, target)));
  SolutionPlan plan = solver.plan(problem, target, config);
  digest.add(std::to_string(plan.workspaceBytes));
  for (const LaunchPlan &launch : plan.launches)
    addLaunch(digest, launch, target);
  addConstants(digest, problem, plan);
}

Digests Emitter::finish() {
  Digests digests;
  for (auto &[id, digest] : solvers)
    digests[id] = digest.hex();
  return digests;
}

/// Chooses configs in the order of their text: the digest must not depend on
/// the solver's order. For CPUs these are all; for GPUs, whose solvers have
/// more of them, the default, the first, the last, and so many others that each
/// value of each field occurs.
static std::map<std::string, PerfConfig>
chooseConfigs(const Solver &solver, const Problem &problem,
              const TargetInfo &target) {
  std::map<std::string, PerfConfig> configs, chosen;
  for (const PerfConfig &config : solver.configs(problem, target))
    configs.emplace(config.str(), config);
  if (!target.gpu)
    return configs;
  PerfConfig byDefault = solver.defaultConfig(problem, target);
  chosen = {{byDefault.str(), byDefault}, *configs.begin(), *configs.rbegin()};
  std::set<PerfConfig::Field> seen;
  for (const auto &[text, config] : configs)
    for (const PerfConfig::Field &field : config.getFields())
      if (seen.insert(field).second)
        chosen.emplace(text, config);
  return chosen;
}

static void addSolutions(Emitter &emitter, const Problem &problem,
                         const TargetInfo &target, const Solver &solver) {
  if (!checkApplicable(solver, problem, target))
    return;
  for (const auto &[text, config] : chooseConfigs(solver, problem, target))
    emitter.add(solver, problem, target, config);
}

Digests tarpon::test::digestSolvers(const std::vector<Problem> &problems) {
  Emitter emitter;
  for (const TargetInfo &target : makeVersionTargets())
    for (const Problem &problem : problems)
      for (const Solver *solver : getSolvers(target))
        addSolutions(emitter, problem, target, *solver);
  // Only the tiled engine's products differ where TF32 is allowed.
  for (const char *chip : {"sm_80:tf32", "sm_90a:tf32"}) {
    TargetInfo target = makeGpuTargetInfo(*parseGpuTarget(chip));
    for (const Problem &problem : problems)
      if (target.traits->getProductRounding(problem, target) > 0)
        for (const char *id : {"gpu-igemm-v1", "gpu-gemm-v1",
                               "gpu-fused-conv-v1", "gpu-separate-v1"})
          addSolutions(emitter, problem, target, *findSolver(id));
  }
  return emitter.finish();
}

//===----------------------------------------------------------------------===//
// Code generators
//===----------------------------------------------------------------------===//

static std::unique_ptr<KernelBackend> makeBackend(const TargetInfo &target) {
  if (!target.gpu)
    return makeHostBackend(target);
  return target.gpu->vendor == GpuVendor::AMD
             ? makeAmdGpuBackend(*target.gpu, GpuCodeForm::CodeObject)
             : makeNvidiaGpuBackend(*target.gpu, GpuCodeForm::CodeObject);
}

/// NVIDIA's GPUs have no exponential that is exact enough, which the sums ask
/// for as an instruction.
static bool hasInstructions(const TargetInfo &target,
                            const KernelSource &kernel) {
  bool isNvidia = target.gpu && target.gpu->vendor == GpuVendor::NVIDIA;
  return !isNvidia || kernel.symbol != "sums";
}

static std::string printAssembly(const TargetInfo &target,
                                 const KernelSource &kernel) {
  auto text = makeBackend(target)->printAssembly(kernel);
  EXPECT_TRUE(text) << text.message();
  return text ? *text : "";
}

Digests tarpon::test::digestCodegen() {
  Digest host, gpu;
  for (const TargetInfo &target : makeVersionTargets())
    for (const KernelSource &kernel : makeFixedKernels())
      if (hasInstructions(target, kernel))
        (target.gpu ? gpu : host).add(printAssembly(target, kernel));
  return {{kHostCodegen.str(), host.hex()}, {kGpuCodegen.str(), gpu.hex()}};
}
