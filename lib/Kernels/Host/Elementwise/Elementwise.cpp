//===- Elementwise.cpp - Vectorised elementwise operations ----------------===//
//
// Part of Tarpon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Elementwise roots whose operands follow the elements or the channels of the
// result, or are single numbers. Without channels the tensor is one flat array.
//
//===----------------------------------------------------------------------===//

#include "Common/VectorAccess.h"
#include "Host/Solvers.h"

using namespace mlir;
using namespace tarpon;

namespace {

class Elementwise final : public Solver {
public:
  StringRef id() const override { return "elementwise-v1"; }
  Applicability isApplicable(const Problem &problem,
                             const TargetInfo &target) const override;
  bool knowsSlices() const override { return true; }
  bool mayOverwrite(const Problem &problem, const TargetInfo &target,
                    size_t operand) const override;
  double expectedFraction(const Problem & /*problem*/,
                          const TargetInfo & /*target*/) const override {
    return 0.7;
  }
  SolutionPlan plan(const Problem &problem, const TargetInfo &target,
                    const PerfConfig &config) const override;
};

struct ElementwiseKernel {
  EpilogueEmitter root;
  std::vector<PlacedOperand> operands;
  VectorOutput output;
  VectorLoop loop;

  void emit(KernelBuilder &b) const;
};

} // namespace

void ElementwiseKernel::emit(KernelBuilder &b) const {
  SmallVector<BoundFlatTensor> bound;
  for (const PlacedOperand &operand : operands)
    bound.push_back(operand.bind(b));
  SmallVector<Value> params = root.loadParams(b);
  VectorOutput::Bound out = output.bind(b);
  loop.emit(b, [&](const VectorPlace &place, Value) {
    auto loadOperand = [&](int index) {
      return operands[index].load(b, bound[index], place);
    };
    Value value = root.emit(b, loadOperand(0), params, loadOperand);
    out.store(b, place, value);
  });
}

Applicability Elementwise::isApplicable(const Problem &problem,
                                        const TargetInfo & /*target*/) const {
  if (!isElementwiseOp(problem.op))
    return Applicability::no("is not an elementwise operation");
  for (int i = 0; i < problem.rootOperands; ++i) {
    if (!isVectorizable(problem.operands[i], computeKindOf(problem)))
      return Applicability::no("an operand is quantised per channel, or in a "
                               "problem that is not computed in f32");
    if (!classifyOperand(problem.operands[i], problem.result))
      return Applicability::no("an operand is broadcast along another "
                               "dimension than the channels, or lies in "
                               "another layout");
  }
  return VectorOutput::checkAnyKind(problem);
}

bool Elementwise::mayOverwrite(const Problem &problem, const TargetInfo &target,
                               size_t operand) const {
  const TensorDesc &desc = problem.operands[operand];
  return !problem.hasSlices() && desc.numBytes() == problem.result.numBytes() &&
         runtime::dtypeBytes(desc.dtype) ==
             runtime::dtypeBytes(problem.result.dtype) &&
         classifyOperand(desc, problem.result) == Follows::Elements &&
         VectorLoop::coversOnce(problem.result, needsChannels(problem), target);
}

SolutionPlan Elementwise::plan(const Problem &problem,
                               const TargetInfo & /*target*/,
                               const PerfConfig & /*config*/) const {
  SolutionPlan plan;
  LaunchBuilder launch(plan);
  EpilogueEmitter root = launch.addElementwiseRoot(problem);
  std::vector<PlacedOperand> operands;
  std::string symbol = joinSymbol({"elementwise", root.symbolPart()});
  for (int64_t i = 0; i < problem.rootOperands; ++i) {
    Follows follows = *classifyOperand(problem.operands[i], problem.result);
    operands.emplace_back(launch, BufferSlot{BufferSlot::Operand, i},
                          problem.operands[i], follows, computeKindOf(problem));
    symbol = joinSymbol({symbol, operands.back().symbolPart()});
  }
  ElementwiseKernel kernel{
      root, std::move(operands), VectorOutput(launch, problem),
      VectorLoop(launch, problem.result, needsChannels(problem))};
  symbol = joinSymbol(
      {symbol, kernel.output.symbolPart(), kernel.loop.symbolPart()});
  int64_t tasks = kernel.loop.tasks();
  launch.finish(symbol, [kernel](KernelBuilder &b) { kernel.emit(b); }, tasks);
  return plan;
}

const Solver &tarpon::getElementwise() {
  static const Elementwise solver;
  return solver;
}
