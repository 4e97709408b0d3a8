//===- KernelBehaviour.cpp - What the kernels of a solver do --------------===//
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
#include "tarpon/Solver/Solver.h"
#include "tarpon/Targets/AMDGPU/GpuBackend.h"
#include "tarpon/Targets/AMDGPU/GpuCompiler.h"
#include "tarpon/Targets/Host/HostBackend.h"

#include "mlir/Parser/Parser.h"

#include "gtest/gtest.h"

using namespace tarpon;
using namespace tarpon::test;

std::vector<TargetInfo> tarpon::test::makeVersionTargets() {
  TargetInfo avx2, avx512;
  avx2.cpu = "x86-64-v3";
  avx2.features = {"avx", "avx2", "bmi", "bmi2", "f16c", "fma"};
  avx2.vectorBits = 256;
  avx2.hasFma = avx2.hasF16c = true;
  avx512 = avx2;
  avx512.cpu = "x86-64-v4";
  for (const char *feature : {"avx512bf16", "avx512bw", "avx512cd", "avx512dq",
                              "avx512f", "avx512vl", "avx512vnni"})
    avx512.features.emplace_back(feature);
  avx512.vectorBits = 512;
  avx512.vectorRegisters = 32;
  avx512.hasVnni = avx512.hasBf16 = true;
  return {avx2, avx512, makeGpuTargetInfo(*parseGpuTarget("gfx942"))};
}

static std::string replaceAll(std::string text, const std::string &from,
                              const std::string &to) {
  for (size_t at = 0; (at = text.find(from, at)) != std::string::npos;
       at += to.size())
    text.replace(at, from.size(), to);
  return text;
}

//===----------------------------------------------------------------------===//
// Solvers
//===----------------------------------------------------------------------===//

namespace {

/// Collects what one solver does.
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

/// Emits kernels, each once.
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
  std::string text = replaceAll(makeHostBackend(target)->printMlir(kernel),
                                kernel.symbol, "kernel");
  auto module = mlir::parseSourceString<mlir::ModuleOp>(text, &context);
  EXPECT_TRUE(module) << text;
  return known = module ? digestBehaviour(*module) : "";
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

Digests tarpon::test::digestSolvers(const std::vector<Problem> &problems) {
  Emitter emitter;
  for (const TargetInfo &target : makeVersionTargets())
    for (const Problem &problem : problems)
      for (const Solver *solver :
           target.gpu ? getGpuSolvers() : getHostSolvers()) {
        if (!checkApplicable(*solver, problem, target))
          continue;
        PerfConfig usual = solver->defaultConfig(problem, target);
        PerfConfig last = solver->configs(problem, target).back();
        emitter.add(*solver, problem, target, usual);
        if (last != usual && target.hasVnni)
          emitter.add(*solver, problem, target, last);
      }
  return emitter.finish();
}

//===----------------------------------------------------------------------===//
// Code generators
//===----------------------------------------------------------------------===//

/// Sums of exp(x * y + 1) over rows whose length is a parameter: loads, a loop,
/// a division, a function that is expanded, a conversion and stores.
static void emitSums(KernelBuilder &b) {
  using Value = mlir::Value;
  mlir::VectorType row = b.vec(b.f32(), 8);
  Value length = b.getParam(0);
  b.forTasks([&](Value task) {
    Value first = b.mul(b.div(task, length), length);
    Value one = b.cstLike(row, 1);
    Value zero = b.cstLike(row, 0);
    Value sum = b.forLoop(
        b.cst(0), length, b.cst(8), {zero},
        [&](Value i, mlir::ValueRange carried) {
          Value at = b.mul(b.add(first, i), 4);
          Value x = b.load(b.offset(b.getBuffer(0), at), row);
          Value y = b.loadConverted(runtime::DType::F16,
                                    b.offset(b.getBuffer(1), b.mul(i, 2)), 8);
          Value term = mlir::math::ExpOp::create(b, b.fma(x, y, one));
          return mlir::SmallVector<Value>{b.addF(carried[0], term)};
        })[0];
    b.store(b.reduceAdd(sum), b.offset(b.getBuffer(2), b.mul(task, 4)));
  });
}

Digests tarpon::test::digestCodegen() {
  std::map<std::string, SolverDigest> digests;
  KernelSource kernel;
  kernel.symbol = "sums";
  kernel.emit = emitSums;
  kernel.workgroup = 64;
  kernel.numBuffers = 3;
  kernel.numParams = 1;
  for (const TargetInfo &target : makeVersionTargets()) {
    std::unique_ptr<KernelBackend> backend =
        target.gpu ? makeGpuBackend(*target.gpu, GpuCodeForm::CodeObject)
                   : makeHostBackend(target);
    auto text = backend->printAssembly(kernel);
    EXPECT_TRUE(text) << text.message();
    if (text)
      digests[(target.gpu ? kGpuCodegen : kHostCodegen).str()].add(*text);
  }
  Digests result;
  for (auto &[part, digest] : digests)
    result[part] = digest.hex();
  return result;
}
