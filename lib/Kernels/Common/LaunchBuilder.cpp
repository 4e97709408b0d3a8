//===- LaunchBuilder.cpp - Collects the arguments of a launch -------------===//
//
// Part of Tarpon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "LaunchBuilder.h"

#include "tarpon/Runtime/KernelABI.h"

#include <cstring>

using namespace mlir;
using namespace tarpon;

std::string tarpon::joinSymbol(std::initializer_list<StringRef> parts) {
  std::string symbol;
  for (StringRef part : parts) {
    part.consume_front("_");
    if (!symbol.empty() && !part.empty())
      symbol.push_back('_');
    symbol += part;
  }
  return symbol;
}

int64_t LaunchBuilder::addBuffer(BufferSlot slot) {
  launch.buffers.push_back(slot);
  return static_cast<int64_t>(launch.buffers.size()) - 1;
}

int64_t LaunchBuilder::addConstant(ConstantPlan constant) {
  plan.constants.push_back(std::move(constant));
  return addBuffer(
      {BufferSlot::Constant, static_cast<int64_t>(plan.constants.size()) - 1});
}

int64_t LaunchBuilder::addFloats(std::vector<float> values) {
  auto make = [values = std::move(values)](const ConstantOperands &) {
    std::vector<char> bytes(values.size() * sizeof(float));
    std::memcpy(bytes.data(), values.data(), bytes.size());
    return bytes;
  };
  return addConstant({std::move(make)});
}

int64_t LaunchBuilder::addParam(int64_t value) {
  launch.params.push_back(value);
  return static_cast<int64_t>(launch.params.size()) - 1;
}

int64_t LaunchBuilder::addFloatParam(double value) {
  return addParam(runtime::floatParam(static_cast<float>(value)));
}

int64_t LaunchBuilder::addParams(ArrayRef<int64_t> values) {
  int64_t first = static_cast<int64_t>(launch.params.size());
  launch.params.insert(launch.params.end(), values.begin(), values.end());
  return first;
}

EpilogueEmitter LaunchBuilder::addEpilogue(const Problem &problem) {
  int64_t first = static_cast<int64_t>(launch.params.size());
  EpilogueEmitter::appendParams(problem, launch.params);
  return EpilogueEmitter(problem, first);
}

EpilogueEmitter LaunchBuilder::addElementwiseRoot(const Problem &problem) {
  Problem root = problem;
  EpilogueStep step;
  step.op = problem.op;
  step.operand = isBinaryOp(problem.op) ? 1 : -1;
  step.attrs = problem.attrs;
  root.epilogue = {step};
  return addEpilogue(root);
}

void LaunchBuilder::finish(std::string symbol,
                           std::function<void(KernelBuilder &)> emit,
                           int64_t tasks, int64_t scratchBytes) {
  launch.kernel = {std::move(symbol), std::move(emit)};
  launch.tasks = tasks;
  launch.scratchBytes = scratchBytes;
  plan.launches.push_back(std::move(launch));
  launch = {};
}
