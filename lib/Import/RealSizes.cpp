//===- RealSizes.cpp - Sizes that depend on data, passed on -----*- C++ -*-===//
//
// Part of Tarpon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "RealSizes.h"

#include "Reduction.h"
#include "SizeValues.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/Sequence.h"
#include "llvm/ADT/StringSwitch.h"
#include "llvm/Support/MathExtras.h"

#include <limits>

using namespace mlir;

namespace tarpon {

//===----------------------------------------------------------------------===//
// Rules
//===----------------------------------------------------------------------===//

namespace {

/// Tells what becomes of an input's real size in a result.
struct Followed {
  bool isRefused = false;
  /// None if the result's size does not depend on it.
  std::optional<RealSize> size;
};

/// Input `index` of the node has the real size `real`, and the result that
/// shape.
using SizeRule = Followed (*)(OnnxNode &node, unsigned index,
                              const RealSize &real, ArrayRef<int64_t> result);

} // namespace

static Value createSize(OnnxNode &node, int64_t size) {
  return node.createInts({size});
}

static Followed refuse() { return {/*isRefused=*/true, std::nullopt}; }

static Followed pass(const RealSize &real, int64_t dim) {
  return {false, RealSize{dim, real.size}};
}

/// The operator combines the slices, or gives its results a size itself.
static Followed end(OnnxNode &, unsigned, const RealSize &, ArrayRef<int64_t>) {
  return {};
}

static ArrayRef<int64_t> getInputShape(OnnxNode &node, unsigned index) {
  return getShape(node.getInput(index));
}

static int64_t getRank(ArrayRef<int64_t> shape) {
  return static_cast<int64_t>(shape.size());
}

/// Shapes broadcast: other inputs have the same real size, or one slice for
/// all.
static Followed followBroadcast(OnnxNode &node, unsigned index,
                                const RealSize &real,
                                ArrayRef<int64_t> result) {
  ArrayRef<int64_t> input = getInputShape(node, index);
  int64_t place = getRank(result) - (getRank(input) - real.dim);
  if (place < 0 || result[place] != input[real.dim])
    return refuse();
  return pass(real, place);
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
/// size of too many dimensions.
static Followed followView(OnnxNode &node, unsigned index, const RealSize &real,
                           ArrayRef<int64_t> result) {
  ArrayRef<int64_t> input = getInputShape(node, index);
  int64_t size = input[real.dim], before = multiply(input.take_front(real.dim));
  if (index != 0 || size < 2)
    return refuse();
  for (int64_t dim = 0; dim < getRank(result); ++dim) {
    if (multiply(result.take_front(dim)) != before || result[dim] < 2)
      continue;
    if (result[dim] == size)
      return pass(real, dim);
    return scale(node, real, dim, result[dim], size);
  }
  return refuse();
}

/// A size that the model names is no real one, and one that depends on data is
/// that of the dimension that it is named for.
static Followed followReshape(OnnxNode &node, unsigned index,
                              const RealSize &real, ArrayRef<int64_t> result) {
  auto shape = node.getSizes(1, "the shape");
  Followed followed = followView(node, index, real, result);
  if (!shape || !followed.size)
    return refuse();
  for (auto [dim, element] : llvm::enumerate(*shape)) {
    bool isFollowed = static_cast<int64_t>(dim) == followed.size->dim;
    if (isFollowed ? element.isKnown() && element.least > 0
                   : !element.isKnown())
      return refuse();
  }
  return followed;
}

static Followed cut(OnnxNode &node, const RealSize &real, int64_t most,
                    int64_t start, const SizeElement &end, int64_t place) {
  std::optional<RealSize> left = cutSlices(node, real, most, start, end, place);
  return left ? Followed{false, left} : refuse();
}

static bool isOne(const SizeElement &element) {
  return element.isKnown() && element.least == 1;
}

/// The list is an attribute before opset 10, and an input since then.
static std::optional<SizeElements::List>
readSliceList(OnnxNode &node, StringRef name, unsigned index) {
  if (node.hasInput(index))
    return node.getSizes(index, "the " + name.str());
  SizeElements::List list;
  for (int64_t number : node.getInts(name))
    list.push_back({number, number, nullptr});
  return list;
}

static Followed followSlice(OnnxNode &node, unsigned index,
                            const RealSize &real, ArrayRef<int64_t> result) {
  auto starts = readSliceList(node, "starts", 1);
  auto ends = readSliceList(node, "ends", 2);
  auto axes = readSliceList(node, "axes", 3);
  auto steps = readSliceList(node, "steps", 4);
  if (!starts || !ends || !axes || !steps || index != 0)
    return refuse();
  size_t place = 0, count = starts->size();
  auto getAxis = [&](size_t i) {
    return axes->empty()
               ? static_cast<int64_t>(i)
               : node.normalizeAxis((*axes)[i].least, getRank(result));
  };
  while (place < count && getAxis(place) != real.dim)
    ++place;
  if (place == count)
    return pass(real, real.dim);
  bool isPlain = steps->empty() || isOne((*steps)[place]);
  if (!isPlain || !(*starts)[place].isKnown())
    return refuse();
  return cut(node, real, getInputShape(node, 0)[real.dim],
             (*starts)[place].least, (*ends)[place], place);
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

/// The importers of these give their results sizes along the axis.
static Followed followJoined(OnnxNode &node, unsigned index,
                             const RealSize &real, ArrayRef<int64_t>) {
  bool isTopK = node.getOpType() == "TopK";
  if (isTopK && index != 0)
    return {};
  Followed followed = followOtherAxis(node, real, isTopK ? -1 : 0);
  return followed.isRefused ? Followed() : followed;
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

static Followed followReduce(OnnxNode &node, unsigned, const RealSize &real,
                             ArrayRef<int64_t> result) {
  int64_t rank = getRank(getInputShape(node, 0));
  std::optional<SmallVector<int64_t>> axes;
  bool isArg = node.getOpType().starts_with("Arg");
  if (isArg)
    axes = {node.getAxis("axis", 0, rank)};
  else
    axes = readReducedAxes(node, rank);
  // The last of equal elements may be one that does not count. An input that is
  // not reduced, but has one slice at most, looks like a reduced one.
  if (!axes || (isArg && node.getBool("select_last_index", false)) ||
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
  int64_t place = getRank(result) - behind;
  bool isRepeated = result[place] != getInputShape(node, index)[real.dim];
  return isRepeated ? refuse() : pass(real, place);
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

static SizeRule findElementwiseRule(StringRef name) {
  static constexpr StringLiteral kNames[] = {
      "Abs",    "Add",        "And",  "Cast",      "Ceil",        "Clip",
      "Cos",    "Div",        "Elu",  "Equal",     "Erf",         "Exp",
      "Expand", "Floor",      "Gelu", "Greater",   "HardSigmoid", "HardSwish",
      "IsInf",  "IsNaN",      "Less", "LeakyRelu", "Log",         "Max",
      "Min",    "Mod",        "Mul",  "Neg",       "Not",         "Or",
      "Pow",    "Reciprocal", "Relu", "Round",     "Sigmoid",     "Sign",
      "Sin",    "Softplus",   "Sqrt", "Sub",       "Tanh",        "Where",
      "Xor",    "Identity"};
  bool isElementwise = llvm::is_contained(kNames, name) ||
                       name == "GreaterOrEqual" || name == "LessOrEqual";
  return isElementwise ? &followBroadcast : nullptr;
}

static SizeRule findRule(const OpRow &row) {
  if (!row.domain.empty())
    return nullptr;
  if (SizeRule rule = findElementwiseRule(row.name))
    return rule;
  return llvm::StringSwitch<SizeRule>(row.name)
      .Case("Gather", followGather)
      .Case("GatherElements", followGatherElements)
      .Case("GatherND", followGatherND)
      .Cases({"ScatterElements", "ScatterND"}, followScatter)
      .Case("Slice", followSlice)
      .Case("Split", followSplit)
      .Case("Transpose", followTranspose)
      .Case("Reshape", followReshape)
      .Cases({"Flatten", "Squeeze", "Unsqueeze"}, followView)
      .Cases({"Concat", "TopK"}, followJoined)
      .Cases({"Softmax", "LogSoftmax"}, followSoftmax)
      .Case("LayerNormalization", followNorm)
      .Case("MatMul", followMatMul)
      .Case("Gemm", followGemm)
      .Case("RoiAlign", followRegions)
      .Case("BatchNormalization", followBatchNorm)
      .Cases({"AveragePool", "Conv", "ConvTranspose"}, followItems)
      .Cases({"GlobalAveragePool", "GlobalMaxPool", "InstanceNormalization",
              "MaxPool"},
             followItems)
      .Cases({"ArgMax", "ArgMin", "ReduceL1", "ReduceL2"}, followReduce)
      .Cases({"ReduceMax", "ReduceMin", "ReduceProd", "ReduceSum",
              "ReduceSumSquare"},
             followReduce)
      .Case("Compress", followCompress)
      .Cases({"NonMaxSuppression", "NonZero", "Shape", "Size"}, end)
      .Default(nullptr);
}

namespace {
enum class Fill { None, Zero, One, Lowest, Highest };
} // namespace

/// Returns what input `index` holds in slices that do not count.
static Fill findFill(OnnxNode &node, unsigned index) {
  if (node.getOpType() == "TopK" && index == 0)
    return node.getBool("largest", true) ? Fill::Lowest : Fill::Highest;
  // No box has the lowest score, and only slices of this condition are taken.
  if (index == 1)
    return llvm::StringSwitch<Fill>(node.getOpType())
        .Case("NonMaxSuppression", Fill::Lowest)
        .Case("Compress", Fill::Zero)
        .Default(Fill::None);
  if (index > 1)
    return Fill::None;
  return llvm::StringSwitch<Fill>(node.getOpType())
      .Cases({"NonZero", "ReduceL1", "ReduceL2", "ReduceSum"}, Fill::Zero)
      .Case("ReduceSumSquare", Fill::Zero)
      .Case("ReduceProd", Fill::One)
      .Cases({"ArgMax", "ReduceMax"}, Fill::Lowest)
      .Cases({"LogSoftmax", "Softmax"}, Fill::Lowest)
      .Cases({"ArgMin", "ReduceMin"}, Fill::Highest)
      .Default(Fill::None);
}

static Value createFill(OnnxNode &node, Fill fill, Type elementType) {
  if (fill == Fill::Zero || fill == Fill::One)
    return node.createNumber(fill == Fill::One, elementType);
  bool isLowest = fill == Fill::Lowest;
  if (isa<FloatType>(elementType)) {
    double infinity = std::numeric_limits<double>::infinity();
    return node.createNumber(isLowest ? -infinity : infinity, elementType);
  }
  unsigned bits = elementType.getIntOrFloatBitWidth();
  auto value = elementType.isUnsignedInteger() || bits == 1
                   ? (isLowest ? llvm::APInt::getMinValue(bits)
                               : llvm::APInt::getMaxValue(bits))
                   : (isLowest ? llvm::APInt::getSignedMinValue(bits)
                               : llvm::APInt::getSignedMaxValue(bits));
  int64_t number = bits == 1 ? value.getZExtValue() : value.getSExtValue();
  return node.convert(node.createInts({number}, /*scalar=*/true), elementType);
}

bool takesRealSizes(const OpRow &row) { return findRule(row) != nullptr; }

void fillUncounted(const OpRow &row, OnnxNode &node) {
  if (!takesRealSizes(row))
    return;
  for (unsigned i = 0; i < node.getNumInputs(); ++i) {
    Value input = node.getInput(i);
    std::optional<RealSize> real = node.findRealSize(input);
    Fill fill = real ? findFill(node, i) : Fill::None;
    if (fill == Fill::None)
      continue;
    RankedTensorType type = getTensorType(input);
    Value filled = node.create<WhereOp>(
        createIsCounted(node, type.getShape(), *real), input,
        createFill(node, fill, type.getElementType()));
    if (!filled)
      return;
    node.setRealSize(filled, *real);
    node.replaceInput(i, filled);
  }
}

//===----------------------------------------------------------------------===//
// Passing on
//===----------------------------------------------------------------------===//

static LogicalResult refuse(OnnxNode &node, unsigned index, int64_t dim) {
  return node.emitError() << "dimension " << dim << " of '"
                          << node.getInputName(index)
                          << "' has a size that depends on data, and does not "
                             "become one of the result";
}

/// Returns the size of output `output`, if it has one; fails after an error.
static FailureOr<std::optional<RealSize>>
findResultSize(OnnxNode &node, unsigned output, SizeRule rule) {
  Value result = node.getOutput(output);
  std::optional<RealSize> passed;
  if (node.hasOwnSize(output))
    passed = node.findRealSize(result);
  for (unsigned i = 0; i < node.getNumInputs(); ++i) {
    std::optional<RealSize> real = node.findRealSize(node.getInput(i));
    if (!node.hasInput(i) || !real)
      continue;
    Followed followed = rule(node, i, *real, getShape(result));
    if (node.hasFailed())
      return failure();
    if (followed.isRefused)
      return refuse(node, i, real->dim);
    if (!followed.size)
      continue;
    RealSize size = node.canonicalize(result, *followed.size);
    if (passed && *passed != size)
      return refuse(node, i, real->dim);
    passed = size;
  }
  return passed;
}

static bool isInput(OnnxNode &node, Value value) {
  return llvm::any_of(llvm::seq<unsigned>(0, node.getNumInputs()),
                      [&](unsigned i) { return node.getInput(i) == value; });
}

/// A result may be a value that has another size where others use it.
static LogicalResult passTo(OnnxNode &node, unsigned output, SizeRule rule) {
  auto size = findResultSize(node, output, rule);
  if (failed(size))
    return failure();
  if (!*size || node.hasOwnSize(output))
    return success();
  Value result = node.getOutput(output);
  std::optional<RealSize> known = node.findRealSize(result);
  if (known && *known == **size)
    return success();
  if (known || isInput(node, result)) {
    result = copyAlong(node, result, (*size)->dim);
    node.setOutput(output, result);
  }
  if (!result)
    return failure();
  node.setRealSize(result, **size);
  return success();
}

LogicalResult passRealSizes(const OpRow &row, OnnxNode &node) {
  SizeRule rule = findRule(row);
  for (unsigned i = 0; rule && i < node.getNumOutputs(); ++i)
    if (node.getOutput(i) && failed(passTo(node, i, rule)))
      return failure();
  return success();
}

} // namespace tarpon
