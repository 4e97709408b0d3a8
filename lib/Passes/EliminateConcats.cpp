//===- EliminateConcats.cpp - Writes to concats' results --------*- C++ -*-===//
//
// Part of Tarpon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Visits the concats from the last to the first, so that one whose result is a
// slice of a later one makes its operands slices of the whole: a block of
// DenseNet becomes one tensor to which every layer adds its channels.
//
//===----------------------------------------------------------------------===//

#include "PassTarget.h"
#include "Regions.h"
#include "Slices.h"
#include "tarpon/IR/FusedProblem.h"
#include "tarpon/IR/Views.h"
#include "tarpon/Passes/Passes.h"

using namespace mlir;
using namespace tarpon;
using namespace tarpon::detail;

namespace tarpon {
#define GEN_PASS_DEF_ELIMINATECONCATSPASS
#include "tarpon/Passes/Passes.h.inc"
} // namespace tarpon

//===----------------------------------------------------------------------===//
// The operands of a concatenation
//===----------------------------------------------------------------------===//

/// Returns true if the region only concatenates channels of tensors that could
/// lie side by side in one.
static bool isPlainConcat(FusedOp op) {
  Block &block = op.getBody().front();
  auto concat = dyn_cast<ConcatOp>(block.front());
  if (!concat || !isa<YieldOp>(concat->getNextNode()) ||
      concat.getAxis() != 1 || op.getType().getRank() < 3)
    return false;
  if (!llvm::equal(concat.getInputs(), block.getArguments()) ||
      isa<quant::UniformQuantizedPerAxisType>(op.getType().getElementType()))
    return false;
  LayoutKind kind = getLayout(op.getType()).getKind();
  return kind == LayoutKind::NHWC || op.getType().getDimSize(0) == 1;
}

//===----------------------------------------------------------------------===//
// Retyping regions
//===----------------------------------------------------------------------===//

/// Stores the region's result as `type`, which differs in its layout.
static void retypeResult(FusedOp op, RankedTensorType type) {
  op.dropSolution();
  auto yield = cast<YieldOp>(op.getBody().front().getTerminator());
  Value value = yield.getValue();
  if (auto convert = value.getDefiningOp<ConvertOp>()) {
    convert.getResult().setType(type);
  } else {
    OpBuilder builder(yield);
    yield.getValueMutable().assign(
        ConvertOp::create(builder, yield.getLoc(), type, value));
  }
  op.getResult().setType(type);
}

/// Creates a region that copies `value` to the place of a slice of `type`.
static Value createCopy(OpBuilder &builder, Value value,
                        RankedTensorType type) {
  auto copy = FusedOp::create(builder, value.getLoc(), TypeRange(type), value);
  Block &block = copy.getBody().emplaceBlock();
  auto inner = OpBuilder::atBlockBegin(&block);
  Value argument = block.addArgument(value.getType(), value.getLoc());
  Value result = ConvertOp::create(inner, value.getLoc(), type, argument);
  YieldOp::create(inner, value.getLoc(), result, ValueRange());
  return copy.getResult();
}

//===----------------------------------------------------------------------===//
// The pass
//===----------------------------------------------------------------------===//

namespace {

class ConcatEliminator {
public:
  explicit ConcatEliminator(const TargetInfo &target) : target(target) {}

  /// Replaces the concat if at least one operand need not be copied.
  bool eliminate(FusedOp concat);
  int64_t getNumCopies() const { return numCopies; }

private:
  bool canBeSlice(FusedOp concat, unsigned index, LayoutAttr layout);
  bool writesSlice(FusedOp op, int64_t pitch);
  /// Returns true if every operand may start where its slice would.
  bool canStart(FusedOp concat, LayoutAttr layout);

