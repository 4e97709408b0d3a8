//===- ReduceOps.cpp - Import of reductions ---------------------*- C++ -*-===//
//
// Part of Tarpon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Reduction.h"

#include "OpTable.h"
#include "tarpon/Problem/Shapes.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/Sequence.h"

#include <limits>
#include <type_traits>

using namespace mlir;

namespace tarpon {

std::optional<SmallVector<int64_t>> readReducedAxes(OnnxNode &node,
                                                    int64_t rank) {
  std::optional<SmallVector<int64_t>> axes = node.getInts("axes");
  if (node.hasInput(1))
    axes = node.getConstantInts(1, "the input axes");
  if (!axes || node.hasFailed())
    return std::nullopt;
  if (axes->empty())
    return llvm::to_vector(llvm::seq<int64_t>(0, rank));
  return node.normalizeAxes(*axes, rank);
}

/// Returns true if there are no axes, which here means that nothing is reduced.
static bool hasNoAxes(OnnxNode &node) {
  if (!node.getBool("noop_with_empty_axes", false) || node.hasFailed())
    return false;
  if (!node.hasInput(1))
    return !node.hasAttribute("axes");
  auto axes = node.getConstantInts(1, "the input axes");
  return axes && axes->empty();
}

/// Reductions of nothing have the neutral value, if there is one.
static void importEmptyReduce(OnnxNode &node, ArrayRef<int64_t> axes,
                              bool keepDims, std::optional<double> neutral) {
  RankedTensorType type = getTensorType(node.getInput(0));
  Shape shape = reduceShape(type.getShape(), axes, keepDims);
  if (!neutral && !llvm::is_contained(shape, 0)) {
    node.emitError() << "reduces the empty tensor " << type
                     << ", whose mean is undefined";
    return;
  }
  Type elementType = type.getElementType();
  // False is the smallest bool.
  if (elementType.isInteger(1))
    neutral = neutral.value_or(0) > 0;
  Value value = node.createNumber(neutral.value_or(0), elementType);
  node.setOutput(0, node.splat(value, shape));
}

/// Creates the reduction. The largest and smallest of bools are those of bytes.
template <typename OpTy>
static Value createReduce(OnnxNode &node, Value input, ArrayRef<int64_t> axes,
                          bool keepDims) {
  OpBuilder &builder = node.getBuilder();
  Type elementType = getTensorType(input).getElementType();
  bool isBool = elementType.isInteger(1) &&
                llvm::is_contained({ReduceMaxOp::getOperationName(),
                                    ReduceMinOp::getOperationName()},
                                   OpTy::getOperationName());
  if (isBool)
    input = node.convert(
        input, getElementType(builder.getContext(), runtime::DType::U8));
  Value result = node.create<OpTy>(input, builder.getDenseI64ArrayAttr(axes),
                                   builder.getBoolAttr(keepDims));
  return isBool ? node.isSet(result) : result;
}

/// Computes a reduction of all elements of a constant here if it is as short as
/// shapes are: sizes that are computed from it have to be constants, too.
/// Returns null for others.
template <typename CombineOp>
static Value reduceConstant(OnnxNode &node, Value input, bool keepDims) {
  constexpr int64_t maxElements = 64;
  RankedTensorType type = getTensorType(input);
  int64_t count = type.getNumElements();
  // Sums of narrower floats would be rounded at each step.
  bool selects =
      std::is_same_v<CombineOp, MaxOp> || std::is_same_v<CombineOp, MinOp>;
  bool isExact = selects || isa<IntegerType>(type.getElementType()) ||
                 type.getElementType().isF32();
  if (!OnnxNode::getConstant(input) || type.getElementType().isInteger(1) ||
      !isExact || count > maxElements)
    return nullptr;
  Value elements = node.reshape(input, {count});
  Value result = node.slice(elements, 0, 0, 1);
  for (int64_t i = 1; i < count; ++i)
    result = node.create<CombineOp>(result, node.slice(elements, 0, i, 1));
  SmallVector<int64_t> ones(keepDims ? type.getRank() : 0, 1);
  return node.reshape(result, ones);
}

// A reduction along no axes leaves only what it does to each element by itself.

static Value keepElements(OnnxNode &, Value input) { return input; }

static Value takeMagnitudes(OnnxNode &node, Value input) {
  return node.create<AbsOp>(input);
}

static Value squareElements(OnnxNode &node, Value input) {
  return node.create<MulOp>(input, input);
}

static Value takeLogarithms(OnnxNode &node, Value input) {
  return node.create<LogOp>(input);
}

/// `CombineOp` combines two elements as the reduction does, if there is such an
/// operation.
template <typename OpTy, typename CombineOp = void>
static void importReduce(OnnxNode &node, std::optional<double> neutral,
                         Value (*mapElements)(OnnxNode &,
                                              Value) = keepElements) {
  Value input = node.getInput(0);
  auto rank = static_cast<int64_t>(getShape(input).size());
  bool keepDims = node.getBool("keepdims", true);
  if (hasNoAxes(node))
    return node.setOutput(0, mapElements(node, input));
  if (node.hasFailed())
    return;
  // A scalar is reduced as a vector of one element.
  if (rank == 0)
    return node.setOutput(0, createReduce<OpTy>(node, node.reshape(input, {1}),
                                                {0}, /*keepDims=*/false));
  std::optional<SmallVector<int64_t>> axes = readReducedAxes(node, rank);
  if (!axes)
    return;
  if (llvm::is_contained(getShape(input), 0))
    return importEmptyReduce(node, *axes, keepDims, neutral);
  if constexpr (!std::is_void_v<CombineOp>)
    if (static_cast<int64_t>(axes->size()) == rank)
      if (Value result = reduceConstant<CombineOp>(node, input, keepDims))
        return node.setOutput(0, result);
  node.setOutput(0, createReduce<OpTy>(node, input, *axes, keepDims));
}

static constexpr double kInfinity = std::numeric_limits<double>::infinity();

void importReduceSum(OnnxNode &node) {
  importReduce<ReduceSumOp, AddOp>(node, 0);
}
void importReduceMax(OnnxNode &node) {
  importReduce<ReduceMaxOp, MaxOp>(node, -kInfinity);
}
void importReduceMin(OnnxNode &node) {
  importReduce<ReduceMinOp, MinOp>(node, kInfinity);
}
void importReduceProd(OnnxNode &node) {
  importReduce<ReduceProdOp, MulOp>(node, 1);
}
void importReduceL1(OnnxNode &node) {
  importReduce<ReduceL1Op>(node, 0, takeMagnitudes);
}
void importReduceL2(OnnxNode &node) {
  importReduce<ReduceL2Op>(node, 0, takeMagnitudes);
}
void importReduceSumSquare(OnnxNode &node) {
  importReduce<ReduceSumSquareOp>(node, 0, squareElements);
}
void importReduceLogSum(OnnxNode &node) {
  importReduce<ReduceLogSumOp>(node, -kInfinity, takeLogarithms);
}
void importReduceLogSumExp(OnnxNode &node) {
  importReduce<ReduceLogSumExpOp>(node, -kInfinity);
}

static void importReducedMean(OnnxNode &node) {
  importReduce<ReduceMeanOp>(node, std::nullopt);
}

/// The mean along dimensions some of whose sizes depend on data: the sum of the
/// slices that count, others being 0, divided by their number.
static void importRealMean(OnnxNode &node, ArrayRef<int64_t> axes) {
  Value input = node.getInput(0);
  Type elementType = getTensorType(input).getElementType();
  // Sums of narrow floats would be rounded, or infinite.
  bool isNarrow =
      isa<FloatType>(elementType) && elementType.getIntOrFloatBitWidth() < 32;
  Type wide = isNarrow ? node.getBuilder().getF32Type() : elementType;
  int64_t fixed = 1;
  Value count = node.createInts({1});
  for (int64_t axis : axes) {
    if (auto real = node.findRealSize(input, axis))
      count = node.create<MulOp>(count, real->size);
    else
      fixed *= getShape(input)[axis];
  }
  count = node.create<MulOp>(count, node.createInts({fixed}));
  bool keepDims = node.getBool("keepdims", true);
  Value sum = createReduce<ReduceSumOp>(node, node.convert(input, wide), axes,
                                        keepDims);
  Value mean =
      node.create<DivOp>(sum, node.convert(node.reshape(count, {}), wide));
  node.setOutput(0, node.convert(mean, elementType));
}

/// Exporters write global average pooling as a mean over the spatial
/// dimensions; convolutional networks have faster kernels for pooling.
void importReduceMean(OnnxNode &node) {
  Value input = node.getInput(0);
  auto rank = static_cast<int64_t>(getShape(input).size());
  if (rank == 0 || hasNoAxes(node) || llvm::is_contained(getShape(input), 0))
    return importReducedMean(node);
  std::optional<SmallVector<int64_t>> axes = readReducedAxes(node, rank);
  if (!axes)
    return;
  auto isReal = [&](int64_t axis) {
    return node.findRealSize(input, axis).has_value();
  };
  if (llvm::any_of(*axes, isReal))
    return importRealMean(node, *axes);
  if (rank < 3 || rank > 5 || !llvm::equal(*axes, llvm::seq<int64_t>(2, rank)))
    return importReducedMean(node);
  Value result = node.create<GlobalAvgPoolOp>(input);
  if (result && !node.getBool("keepdims", true))
    result = node.reshape(result, getShape(result).take_front(2));
  node.setOutput(0, result);
}

template <typename OpTy>
static void importArg(OnnxNode &node) {
  Value input = node.getInput(0);
  OpBuilder &builder = node.getBuilder();
  auto rank = static_cast<int64_t>(getShape(input).size());
  int64_t axis = node.getAxis("axis", 0, rank);
  bool keepDims = node.getBool("keepdims", true);
  bool last = node.getBool("select_last_index", false);
  if (node.hasFailed())
    return;
  node.setOutput(0, node.create<OpTy>(input, builder.getI64IntegerAttr(axis),
                                      builder.getBoolAttr(keepDims),
                                      builder.getBoolAttr(last)));
}

void importArgMax(OnnxNode &node) { importArg<ArgMaxOp>(node); }
void importArgMin(OnnxNode &node) { importArg<ArgMinOp>(node); }

} // namespace tarpon
