//===- KernelBehaviour.cpp - Digests the kernels of solvers ---------------===//
//
// Part of Tarpon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "KernelBehaviour.h"

#include "BehaviourDigest.h"

#include "tarpon/Kernels/Common/KernelBuilder.h"
#include "tarpon/Runtime/Sha256.h"
#include "tarpon/Solver/BehaviourVersion.h"
#include "tarpon/Solver/GpuTarget.h"
#include "tarpon/Solver/SolverRegistry.h"
#include "tarpon/Targets/AMDGPU/GpuBackend.h"
#include "tarpon/Targets/AMDGPU/GpuCompiler.h"
#include "tarpon/Targets/Host/HostBackend.h"
#include "tarpon/Targets/Host/HostTarget.h"

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
  for (const std::string &chip : getGpuChips())
    targets.push_back(makeGpuTargetInfo(*parseGpuTarget(chip)));
  return targets;
}

//===----------------------------------------------------------------------===//
// Solvers
//===----------------------------------------------------------------------===//

namespace {

/// Collects the behaviour of one solver.
class SolverDigest {
public:
  void add(const std::string &text) {
    sha.update(std::to_string(text.size()) + ":").update(text);
  }
  void add(int64_t value) { add(std::to_string(value)); }
  std::string hex() { return sha.finishHex(); }

private:
  runtime::Sha256 sha;
};

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
  void addLaunch(SolverDigest &digest, const LaunchPlan &launch,
                 const TargetInfo &target);

