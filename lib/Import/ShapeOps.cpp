//===- ShapeOps.cpp - Import of operators that only reshape -----*- C++ -*-===//
//
// Part of Tarpon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Shapes are known, so that Shape and Size are constants, and values computed
// from them fold when they are built; but for sizes that depend on data.
//
//===----------------------------------------------------------------------===//

#include "OpTable.h"
#include "SizeValues.h"

#include "llvm/ADT/STLExtras.h"

using namespace mlir;

namespace tarpon {

void importIdentity(OnnxNode &node) { node.setOutput(0, node.getInput(0)); }

void importTranspose(OnnxNode &node) {
  Value input = node.getInput(0);
  SmallVector<int64_t> permutation = node.getInts("perm");
  if (!node.hasAttribute("perm"))
    for (int64_t i = getShape(input).size() - 1; i >= 0; --i)
      permutation.push_back(i);
  node.setOutput(
      0, node.create<TransposeOp>(
             input, node.getBuilder().getDenseI64ArrayAttr(permutation)));
}

//===----------------------------------------------------------------------===//
// Reshape
//===----------------------------------------------------------------------===//

/// Replaces zeros, which mean "as in the input".
static bool copyDims(OnnxNode &node, ArrayRef<int64_t> input,
                     SmallVectorImpl<int64_t> &shape) {
  for (size_t i = 0; i < shape.size(); ++i) {
    if (shape[i] != 0)
      continue;
    if (i >= input.size()) {
      node.emitError() << "dimension " << i << " of the shape [" << shape
                       << "] is 0, but the input has rank " << input.size();
      return false;
    }
    shape[i] = input[i];
  }
  return true;
}

/// Replaces the only -1, if there is one, and checks the number of elements.
static bool inferDim(OnnxNode &node, ArrayRef<int64_t> input,
                     SmallVectorImpl<int64_t> &shape) {
  SmallVector<int64_t> known(shape.begin(), shape.end());
  int64_t *inferred = llvm::find(known, -1);
  bool hasInferred = inferred != known.end();
  if (hasInferred)
    *inferred = 1;
  std::optional<int64_t> count = countElements(known);
  int64_t wanted = multiply(input);
  if (count && hasInferred && *count > 0 && wanted % *count == 0) {
    *inferred = wanted / *count;
    shape.assign(known.begin(), known.end());
    return true;
  }
  if (count && !hasInferred && *count == wanted)
    return true;
  node.emitError() << "the shape [" << shape << "] does not fit the " << wanted
                   << " elements of the input";
  return false;
}

void importReshape(OnnxNode &node) {
  Value input = node.getInput(0);
  auto sizes = node.getSizes(1, "the shape");
  bool allowZero = node.getBool("allowzero", false);
  SmallVector<int64_t> shape;
  RealSizes real;
  if (!sizes || node.hasFailed() ||
      failed(readShape(node, node.getInput(1), *sizes, shape, real)))
    return;
  if (!real.empty() && node.findRealSizes(input).empty() &&
      llvm::is_contained(shape, -1)) {
    node.emitError() << "the size of dimension " << real.front().dim
                     << " depends on data, and so would the one that is -1, "
                        "but none of the input does";
    return;
  }
  if (!allowZero && !copyDims(node, getShape(input), shape))
    return;
  if (inferDim(node, getShape(input), shape))
    node.setOutput(0, node.reshape(input, shape));
}

void importFlatten(OnnxNode &node) {
  Value input = node.getInput(0);
  ArrayRef<int64_t> shape = getShape(input);
  int64_t axis = node.getAxis("axis", 1, shape.size(), /*isInsertion=*/true);
  if (node.hasFailed())
    return;
  node.setOutput(0, node.reshape(input, {multiply(shape.take_front(axis)),
                                         multiply(shape.drop_front(axis))}));
}

//===----------------------------------------------------------------------===//
// Squeeze and Unsqueeze
//===----------------------------------------------------------------------===//

/// The axes are an attribute before opset 13 and an input since then. Empty if
/// absent.
static std::optional<SmallVector<int64_t>> readAxes(OnnxNode &node) {
  if (node.hasInput(1))
    return node.getConstantInts(1, "the input axes");
  return node.getInts("axes");
}

void importSqueeze(OnnxNode &node) {
  Value input = node.getInput(0);
  ArrayRef<int64_t> shape = getShape(input);
  std::optional<SmallVector<int64_t>> axes = readAxes(node);
  if (axes)
    axes = node.normalizeAxes(*axes, shape.size());
  if (!axes || node.hasFailed())
    return;
  bool all = !node.hasInput(1) && !node.hasAttribute("axes");
  RealSizes real = node.findRealSizes(input);
  if (all && !real.empty()) {
    node.emitError() << "the size of dimension " << real.front().dim
                     << " depends on data, so that it may be 1 or not; "
                        "expected axes";
    return;
  }
  SmallVector<int64_t> result;
  for (auto [i, size] : llvm::enumerate(shape)) {
    bool removed = all ? size == 1 : llvm::is_contained(*axes, i);
    if (removed && size != 1) {
      node.emitError() << "dimension " << i << " cannot be removed: it is "
                       << size << ", not 1";
      return;
    }
    if (!removed)
      result.push_back(size);
  }
  node.setOutput(0, node.reshape(input, result));
}

void importUnsqueeze(OnnxNode &node) {
  Value input = node.getInput(0);
  std::optional<SmallVector<int64_t>> axes = readAxes(node);
  if (!axes || node.hasFailed())
    return;
  if (axes->empty()) {
    node.emitError() << "the axes are missing";
    return;
  }
  SmallVector<int64_t> shape(getShape(input));
  axes = node.normalizeAxes(*axes, shape.size() + axes->size());
  if (!axes)
    return;
  for (int64_t axis : *axes)
    shape.insert(shape.begin() + axis, 1);
  node.setOutput(0, node.reshape(input, shape));
}

//===----------------------------------------------------------------------===//
// Blocks of pixels
//===----------------------------------------------------------------------===//

/// Returns the size of a block, which is positive; 0 after an error.
static int64_t readBlockSize(OnnxNode &node) {
  int64_t block = node.getInt("blocksize", 0);
  if (block < 1 || block > 1024)
    node.emitError() << "attribute 'blocksize' is " << block
                     << ", expected 1 to 1024";
  if (getShape(node.getInput(0)).size() != 4)
    node.emitError() << "the input has the rank "
                     << getShape(node.getInput(0)).size() << ", expected 4";
  return node.hasFailed() ? 0 : block;
}

/// Reshapes `value` to `shape`, permutes it, and reshapes it to `result`.
static Value rearrange(OnnxNode &node, Value value, ArrayRef<int64_t> shape,
                       ArrayRef<int64_t> permutation,
                       ArrayRef<int64_t> result) {
  Value blocks = node.reshape(value, shape);
  Value moved = node.create<TransposeOp>(
      blocks, node.getBuilder().getDenseI64ArrayAttr(permutation));
  return node.reshape(moved, result);
}

/// Returns true if the places in a block come before the channels, as opposed
/// to behind them; none after an error.
static std::optional<bool> readIsDcr(OnnxNode &node) {
  std::string mode = node.getString("mode", "DCR");
  if (mode != "DCR" && mode != "CRD")
    node.emitError() << "attribute 'mode' is '" << mode
                     << "', expected DCR or CRD";
  return node.hasFailed() ? std::nullopt : std::optional(mode == "DCR");
}

void importDepthToSpace(OnnxNode &node) {
  int64_t block = readBlockSize(node);
  std::optional<bool> isDcr = readIsDcr(node);
  if (block == 0 || !isDcr)
    return;
  ArrayRef<int64_t> in = getShape(node.getInput(0));
  if (in[1] % (block * block) != 0) {
    node.emitError() << "the " << in[1]
                     << " channels are no multiple of the squared blocksize";
    return;
  }
  int64_t n = in[0], c = in[1] / (block * block), h = in[2], w = in[3];
  SmallVector<int64_t> dcr = {n, block, block, c, h, w},
                       crd = {n, c, block, block, h, w};
  SmallVector<int64_t> fromDcr = {0, 3, 4, 1, 5, 2},
                       fromCrd = {0, 1, 4, 2, 5, 3};
  node.setOutput(0, rearrange(node, node.getInput(0), *isDcr ? dcr : crd,
                              *isDcr ? fromDcr : fromCrd,
                              {n, c, h * block, w * block}));
}

void importSpaceToDepth(OnnxNode &node) {
  int64_t block = readBlockSize(node);
  std::optional<bool> isDcr = readIsDcr(node);
  if (block == 0 || !isDcr)
    return;
  ArrayRef<int64_t> in = getShape(node.getInput(0));
  int64_t n = in[0], c = in[1], h = in[2] / block, w = in[3] / block;
  if (in[2] % block != 0 || in[3] % block != 0) {
    node.emitError() << "the image of " << in[2] << "x" << in[3]
                     << " is no multiple of the blocksize";
    return;
  }
  SmallVector<int64_t> dcr = {0, 3, 5, 1, 2, 4}, crd = {0, 1, 3, 5, 2, 4};
  node.setOutput(0,
                 rearrange(node, node.getInput(0), {n, c, h, block, w, block},
                           *isDcr ? dcr : crd, {n, c * block * block, h, w}));
}

//===----------------------------------------------------------------------===//
// Shape and Size
//===----------------------------------------------------------------------===//

/// The sizes of dimensions `start` to below `end`, some of which depend on
/// data.
static Value createRealShape(OnnxNode &node, Value value, int64_t start,
                             int64_t end) {
  SmallVector<Value> parts;
  for (int64_t dim = start; dim < end; ++dim) {
    std::optional<RealSize> real = node.findRealSize(value, dim);
    parts.push_back(real ? node.reshape(real->size, {1})
                         : node.createInts({getShape(value)[dim]}));
  }
  return node.concat(parts, 0);
}

void importShape(OnnxNode &node) {
  ArrayRef<int64_t> shape = getShape(node.getInput(0));
  int64_t rank = shape.size();
  // Both are clamped to the rank.
  auto readBound = [&](StringRef name, int64_t absent) {
    int64_t bound = node.getInt(name, absent);
    bound = std::clamp(bound, -rank, rank);
    return bound < 0 ? bound + rank : bound;
  };
  int64_t start = readBound("start", 0);
  int64_t end = std::max(readBound("end", rank), start);
  if (node.hasFailed())
    return;
  auto isListed = [&](const RealSize &real) {
    return real.dim >= start && real.dim < end;
  };
  if (llvm::any_of(node.findRealSizes(node.getInput(0)), isListed))
    node.setOutput(0, createRealShape(node, node.getInput(0), start, end));
  else
    node.setOutput(0, node.createInts(shape.slice(start, end - start)));
}

void importSize(OnnxNode &node) {
  SmallVector<int64_t> shape(getShape(node.getInput(0)));
  RealSizes sizes = node.findRealSizes(node.getInput(0));
  for (const RealSize &real : sizes)
    shape[real.dim] = 1;
  Value size = node.createInts(multiply(shape), /*scalar=*/true);
  for (const RealSize &real : sizes)
    size = node.create<MulOp>(size, node.reshape(real.size, {}));
  node.setOutput(0, size);
}

} // namespace tarpon
