//===- AttentionOp.cpp - Attention ------------------------------*- C++ -*-===//
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

LogicalResult AttentionOp::inferReturnTypes(MLIRContext *,
                                            std::optional<Location> location,
                                            Adaptor adaptor, Types &types) {
  Reporter report{location, getOperationName()};
  if (failed(checkStatic(report, adaptor.getOperands())))
    return failure();
  SmallVector<ArrayRef<int64_t>, 4> shapes;
  for (Value operand : adaptor.getOperands())
    shapes.push_back(getTensorType(operand).getShape());
  // C4
  if (shapes.size() > 4)
    return report("expects one mask at most, got ", shapes.size() - 3);
  // C1 to C5
  std::string fault = findAttentionFault(shapes, adaptor.getCausal());
  if (!fault.empty())
    return report(fault);
  for (Value operand : adaptor.getOperands()) {
    // C6
    if (failed(checkFloat(report, "operands", getTensorType(operand))))
      return failure();
    // C7
    if (failed(checkRowMajor(report, "operands", getTensorType(operand))))
      return failure();
  }
  RankedTensorType query = getTensorType(adaptor.getQuery());
  types.push_back(query.clone(attentionShape(shapes[0], shapes[2])));
  return success();
}
