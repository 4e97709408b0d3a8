//===- ProblemPackage.cpp - A package of one problem ----------------------===//
//
// Part of Tarpon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Constants are random, but such that results are of the order of 1 and neither
// overflow nor saturate: an error in a saturated result would be invisible.
//
//===----------------------------------------------------------------------===//

#include "PackageAssembler.h"

#include "tarpon/Problem/OpRules.h"
#include "tarpon/Problem/Producer.h"
#include "tarpon/Runtime/KernelABI.h"
#include "tarpon/Runtime/Tensor.h"
#include "tarpon/Targets/Package/PackageBuilder.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/STLFunctionalExtras.h"
#include "llvm/Support/MathExtras.h"

#include <cmath>
#include <cstring>

using namespace tarpon;
using runtime::BufferSpace;
using runtime::Error;
using runtime::Result;

//===----------------------------------------------------------------------===//
// Roles of operands
//===----------------------------------------------------------------------===//

/// The number of products in the sum of one result; 1 for other problems.
static int64_t getFanIn(const Problem &problem) {
  const OpRule &rule = getOpRule(problem.op);
  return rule.countTerms ? rule.countTerms(problem) : 1;
}

/// Returns true for filters, which are made small, so that sums stay of the
/// order of 1; those of integers are made so by their scales.
static bool isFilter(const Problem &problem, size_t operand) {
  size_t filter = problem.op == OpKind::BlockMatMul ? 2 : 1;
  return operand == filter && getOpRule(problem.op).countTerms;
}

static bool mustBePositive(OpKind op, size_t operand) {
  return getOpRule(op).positiveOperands >> operand & 1;
}

/// Returns true for variances and divisors, which must not be zero or close to
/// it.
static bool mustBePositive(const Problem &problem, size_t operand) {
  if (static_cast<int>(operand) < problem.rootOperands)
    return mustBePositive(problem.op, operand);
  return llvm::any_of(problem.epilogue, [&](const EpilogueStep &step) {
    return step.operand == static_cast<int>(operand) &&
           mustBePositive(step.op, /*operand=*/1);
  });
}

/// The operation of the problem that reads an operand, and which of its own
/// operands that is.
static std::pair<Problem, size_t> getReader(const Problem &problem,
                                            size_t operand) {
  if (!hasProducer(problem))
    return {problem, operand};
  Problem producer = tarpon::getProducer(problem);
  size_t leading = producer.operands.size();
  if (operand < leading)
    return {producer, operand};
  return {getConsumer(problem), operand - leading + 1};
}

//===----------------------------------------------------------------------===//
// Scales
//===----------------------------------------------------------------------===//

/// Returns true if the scales or zero points are other than those of a parsed
/// key.
static bool hasScales(const TensorDesc &desc) {
  bool isDefault = desc.scales.empty() || desc.scales == std::vector{1.0f};
  return !isDefault || desc.zeroPoint != 0;
}

/// Sets the scale to real values from about -2 to 2; bytes without a zero point
/// are values from 0 to 2.
static void setActivationScale(TensorDesc &desc, bool hasZeroPoint) {
  bool isSigned = desc.dtype != DType::U8;
  desc.scales = {isSigned || hasZeroPoint ? 1.0f / 64 : 1.0f / 128};
  constexpr int64_t kUnsignedZero = 128, kSignedZero = 16;
  desc.zeroPoint = !hasZeroPoint ? 0 : isSigned ? kSignedZero : kUnsignedZero;
}

/// Sets the scales to full-range integers with a standard deviation of half of
/// 1/sqrt(fan-in). Filters of convolutions get different scales for each index
/// of `axis`.
static void setFilterScale(TensorDesc &desc, int64_t axis, int64_t fanIn) {
  constexpr double kDeviation = 74; // of uniform i8
  float scale = 0.5 / (kDeviation * std::sqrt(static_cast<double>(fanIn)));
  desc.zeroPoint = desc.dtype == DType::U8 ? 128 : 0;
  desc.scales = {scale};
  if (axis < 0)
    return;
  desc.quantAxis = axis;
  desc.scales.resize(desc.shape[axis]);
  constexpr int kPeriod = 7;
  for (auto [channel, value] : llvm::enumerate(desc.scales))
    value =
        scale * (1 + static_cast<float>(channel % kPeriod) / kPeriod) / 1.5f;
}

