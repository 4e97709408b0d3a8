//===- SplitTransposes.cpp - Transposes from and to a layout ----*- C++ -*-===//
//
// Part of Tarpon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "MovementChain.h"
#include "RegionLayout.h"
#include "Regions.h"
#include "tarpon/Passes/Passes.h"

#include "mlir/Dialect/Utils/IndexingUtils.h"

using namespace mlir;
using namespace tarpon;
using namespace tarpon::detail;

namespace tarpon {
#define GEN_PASS_DEF_SPLITTRANSPOSESPASS
#include "tarpon/Passes/Passes.h.inc"
} // namespace tarpon

/// Dimension i of an NHWC shape is dimension result[i] of the NCHW shape. The
/// rank is 3 or more.
static SmallVector<int64_t> getChannelsLast(int64_t rank) {
  SmallVector<int64_t> permutation = {0};
  llvm::append_range(permutation, llvm::seq<int64_t>(2, rank));
  permutation.push_back(1);
  return permutation;
}

/// From a tensor as it lies in nhwc to one as its shape says.
static Movement getMovementFromLayout(RankedTensorType type) {
  SmallVector<int64_t> channelsLast = getChannelsLast(type.getRank());
  SmallVector<int64_t> shape;
  for (int64_t dim : channelsLast)
    shape.push_back(type.getDimSize(dim));
  Movement movement(shape);
  movement.transpose(invertPermutationVector(channelsLast));
  return movement;
}

namespace {

class TransposeSplitter {
public:
  TransposeSplitter(LayoutAttr layout, const RegionLayouts &layouts)
      : layout(layout), layouts(layouts) {}

  void split(Operation *last);

private:
  bool willBeInLayout(Value value, int depth = 0);
  bool isWantedInLayout(Value value, int depth = 0);
  bool makesInLayout(Value value, int depth);
  bool isReadInLayout(OpOperand &use, int depth);

  /// How far is looked, along values.
  static constexpr int kMostRegions = 32;

  LayoutAttr layout;
  const RegionLayouts &layouts;
  /// The answers of before. Without them each path between two values would be
  /// followed, and there may be a great many.
  DenseMap<Value, bool> inLayout, wanted;
};

} // namespace

/// Returns true if tarpon-assign-layout will give the value the layout, or if
/// this pass gave it.
bool TransposeSplitter::willBeInLayout(Value value, int depth) {
  if (depth == kMostRegions)
    return false;
  if (auto known = inLayout.find(value); known != inLayout.end())
    return known->second;
  bool answer = makesInLayout(value, depth);
  inLayout[value] = answer;
  return answer;
}

bool TransposeSplitter::makesInLayout(Value value, int depth) {
  if (isConvertedFrom(value, layout))
    return true;
  auto region = value.getDefiningOp<FusedOp>();
  return region && value == region.getResult() &&
         layouts.computesIn(layout, region, [&](Value operand) {
           return willBeInLayout(operand, depth + 1);
         });
}

/// Returns true if a region that reads the value computes in the layout, or
/// could, and is read by such a region.
bool TransposeSplitter::isWantedInLayout(Value value, int depth) {
  if (depth == kMostRegions)
    return false;
  if (auto known = wanted.find(value); known != wanted.end())
    return known->second;
  bool answer = llvm::any_of(value.getUses(), [&](OpOperand &use) {
    return isReadInLayout(use, depth);
  });
  wanted[value] = answer;
  return answer;
}

bool TransposeSplitter::isReadInLayout(OpOperand &use, int depth) {
  auto region = dyn_cast<FusedOp>(use.getOwner());
  if (!region ||
      isParameter(region.getBody().getArgument(use.getOperandNumber())))
    return false;
  auto isOther = [&](Value operand) {
    return operand != use.get() && willBeInLayout(operand);
  };
  auto isAny = [](Value) { return true; };
  return layouts.computesIn(layout, region, isOther) ||
         (layouts.computesIn(layout, region, isAny) &&
          isWantedInLayout(region.getResult(), depth + 1));
}

/// Splits the chain that ends with the op.
void TransposeSplitter::split(Operation *last) {
  Value result = last->getResult(0);
  RankedTensorType type = getTensorType(result);
  MovementChain::Ops chain = MovementChain::collect(result);
  RankedTensorType sourceType = getTensorType(chain.source);
  bool fromLayout = sourceType.getRank() >= 3 && willBeInLayout(chain.source),
       toLayout = type.getRank() >= 3 && isWantedInLayout(result);
  if (chain.transposes == 0 || (!fromLayout && !toLayout))
    return;

  Movement movement = fromLayout ? getMovementFromLayout(sourceType)
                                 : Movement(sourceType.getShape());
  for (Operation *op : chain.ops)
    if (!movement.append(op))
      return;
  if (toLayout)
    movement.transpose(getChannelsLast(type.getRank()));

  OpBuilder builder(last);
  Location location = last->getLoc();
  Value source = chain.source;
  if (fromLayout)
    source = ConvertOp::create(builder, location,
                               withLayout(sourceType, layout), source);
  Value moved = movement.create(builder, location, source,
                                toLayout ? withLayout(type, layout) : type);
  if (toLayout)
    moved = ConvertOp::create(builder, location, type, moved);
  result.replaceAllUsesWith(moved);
  inLayout.clear();
  wanted.clear();
}

namespace {

struct SplitTransposesPass
    : tarpon::impl::SplitTransposesPassBase<SplitTransposesPass> {
  using SplitTransposesPassBase::SplitTransposesPassBase;

  void runOnOperation() override {
    FailureOr<RegionLayouts> layouts =
        RegionLayouts::read(getOperation(), layout);
    if (failed(layouts))
      return signalPassFailure();
    if (getOperation().isExternal() || !layouts->areWanted(LayoutKind::NHWC))
      return;
    Block &block = getOperation().getBody().front();
    TransposeSplitter splitter(LayoutAttr::get(&getContext(), LayoutKind::NHWC),
                               *layouts);
    for (Operation &op : llvm::make_early_inc_range(block))
      if (MovementChain::isEnd(&op))
        splitter.split(&op);
    eraseUnusedMovements(block);
  }
};

} // namespace
