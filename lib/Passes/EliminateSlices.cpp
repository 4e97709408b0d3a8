//===- EliminateSlices.cpp - Reads slices in place --------------*- C++ -*-===//
//
// Part of Tarpon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "PassTarget.h"
#include "Regions.h"
#include "Slices.h"
#include "tarpon/IR/Views.h"
#include "tarpon/Passes/Passes.h"

using namespace mlir;
using namespace tarpon;
using namespace tarpon::detail;

namespace tarpon {
#define GEN_PASS_DEF_ELIMINATESLICESPASS
#include "tarpon/Passes/Passes.h.inc"
} // namespace tarpon

namespace {
/// Elements that lie side by side along a dimension.
struct PlainSlice {
  int64_t dim, first;
};
} // namespace

/// Returns the slice if the region only selects some elements of a tensor along
/// one dimension: pads that remove cells.
static std::optional<PlainSlice> getSelection(FusedOp op) {
  Block &block = op.getBody().front();
  auto pad = dyn_cast<PadOp>(block.front());
  if (!pad || !isa<YieldOp>(pad->getNextNode()) || op.getInputs().size() != 1 ||
      pad.getInput() != block.getArgument(0))
    return std::nullopt;
  ArrayRef<int64_t> pads = pad.getPads();
  std::optional<PlainSlice> slice;
  auto rank = static_cast<size_t>(op.getType().getRank());
  for (size_t dim = 0; dim < rank; ++dim) {
    int64_t before = pads[dim], behind = pads[rank + dim];
    if (before == 0 && behind == 0)
      continue;
    if (slice || before > 0 || behind > 0)
      return std::nullopt;
    slice = {static_cast<int64_t>(dim), -before};
  }
  return slice;
}

/// Returns true if the slice could lie in the tensor that it is taken from: it
/// is contiguous, or some channels of nhwc.
static bool isPlain(FusedOp op, const PlainSlice &slice) {
  RankedTensorType type = op.getType();
  LayoutAttr layout = getLayout(type);
  if (layout.getPitch() != 0 ||
      isa<quant::UniformQuantizedPerAxisType>(type.getElementType()))
    return false;
  if (layout.getKind() == LayoutKind::NHWC)
    return slice.dim == 1 && type.getRank() >= 3;
  if (layout.getKind() == LayoutKind::Blocked &&
      (slice.dim != 1 || slice.first % layout.getBlock() != 0))
    return false;
  return llvm::all_of(type.getShape().take_front(slice.dim),
                      [](int64_t size) { return size == 1; });
}

/// Returns true if the value has memory in which a slice of it can be read:
/// that of a region whose result stays in the function.
static bool hasMemory(Value value) {
  Value storage = getView(value).storage;
  return isa_and_nonnull<FusedOp, JoinOp>(storage.getDefiningOp()) &&
         !leavesFunction(value) && !leavesFunction(storage);
}

/// Returns true if all readers can read a slice of the value instead of the
/// copy.
static bool canRead(Value copy, int64_t pitch, const TargetInfo &target) {
  if (pitch == 0)
    return llvm::all_of(getReaders(copy), llvm::IsaPred<FusedOp>);
  return llvm::all_of(copy.getUsers(), [&](Operation *user) {
    auto reader = dyn_cast<FusedOp>(user);
    return reader && readsSlice(reader, copy, pitch, target);
  });
}

/// The tensor as one image whose channels are the dimension, which is the first
/// one of more than one element.
static Value makeChannels(OpBuilder &builder, Value value, int64_t dim) {
  RankedTensorType type = getTensorType(value);
  if (dim == 1 && type.getRank() >= 3)
    return value;
  int64_t size = type.getDimSize(dim);
  auto image = RankedTensorType::get({1, size, type.getNumElements() / size},
                                     type.getElementType());
  return ReshapeOp::create(builder, value.getLoc(), image, value);
}

static Value createSlice(OpBuilder &builder, FusedOp op,
                         const PlainSlice &slice, LayoutAttr layout) {
  RankedTensorType type = op.getType();
  Value input = makeChannels(builder, op.getInputs().front(), slice.dim);
  if (input == op.getInputs().front())
    return SliceOp::create(builder, op.getLoc(), withLayout(type, layout),
                           input, slice.first);
  SmallVector<int64_t> shape(getTensorType(input).getShape());
  shape[1] = type.getDimSize(slice.dim);
  Value result = SliceOp::create(
      builder, op.getLoc(), RankedTensorType::get(shape, type.getElementType()),
      input, slice.first);
  return ReshapeOp::create(builder, op.getLoc(), type, result);
}

static bool eliminate(FusedOp op, const TargetInfo &target) {
  std::optional<PlainSlice> plain = getSelection(op);
  if (!plain || !isPlain(op, *plain))
    return false;
  Value input = op.getInputs().front(), copy = op.getResult();
  if (copy.use_empty() || !hasMemory(input))
    return false;
  RankedTensorType inputType = getTensorType(input);
  LayoutAttr layout = getSliceLayout(inputType);
  int64_t step = layout.getPitch() != 0 ? 1
                                        : inputType.getNumElements() /
                                              inputType.getDimSize(plain->dim);
  if (!canStartAt(plain->first * step, inputType.getElementType(), target))
    return false;
  if (getLayout(op.getType()).getKind() != layout.getKind() ||
      !canRead(copy, layout.getPitch(), target))
    return false;
  OpBuilder builder(op);
  Value slice = createSlice(builder, op, *plain, layout);
  bool isRetyped = slice.getType() != op.getType();
  SmallVector<std::pair<FusedOp, unsigned>> uses;
  if (isRetyped)
    for (OpOperand &use : copy.getUses())
      uses.emplace_back(cast<FusedOp>(use.getOwner()), use.getOperandNumber());
  copy.replaceAllUsesWith(slice);
  op.erase();
  for (auto [reader, index] : uses)
    retypeOperand(reader, index);
  return true;
}

namespace {

struct EliminateSlicesPass
    : tarpon::impl::EliminateSlicesPassBase<EliminateSlicesPass> {
  using EliminateSlicesPassBase::EliminateSlicesPassBase;

  explicit EliminateSlicesPass(const TargetInfo &target) : given(target) {}

  void runOnOperation() override {
    if (getOperation().isExternal())
      return;
    FailureOr<TargetInfo> target =
        getPassTarget(getOperation(), given, targetName, threads);
    if (failed(target))
      return signalPassFailure();
    for (FusedOp op : llvm::make_early_inc_range(
             getOperation().getBody().front().getOps<FusedOp>()))
      numEliminated += eliminate(op, *target);
  }

private:
  std::optional<TargetInfo> given;
};

} // namespace

std::unique_ptr<Pass>
tarpon::createEliminateSlicesPass(const TargetInfo &target) {
  return std::make_unique<EliminateSlicesPass>(target);
}
