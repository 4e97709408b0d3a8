//===- RecurrentOps.cpp - Recurrent layers ----------------------*- C++ -*-===//
//
// Part of Tarpon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Inference.h"
#include "tarpon/IR/TarponOps.h"
#include "tarpon/Problem/Recurrent.h"

#include "llvm/ADT/STLExtras.h"

using namespace mlir;
using namespace tarpon;
using namespace tarpon::detail;

namespace {
struct Sizes {
  int64_t steps, batch, directions, hidden;
};
} // namespace

/// C1: infers the sizes, on which gates and recurrent agree.
static FailureOr<Sizes> inferSizes(const Reporter &report, RecurrentCell cell,
                                   RankedTensorType gates,
                                   RankedTensorType recurrent) {
  if (gates.getRank() != 3 || recurrent.getRank() != 3)
    return failure(failed(report("expects gates and recurrent of rank 3, got ",
                                 gates, " and ", recurrent)));
  int64_t directions = recurrent.getDimSize(0),
          hidden = recurrent.getDimSize(2);
  if (recurrent.getDimSize(1) != cell.gates * hidden ||
      gates.getDimSize(2) != directions * cell.gates * hidden)
    return failure(
        failed(report("expects ", cell.gates, " gates per hidden unit, got ",
                      gates, " and ", recurrent)));
  return Sizes{gates.getDimSize(0), gates.getDimSize(1), directions, hidden};
}

/// C2 for one operand.
static LogicalResult checkOperand(const Reporter &report, StringRef name,
                                  Value operand, ArrayRef<int64_t> shape,
                                  Type elementType) {
  RankedTensorType type = getTensorType(operand);
  if (type.getShape() != shape || type.getElementType() != elementType)
    return report("expects ", name, " to be ",
                  RankedTensorType::get(shape, elementType), ", got ", type);
  return success();
}

/// C3 and C4.
template <typename Adaptor>
static LogicalResult checkAttributes(const Reporter &report, RecurrentCell cell,
                                     int64_t directions, Adaptor adaptor) {
  auto isFlag = [](int64_t value) { return value == 0 || value == 1; };
  auto count = static_cast<size_t>(cell.activations * directions);
  if (static_cast<int64_t>(adaptor.getReversed().size()) != directions ||
      !llvm::all_of(adaptor.getReversed(), isFlag))
    return report("expects reversed to be 0 or 1 for each of ", directions,
                  " directions");
  if (adaptor.getActivations().size() != count ||
      adaptor.getAlphas().size() != count || adaptor.getBetas().size() != count)
    return report("expects ", count, " activations, alphas and betas");
  for (int64_t activation : adaptor.getActivations())
    if (activation < 0 || activation >= kNumRecurrentActivations)
      return report("expects activations from 0 to ",
                    kNumRecurrentActivations - 1, ", got ", activation);
  if (adaptor.getClip().isNegative())
    return report("expects clip not to be negative, got ",
                  adaptor.getClip().convertToFloat());
  return success();
}

/// Infers the types of all three ops. `others` are operands with their names
/// and shapes as functions of the sizes.
template <typename Op>
static LogicalResult
inferRecurrent(const Reporter &report, typename Op::Adaptor adaptor,
               function_ref<LogicalResult(Sizes, Type)> checkOthers,
               Types &types) {
  if (failed(checkStatic(report, adaptor.getOperands())))
    return failure();
  RecurrentCell cell =
      *getRecurrentCell(*parseOp(Op::getOperationName().split('.').second));
  RankedTensorType gates = getTensorType(adaptor.getGates());
  RankedTensorType recurrent = getTensorType(adaptor.getRecurrent());
  FailureOr<Sizes> sizes = inferSizes(report, cell, gates, recurrent);
  if (failed(sizes))
    return failure();
  Type element = gates.getElementType();
  // C2
  if (failed(checkFloat(report, "gates", gates)) ||
      failed(checkRowMajor(report, "gates", gates)) ||
      failed(checkOperand(report, "recurrent", adaptor.getRecurrent(),
                          recurrent.getShape(), element)) ||
      failed(checkOperand(report, "hidden", adaptor.getHidden(),
                          {sizes->directions, sizes->batch, sizes->hidden},
                          element)))
    return failure();
  RankedTensorType lengths = getTensorType(adaptor.getLengths());
  if (!isa<IntegerType>(lengths.getElementType()) ||
      lengths.getShape() != ArrayRef(sizes->batch))
    return report("expects lengths to be ", sizes->batch, " integers, got ",
                  lengths);
  if (failed(checkOthers(*sizes, element)) ||
      failed(checkAttributes(report, cell, sizes->directions, adaptor)))
    return failure();
  types.push_back(
      RankedTensorType::get({sizes->steps + cell.states, sizes->directions,
                             sizes->batch, sizes->hidden},
                            element));
  return success();
}

LogicalResult LstmOp::inferReturnTypes(MLIRContext *,
                                       std::optional<Location> location,
                                       Adaptor adaptor, Types &types) {
  Reporter report{location, getOperationName()};
  auto checkOthers = [&](Sizes sizes, Type element) {
    return success(
        succeeded(checkOperand(report, "cell", adaptor.getCell(),
                               {sizes.directions, sizes.batch, sizes.hidden},
                               element)) &&
        succeeded(checkOperand(report, "peepholes", adaptor.getPeepholes(),
                               {sizes.directions, 3 * sizes.hidden}, element)));
  };
  return inferRecurrent<LstmOp>(report, adaptor, checkOthers, types);
}

LogicalResult GruOp::inferReturnTypes(MLIRContext *,
                                      std::optional<Location> location,
                                      Adaptor adaptor, Types &types) {
  Reporter report{location, getOperationName()};
  auto checkOthers = [&](Sizes sizes, Type element) {
    return checkOperand(report, "bias", adaptor.getBias(),
                        {sizes.directions, sizes.hidden}, element);
  };
  return inferRecurrent<GruOp>(report, adaptor, checkOthers, types);
}

LogicalResult RnnOp::inferReturnTypes(MLIRContext *,
                                      std::optional<Location> location,
                                      Adaptor adaptor, Types &types) {
  Reporter report{location, getOperationName()};
  auto checkOthers = [](Sizes, Type) { return success(); };
  return inferRecurrent<RnnOp>(report, adaptor, checkOthers, types);
}