  mlir::MLIRContext context;
  std::map<std::string, SolverDigest> solvers;
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

void Emitter::addLaunch(SolverDigest &digest, const LaunchPlan &launch,
                        const TargetInfo &target) {
  KernelSource kernel = launch.kernel;
  kernel.numBuffers = static_cast<int64_t>(launch.buffers.size());
  kernel.numParams = static_cast<int64_t>(launch.params.size());
  digest.add(this->digest(kernel, target));
  for (int64_t value :
       {kernel.workgroup, kernel.ldsBytes, launch.tasks, launch.scratchBytes})
    digest.add(value);
  for (const BufferSlot &slot : launch.buffers) {
    digest.add(static_cast<int64_t>(slot.kind));
    digest.add(slot.index);
  }
  for (int64_t param : launch.params)
    digest.add(param);
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

static void addConstants(SolverDigest &digest, const Problem &problem,
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
  SolverDigest &digest = solvers[solver.id().str()];
  digest.add(problem.key());
  digest.add(target.name());
  digest.add(config.str());
  // Modelled times depend on it.
  if (target.gpu)
    digest.add(std::to_string(solver.expectedFraction(problem, target)));
  SolutionPlan plan = solver.plan(problem, target, config);
  digest.add(plan.workspaceBytes);
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
/// the solver's order. For CPUs these are all; for GPUs, whose solvers have more
/// of them, the default, the first, the last, and so many others that each value
/// of each field occurs.
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

Digests tarpon::test::digestSolvers(const std::vector<Problem> &problems) {
  Emitter emitter;
  for (const TargetInfo &target : makeVersionTargets())
    for (const Problem &problem : problems)
      for (const Solver *solver : getSolvers(target))
        if (checkApplicable(*solver, problem, target))
          for (const auto &[text, config] :
               chooseConfigs(*solver, problem, target))
            emitter.add(*solver, problem, target, config);
  return emitter.finish();
}

//===----------------------------------------------------------------------===//
// Code generators
//===----------------------------------------------------------------------===//

// There is one instruction per statement, since the compiler of this test
// evaluates arguments in its own order.

/// Sums of exp(x * y + 1) over rows whose length is a parameter: loads, a loop,
/// a division, a function that is expanded, a conversion and stores.
static void emitSums(KernelBuilder &b) {
  using Value = mlir::Value;
  mlir::VectorType row = b.vec(b.f32(), 8);
  Value length = b.getParam(0);
  Value left = b.getBuffer(0);
  Value right = b.getBuffer(1);
  Value result = b.getBuffer(2);
  Value zero = b.cstLike(row, 0);
  Value one = b.cstLike(row, 1);
  Value begin = b.cst(0);
  Value step = b.cst(8);
  b.forTasks([&](Value task) {
    Value line = b.div(task, length);
    Value first = b.mul(line, length);
    auto addTerm = [&](Value i, mlir::ValueRange carried) {
      Value at = b.add(first, i);
      Value leftBytes = b.mul(at, 4);
      Value leftAt = b.offset(left, leftBytes);
      Value x = b.load(leftAt, row);
      Value rightBytes = b.mul(i, 2);
      Value rightAt = b.offset(right, rightBytes);
      Value stored = b.load(rightAt, b.vec(b.getF16Type(), 8));
      Value y = mlir::arith::ExtFOp::create(b, row, stored);
      Value sum = b.fma(x, y, one);
      Value term = mlir::math::ExpOp::create(b, sum);
      return mlir::SmallVector<Value>{b.addF(carried[0], term)};
    };
    auto sums = b.forLoop(begin, length, step, {zero}, addTerm);
    Value sum = mlir::vector::ReductionOp::create(
        b, mlir::vector::CombiningKind::ADD, sums[0]);
    Value bytes = b.mul(task, 4);
    Value resultAt = b.offset(result, bytes);
    b.store(sum, resultAt);
  });
}

/// A tile of products, which leaves few registers free, so that the digest
/// depends on the schedule and on the allocation of registers.
static void emitProducts(KernelBuilder &b) {
  using Value = mlir::Value;
  const int64_t rows = b.getTarget().vectorRegisters / 2 - 3;
  constexpr int64_t kColumns = 2;
  // The type is that of a scalar where there is one lane, as on GPUs.
  Value one = b.cstF(1);
  Value ones = b.broadcast(one, b.lanes());
  mlir::Type vector = ones.getType();
  const int64_t vectorBytes = b.lanes() * 4;
  Value length = b.getParam(0);
  Value left = b.getBuffer(0);
  Value right = b.getBuffer(1);
  Value result = b.getBuffer(2);
  Value zero = b.cstLike(vector, 0);
  Value begin = b.cst(0);
  Value step = b.cst(1);
  auto multiply = [&](Value i, mlir::ValueRange carried) {
    Value leftBytes = b.mul(i, rows * 4);
    Value leftAt = b.offset(left, leftBytes);
    Value rightBytes = b.mul(i, kColumns * vectorBytes);
    Value rightAt = b.offset(right, rightBytes);
    mlir::SmallVector<Value> columns, sums;
    for (int64_t column = 0; column < kColumns; ++column) {
      Value at = b.offset(rightAt, column * vectorBytes);
      columns.push_back(b.load(at, vector));
    }
    for (int64_t row = 0; row < rows; ++row) {
      Value at = b.offset(leftAt, row * 4);
      Value scalar = b.load(at, b.f32());
      Value all = b.broadcast(scalar, b.lanes());
      for (int64_t column = 0; column < kColumns; ++column)
        sums.push_back(
            b.fma(all, columns[column], carried[row * kColumns + column]));
    }
    return sums;
  };
  mlir::SmallVector<Value> zeros(rows * kColumns, zero);
  auto sums = b.forLoop(begin, length, step, zeros, multiply);
  for (auto [index, sum] : llvm::enumerate(sums)) {
    Value at = b.offset(result, static_cast<int64_t>(index) * vectorBytes);
    b.store(sum, at);
  }
}

static std::string printAssembly(const TargetInfo &target,
                                 const KernelSource &kernel) {
  std::unique_ptr<KernelBackend> backend =
      target.gpu ? makeGpuBackend(*target.gpu, GpuCodeForm::CodeObject)
                 : makeHostBackend(target);
  auto text = backend->printAssembly(kernel);
  EXPECT_TRUE(text) << text.message();
  return text ? *text : "";
}

Digests tarpon::test::digestCodegen() {
  SolverDigest host, gpu;
  KernelSource kernel;
  kernel.workgroup = 64;
  kernel.numBuffers = 3;
  kernel.numParams = 1;
  for (const TargetInfo &target : makeVersionTargets()) {
    kernel.symbol = "sums";
    kernel.emit = emitSums;
    (target.gpu ? gpu : host).add(printAssembly(target, kernel));
    kernel.symbol = "products";
    kernel.emit = emitProducts;
    (target.gpu ? gpu : host).add(printAssembly(target, kernel));
  }
  return {{kHostCodegen.str(), host.hex()}, {kGpuCodegen.str(), gpu.hex()}};
}
