//===- LaunchBuilder.h - Collects the arguments of a launch -----*- C++ -*-===//
//
// Part of Tarpon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Hands out indices of buffers and parameters while a solver plans a launch, so
// that plan() and the emitted code use the same ones. KernelSource::emit
// captures the indices; they may depend only on properties that the kernel's
// symbol names.
//
//===----------------------------------------------------------------------===//

#ifndef TARPON_LIB_KERNELS_COMMON_LAUNCHBUILDER_H
#define TARPON_LIB_KERNELS_COMMON_LAUNCHBUILDER_H

#include "Epilogue.h"
#include "tarpon/Solver/Solver.h"

namespace tarpon {

/// Joins the parts of a kernel's symbol by underscores; empty parts are left
/// out.
std::string joinSymbol(std::initializer_list<llvm::StringRef> parts);

class LaunchBuilder {
public:
  /// Constants are added to `plan`; finish() adds the launch.
  explicit LaunchBuilder(SolutionPlan &plan) : plan(plan) {}

  int64_t addBuffer(BufferSlot slot);
  int64_t addOperand(int64_t index) {
    return addBuffer({BufferSlot::Operand, index});
  }
  int64_t addResult(int64_t index = 0) {
    return addBuffer({BufferSlot::Result, index});
  }
  /// Adds a buffer of f32 values that are known at plan time.
  int64_t addFloats(std::vector<float> values);
  /// Adds a buffer that `make` fills from constant operands.
  int64_t addConstant(ConstantPlan constant);

  int64_t addParam(int64_t value);
  int64_t addFloatParam(double value);
  /// Adds consecutive parameters; returns the index of the first.
  int64_t addParams(llvm::ArrayRef<int64_t> values);
  EpilogueEmitter addEpilogue(const Problem &problem);
  /// Treats an elementwise root as a step behind its own first operand.
  EpilogueEmitter addElementwiseRoot(const Problem &problem);

  void finish(std::string symbol, std::function<void(KernelBuilder &)> emit,
              int64_t tasks, int64_t scratchBytes = 0);

private:
  SolutionPlan &plan;
  LaunchPlan launch;
};

} // namespace tarpon

#endif // TARPON_LIB_KERNELS_COMMON_LAUNCHBUILDER_H
