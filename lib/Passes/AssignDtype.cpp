//===- AssignDtype.cpp - Stores activations in float types ------*- C++ -*-===//
//
// Part of Tarpon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "RegionPrecision.h"
#include "Regions.h"
#include "tarpon/Passes/Passes.h"
#include "tarpon/Runtime/Precision.h"

#include "llvm/Support/ErrorHandling.h"

using namespace mlir;
using namespace tarpon;
using namespace tarpon::detail;
using runtime::Precision;

namespace tarpon {
#define GEN_PASS_DEF_ASSIGNDTYPEPASS
#include "tarpon/Passes/Passes.h.inc"
} // namespace tarpon

/// The float type in which a region stores what it gives. An int8 region gives
/// f32 where it does not requantise.
static FloatType getStorage(MLIRContext *context, Precision precision) {
  switch (precision) {
  case Precision::F32:
  case Precision::I8:
    return Float32Type::get(context);
  case Precision::F16:
    return Float16Type::get(context);
  case Precision::BF16:
    return BFloat16Type::get(context);
  }
  llvm_unreachable("unknown precision");
}

namespace {

/// Retypes one region after the other.
class DtypeAssigner {
public:
  explicit DtypeAssigner(RegionPrecisions precisions)
      : precisions(precisions) {}

  LogicalResult run(func::FuncOp function) {
    return values.retypeFunction(function,
                                 [&](FusedOp op) { return retype(op); });
  }

private:
  Type getStorage(FusedOp op) const {
    return ::getStorage(op.getContext(), precisions.get(op));
  }

  FailureOr<StoredValues::Values> retype(FusedOp op) {
    RegionTypes types;
    // The types of an int8 region were chosen before.
    types.rootReadsStored =
        precisions.get(op) != Precision::I8 && readsStored(op.getRoot());
    SmallVector<Value> operands;
    for (unsigned index = 0; index < op.getInputs().size(); ++index)
      operands.push_back(getOperand(op, index, types.rootReadsStored));
    types.operands = operands;
    types.resultElement = getResultElement(op);
    if (isConvertRegion(op) &&
        operands.front().getType() ==
            withElementType(op.getType(), types.resultElement))
      return StoredValues::Values{operands.front()};
    OpBuilder builder(op);
    FailureOr<FusedOp> retyped = retypeRegion(builder, op, types);
    if (failed(retyped))
      return failure();
    return StoredValues::Values((*retyped)->getResults());
  }

  Value getOperand(FusedOp op, unsigned index, bool rootReadsStored) {
    Value operand = op.getInputs()[index];
    if (rootReadsStored && isRootOperand(op, index))
      return values.getAs(operand, getStorage(op));
    return values.get(operand);
  }

  /// Regions that convert take any type; so do those in int8, which convert
  /// floats inside.
  std::optional<Precision> getWish(FusedOp reader) const {
    Precision precision = precisions.get(reader);
    if (isConvertRegion(reader) || precision == Precision::I8)
      return std::nullopt;
    return precision;
  }

  Type getResultElement(FusedOp op) {
    Type element = op.getType().getElementType();
    if (!element.isF32() || leavesFunction(op.getResult()))
      return element;
    std::optional<Precision> stored = precisions.getStored(
        op, [&](FusedOp reader) { return getWish(reader); });
    return stored ? ::getStorage(op.getContext(), *stored) : getStorage(op);
  }

  RegionPrecisions precisions;
  StoredValues values;
};

struct AssignDtypePass : tarpon::impl::AssignDtypePassBase<AssignDtypePass> {
  using AssignDtypePassBase::AssignDtypePassBase;

  void runOnOperation() override {
    func::FuncOp function = getOperation();
    std::optional<Precision> unmarked =
        runtime::parsePrecision(dtype.getValue());
    if (!unmarked || *unmarked == Precision::I8) {
      function.emitError("expects the dtype to be fp32, fp16 or bf16, got '")
          << dtype << "'";
      return signalPassFailure();
    }
    FailureOr<RegionPrecisions> precisions =
        RegionPrecisions::read(function, *unmarked);
    if (failed(precisions))
      return signalPassFailure();
    bool isNeeded =
        *unmarked != Precision::F32 || storesHalves(function, *precisions);
    if (isNeeded && failed(DtypeAssigner(*precisions).run(function)))
      return signalPassFailure();
    function.walk([](FusedOp op) { op->removeAttr(kPrecisionAttrName); });
  }

  /// Returns true if any region stores another type than f32.
  static bool storesHalves(func::FuncOp function,
                           const RegionPrecisions &precisions) {
    WalkResult walk = function.walk([&](FusedOp op) {
      return getStorage(op.getContext(), precisions.get(op)).isF32()
                 ? WalkResult::advance()
                 : WalkResult::interrupt();
    });
    return walk.wasInterrupted();
  }
};

} // namespace
