//===- AssignDtype.cpp - Stores activations in one float type ---*- C++ -*-===//
//
// Part of Tarpon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Regions.h"
#include "tarpon/IR/ConstantData.h"
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

/// Returns true if the root reads low-precision operands in their stored type.
static bool readsStored(Operation *root) {
  return isa<QuantizableInterface>(root) &&
         llvm::all_of(root->getOperands(), isF32);
}

namespace {

/// Retypes one region after the other.
class DtypeAssigner {
public:
  explicit DtypeAssigner(Type storage) : storage(storage) {}

  LogicalResult run(func::FuncOp function) {
    return values.retypeFunction(function,
                                 [&](FusedOp op) { return retype(op); });
  }

private:
  FailureOr<StoredValues::Values> retype(FusedOp op) {
    RegionTypes types;
    types.rootReadsStored = readsStored(op.getRoot());
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
    bool isRoots = llvm::is_contained(op.getRoot()->getOperands(),
                                      op.getBody().getArgument(index));
    if (rootReadsStored && isRoots)
      return values.getAs(operand, storage);
    return values.get(operand);
  }

  Type getResultElement(FusedOp op) {
    Type element = op.getType().getElementType();
    return element.isF32() && !leavesFunction(op.getResult()) ? storage
                                                              : element;
  }

  Type storage;
  StoredValues values;
};

struct AssignDtypePass : tarpon::impl::AssignDtypePassBase<AssignDtypePass> {
  using AssignDtypePassBase::AssignDtypePassBase;

  /// Returns null if activations are not stored in the dtype.
  Type getStorage(MLIRContext *context) const {
    std::optional<Precision> precision =
        runtime::parsePrecision(dtype.getValue());
    if (!precision)
      return nullptr;
    switch (*precision) {
    case Precision::F32:
      return Float32Type::get(context);
    case Precision::F16:
      return Float16Type::get(context);
    case Precision::BF16:
      return BFloat16Type::get(context);
    case Precision::I8:
      return nullptr;
    }
    llvm_unreachable("unknown precision");
  }

  void runOnOperation() override {
    Type storage = getStorage(&getContext());
    if (!storage) {
      getOperation().emitError("expects the dtype to be fp32, fp16 or bf16, "
                               "got '")
          << dtype << "'";
      return signalPassFailure();
    }
    if (storage.isF32())
      return;
    if (failed(DtypeAssigner(storage).run(getOperation())))
      return signalPassFailure();
  }
};

} // namespace
