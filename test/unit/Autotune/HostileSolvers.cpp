//===- HostileSolvers.cpp - Solvers that crash, hang and lie --------------===//
//
// Part of Tarpon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "HostileSolvers.h"

#include "tarpon/Kernels/Common/KernelBuilder.h"

#include <limits>

using namespace tarpon;
using namespace tarpon::test;

Applicability HostileSolver::isApplicable(const Problem &problem,
                                          const TargetInfo &) const {
  bool fits = applies && problem.op == OpKind::Relu &&
              problem.epilogue.empty() && problem.result.dtype == DType::F32;
  return fits ? Applicability::yes() : Applicability::no("needs a relu of f32");
}

PerfConfig HostileSolver::defaultConfig(const Problem &,
                                        const TargetInfo &) const {
  return {{"variant", 0}};
}

std::vector<PerfConfig> HostileSolver::configs(const Problem &,
                                               const TargetInfo &) const {
  std::vector<PerfConfig> list;
  for (int64_t i = 0; i < configCount; ++i)
    list.push_back({{"variant", i}});
  return list;
}

bool HostileSolver::isValidConfig(const Problem &, const TargetInfo &,
                                  const PerfConfig &config) const {
  return config.has("variant") && config.get("variant") < configCount;
}

/// Stores relu(x), or `value` if it is not null, for every element.
static void emitLoop(KernelBuilder &b, mlir::Value value) {
  b.forLoop(b.getParam(0), [&](mlir::Value i) {
    mlir::Value at = b.mul(i, b.cst(4));
    mlir::Value x = b.load(b.offset(b.getBuffer(0), at), b.f32());
    mlir::Value y = value ? value : b.maxF(x, b.cstF(0));
    b.store(y, b.offset(b.getBuffer(1), at));
  });
}

/// A number that changes with every round, so that the loop has to be run.
static void emitIdleLoop(KernelBuilder &b, int64_t rounds) {
  b.forLoop(b.cst(rounds), [&](mlir::Value i) {
    mlir::Value at = b.offset(b.getBuffer(1), b.mul(b.rem(i, 16), 4));
    mlir::Value old = b.load(at, b.i64());
    b.store(b.add(b.mul(old, 3), i), at);
  });
}

SolutionPlan HostileSolver::plan(const Problem &problem, const TargetInfo &,
                                 const PerfConfig &config) const {
  LaunchPlan launch;
  launch.kernel.symbol =
      "hostile_" + std::to_string(kind) + "_" + std::to_string(configCount);
  launch.kernel.emit = [kind = kind](KernelBuilder &b) {
    switch (kind) {
    case Crashes:
      // Nobody has memory there.
      b.store(b.cstF(0), b.offset(b.getBuffer(1), b.getParam(1)));
      break;
    case Hangs:
      emitIdleLoop(b, std::numeric_limits<int64_t>::max());
      break;
    case Slow:
      // Milliseconds.
      emitIdleLoop(b, int64_t(1) << 20);
      emitLoop(b, nullptr);
      break;
    case Wrong:
      emitLoop(b, b.cstF(0.125));
      break;
    case NotANumber:
      emitLoop(b, b.cstF(std::numeric_limits<double>::quiet_NaN()));
      break;
    case Right:
      emitLoop(b, nullptr);
      break;
    }
  };
  launch.buffers = {{BufferSlot::Operand, 0}, {BufferSlot::Result, 0}};
  // Nobody reads the variant, but configs of the same launches count as one.
  launch.params = {problem.result.numElements(), int64_t(1) << 46,
                   config.get("variant")};
  SolutionPlan plan;
  plan.workspaceBytes = workspace;
  plan.launches = {launch};
  return plan;
}

//===----------------------------------------------------------------------===//
// On a GPU
//===----------------------------------------------------------------------===//

/// Each of them stores one element.
static constexpr int64_t kLanes = 64;

Applicability HostileGpuSolver::isApplicable(const Problem &problem,
                                             const TargetInfo &) const {
  bool fits = problem.op == OpKind::Relu && problem.epilogue.empty() &&
              problem.result.dtype == DType::F32 &&
              problem.result.numElements() >= kLanes;
  return fits ? Applicability::yes()
              : Applicability::no("needs a relu of 64 f32 and more");
}

int64_t HostileGpuSolver::workspaceSize(const Problem &,
                                        const TargetInfo &) const {
  return kind == Crashes ? int64_t(1) << 46 : 0;
}

SolutionPlan HostileGpuSolver::plan(const Problem &problem,
                                    const TargetInfo &target,
                                    const PerfConfig &) const {
  LaunchPlan launch;
  launch.kernel.symbol = "hostile_gpu_" + std::to_string(kind);
  launch.kernel.workgroup = kLanes;
  launch.kernel.emit = [kind = kind](KernelBuilder &b) {
    int64_t rounds = kind == Hangs ? std::numeric_limits<int64_t>::max() : 1;
    mlir::Value at = b.offset(b.getBuffer(1), b.mul(b.getLane(), b.cst(4)));
    b.forLoop(b.cst(rounds), [&](mlir::Value) { b.store(b.cstF(1), at); });
  };
  launch.buffers = {{BufferSlot::Operand, 0}, {BufferSlot::Result, 0}};
  SolutionPlan plan;
  plan.workspaceBytes = workspaceSize(problem, target);
  plan.launches = {launch};
  return plan;
}
