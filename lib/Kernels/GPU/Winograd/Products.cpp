//===- Products.cpp - The products between the transforms -----------------===//
//
// Part of Tarpon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Winograd.h"

#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace tarpon;
using namespace tarpon::gpuwinograd;

static constexpr int64_t kTaps = 9;

TileGrid gpuwinograd::getTileGrid(const Problem &problem,
                                  const Transform &transform) {
  const std::vector<int64_t> &result = problem.result.shape;
  auto count = [&](int64_t pixels) {
    return static_cast<int64_t>(llvm::divideCeil(pixels, transform.outTile()));
  };
  return {result[0], count(result[2]), count(result[3])};
}

double gpuwinograd::getInputScale(DType dtype) {
  return dtype == DType::F16 ? 0.25 : 1;
}

int64_t gpuwinograd::chooseVector(int64_t channels, int64_t most) {
  while (channels % most != 0)
    most /= 2;
  return most;
}

Problem gpuwinograd::getProducts(const Problem &problem,
                                 const Transform &transform) {
  const TensorDesc &input = problem.operands[0];
  auto makeTensor = [&](DType dtype, int64_t rows, int64_t columns) {
    TensorDesc desc;
    desc.dtype = dtype;
    desc.shape = {transform.points(), rows, columns};
    return desc;
  };
  int64_t chunk = 16 / runtime::dtypeBytes(input.dtype);
  int64_t tiles = getTileGrid(problem, transform).tiles();
  auto depth = static_cast<int64_t>(llvm::alignTo(input.shape[1], chunk));
  int64_t outChannels = problem.result.shape[1];
  Problem products;
  products.op = OpKind::MatMul;
  products.rootOperands = 2;
  products.operands = {makeTensor(input.dtype, tiles, depth),
                       makeTensor(input.dtype, depth, outChannels)};
  products.operands[1].constant = true;
  products.result = makeTensor(DType::F32, tiles, outChannels);
  products.attrs = {{"transpose_lhs", {0}}, {"transpose_rhs", {0}}};
  return products;
}

/// Makes U, operand 1 of the products.
static std::vector<char> transformFilter(const Transform &transform,
                                         const TensorDesc &filter,
                                         const TensorDesc &to,
                                         ArrayRef<char> bytes) {
  int64_t elementBytes = runtime::dtypeBytes(filter.dtype);
  int64_t outChannels = filter.shape[0], channels = filter.shape[1];
  std::vector<char> transformed(to.numBytes(), 0);
  std::vector<float> taps(kTaps);
  std::vector<double> values(transform.points());
  for (int64_t k = 0; k < outChannels; ++k)
    for (int64_t c = 0; c < channels; ++c) {
      const char *from =
          bytes.data() + (k * channels + c) * kTaps * elementBytes;
      for (int64_t tap = 0; tap < kTaps; ++tap)
        taps[tap] =
            runtime::loadAsFloat(filter.dtype, from + tap * elementBytes);
      transform.transformFilter(taps, values);
      for (int64_t point = 0; point < transform.points(); ++point) {
        int64_t element = (point * to.shape[1] + c) * outChannels + k;
        runtime::storeFromFloat(to.dtype, static_cast<float>(values[point]),
                                transformed.data() + element * elementBytes);
      }
    }
  return transformed;
}

void gpuwinograd::planProducts(SolutionPlan &plan, const Problem &problem,
                               const Transform &transform, const Solver &solver,
                               const TargetInfo &target,
                               const PerfConfig &config, int64_t transformed,
                               int64_t products) {
  Problem inner = getProducts(problem, transform);
  SolutionPlan part = solver.plan(inner, target, config);
  auto firstConstant = static_cast<int64_t>(plan.constants.size());
  TensorDesc filter = problem.operands[1], to = inner.operands[1];
  for (ConstantPlan &constant : part.constants)
    plan.constants.push_back({[=, make = std::move(constant.make)](
                                  const ConstantOperands &operands) {
      std::vector<char> bytes =
          transformFilter(transform, filter, to, operands[1]);
      return make({{}, bytes});
    }});
  int64_t workspace = plan.workspaceBytes;
  plan.workspaceBytes += part.workspaceBytes;
  for (LaunchPlan &launch : part.launches) {
    for (BufferSlot &slot : launch.buffers) {
      if (slot.kind == BufferSlot::Operand)
        slot = {BufferSlot::Workspace, transformed};
      else if (slot.kind == BufferSlot::Result)
        slot = {BufferSlot::Workspace, products};
      else
        slot.index +=
            slot.kind == BufferSlot::Constant ? firstConstant : workspace;
    }
    plan.launches.push_back(std::move(launch));
  }
}
