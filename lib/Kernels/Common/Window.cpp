//===- Window.cpp - Sliding windows of convolution and pooling ------------===//
//
// Part of Tarpon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Window.h"

#include <algorithm>

using namespace mlir;
using namespace tarpon;

Window::Window(LaunchBuilder &launch, const Problem &problem,
               ArrayRef<int64_t> kernel, ArrayRef<int64_t> input)
    : numDims(static_cast<int64_t>(input.size())), first(0) {
  std::vector<int64_t> strides = problem.ints("strides"),
                       pads = problem.ints("pads"),
                       dilations = problem.ints("dilations"), fields;
  for (int64_t dim = 0; dim < numDims; ++dim)
    fields.insert(fields.end(),
                  {kernel[dim], strides[dim], pads[dim], pads[numDims + dim],
                   dilations[dim], input[dim]});
  first = launch.addParams(fields);
}

WindowRange Window::at(KernelBuilder &b, int64_t dim, Value out) const {
  Value zero = b.cst(0), dilation = field(b, dim, Field::Dilation);
  Value start = b.sub(b.mul(out, field(b, dim, Field::Stride)),
                      field(b, dim, Field::Pad));
  Value ahead = b.maxS(b.sub(zero, start), zero);
  Value left = b.maxS(b.sub(field(b, dim, Field::Input), start), zero);
  Value end = b.minS(field(b, dim, Field::Kernel), b.ceilDiv(left, dilation));
  return {start, b.ceilDiv(ahead, dilation), end, dilation};
}

WindowRange Window::inside(KernelBuilder &b, int64_t dim, Value out) const {
  Value start = b.sub(b.mul(out, field(b, dim, Field::Stride)),
                      field(b, dim, Field::Pad));
  return {start, b.cst(0), field(b, dim, Field::Kernel),
          field(b, dim, Field::Dilation)};
}

InsideRange tarpon::getInsideRange(const Problem &problem,
                                   int64_t kernelWidth) {
  std::vector<int64_t> pads = problem.ints("pads");
  int64_t last = static_cast<int64_t>(pads.size()) / 2 - 1;
  int64_t stride = problem.ints("strides")[last], pad = pads[last];
  int64_t extent = problem.ints("dilations")[last] * (kernelWidth - 1) + 1;
  int64_t width = problem.operands[0].shape.back();
  int64_t outWidth = problem.result.shape.back();
  int64_t begin = std::min<int64_t>(llvm::divideCeil(pad, stride), outWidth);
  int64_t room = width + pad - extent;
  int64_t end = room < 0 ? 0 : std::min(room / stride + 1, outWidth);
  return {begin, std::max(begin, end)};
}

Value Window::countWithPadding(KernelBuilder &b, int64_t dim, Value out) const {
  Value start = b.sub(b.mul(out, field(b, dim, Field::Stride)),
                      field(b, dim, Field::Pad));
  Value limit =
      b.add(field(b, dim, Field::Input), field(b, dim, Field::PadEnd));
  Value left = b.maxS(b.sub(limit, start), b.cst(0));
  return b.minS(field(b, dim, Field::Kernel),
                b.ceilDiv(left, field(b, dim, Field::Dilation)));
}

Value Window::count(KernelBuilder &b, const WindowRange &range) {
  return b.maxS(b.sub(range.end, range.begin), b.cst(0));
}

static SmallVector<Value>
forWindowDim(KernelBuilder &b, ArrayRef<WindowRange> ranges,
             SmallVectorImpl<Value> &kernel, SmallVectorImpl<Value> &input,
             ValueRange carried,
             function_ref<SmallVector<Value>(ArrayRef<Value>, ArrayRef<Value>,
                                             ValueRange)>
                 body) {
  size_t dim = kernel.size();
  if (dim == ranges.size())
    return body(kernel, input, carried);
  const WindowRange &range = ranges[dim];
  auto step = [&](Value k, ValueRange values) {
    kernel.push_back(k);
    input.push_back(b.add(range.start, b.mul(k, range.dilation)));
    SmallVector<Value> results =
        forWindowDim(b, ranges, kernel, input, values, body);
    kernel.pop_back();
    input.pop_back();
    return results;
  };
  return b.forLoop(range.begin, range.end, b.cst(1), carried, step);
}

SmallVector<Value>
tarpon::forWindow(KernelBuilder &b, ArrayRef<WindowRange> ranges,
                  ValueRange carried,
                  function_ref<SmallVector<Value>(ArrayRef<Value>,
                                                  ArrayRef<Value>, ValueRange)>
                      body) {
  SmallVector<Value> kernel, input;
  return forWindowDim(b, ranges, kernel, input, carried, body);
}
