//===- SmoothResize.cpp - Resizes that average ----------------------------===//
//
// Part of Tarpon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A dimension that becomes smaller is interpolated by wider weights, so that
// all of its elements count. This is a product with a constant matrix.
//
//===----------------------------------------------------------------------===//

#include "SmoothResize.h"

#include <algorithm>
#include <cmath>
#include <numeric>

using namespace mlir;

namespace tarpon {

/// Adds the weights that the elements of the input have in a place of the
/// result. Elements in front of the input equal its first one, and likewise at
/// its end.
void SmoothResize::addRow(int64_t place, MutableArrayRef<double> row) const {
  double at = locate(static_cast<double>(place));
  // Narrow weights are for dimensions that become larger.
  double stretch = std::min(scale, 1.0), reach = isCubic ? 2 : 1;
  // A place on an element counts as one just behind the element before it.
  double before = std::ceil(at) - 1;
  double first = before + std::floor(-reach / stretch) + 1;
  double last = 2 * before + 1 - first;
  SmallVector<double> weights;
  for (double index = first; index <= last; ++index) {
    double distance = stretch * (index - at);
    weights.push_back(isCubic ? weighCubic(distance, cubicA)
                              : std::max(1 - std::fabs(distance), 0.0));
  }
  double sum = std::accumulate(weights.begin(), weights.end(), 0.0);
  double counted = 0;
  for (size_t i = 0; i < weights.size(); ++i) {
    double index = first + static_cast<double>(i);
    bool isOutside = index < 0 || index >= in;
    double weight = excludeOutside && isOutside ? 0 : weights[i] / sum;
    counted += weight;
    row[static_cast<size_t>(std::clamp(index, 0.0, in - 1))] += weight;
  }
  if (excludeOutside && counted != 0)
    for (double &weight : row)
      weight /= counted;
}

Value SmoothResize::apply(OnnxNode &node, Value value, int64_t dim) const {
  if (!value)
    return nullptr;
  SmallVector<int64_t> shape(getShape(value));
  Type elementType = getTensorType(value).getElementType();
  auto size = static_cast<int64_t>(out);
  std::vector<double> matrix(size * shape[dim], 0.0);
  for (int64_t place = 0; place < size; ++place)
    addRow(place,
           MutableArrayRef(matrix).slice(place * shape[dim], shape[dim]));
  Value weights = node.createFloats(matrix, {size, shape[dim]}, elementType);
  int64_t outer = multiply(ArrayRef(shape).take_front(dim)),
          inner = multiply(ArrayRef(shape).drop_front(dim + 1));
  OpBuilder &builder = node.getBuilder();
  Value product;
  if (inner == 1)
    product = node.create<MatMulOp>(node.reshape(value, {outer, shape[dim]}),
                                    weights, builder.getBoolAttr(false),
                                    builder.getBoolAttr(true));
  else
    product = node.create<MatMulOp>(
        weights, node.reshape(value, {outer, shape[dim], inner}),
        builder.getBoolAttr(false), builder.getBoolAttr(false));
  shape[dim] = size;
  return node.reshape(product, shape);
}

} // namespace tarpon
