//===- GpuElementwise.cpp - Elementwise operations in wide accesses -------===//
//
// Part of Tarpon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Elementwise roots, and conversions that keep the layout, if their operands
// follow the elements or the channels of the result, or are single numbers.
//
//===----------------------------------------------------------------------===//

#include "GpuOutput.h"
#include "GpuSolvers.h"
#include "WorkgroupSolver.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace tarpon;

namespace {

class GpuElementwise final : public WorkgroupSolver {
public:
  StringRef id() const override { return "gpu-elementwise-v1"; }
  Applicability isApplicable(const Problem &problem,
                             const TargetInfo &target) const override;
  bool knowsSlices() const override { return true; }
  double expectedFraction(const Problem & /*problem*/,
                          const TargetInfo & /*target*/) const override {
    return 0.7;
  }
  SolutionPlan plan(const Problem &problem, const TargetInfo &target,
                    const PerfConfig &config) const override;
};

struct GpuElementwiseKernel {
  /// A conversion has none.
  std::optional<EpilogueEmitter> root;
  std::vector<PlacedOperand> operands;
  VectorOutput output;
  GpuElementWork work;

  void emit(KernelBuilder &b) const;
};

} // namespace

void GpuElementwiseKernel::emit(KernelBuilder &b) const {
  SmallVector<BoundFlatTensor> bound;
  for (const PlacedOperand &operand : operands)
    bound.push_back(operand.bind(b));
  SmallVector<Value> params;
  if (root)
    params = root->loadParams(b);
  GpuOutput out(b, output);
  work.emit(b, [&](const VectorPlace &place) {
    auto loadOperand = [&](int index) {
      return operands[index].load(b, bound[index], place);
    };
    Value value = loadOperand(0);
    if (root)
      value = root->emit(b, value, params, loadOperand);
    out.store(b, place, value);
  });
}

/// Returns true if an i32 holds each attribute of the operations, or they are
/// floats of 32 bits.
static bool hasNarrowParams(const Problem &problem) {
  ComputeKind kind = computeKindOf(problem);
  if (kind == ComputeKind::F32)
    return true;
  std::vector<int64_t> params;
  if (isElementwiseOp(problem.op))
    appendStepParams(problem.op, problem.attrs, kind, params);
  EpilogueEmitter::appendParams(problem, params);
  return llvm::all_of(params, llvm::isInt<32>);
}

Applicability
GpuElementwise::isApplicable(const Problem &problem,
                             const TargetInfo & /*target*/) const {
  bool isConversion = problem.op == OpKind::Convert;
  if (!isConversion && !isElementwiseOp(problem.op))
    return Applicability::no("is neither an elementwise operation nor a "
                             "conversion");
  for (int i = 0; i < problem.rootOperands; ++i) {
    if (!isVectorizable(problem.operands[i], computeKindOf(problem)))
      return Applicability::no("an operand is quantised per channel, or in a "
                               "problem that is not computed in f32");
    auto follows = classifyOperand(problem.operands[i], problem.result);
    if (!follows)
      return Applicability::no("an operand is broadcast along another "
                               "dimension than the channels, or lies in "
                               "another layout");
    if (isConversion && *follows != Follows::Elements)
      return Applicability::no("a conversion needs operand and result of one "
                               "layout");
  }
  if (problem.result.layout.kind == Layout::Blocked && needsChannels(problem))
    return Applicability::no("an operand follows the channels of a blocked "
                             "layout");
  if (!hasNarrowParams(problem))
    return Applicability::no("needs a parameter of 64 bits");
  if (Applicability answer = checkIndexable(problem); !answer)
    return answer;
  return VectorOutput::checkAnyKind(problem);
}

SolutionPlan GpuElementwise::plan(const Problem &problem,
                                  const TargetInfo & /*target*/,
                                  const PerfConfig &config) const {
  SolutionPlan plan;
  LaunchBuilder launch(plan);
  int64_t workgroup = config.get("workgroup");
  std::optional<EpilogueEmitter> root;
  if (problem.op != OpKind::Convert)
    root = launch.addElementwiseRoot(problem);
  std::vector<PlacedOperand> operands;
  std::string symbol = joinSymbol({root ? "elementwise" : "convert",
                                   root ? root->symbolPart() : std::string()});
  for (int64_t i = 0; i < problem.rootOperands; ++i) {
    operands.emplace_back(launch, BufferSlot{BufferSlot::Operand, i},
                          problem.operands[i],
                          *classifyOperand(problem.operands[i], problem.result),
                          computeKindOf(problem));
    symbol = joinSymbol({symbol, operands.back().symbolPart()});
  }
  GpuElementwiseKernel kernel{
      root, std::move(operands), VectorOutput(launch, problem),
      GpuElementWork(launch, problem, needsChannels(problem), workgroup)};
  symbol = joinSymbol(
      {symbol, kernel.output.symbolPart(), kernel.work.symbolPart()});
  int64_t tasks = kernel.work.tasks();
  finishGpuLaunch(
      plan, launch, symbol, [kernel](KernelBuilder &b) { kernel.emit(b); },
      tasks, workgroup);
  return plan;
}

const Solver &tarpon::getGpuElementwise() {
  static const GpuElementwise solver;
  return solver;
}