static bool endsWithRelu(const Problem &problem) {
  return problem.epilogue.empty() ? problem.op == OpKind::Relu
                                  : problem.epilogue.back().op == OpKind::Relu;
}

/// Half of the results would saturate at 0 without a zero point, unless they
/// are not negative.
Problem tarpon::withStandardScales(const Problem &given) {
  Problem problem = given.withUnitScales();
  for (auto [index, operand] : llvm::enumerate(problem.operands)) {
    if (!operand.quantized)
      continue;
    if (operand.constant && isFilter(problem, index))
      setFilterScale(operand, getOpRule(problem.op).filterScaleAxis,
                     getFanIn(problem));
    else
      setActivationScale(operand, given.operands[index].zeroPoint != 0);
  }
  for (int64_t i = 0; i < problem.numResults(); ++i) {
    TensorDesc &result = problem.getResult(i);
    bool isUnsigned = result.dtype == DType::U8;
    if (result.quantized)
      setActivationScale(result, given.getResult(i).zeroPoint != 0 ||
                                     (isUnsigned && !endsWithRelu(problem)));
  }
  return problem;
}

/// A problem parsed from a key has no scales; with all of them 1, int8 results
/// would saturate.
static Problem chooseScales(const Problem &problem) {
  bool isScaled = hasScales(problem.result) ||
                  llvm::any_of(problem.operands, hasScales) ||
                  llvm::any_of(problem.moreResults, hasScales);
  return isScaled ? problem : withStandardScales(problem);
}

//===----------------------------------------------------------------------===//
// Contents
//===----------------------------------------------------------------------===//

/// The factor that makes filters small, which depends on the fan-in.
static float getGain(const Problem &problem, size_t operand) {
  if (!isFilter(problem, operand))
    return 1;
  constexpr double kGain = 3.4; // to a standard deviation of 1
  double gain = kGain / std::sqrt(static_cast<double>(getFanIn(problem)));
  if (problem.op == OpKind::BlockMatMul) {
    constexpr double kUniform = 0.58; // the deviation of integers in [-1, 1)
    gain /= kUniform * std::ldexp(1, problem.integer("bits") - 1);
  }
  return static_cast<float>(gain);
}

/// Gives random zero points of narrow weights as many bits as the weights have.
static void cutZeroPoints(const Problem &problem, size_t operand,
                          std::vector<char> &bytes) {
  if (problem.op != OpKind::BlockMatMul || operand != 3)
    return;
  auto mask = static_cast<char>((1 << problem.integer("bits")) - 1);
  for (char &byte : bytes)
    byte &= mask;
}

/// Makes the random bytes of a constant operand. fillRandom's floats lie in
/// (-1, 1) with a standard deviation of 0.29.
static Result<std::vector<char>> makeConstant(const Problem &problem,
                                              size_t index, uint64_t seed) {
  const TensorDesc &desc = problem.operands[index];
  int64_t size = runtime::dtypeBytes(desc.dtype);
  int64_t count = desc.numBytes() / size;
  Result<runtime::HostTensor> tensor =
      runtime::HostTensor::create(desc.dtype, {count});
  if (!tensor)
    return tensor.error();
  constexpr uint64_t kStride = 0x9e3779b97f4a7c15; // seeds far apart
  runtime::fillRandom(*tensor, seed + kStride * (index + 1));
  std::vector<char> bytes(tensor->data.data(),
                          tensor->data.data() + desc.numBytes());
  if (!isFloat(desc.dtype)) {
    cutZeroPoints(problem, index, bytes);
    return bytes;
  }
  auto [reader, operand] = getReader(problem, index);
  bool isPositive = mustBePositive(reader, operand);
  float gain = getGain(reader, operand);
  for (int64_t i = 0; i < count; ++i) {
    char *element = bytes.data() + i * size;
    float value = runtime::loadAsFloat(desc.dtype, element);
    value = isPositive ? std::fabs(value) + 0.5f : value * gain;
    runtime::storeFromFloat(desc.dtype, value, element);
  }
  return bytes;
}

