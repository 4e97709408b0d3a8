//===- ToySolvers.cpp - The solvers of the toy target ---------------------===//
//
// Part of Tarpon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Toy.h"

#include "tarpon/Kernels/Common/KernelBuilder.h"

using namespace tarpon;

namespace {

/// Computes everything by the kernels of the host's reference solver.
class NaiveSolver final : public Solver {
public:
  llvm::StringRef id() const override { return "toy-naive-v1"; }
  bool knowsSlices() const override { return true; }

  Applicability isApplicable(const Problem &problem,
                             const TargetInfo &target) const override {
    return getReferenceSolver().isApplicable(problem, target);
  }
  double expectedFraction(const Problem & /*problem*/,
                          const TargetInfo & /*target*/) const override {
    return 0.01;
  }
  SolutionPlan plan(const Problem &problem, const TargetInfo &target,
                    const PerfConfig &config) const override {
    return getReferenceSolver().plan(problem, target, config);
  }
};

/// A relu of f32 whose tasks are as long as its config says.
class ReluSolver final : public Solver {
public:
  llvm::StringRef id() const override { return "toy-relu-v1"; }

  Applicability isApplicable(const Problem &problem,
                             const TargetInfo & /*target*/) const override {
    bool fits = problem.op == OpKind::Relu && problem.epilogue.empty() &&
                problem.operands[0].dtype == runtime::DType::F32 &&
                problem.result.dtype == runtime::DType::F32 &&
                problem.operands[0].layout == problem.result.layout;
    return fits ? Applicability::yes()
                : Applicability::no("needs a relu of f32 and nothing else");
  }
  PerfConfig defaultConfig(const Problem & /*problem*/,
                           const TargetInfo & /*target*/) const override {
    return {{"chunk", kChunks[0]}};
  }
  std::vector<PerfConfig>
  configs(const Problem & /*problem*/,
          const TargetInfo & /*target*/) const override {
    std::vector<PerfConfig> list;
    for (int64_t chunk : kChunks)
      list.push_back({{"chunk", chunk}});
    return list;
  }
  bool isValidConfig(const Problem & /*problem*/, const TargetInfo & /*target*/,
                     const PerfConfig &config) const override {
    return config.getFields().size() == 1 && config.has("chunk") &&
           llvm::is_contained(kChunks, config.get("chunk"));
  }
  double expectedFraction(const Problem & /*problem*/,
                          const TargetInfo & /*target*/) const override {
    return 0.5;
  }
  SolutionPlan plan(const Problem &problem, const TargetInfo &target,
                    const PerfConfig &config) const override;

private:
  static constexpr int64_t kChunks[] = {64, 16, 256};
};

} // namespace

/// Computes one task's part of the launch's elements.
static void emitRelu(KernelBuilder &b) {
  KernelBuilder::Value count = b.getParam(0), chunk = b.getParam(1);
  b.forTasks([&](KernelBuilder::Value task) {
    KernelBuilder::Value first = b.mul(task, chunk);
    KernelBuilder::Value last = b.minS(count, b.add(first, chunk));
    b.forLoop(first, last, b.cst(1), [&](KernelBuilder::Value i) {
      KernelBuilder::Value at = b.mul(i, 4);
      KernelBuilder::Value x = b.load(b.offset(b.getBuffer(0), at), b.f32());
      b.store(b.maxF(x, b.cstF(0)), b.offset(b.getBuffer(1), at));
    });
  });
}

SolutionPlan ReluSolver::plan(const Problem &problem,
                              const TargetInfo & /*target*/,
                              const PerfConfig &config) const {
  int64_t count = problem.result.numElements(), chunk = config.get("chunk");
  LaunchPlan launch;
  launch.kernel.symbol = "toy_relu_f32";
  launch.kernel.emit = emitRelu;
  launch.buffers = {{BufferSlot::Operand, 0}, {BufferSlot::Result, 0}};
  launch.params = {count, chunk};
  launch.tasks = (count + chunk - 1) / chunk;
  SolutionPlan plan;
  plan.launches = {launch};
  return plan;
}

llvm::ArrayRef<const Solver *> toy::getSolvers() {
  static const ReluSolver relu;
  static const NaiveSolver naive;
  static const Solver *const solvers[] = {&relu, &naive};
  return solvers;
}
