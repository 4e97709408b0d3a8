//===- LossOps.cpp - Import of losses -------------------------------------===//
//
// Part of Tarpon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Gather.h"
#include "OpTable.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/Sequence.h"

using namespace mlir;

namespace tarpon {

/// The sum of all elements, without dimensions.
static Value sumAll(OnnxNode &node, Value value) {
  if (!value)
    return nullptr;
  OpBuilder &builder = node.getBuilder();
  auto axes = llvm::to_vector(
      llvm::seq<int64_t>(0, static_cast<int64_t>(getShape(value).size())));
  return node.create<ReduceSumOp>(value, builder.getDenseI64ArrayAttr(axes),
                                  builder.getBoolAttr(false));
}

namespace {
/// The loss of each target, and how much it counts in a mean.
struct Losses {
  Value values, weights;
};
} // namespace

/// Converts what equals the attribute ignore_index to true; null without it.
static Value findIgnored(OnnxNode &node, Value target) {
  if (!node.hasAttribute("ignore_index"))
    return nullptr;
  Value ignored = node.createInts({node.getInt("ignore_index", 0)},
                                  /*scalar=*/true);
  return node.convert(node.create<EqualOp>(target, ignored),
                      node.getBuilder().getI1Type());
}

static Losses computeLosses(OnnxNode &node, Value logs, Value target,
                            Value weight) {
  OpBuilder &builder = node.getBuilder();
  Type elementType = getTensorType(logs).getElementType();
  target = node.convert(target, builder.getI64Type());
  Value zero = node.createNumber(0, elementType);
  Value ignored = findIgnored(node, target);
  // Targets that are ignored need not be classes.
  if (ignored)
    target = node.create<WhereOp>(
        ignored, node.createInts({0}, /*scalar=*/true), target);
  SmallVector<int64_t> column(getShape(target));
  column.insert(column.begin() + 1, 1);
  Value chosen = node.reshape(
      gatherElements(node, logs, node.reshape(target, column), /*axis=*/1),
      getShape(target));
  Losses losses{
      node.create<NegOp>(chosen),
      node.splat(node.createNumber(1, elementType), getShape(target))};
  if (weight) {
    losses.weights =
        node.create<GatherOp>(weight, target, builder.getI64IntegerAttr(0));
    losses.values = node.create<MulOp>(losses.values, losses.weights);
  }
  if (ignored) {
    losses.weights = node.create<WhereOp>(ignored, zero, losses.weights);
    losses.values = node.create<WhereOp>(ignored, zero, losses.values);
  }
  return losses;
}

static Value reduce(OnnxNode &node, const Losses &losses) {
  std::string reduction = node.getString("reduction", "mean");
  if (reduction == "none")
    return losses.values;
  if (reduction == "sum")
    return sumAll(node, losses.values);
  if (reduction == "mean")
    return node.create<DivOp>(sumAll(node, losses.values),
                              sumAll(node, losses.weights));
  node.emitError() << "attribute 'reduction' is '" << reduction
                   << "', expected none, sum or mean";
  return nullptr;
}

/// The loss of the logarithms of probabilities, input 0 or computed from it.
static Value importLoss(OnnxNode &node, Value logs) {
  if (!logs)
    return nullptr;
  Value target = node.getInput(1), weight = node.getInput(2);
  ArrayRef<int64_t> shape = getShape(logs);
  SmallVector<int64_t> expected(shape);
  if (expected.size() >= 2)
    expected.erase(expected.begin() + 1);
  if (shape.size() < 2 || getShape(target) != ArrayRef(expected) ||
      (weight && getShape(weight) != ArrayRef(shape[1]))) {
    node.emitError() << "the targets " << getTensorType(target)
                     << " or the weights do not fit the input "
                     << getTensorType(logs);
    return nullptr;
  }
  return reduce(node, computeLosses(node, logs, target, weight));
}

void importNegativeLogLikelihoodLoss(OnnxNode &node) {
  node.setOutput(0, importLoss(node, node.getInput(0)));
}

void importSoftmaxCrossEntropyLoss(OnnxNode &node) {
  Value scores = node.getInput(0);
  if (getShape(scores).size() < 2) {
    node.emitError() << "the scores have the rank " << getShape(scores).size()
                     << ", expected 2 or more";
    return;
  }
  Value logs =
      node.create<LogSoftmaxOp>(scores, node.getBuilder().getI64IntegerAttr(1));
  node.setOutput(0, importLoss(node, logs));
  node.setOutput(1, logs);
}

} // namespace tarpon
