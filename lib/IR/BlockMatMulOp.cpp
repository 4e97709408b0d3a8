//===- BlockMatMulOp.cpp - Products with weights in blocks ------*- C++ -*-===//
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

/// Checks an operand that holds numbers, or stored integers.
static LogicalResult checkElements(const Reporter &report, StringRef name,
                                   RankedTensorType type, bool isStored) {
  Type element = type.getElementType();
  // C6
  if (isStored ? !element.isUnsignedInteger(8) : !element.isF32())
    return report("expects ", name, " of ", isStored ? "ui8" : "f32", ", got ",
                  element);
  // C7
  return checkRowMajor(report, name, type);
}

LogicalResult BlockMatMulOp::inferReturnTypes(MLIRContext *,
                                              std::optional<Location> location,
                                              Adaptor adaptor, Types &types) {
  Reporter report{location, getOperationName()};
  if (failed(checkStatic(report, adaptor.getOperands())))
    return failure();
  SmallVector<ArrayRef<int64_t>, 4> shapes;
  for (Value operand : adaptor.getOperands())
    shapes.push_back(getTensorType(operand).getShape());
  // C1 to C5
  std::string fault =
      findBlockMatMulFault(shapes, static_cast<int64_t>(adaptor.getBits()),
                           static_cast<int64_t>(adaptor.getBlockSize()));
  if (!fault.empty())
    return report(fault);
  constexpr StringLiteral names[] = {"a lhs", "weights", "scales",
                                     "zero points"};
  for (auto [index, operand] : llvm::enumerate(adaptor.getOperands()))
    if (failed(checkElements(report, names[index], getTensorType(operand),
                             /*isStored=*/index == 1 || index == 3)))
      return failure();
  RankedTensorType lhs = getTensorType(adaptor.getLhs());
  types.push_back(lhs.clone(blockMatMulShape(shapes[0], shapes[1])));
  return success();
}

bool BlockMatMulOp::accumulates() { return true; }
