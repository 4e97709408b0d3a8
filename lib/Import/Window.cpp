//===- Window.cpp - The attributes of sliding windows -----------*- C++ -*-===//
//
// Part of Tarpon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Window.h"

#include "llvm/ADT/STLExtras.h"

#include <limits>

using namespace mlir;

namespace tarpon {

/// Reads a list of `count` integers of at least `min`, or makes one of
/// `defaultValue`. The upper bound keeps sums and products of a few of them in
/// int64_t.
static SmallVector<int64_t> readList(OnnxNode &node, StringRef name,
                                     size_t count, int64_t min,
                                     int64_t defaultValue) {
  SmallVector<int64_t> defaults(count, defaultValue);
  if (!node.hasAttribute(name))
    return defaults;
  SmallVector<int64_t> list = node.getInts(name);
  if (node.hasFailed())
    return defaults;
  if (list.size() != count) {
    node.emitError() << "attribute '" << name << "' has " << list.size()
                     << " entries, expected " << count;
    return defaults;
  }
  for (int64_t value : list)
    if (value < min || value > std::numeric_limits<int32_t>::max())
      node.emitError() << "attribute '" << name << "' has the entry " << value
                       << ", which is out of range";
  return list;
}

static void readKernel(OnnxNode &node, ArrayRef<int64_t> filter,
                       size_t spatialRank, Window &window) {
  if (filter.empty() && !node.hasAttribute("kernel_shape")) {
    node.emitError() << "attribute 'kernel_shape' is missing";
    return;
  }
  window.kernel = readList(node, "kernel_shape", spatialRank, 1, 1);
  if (filter.empty() || node.hasFailed())
    return;
  if (node.hasAttribute("kernel_shape") && ArrayRef(window.kernel) != filter)
    node.emitError() << "attribute 'kernel_shape' is [" << window.kernel
                     << "], but the filter's kernel is [" << filter << "]";
  window.kernel.assign(filter.begin(), filter.end());
}

/// Pads such that a dimension of size n has ceil(n / stride) results.
static void padSame(Window &window, ArrayRef<int64_t> spatial, bool upper) {
  size_t rank = spatial.size();
  for (size_t i = 0; i < rank; ++i) {
    int64_t stride = window.strides[i];
    int64_t places = (spatial[i] + stride - 1) / stride;
    int64_t extent = (window.kernel[i] - 1) * window.dilations[i] + 1;
    int64_t total =
        std::max<int64_t>((places - 1) * stride + extent - spatial[i], 0);
    int64_t begin = upper ? total / 2 : total - total / 2;
    window.pads[i] = begin;
    window.pads[rank + i] = total - begin;
  }
}

/// Reads and checks the attribute auto_pad.
static std::string readAutoPad(OnnxNode &node) {
  std::string mode = node.getString("auto_pad", "NOTSET");
  if (!node.hasFailed() && mode != "NOTSET" && mode != "VALID" &&
      mode != "SAME_UPPER" && mode != "SAME_LOWER")
    node.emitError() << "attribute 'auto_pad' is '" << mode
                     << "', expected NOTSET, SAME_UPPER, SAME_LOWER or VALID";
  return mode;
}

static void applyAutoPad(OnnxNode &node, ArrayRef<int64_t> spatial,
                         Window &window) {
  std::string mode = readAutoPad(node);
  if (node.hasFailed() || mode == "NOTSET")
    return;
  window.autoPadded = true;
  if (mode == "VALID")
    llvm::fill(window.pads, 0);
  else
    padSame(window, spatial, mode == "SAME_UPPER");
}

/// Reads all attributes except auto_pad.
static void readLists(OnnxNode &node, ArrayRef<int64_t> inputShape,
                      ArrayRef<int64_t> filter, Window &window) {
  if (inputShape.size() < 3 || inputShape.size() > 5) {
    node.emitError() << "the input has rank " << inputShape.size()
                     << ", expected 3 to 5";
    return;
  }
  size_t rank = inputShape.size() - 2;
  readKernel(node, filter, rank, window);
  window.strides = readList(node, "strides", rank, 1, 1);
  window.dilations = readList(node, "dilations", rank, 1, 1);
  window.pads = readList(node, "pads", 2 * rank, 0, 0);
}

std::optional<Window> readWindow(OnnxNode &node, ArrayRef<int64_t> inputShape,
                                 ArrayRef<int64_t> filter) {
  Window window;
  readLists(node, inputShape, filter, window);
  if (!node.hasFailed())
    applyAutoPad(node, inputShape.drop_front(2), window);
  if (node.hasFailed())
    return std::nullopt;
  return window;
}

//===----------------------------------------------------------------------===//
// Transposed convolution
//===----------------------------------------------------------------------===//

/// Pads such that the result has the given sizes. Output padding adds the rest
/// that padding cannot.
static void padToShape(SpreadWindow &window, ArrayRef<int64_t> spatial,
                       ArrayRef<int64_t> outputShape, bool upper) {
  size_t rank = spatial.size();
  for (size_t i = 0; i < rank; ++i) {
    int64_t extent = (window.kernel[i] - 1) * window.dilations[i] + 1;
    int64_t total = (spatial[i] - 1) * window.strides[i] +
                    window.outputPadding[i] + extent - outputShape[i];
    if (total < 0)
      window.outputPadding[i] -= total;
    total = std::max<int64_t>(total, 0);
    window.pads[i] = upper ? total / 2 : total - total / 2;
    window.pads[rank + i] = total - window.pads[i];
  }
}

/// Resolves output_shape, or else auto_pad.
static void applyOutputShape(OnnxNode &node, ArrayRef<int64_t> spatial,
                             SpreadWindow &window) {
  size_t rank = spatial.size();
  std::string mode = readAutoPad(node);
  if (node.hasFailed())
    return;
  bool isSame = mode == "SAME_UPPER" || mode == "SAME_LOWER";
  SmallVector<int64_t> shape;
  if (node.hasAttribute("output_shape"))
    shape = readList(node, "output_shape", rank, 1, 1);
  else if (isSame)
    for (size_t i = 0; i < rank; ++i)
      shape.push_back(spatial[i] * window.strides[i]);
  if (mode == "VALID")
    llvm::fill(window.pads, 0);
  if (!shape.empty() && !node.hasFailed())
    padToShape(window, spatial, shape, mode == "SAME_UPPER");
}

std::optional<SpreadWindow> readSpreadWindow(OnnxNode &node,
                                             ArrayRef<int64_t> inputShape,
                                             ArrayRef<int64_t> filter) {
  SpreadWindow window;
  readLists(node, inputShape, filter, window);
  if (node.hasFailed())
    return std::nullopt;
  window.outputPadding =
      readList(node, "output_padding", inputShape.size() - 2, 0, 0);
  if (!node.hasFailed())
    applyOutputShape(node, inputShape.drop_front(2), window);
  if (node.hasFailed())
    return std::nullopt;
  return window;
}

SmallVector<int64_t> splitIndex(int64_t number, ArrayRef<int64_t> sizes) {
  SmallVector<int64_t> indices(sizes.size());
  for (size_t dim = sizes.size(); dim-- > 0; number /= sizes[dim])
    indices[dim] = number % sizes[dim];
  return indices;
}

} // namespace tarpon
