//===- DetOp.cpp - Import of determinants ---------------------------------===//
//
// Part of Tarpon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "OnnxNode.h"
#include "OpTable.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/Sequence.h"

using namespace mlir;

namespace tarpon {

/// The number of terms grows with the factorial of the rows.
static constexpr int64_t maxRows = 4;

/// The determinant of the last columns of the matrices, as many as there are
/// `rows`, expanded along the first of these columns.
static Value expand(OnnxNode &node, Value matrices, ArrayRef<int64_t> rows) {
  auto size = static_cast<int64_t>(rows.size());
  int64_t rank = getShape(matrices).size();
  int64_t column = getShape(matrices).back() - size;
  Value total;
  for (int64_t i = 0; i < size; ++i) {
    Value element = node.slice(node.slice(matrices, rank - 1, column, 1),
                               rank - 2, rows[i], 1);
    SmallVector<int64_t> others(rows);
    others.erase(others.begin() + i);
    if (size > 1)
      element = node.create<MulOp>(element, expand(node, matrices, others));
    if (!total)
      total = element;
    else if (i % 2 == 1)
      total = node.create<SubOp>(total, element);
    else
      total = node.create<AddOp>(total, element);
  }
  return total;
}

void importDet(OnnxNode &node) {
  Value input = node.getInput(0);
  RankedTensorType type = getTensorType(input);
  ArrayRef<int64_t> shape = type.getShape();
  if (shape.size() < 2 || shape.back() != shape[shape.size() - 2] ||
      shape.back() == 0 || !isa<FloatType>(type.getElementType())) {
    node.emitError() << "expects square matrices of floats, got " << type;
    return;
  }
  if (shape.back() > maxRows) {
    node.emitError() << "determinants of more than " << maxRows
                     << " rows are not supported, got " << type;
    return;
  }
  Type f64 = node.getBuilder().getF64Type();
  Value result = expand(node, node.convert(input, f64),
                        llvm::to_vector(llvm::seq<int64_t>(0, shape.back())));
  node.setOutput(0, node.convert(node.reshape(result, shape.drop_back(2)),
                                 type.getElementType()));
}

} // namespace tarpon