/// The sizes in the order in which the elements lie in memory.
static std::vector<int64_t> getMemoryShape(const TensorDesc &desc) {
  std::vector<int64_t> shape = desc.shape;
  if (desc.layout.kind == Layout::NCHW || shape.size() < 2)
    return shape;
  int64_t channels = shape[1], block = desc.layout.block;
  if (desc.layout.kind == Layout::NHWC) {
    shape.erase(shape.begin() + 1);
    shape.push_back(desc.pixelPitch());
  } else {
    shape[1] = static_cast<int64_t>(llvm::divideCeil(channels, block));
    shape.push_back(block);
  }
  return shape;
}

static runtime::TensorInfo describe(std::string name, const TensorDesc &desc) {
  runtime::TensorInfo info = makeTensorInfo(std::move(name), desc);
  info.shape = getMemoryShape(desc);
  if (desc.pitch)
    info.usedPerRow = desc.shape[1];
  return info;
}

//===----------------------------------------------------------------------===//
// The package
//===----------------------------------------------------------------------===//

/// Returns the bytes of a constant operand.
using ConstantSource = llvm::function_ref<Result<std::vector<char>>(size_t)>;

static Result<runtime::Package> buildFrom(const Problem &problem,
                                          const Solver &solver,
                                          const PerfConfig &config,
                                          KernelCompiler &compiler,
                                          ConstantSource getConstant) {
  Result<PlannedLayer> planned =
      planLayer(getOpName(problem.op).str(), problem, solver, config,
                compiler.getTarget());
  if (!planned)
    return planned.error();

  runtime::Package package;
  package.modelName = getOpName(problem.op);
  for (auto [index, desc] : llvm::enumerate(problem.operands)) {
    OperandBinding binding;
    if (desc.constant) {
      Result<std::vector<char>> bytes = getConstant(index);
      if (!bytes)
        return bytes.error();
      binding.constant = [bytes = std::move(*bytes)] {
        return ConstantBytes(llvm::ArrayRef<char>(bytes));
      };
    } else {
      binding.place = {BufferSpace::Input,
                       static_cast<int64_t>(package.inputs.size())};
      package.inputs.push_back(
          describe("operand" + std::to_string(index), desc));
    }
    planned->operands.push_back(std::move(binding));
  }
  for (int64_t i = 0; i < problem.numResults(); ++i) {
    std::string name = i == 0 ? "result" : "result" + std::to_string(i);
    package.outputs.push_back(describe(name, problem.getResult(i)));
    planned->results.push_back({BufferSpace::Output, i});
  }
  package.arenaBytes = planned->plan.workspaceBytes;
  std::vector<PlannedLayer> layers;
  layers.push_back(std::move(*planned));
  return assemblePackage(std::move(package), std::move(layers), compiler);
}

Result<runtime::Package> tarpon::buildProblemPackage(const Problem &given,
                                                     const Solver &solver,
                                                     const PerfConfig &config,
                                                     KernelCompiler &compiler,
                                                     uint64_t seed) {
  Problem problem = chooseScales(given);
  return buildFrom(problem, solver, config, compiler, [&](size_t index) {
    return makeConstant(problem, index, seed);
  });
}

Result<runtime::Package>
tarpon::buildProblemPackage(const Problem &problem, const Solver &solver,
                            const PerfConfig &config, KernelCompiler &compiler,
                            const ConstantOperands &constants) {
  return buildFrom(problem, solver, config, compiler,
                   [&](size_t index) -> Result<std::vector<char>> {
                     return std::vector<char>(constants[index].begin(),
                                              constants[index].end());
                   });
}