  const TargetInfo &target;
  int64_t numCopies = 0;
};

struct EliminateConcatsPass
    : tarpon::impl::EliminateConcatsPassBase<EliminateConcatsPass> {
  using EliminateConcatsPassBase::EliminateConcatsPassBase;

  explicit EliminateConcatsPass(const TargetInfo &target) : given(target) {}

  void runOnOperation() override {
    if (getOperation().isExternal())
      return;
    FailureOr<TargetInfo> target =
        getPassTarget(getOperation(), given, targetName, threads);
    if (failed(target))
      return signalPassFailure();
    SmallVector<FusedOp> concats;
    for (auto op : getOperation().getBody().front().getOps<FusedOp>())
      if (isPlainConcat(op))
        concats.push_back(op);
    ConcatEliminator eliminator(*target);
    for (FusedOp concat : llvm::reverse(concats))
      numEliminated += eliminator.eliminate(concat);
    numCopies += eliminator.getNumCopies();
  }

private:
  std::optional<TargetInfo> given;
};

} // namespace

bool ConcatEliminator::writesSlice(FusedOp op, int64_t pitch) {
  Problem problem = getProblem(op);
  problem.result.pitch = pitch;
  return takesSlice(op, problem, target);
}

bool ConcatEliminator::canBeSlice(FusedOp concat, unsigned index,
                                  LayoutAttr layout) {
  Value value = concat.getInputs()[index];
  auto producer = value.getDefiningOp<FusedOp>();
  // Only first results are slices: solvers are asked about that one.
  if (producer && value != producer.getResult())
    return false;
  bool isRepeated =
      llvm::is_contained(concat.getInputs().take_front(index), value);
  if (!producer || isRepeated || getJoin(value) || leavesFunction(value))
    return false;
  int64_t pitch = layout.getPitch();
  if (pitch == 0)
    return true;
  if (getLayout(getTensorType(value)).getPitch() != 0 ||
      !writesSlice(producer, pitch))
    return false;
  return llvm::all_of(value.getUsers(), [&](Operation *user) {
    auto reader = dyn_cast<FusedOp>(user);
    return reader &&
           (reader == concat || readsSlice(reader, value, pitch, target));
  });
}

bool ConcatEliminator::canStart(FusedOp concat, LayoutAttr layout) {
  int64_t start = 0;
  return llvm::all_of(concat.getInputs(), [&](Value value) {
    RankedTensorType type = getTensorType(value);
    int64_t first = start;
    start +=
        layout.getPitch() != 0 ? type.getDimSize(1) : type.getNumElements();
    return canStartAt(first, type.getElementType(), target);
  });
}

bool ConcatEliminator::eliminate(FusedOp concat) {
  // A result of the function would still have to be copied.
  if (leavesFunction(concat.getResult()))
    return false;
  LayoutAttr layout = getSliceLayout(concat.getType());
  if (!canStart(concat, layout))
    return false;
  SmallVector<bool> isSlice;
  for (unsigned index = 0; index < concat.getInputs().size(); ++index)
    isSlice.push_back(canBeSlice(concat, index, layout));
  if (!llvm::is_contained(isSlice, true))
    return false;

  OpBuilder builder(concat);
  SmallVector<Value> slices;
  for (auto [value, isPlaced] : llvm::zip(concat.getInputs(), isSlice)) {
    RankedTensorType type = withLayout(getTensorType(value), layout);
    if (!isPlaced) {
      slices.push_back(createCopy(builder, value, type));
      ++numCopies;
      continue;
    }
    slices.push_back(value);
    if (value.getType() == type)
      continue;
    retypeResult(value.getDefiningOp<FusedOp>(), type);
    for (OpOperand &use : value.getUses())
      if (use.getOwner() != concat)
        retypeOperand(cast<FusedOp>(use.getOwner()), use.getOperandNumber());
  }
  auto join =
      JoinOp::create(builder, concat.getLoc(), concat.getType(), slices);
  concat.getResult().replaceAllUsesWith(join.getResult());
  concat.erase();
  return true;
}

std::unique_ptr<Pass>
tarpon::createEliminateConcatsPass(const TargetInfo &target) {
  return std::make_unique<EliminateConcatsPass>(target);
}
