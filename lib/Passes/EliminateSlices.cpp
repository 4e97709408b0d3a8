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

/// Returns the first channel if the region only selects channels of a tensor,
/// which could lie in it: pads that remove cells of dimension 1 only.
static std::optional<int64_t> getPlainSlice(FusedOp op) {
  Block &block = op.getBody().front();
  auto pad = dyn_cast<PadOp>(block.front());
  if (!pad || !isa<YieldOp>(pad->getNextNode()) || op.getInputs().size() != 1 ||
      pad.getInput() != block.getArgument(0) || op.getType().getRank() < 3)
    return std::nullopt;
  ArrayRef<int64_t> pads = pad.getPads();
  auto rank = static_cast<size_t>(op.getType().getRank());
  for (auto [index, size] : llvm::enumerate(pads))
    if (size > 0 || (size < 0 && index % rank != 1))
      return std::nullopt;
  LayoutAttr layout = getLayout(op.getType());
  bool isImage = op.getType().getDimSize(0) == 1;
  if (layout.getPitch() != 0 || pads[1] % layout.getBlock() != 0 ||
      (layout.getKind() != LayoutKind::NHWC && !isImage) ||
      isa<quant::UniformQuantizedPerAxisType>(op.getType().getElementType()))
    return std::nullopt;
  return -pads[1];
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
  return llvm::all_of(copy.getUsers(), [&](Operation *user) {
    auto reader = dyn_cast<FusedOp>(user);
    return reader && (pitch == 0 || readsSlice(reader, copy, pitch, target));
  });
}

static bool eliminate(FusedOp op, const TargetInfo &target) {
  std::optional<int64_t> offset = getPlainSlice(op);
  Value input = op.getInputs().front(), copy = op.getResult();
  if (!offset || copy.use_empty() || !hasMemory(input))
    return false;
  RankedTensorType inputType = getTensorType(input);
  LayoutAttr layout = getSliceLayout(inputType);
  if (getLayout(op.getType()).getKind() != layout.getKind() ||
      !canRead(copy, layout.getPitch(), target))
    return false;
  OpBuilder builder(op);
  auto slice = SliceOp::create(
      builder, op.getLoc(), withLayout(op.getType(), layout), input, *offset);
  bool isRetyped = slice.getType() != op.getType();
  SmallVector<std::pair<FusedOp, unsigned>> uses;
  for (OpOperand &use : copy.getUses())
    uses.emplace_back(cast<FusedOp>(use.getOwner()), use.getOperandNumber());
  copy.replaceAllUsesWith(slice.getResult());
  op.erase();
  if (isRetyped)
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
