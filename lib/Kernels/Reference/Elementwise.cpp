//===- Elementwise.cpp - Reference elementwise operations -----------------===//
//
// Part of Tarpon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Reference.h"

using namespace mlir;
using namespace tarpon;

namespace {
struct ElementwiseKernel {
  EpilogueEmitter root;
  std::vector<TensorAccess> operands;
  OutputAccess output;
  ElementLoop loop;

  void emit(KernelBuilder &b) const;
};
} // namespace

void ElementwiseKernel::emit(KernelBuilder &b) const {
  SmallVector<BoundTensor> bound;
  for (const TensorAccess &operand : operands)
    bound.push_back(operand.bind(b));
  SmallVector<Value> params = root.loadParams(b);
  OutputAccess::Bound out = output.bind(b);
  loop.emit(b, [&](ArrayRef<Value> place) {
    auto loadOperand = [&](int index) { return bound[index].load(b, place); };
    Value value = root.emit(b, loadOperand(0), params, loadOperand);
    out.store(b, place, value);
  });
}

SolutionPlan reference::planElementwise(const Problem &problem) {
  SolutionPlan plan;
  LaunchBuilder launch(plan);
  EpilogueEmitter root = launch.addElementwiseRoot(problem);
  std::vector<TensorAccess> operands;
  std::string symbol = joinSymbol({"ref", root.symbolPart()});
  for (int64_t i = 0; i < problem.rootOperands; ++i) {
    operands.push_back(accessOperand(launch, problem, i, problem.result.shape));
    symbol = joinSymbol({symbol, operands.back().symbolPart()});
  }
  ElementwiseKernel kernel{root, std::move(operands),
                           OutputAccess(launch, problem),
                           ElementLoop(launch, problem.result.shape, 20)};
  symbol = joinSymbol({symbol, kernel.output.symbolPart()});
  int64_t tasks = kernel.loop.tasks();
  launch.finish(symbol, [kernel](KernelBuilder &b) { kernel.emit(b); }, tasks);
  return plan;
}
