//===- SizeRules.cpp - How operators pass real sizes on -------------------===//
//
// Part of Tarpon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "SizeRules.h"

#include "Pads.h"
#include "RealResize.h"
#include "Reduction.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;

namespace tarpon {

using Followed = FollowedSize;

static Value createSize(OnnxNode &node, int64_t size) {
  return node.createInts({size});
}

static Followed refuse() { return {/*isRefused=*/true, std::nullopt}; }

static Followed pass(const RealSize &real, int64_t dim) {
  return {false, RealSize{dim, real.size}};
}

/// The operator combines the slices, or gives its results sizes itself.
static Followed end(OnnxNode &, unsigned, const RealSize &, ArrayRef<int64_t>) {
  return {};
}

static ArrayRef<int64_t> getInputShape(OnnxNode &node, unsigned index) {
  return getShape(node.getInput(index));
}

static int64_t getRank(ArrayRef<int64_t> shape) {
  return static_cast<int64_t>(shape.size());
}

bool hasFixedSize(OnnxNode &node, unsigned index, int64_t dim) {
  int64_t behind = getRank(getInputShape(node, index)) - dim;
  if (node.getOpType() == "Expand") {
    auto sizes = node.getSizes(1, "the shape");
    int64_t place = (sizes ? static_cast<int64_t>(sizes->size()) : 0) - behind;
    return place >= 0 && (*sizes)[place].isKnown() && (*sizes)[place].least > 1;
  }
  // Rows and columns do not broadcast.
  if (node.getOpType() == "MatMul" && behind <= 2)
    return false;
  for (unsigned i = 0; i < node.getNumInputs(); ++i) {
    if (i == index || !node.hasInput(i))
      continue;
    ArrayRef<int64_t> other = getInputShape(node, i);
    int64_t place = getRank(other) - behind;
    if (place >= 0 && other[place] > 1 &&
        !node.findRealSize(node.getInput(i), place))
      return true;
  }
  return false;
}

/// Shapes broadcast: other inputs have the same real size, or one slice for
/// all. Where one has a size that depends on nothing, that is the result's.
static Followed followBroadcast(OnnxNode &node, unsigned index,
                                const RealSize &real,
                                ArrayRef<int64_t> result) {
  ArrayRef<int64_t> input = getInputShape(node, index);
  int64_t place = getRank(result) - (getRank(input) - real.dim);
  if (place < 0 || result[place] != input[real.dim])
    return refuse();
  return hasFixedSize(node, index, real.dim) ? Followed() : pass(real, place);
}

/// The first dimension is that of separate items.
static Followed followItems(OnnxNode &node, unsigned index,
                            const RealSize &real, ArrayRef<int64_t> result) {
  bool isItem = index == 0 && real.dim == 0 && !result.empty() &&
                result.front() == getInputShape(node, 0).front();
  return isItem ? pass(real, 0) : refuse();
}

/// Training takes the statistics of all items.
static Followed followBatchNorm(OnnxNode &node, unsigned index,
                                const RealSize &real,
                                ArrayRef<int64_t> result) {
  if (node.getBool("training_mode", false) || node.getNumOutputs() > 1)
    return refuse();
  return followItems(node, index, real, result);
}

/// Without an axis, the input is flattened.
static Followed followCompress(OnnxNode &node, unsigned index,
                               const RealSize &real, ArrayRef<int64_t>) {
  ArrayRef<int64_t> data = getInputShape(node, 0);
  if (index == 1)
    return {};
  if (!node.hasAttribute("axis"))
    return multiply(data.take_front(real.dim)) == 1 ? Followed() : refuse();
  bool isAlong = node.getAxis("axis", 0, getRank(data)) == real.dim;
  return isAlong ? Followed() : pass(real, real.dim);
}

static Followed followRegions(OnnxNode &, unsigned index, const RealSize &real,
                              ArrayRef<int64_t>) {
  return index != 0 && real.dim == 0 ? pass(real, 0) : refuse();
}

/// The shape of the indices replaces the axis. Indices that do not count may be
/// any: those out of range are moved into it.
static Followed followGather(OnnxNode &node, unsigned index,
                             const RealSize &real, ArrayRef<int64_t> result) {
  int64_t rank = getRank(getInputShape(node, 0));
  int64_t axis = node.getAxis("axis", 0, rank);
  if (index == 1)
    return pass(real, axis + real.dim);
  if (real.dim == axis)
    return {};
  int64_t dim = real.dim;
  return pass(real, dim < axis ? dim : dim + getRank(result) - rank);
}

static Followed followGatherElements(OnnxNode &, unsigned index,
                                     const RealSize &real, ArrayRef<int64_t>) {
  return index == 1 ? pass(real, real.dim) : Followed();
}

static Followed followGatherND(OnnxNode &node, unsigned index,
                               const RealSize &real, ArrayRef<int64_t> result) {
  ArrayRef<int64_t> places = getInputShape(node, 1);
  if (index == 1)
    return real.dim + 1 < getRank(places) ? pass(real, real.dim) : refuse();
  int64_t batch = node.getInt("batch_dims", 0);
  if (real.dim < batch)
    return refuse();
  if (real.dim < batch + places.back())
    return {};
  int64_t behind = getRank(getInputShape(node, 0)) - real.dim;
  return pass(real, getRank(result) - behind);
}

/// Updates that do not count are written nowhere.
static Followed followScatter(OnnxNode &node, unsigned index,
                              const RealSize &real, ArrayRef<int64_t>) {
  if (index == 0)
    return pass(real, real.dim);
  bool isRow = real.dim + 1 < getRank(getInputShape(node, 1));
  return isRow || node.getOpType() == "ScatterElements" ? Followed() : refuse();
}

static Followed followTranspose(OnnxNode &node, unsigned, const RealSize &real,
                                ArrayRef<int64_t> result) {
  SmallVector<int64_t> permutation = node.getInts("perm");
  if (permutation.empty())
    return pass(real, getRank(result) - 1 - real.dim);
  return pass(real, llvm::find(permutation, real.dim) - permutation.begin());
}

/// Returns the value and the constant that a product is of; the size and 1 for
/// all others.
static std::pair<Value, int64_t> splitProduct(Value size) {
  if (auto product = size.getDefiningOp<MulOp>())
    if (ElementsAttr factor = OnnxNode::getConstant(product.getRhs()))
      return {product.getLhs(), readInts(factor).front()};
  return {size, 1};
}

/// Multiplies a size by a quotient, of which one number divides the other.
static Followed scale(OnnxNode &node, const RealSize &real, int64_t dim,
                      int64_t numerator, int64_t denominator) {
  auto [size, factor] = splitProduct(real.size);
  if (llvm::MulOverflow(factor, numerator, factor))
    return refuse();
  if (factor % denominator == 0)
    factor /= denominator;
  else if (numerator == 1 || denominator % numerator != 0)
    return refuse();
  else
    return {false,
            RealSize{dim, node.create<DivOp>(
                              real.size,
                              createSize(node, denominator / numerator))}};
  if (factor != 1)
    size = node.create<MulOp>(size, createSize(node, factor));
  return {false, RealSize{dim, size}};
}

/// Finds the dimension with as many elements in front of it, of which others
/// behind it may have become part, or which may be split. A size of 1 is the
/// size of too many dimensions, and of several real ones each has to stay.
static Followed followView(OnnxNode &node, unsigned index, const RealSize &real,
                           ArrayRef<int64_t> result) {
  ArrayRef<int64_t> input = getInputShape(node, index);
  int64_t size = input[real.dim], before = multiply(input.take_front(real.dim));
  if (index != 0 || size < 2)
    return refuse();
  bool isAlone = node.findRealSizes(node.getInput(0)).size() == 1;
  for (int64_t dim = 0; dim < getRank(result); ++dim) {
    if (multiply(result.take_front(dim)) != before || result[dim] < 2)
      continue;
    if (result[dim] == size)
      return pass(real, dim);
    return isAlone ? scale(node, real, dim, result[dim], size) : refuse();
  }
  return refuse();
}

static bool isInferred(const SizeElement &element) {
  return element.isKnown() && element.least == -1;
}

/// Returns true if an element of the shape is the followed size. Without a -1,
/// the number of elements leaves no other value to the only one.
static bool isFollowedSize(const SizeElement &element, const RealSize &real,
                           const RealSize &followed, bool isImplied) {
  if (!element.isKnown())
    return isImplied || element.size == followed.size;
  return isInferred(element) ||
         (element.least == 0 && real.dim == followed.dim);
}

/// A size that the model names is no real one, and one that depends on data is
/// that of the dimension that it is named for: others of as many slices would
/// move elements.
static Followed followReshape(OnnxNode &node, unsigned index,
                              const RealSize &real, ArrayRef<int64_t> result) {
  auto shape = node.getSizes(1, "the shape");
  Followed followed = followView(node, index, real, result);
  if (!shape || !followed.size)
    return refuse();
  RealSizes sizes = node.findRealSizes(node.getInput(0));
  bool isAlone = sizes.size() == 1;
  bool isImplied = isAlone && llvm::none_of(*shape, isInferred);
  auto isOfInput = [&](const SizeElement &element) {
    return llvm::any_of(sizes, [&](const RealSize &known) {
      return known.size == element.size;
    });
  };
  for (auto [dim, element] : llvm::enumerate(*shape)) {
    bool isFollowed = static_cast<int64_t>(dim) == followed.size->dim;
    bool fits = isFollowed
                    ? isFollowedSize(element, real, *followed.size, isImplied)
                    : element.isKnown() || (!isAlone && isOfInput(element));
    if (!fits)
      return refuse();
  }
  return followed;
}

/// The importer gives the result sizes where it slices.
static Followed followSlice(OnnxNode &node, unsigned index,
                            const RealSize &real, ArrayRef<int64_t>) {
  if (index != 0)
    return refuse();
  bool isSliced = node.hasOwnSize(0) &&
                  node.findRealSize(node.getOutput(0), real.dim).has_value();
  return isSliced ? Followed() : pass(real, real.dim);
}

/// Slices along other dimensions, and parts of them.
static Followed followOtherAxis(OnnxNode &node, const RealSize &real,
                                int64_t defaultAxis) {
  int64_t axis =
      node.getAxis("axis", defaultAxis, getRank(getInputShape(node, 0)));
  return axis == real.dim ? refuse() : pass(real, real.dim);
}

static Followed followSplit(OnnxNode &node, unsigned, const RealSize &real,
                            ArrayRef<int64_t>) {
  return followOtherAxis(node, real, 0);
}

/// The importer gives the results sizes along the axis.
static Followed followTopK(OnnxNode &node, unsigned index, const RealSize &real,
                           ArrayRef<int64_t>) {
  Followed followed = followOtherAxis(node, real, -1);
  return index != 0 || followed.isRefused ? Followed() : followed;
}

/// Before opset 13, all dimensions from the axis on are one.
static Followed followSoftmax(OnnxNode &node, unsigned, const RealSize &real,
                              ArrayRef<int64_t> result) {
  bool isFlat = node.getOpset() < 13;
  int64_t axis = node.getAxis("axis", isFlat ? 1 : -1, getRank(result));
  return isFlat && real.dim > axis ? refuse() : pass(real, real.dim);
}

static Followed followNorm(OnnxNode &node, unsigned index, const RealSize &real,
                           ArrayRef<int64_t> result) {
  int64_t axis = node.getAxis("axis", -1, getRank(result));
  return index == 0 && real.dim < axis ? pass(real, real.dim) : refuse();
}

/// No element is moved along the dimension.
static Followed followPad(OnnxNode &node, unsigned index, const RealSize &real,
                          ArrayRef<int64_t> result) {
  auto pads = readPads(node, getRank(result));
  bool stays =
      pads && (*pads)[real.dim] == 0 && (*pads)[result.size() + real.dim] == 0;
  return index == 0 && stays ? pass(real, real.dim) : refuse();
}

static Followed followTile(OnnxNode &node, unsigned index, const RealSize &real,
                           ArrayRef<int64_t> result) {
  bool isOnce =
      index == 0 && result[real.dim] == getInputShape(node, index)[real.dim];
  return isOnce ? pass(real, real.dim) : refuse();
}

/// The importer gives the result sizes where it resizes.
static Followed followResize(OnnxNode &node, unsigned index,
                             const RealSize &real, ArrayRef<int64_t> result) {
  if (node.hasOwnSize(0) && node.findRealSize(node.getOutput(0), real.dim))
    return {};
  bool stays = index == 0 && keepsDimension(node, real.dim) &&
               result[real.dim] == getInputShape(node, index)[real.dim];
  return stays ? pass(real, real.dim) : refuse();
}

static Followed followReduce(OnnxNode &node, unsigned index,
                             const RealSize &real, ArrayRef<int64_t> result) {
  int64_t rank = getRank(getInputShape(node, 0));
  std::optional<SmallVector<int64_t>> axes;
  bool isArg = node.getOpType().starts_with("Arg");
  if (isArg)
    axes = {node.getAxis("axis", 0, rank)};
  else
    axes = readReducedAxes(node, rank);
  // The last of equal elements may be one that does not count. An input that is
  // not reduced, but has one slice at most, looks like a reduced one.
  if (!axes || index != 0 ||
      (isArg && node.getBool("select_last_index", false)) ||
      (!isArg && node.getBool("noop_with_empty_axes", false)))
    return refuse();
  if (getRank(result) == rank && result[real.dim] > 1)
    return pass(real, real.dim);
  if (llvm::is_contained(*axes, real.dim))
    return {};
  int64_t removed = 0;
  if (getRank(result) != rank)
    removed =
        llvm::count_if(*axes, [&](int64_t axis) { return axis < real.dim; });
  return pass(real, real.dim - removed);
}

static Followed followMatMul(OnnxNode &node, unsigned index,
                             const RealSize &real, ArrayRef<int64_t> result) {
  int64_t rank = getRank(getInputShape(node, index));
  int64_t behind = rank - real.dim;
  bool isVector = llvm::any_of(ArrayRef<unsigned>{0, 1}, [&](unsigned i) {
    return getInputShape(node, i).size() < 2;
  });
  if (isVector || (index == 0 ? behind == 1 : behind == 2))
    return refuse();
  return followBroadcast(node, index, real, result);
}

static Followed followGemm(OnnxNode &node, unsigned index, const RealSize &real,
                           ArrayRef<int64_t>) {
  if (index == 0)
    return real.dim == node.getInt("transA", 0) ? pass(real, 0) : refuse();
  if (index == 1)
    return real.dim == 1 - node.getInt("transB", 0) ? pass(real, 1) : refuse();
  return refuse();
}

//===----------------------------------------------------------------------===//
// The table
//===----------------------------------------------------------------------===//

const SizeRow *findSizeRow(const OpRow &row) {
  using enum Fill;
  static constexpr SizeRow kRows[] = {
#define SIZE_RULE(NAME, RULE, FILL0, FILL1)                                    \
  {import##NAME, RULE, {FILL0, FILL1}},
#include "SizeRules.def"
  };
  // Operators of other domains share importers.
  if (!row.domain.empty())
    return nullptr;
  const SizeRow *found = llvm::find_if(
      kRows, [&](const SizeRow &size) { return size.importer == row.import; });
  return found == std::end(kRows) ? nullptr : found;
}

} // namespace tarpon
