//===- FilterMeans.cpp - The means of what filters read -------------------===//
//
// Part of Tarpon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Choice/FilterMeans.h"

#include "tarpon/IR/ConstantData.h"
#include "tarpon/Passes/FilterInputs.h"

#include "mlir/Dialect/Quant/IR/QuantTypes.h"

#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/STLExtras.h"

#include <algorithm>
#include <cmath>

using namespace mlir;
using namespace tarpon;
using runtime::HostTensor;

std::vector<FusedOp> tarpon::getFusedOps(func::FuncOp function) {
  std::vector<FusedOp> ops;
  function.walk([&](FusedOp op) { ops.push_back(op); });
  return ops;
}

//===----------------------------------------------------------------------===//
// The filters
//===----------------------------------------------------------------------===//

/// The operand of the region that is the given operand of its root, or null.
static Value getRootInput(FusedOp op, unsigned index) {
  auto argument = dyn_cast<BlockArgument>(op.getRoot()->getOperand(index));
  return argument ? op.getInputs()[argument.getArgNumber()] : Value();
}

static RankedTensorType getTensorType(Value value) {
  return cast<RankedTensorType>(value.getType());
}

static Value getSource(Value value) {
  while (auto reshape = value.getDefiningOp<ReshapeOp>())
    value = reshape.getInput();
  return value;
}

/// The type that the region reads its filter's inputs in, or null if that is
/// not one of 8 bits.
static quant::UniformQuantizedType getStoredType(FusedOp quantized) {
  Value data = getRootInput(quantized, 0);
  return data ? dyn_cast<quant::UniformQuantizedType>(
                    getTensorType(data).getElementType())
              : nullptr;
}

FilterMeans::FilterMeans(func::FuncOp function, func::FuncOp quantized) {
  llvm::DenseMap<Value, size_t> tensors;
  for (BlockArgument argument : function.getArguments())
    tensors[argument] = argument.getArgNumber();
  unsigned arguments = function.getNumArguments();
  std::vector<FusedOp> ops = getFusedOps(function);
  for (auto [index, op] : llvm::enumerate(ops))
    tensors[op.getResult()] = arguments + index;
  for (auto [index, op, stored] :
       llvm::enumerate(ops, getFusedOps(quantized))) {
    std::optional<FilterInputs> inputs = FilterInputs::create(op.getRoot());
    quant::UniformQuantizedType type = inputs ? getStoredType(stored) : nullptr;
    Value data = type ? getRootInput(op, 0) : Value();
    Value weights = type ? getRootInput(op, 1) : Value();
    if (!data || !weights || !getConstantValue(weights))
      continue;
    auto tensor = tensors.find(getSource(data));
    if (tensor == tensors.end())
      continue;
    Filter filter;
    filter.tensor = tensor->second;
    filter.result = arguments + index;
    filter.inner = ShapedType::getNumElements(
        getTensorType(data).getShape().drop_front(inputs->getDataAxis() + 1));
    filter.scale = static_cast<float>(type.getScale());
    filter.zeroPoint = static_cast<float>(type.getZeroPoint());
    filter.exact.resize(inputs->getNumInputChannels());
    filter.stored.resize(inputs->getNumInputChannels());
    filters.push_back(std::move(filter));
  }
}

//===----------------------------------------------------------------------===//
// The means
//===----------------------------------------------------------------------===//

void FilterMeans::add(size_t tensor, const HostTensor &values) {
  int64_t size = runtime::dtypeBytes(values.dtype);
  int64_t elements = values.data.size() / size;
  for (Filter &filter : filters) {
    if (filter.tensor != tensor)
      continue;
    auto channels = static_cast<int64_t>(filter.exact.size());
    for (int64_t i = 0; i < elements; ++i) {
      float value =
          runtime::loadAsFloat(values.dtype, values.data.data() + i * size);
      float steps = std::nearbyint(value / filter.scale) + filter.zeroPoint;
      float stored =
          (std::clamp(steps, 0.0f, 255.0f) - filter.zeroPoint) * filter.scale;
      int64_t channel = i / filter.inner % channels;
      filter.exact[channel] += value;
      filter.stored[channel] += stored;
    }
    filter.count += elements / channels;
  }
}

static std::vector<float> divide(llvm::ArrayRef<double> sums, int64_t count) {
  std::vector<float> means;
  for (double sum : sums)
    means.push_back(
        roundToShortForm(count ? sum / static_cast<double>(count) : 0));
  return means;
}

void FilterMeans::finish(std::vector<TensorRange> &ranges) const {
  for (const Filter &filter : filters) {
    ranges[filter.result].inputMeans = divide(filter.exact, filter.count);
    ranges[filter.result].storedMeans = divide(filter.stored, filter.count);
  }
}
