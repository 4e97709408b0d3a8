//===- Movement.cpp - The way in which elements change places ---*- C++ -*-===//
//
// Part of Tarpon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Movement.h"
#include "Regions.h"

#include "llvm/ADT/STLExtras.h"

using namespace mlir;
using namespace tarpon;
using namespace tarpon::detail;

TransposeOp tarpon::detail::getTranspose(Operation *op) {
  auto region = dyn_cast<FusedOp>(op);
  if (!region)
    return dyn_cast<TransposeOp>(op);
  auto transpose = dyn_cast<TransposeOp>(region.getRoot());
  return transpose && isa<YieldOp>(transpose->getNextNode()) &&
                 isa<BlockArgument>(transpose.getInput())
             ? transpose
             : TransposeOp();
}

Movement::Movement(ArrayRef<int64_t> shape) : dims(shape.size()) {
  int64_t distance = 1;
  for (auto [dim, size] : llvm::reverse(llvm::zip_equal(dims, shape))) {
    assert(size != 0 && "an empty tensor has no places");
    if (size != 1)
      dim.push_back({size, distance});
    distance *= size;
  }
}

bool Movement::reshape(ArrayRef<int64_t> shape) {
  // The digits that are left, the outermost one last.
  SmallVector<Digit> left;
  for (const Dim &dim : llvm::reverse(dims))
    left.append(dim.rbegin(), dim.rend());
  SmallVector<Dim, 6> reshaped;
  for (int64_t size : shape) {
    Dim &dim = reshaped.emplace_back();
    while (size > 1) {
      if (left.empty())
        return false;
      Digit &digit = left.back();
      if (size % digit.size == 0) {
        size /= digit.size;
        dim.push_back(left.pop_back_val());
        continue;
      }
      if (digit.size % size != 0)
        return false;
      digit.size /= size;
      dim.push_back({size, digit.distance * digit.size});
      size = 1;
    }
  }
  assert(left.empty() && "a reshape keeps the number of elements");
  dims = std::move(reshaped);
  return true;
}

void Movement::transpose(ArrayRef<int64_t> permutation) {
  SmallVector<Dim, 6> transposed;
  for (int64_t dim : permutation)
    transposed.push_back(dims[dim]);
  dims = std::move(transposed);
}

bool Movement::append(Operation *op) {
  if (auto reshapeOp = dyn_cast<ReshapeOp>(op))
    return reshape(reshapeOp.getType().getShape());
  TransposeOp transposeOp = getTranspose(op);
  if (!transposeOp)
    return false;
  transpose(transposeOp.getPermutation());
  return true;
}

SmallVector<int64_t> Movement::getShape() const {
  SmallVector<int64_t> shape;
  for (const Dim &dim : dims) {
    int64_t size = 1;
    for (const Digit &digit : dim)
      size *= digit.size;
    shape.push_back(size);
  }
  return shape;
}

SmallVector<Movement::Digit> Movement::getDigits() const {
  SmallVector<Digit> digits;
  for (const Dim &dim : dims)
    for (const Digit &digit : dim) {
      bool continues = !digits.empty() &&
                       digits.back().distance == digit.size * digit.distance;
      if (continues)
        digits.back() = {digits.back().size * digit.size, digit.distance};
      else
        digits.push_back(digit);
    }
  return digits;
}

bool Movement::keepsOrder() const { return getDigits().size() <= 1; }

Value Movement::create(OpBuilder &builder, Location location, Value source,
                       RankedTensorType type) const {
  SmallVector<Digit> digits = getDigits();
  if (digits.size() <= 1)
    return builder.createOrFold<ReshapeOp>(location, type, source);
  // The digits in the order of the source.
  auto order = llvm::to_vector(llvm::seq<int64_t>(0, digits.size()));
  llvm::sort(order, [&](int64_t a, int64_t b) {
    return digits[a].distance > digits[b].distance;
  });
  SmallVector<int64_t> sizes, permutation(digits.size());
  for (auto [place, digit] : llvm::enumerate(order)) {
    sizes.push_back(digits[digit].size);
    permutation[digit] = static_cast<int64_t>(place);
  }
  Value split = builder.createOrFold<ReshapeOp>(
      location, RankedTensorType::get(sizes, type.getElementType()), source);
  Value moved = TransposeOp::create(builder, location, split, permutation);
  return builder.createOrFold<ReshapeOp>(location, type, moved);
}
