//===- BatchNorm.cpp - Vectorised batch normalisation ---------------------===//
//
// Part of Tarpon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// With constant parameters, the computation at run time is a factor and a
// summand for each channel.
//
//===----------------------------------------------------------------------===//

#include "Common/VectorAccess.h"
#include "Host/Solvers.h"

#include "llvm/ADT/STLExtras.h"

#include <cmath>
#include <cstring>

using namespace mlir;
using namespace tarpon;

namespace {

class BatchNorm final : public Solver {
public:
  StringRef id() const override { return "batch-norm-v1"; }
  Applicability isApplicable(const Problem &problem,
                             const TargetInfo &target) const override;
  double expectedFraction(const Problem & /*problem*/,
                          const TargetInfo & /*target*/) const override {
    return 0.7;
  }
  SolutionPlan plan(const Problem &problem, const TargetInfo &target,
                    const PerfConfig &config) const override;
};

struct BatchNormKernel {
  PlacedOperand input, factor, summand;
  VectorOutput output;
  VectorLoop loop;

  void emit(KernelBuilder &b) const;
};

} // namespace

void BatchNormKernel::emit(KernelBuilder &b) const {
  BoundFlatTensor in = input.bind(b), a = factor.bind(b), c = summand.bind(b);
  VectorOutput::Bound out = output.bind(b);
  loop.emit(b, [&](const VectorPlace &place, Value) {
    Value value = b.fma(factor.load(b, a, place), input.load(b, in, place),
                        summand.load(b, c, place));
    out.store(b, place, value);
  });
}

Applicability BatchNorm::isApplicable(const Problem &problem,
                                      const TargetInfo & /*target*/) const {
  if (problem.op != OpKind::BatchNorm)
    return Applicability::no("is not a batch normalisation");
  for (int i = 1; i < 5; ++i)
    if (!problem.operands[i].constant || problem.operands[i].quantized)
      return Applicability::no("needs constant parameters");
  const TensorDesc &input = problem.operands[0];
  if (!isVectorizable(input) ||
      classifyOperand(input, problem.result) != Follows::Elements)
    return notVectorizable("input and result differ in layout, or the input");
  return VectorOutput::check(problem);
}

static std::vector<char> toBytes(ArrayRef<float> values) {
  std::vector<char> bytes(values.size() * sizeof(float));
  std::memcpy(bytes.data(), values.data(), bytes.size());
  return bytes;
}

/// factor = scale / sqrt(variance + epsilon); summand = bias - mean * factor.
static std::vector<char> makeVector(const Problem &problem,
                                    const ConstantOperands &constants,
                                    bool wantsFactor) {
  auto element = [&](int64_t operand, int64_t channel) {
    DType dtype = problem.operands[operand].dtype;
    const char *data = constants[operand].data();
    return runtime::loadAsDouble(dtype,
                                 data + channel * runtime::dtypeBytes(dtype));
  };
  enum { Scale = 1, Bias, Mean, Variance };
  std::vector<float> values;
  int64_t channels = problem.result.shape[1];
  double epsilon = problem.number("epsilon");
  for (int64_t c = 0; c < channels; ++c) {
    double factor =
        element(Scale, c) / std::sqrt(element(Variance, c) + epsilon);
    values.push_back(static_cast<float>(
        wantsFactor ? factor : element(Bias, c) - element(Mean, c) * factor));
  }
  return toBytes(values);
}

SolutionPlan BatchNorm::plan(const Problem &problem,
                             const TargetInfo & /*target*/,
                             const PerfConfig & /*config*/) const {
  SolutionPlan plan;
  for (bool wantsFactor : {true, false})
    plan.constants.push_back({[=](const ConstantOperands &constants) {
      return makeVector(problem, constants, wantsFactor);
    }});
  LaunchBuilder launch(plan);
  TensorDesc vector;
  vector.shape = {problem.result.shape[1]};
  BatchNormKernel kernel{
      PlacedOperand(launch, {BufferSlot::Operand, 0}, problem.operands[0],
                    Follows::Elements),
      PlacedOperand(launch, {BufferSlot::Constant, 0}, vector,
                    Follows::Channels),
      PlacedOperand(launch, {BufferSlot::Constant, 1}, vector,
                    Follows::Channels),
      VectorOutput(launch, problem),
      VectorLoop(launch, problem.result, /*needsChannels=*/true)};
  std::string symbol =
      joinSymbol({"batch_norm", kernel.input.symbolPart(),
                  kernel.output.symbolPart(), kernel.loop.symbolPart()});
  int64_t tasks = kernel.loop.tasks();
  launch.finish(symbol, [kernel](KernelBuilder &b) { kernel.emit(b); }, tasks);
  return plan;
}

const Solver &tarpon::getBatchNorm() {
  static const BatchNorm solver;
  return solver;
}
