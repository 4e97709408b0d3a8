//===- PoolOps.cpp - Pools over windows and globally ------------*- C++ -*-===//
//
// Part of Tarpon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Inference.h"
#include "tarpon/IR/TarponOps.h"

using namespace mlir;
using namespace tarpon;
using namespace tarpon::detail;

static LogicalResult checkPoolRank(const Reporter &report,
                                   RankedTensorType input) {
  if (input.getRank() < 3 || input.getRank() > 5)
    return report("expects an input of rank 3 to 5, got ", input.getRank());
  return success();
}

static LogicalResult inferPool(const Reporter &report, ValueRange operands,
                               const SlidingWindow &window, Types &types) {
  if (failed(checkStatic(report, operands)))
    return failure();
  RankedTensorType input = getTensorType(operands.front());
  // C1
  if (failed(checkPoolRank(report, input)))
    return failure();
  // C2, C3
  if (failed(checkWindow(report, input.getRank(), window)))
    return failure();
  // C4
  FailureOr<SmallVector<int64_t>> spatial =
      inferSpatialShape(report, input.getShape().drop_front(2), window);
  if (failed(spatial))
    return failure();

  types.push_back(input.clone(withSpatial(input.getShape(), *spatial)));
  return success();
}

static LogicalResult inferGlobalPool(const Reporter &report,
                                     ValueRange operands, Types &types) {
  if (failed(checkStatic(report, operands)))
    return failure();
  RankedTensorType input = getTensorType(operands.front());
  // C1
  if (failed(checkPoolRank(report, input)))
    return failure();

  types.push_back(input.clone(poolGlobally(input.getShape())));
  return success();
}

LogicalResult MaxPoolOp::inferReturnTypes(MLIRContext *,
                                          std::optional<Location> location,
                                          Adaptor adaptor, Types &types) {
  SlidingWindow window{adaptor.getKernel(), adaptor.getStrides(),
                       adaptor.getPads(), adaptor.getDilations(),
                       adaptor.getCeilMode()};
  return inferPool({location, getOperationName()}, adaptor.getOperands(),
                   window, types);
}

LogicalResult
MaxPoolIndicesOp::inferReturnTypes(MLIRContext *context,
                                   std::optional<Location> location,
                                   Adaptor adaptor, Types &types) {
  Reporter report{location, getOperationName()};
  SlidingWindow window{adaptor.getKernel(), adaptor.getStrides(),
                       adaptor.getPads(), adaptor.getDilations(),
                       adaptor.getCeilMode()};
  if (failed(inferPool(report, adaptor.getOperands(), window, types)))
    return failure();
  auto type = cast<RankedTensorType>(types.front());
  // C5
  if (failed(checkFloat(report, "input", type)))
    return failure();
  types.push_back(type.clone(IntegerType::get(context, 64)));
  return success();
}

LogicalResult MaxUnpoolOp::inferReturnTypes(MLIRContext *,
                                            std::optional<Location> location,
                                            Adaptor adaptor, Types &types) {
  Reporter report{location, getOperationName()};
  if (failed(checkStatic(report, adaptor.getOperands())))
    return failure();
  RankedTensorType input = getTensorType(adaptor.getInput()),
                   indices = getTensorType(adaptor.getIndices());
  // C1
  if (failed(checkPoolRank(report, input)))
    return failure();
  // C2
  if (failed(checkEntries(report, "sizes", adaptor.getSizes(),
                          input.getRank() - 2, 1)))
    return failure();
  // C3
  if (!indices.getElementType().isSignlessInteger(64) ||
      indices.getShape() != input.getShape())
    return report("expects indices of i64 for each element of ", input,
                  ", got ", indices);
  // C4
  if (failed(checkFloat(report, "input", input)))
    return failure();
  // C5
  if (failed(checkRowMajor(report, "input", input)) ||
      failed(checkRowMajor(report, "indices", indices)))
    return failure();

  types.push_back(
      input.clone(withSpatial(input.getShape(), adaptor.getSizes())));
  return success();
}

bool AvgPoolOp::averages() { return true; }

LogicalResult AvgPoolOp::inferReturnTypes(MLIRContext *,
                                          std::optional<Location> location,
                                          Adaptor adaptor, Types &types) {
  SlidingWindow window{adaptor.getKernel(), adaptor.getStrides(),
                       adaptor.getPads(), adaptor.getDilations(),
                       adaptor.getCeilMode()};
  return inferPool({location, getOperationName()}, adaptor.getOperands(),
                   window, types);
}

bool GlobalAvgPoolOp::averages() { return true; }

LogicalResult
GlobalAvgPoolOp::inferReturnTypes(MLIRContext *,
                                  std::optional<Location> location,
                                  Adaptor adaptor, Types &types) {
  return inferGlobalPool({location, getOperationName()}, adaptor.getOperands(),
                         types);
}

LogicalResult
GlobalMaxPoolOp::inferReturnTypes(MLIRContext *,
                                  std::optional<Location> location,
                                  Adaptor adaptor, Types &types) {
  return inferGlobalPool({location, getOperationName()}, adaptor.getOperands(),
                         types);
}
