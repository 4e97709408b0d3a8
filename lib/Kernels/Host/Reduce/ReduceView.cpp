//===- ReduceView.cpp - A reduction as loops over memory ------------------===//
//
// Part of Tarpon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "ReduceView.h"

#include "Common/TensorAccess.h"

#include "llvm/ADT/STLExtras.h"

using namespace mlir;
using namespace tarpon;

namespace {
struct MemoryDim {
  ReduceView::Dim dim;
  bool isReduced;
};
} // namespace

/// The dimensions of more than one element, outermost first.
static SmallVector<MemoryDim> getMemoryDims(const TensorDesc &operand,
                                            ArrayRef<int64_t> axes,
                                            bool keepDims,
                                            const TensorDesc &result) {
  std::vector<int64_t> from = getStrides(operand), to = getStrides(result);
  SmallVector<MemoryDim> dims;
  int64_t place = 0;
  for (int64_t d = 0; d < operand.rank(); ++d) {
    bool isReduced = llvm::is_contained(axes, d);
    int64_t stride = isReduced ? 0 : to[keepDims ? d : place];
    place += !isReduced;
    if (operand.shape[d] > 1)
      dims.push_back({{operand.shape[d], from[d], stride}, isReduced});
  }
  llvm::sort(dims, [](const MemoryDim &a, const MemoryDim &b) {
    return a.dim.from > b.dim.from;
  });
  return dims;
}

/// Merges neighbouring dimensions of one kind.
static SmallVector<MemoryDim> mergeDims(ArrayRef<MemoryDim> dims) {
  SmallVector<MemoryDim> merged;
  for (const MemoryDim &next : dims) {
    if (!merged.empty() && merged.back().isReduced == next.isReduced) {
      ReduceView::Dim &dim = merged.back().dim;
      if (next.isReduced || dim.to == next.dim.size * next.dim.to) {
        dim = {dim.size * next.dim.size, next.dim.from, next.dim.to};
        continue;
      }
    }
    merged.push_back(next);
  }
  return merged;
}

std::optional<ReduceView> ReduceView::get(const TensorDesc &operand,
                                          ArrayRef<int64_t> axes, bool keepDims,
                                          const TensorDesc &result) {
  if (operand.layout.kind == Layout::Blocked ||
      result.layout.kind == Layout::Blocked)
    return std::nullopt;
  SmallVector<MemoryDim> dims =
      mergeDims(getMemoryDims(operand, axes, keepDims, result));
  ReduceView view;
  if (dims.empty())
    return view;
  MemoryDim last = dims.pop_back_val();
  view.inRows = last.isReduced;
  view.inner = last.dim.size;
  if (!view.inRows && last.dim.to != 1)
    return std::nullopt;
  size_t numKept = 0, numReduced = 0;
  for (const MemoryDim &next : llvm::reverse(dims)) {
    std::array<Dim, 2> &list = next.isReduced ? view.reduced : view.kept;
    size_t &count = next.isReduced ? numReduced : numKept;
    if (count == list.size())
      return std::nullopt;
    // The dimensions are outermost first.
    list[1 - count++] = next.dim;
  }
  return view;
}
