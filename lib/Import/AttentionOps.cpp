//===- AttentionOps.cpp - Import of attention and of rotations ------------===//
//
// Part of Tarpon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The operator is written with products, a softmax and an additive mask, as its
// definition is. Scores and probabilities are computed in f32 at least,
// whatever the attribute softmax_precision asks for.
//
//===----------------------------------------------------------------------===//

#include "OnnxNode.h"
#include "OpTable.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/Sequence.h"

#include <cmath>
#include <limits>

using namespace mlir;

namespace tarpon {

static constexpr double kInfinity = std::numeric_limits<double>::infinity();

//===----------------------------------------------------------------------===//
// Attention
//===----------------------------------------------------------------------===//

namespace {

/// Builds one node. Queries, keys and values are of batch x heads x positions x
/// channels.
class AttentionBuilder {
public:
  explicit AttentionBuilder(OnnxNode &node)
      : node(node),
        elementType(getTensorType(node.getInput(0)).getElementType()),
        computeType(elementType.isF64() ? elementType
                                        : Type(node.getBuilder().getF32Type())),
        isFlat(getShape(node.getInput(0)).size() == 3) {}

  void build();

private:
  enum Input { Query, Key, Val, Mask, PastKey, PastValue, ValidKeys };
  enum Output { Result, PresentKey, PresentValue, Scores };
  enum ScoresMode { Raw, Capped, Masked, Probabilities };

  bool check();
  Value splitHeads(Value value, StringRef attribute);
  Value repeatHeads(Value value);
  Value append(Input past, Value value);
  Value computeScores();
  Value cap(Value scores);
  Value computeBias();
  Value convertMask();
  Value createPositions(int64_t count, int64_t axis);
  Value computeOffset();
  void addWhere(Value &bias, Value allowed);
  Value isAtMost(Value lhs, Value rhs);
  Value computeProbabilities(Value scores, Value bias);
  Value joinHeads(Value value);

  Value number(double value) { return node.createNumber(value, computeType); }
  Value add(Value lhs, Value rhs) { return node.create<AddOp>(lhs, rhs); }
  int64_t numQueries() const { return getShape(query)[2]; }
  int64_t numKeys() const { return getShape(key)[2]; }

  OnnxNode &node;
  /// Scores and masks are of the compute type.
  Type elementType, computeType;
  bool isFlat;
  Value query, key, value;
};

} // namespace

bool AttentionBuilder::check() {
  if (node.hasInput(PastKey) != node.hasInput(PastValue))
    node.emitError() << "only one of past_key and past_value is there";
  if (node.hasInput(PastKey) && node.hasInput(ValidKeys))
    node.emitError() << "nonpad_kv_seqlen excludes past_key";
  for (Input input : {Query, Key, Val}) {
    size_t rank = getShape(node.getInput(input)).size();
    if (rank != (isFlat ? 3 : 4))
      node.emitError() << "input " << static_cast<int>(input)
                       << " has the rank " << rank
                       << ", expected 3 or 4 as the others";
  }
  return !node.hasFailed();
}

/// Splits the channels into the heads that the attribute counts.
Value AttentionBuilder::splitHeads(Value value, StringRef attribute) {
  if (!isFlat)
    return value;
  ArrayRef<int64_t> shape = getShape(value);
  int64_t heads = node.getInt(attribute, 0);
  if (heads < 1 || shape[2] % heads != 0) {
    node.emitError() << "attribute '" << attribute << "' is " << heads
                     << ", which does not divide the " << shape[2]
                     << " channels";
    return nullptr;
  }
  Value split =
      node.reshape(value, {shape[0], shape[1], heads, shape[2] / heads});
  return node.transpose(split, {0, 2, 1, 3});
}

Value AttentionBuilder::joinHeads(Value value) {
  if (!isFlat || !value)
    return value;
  ArrayRef<int64_t> shape = getShape(value);
  return node.reshape(node.transpose(value, {0, 2, 1, 3}),
                      {shape[0], shape[2], shape[1] * shape[3]});
}

/// Repeats each head of keys or values for the queries that share it.
Value AttentionBuilder::repeatHeads(Value value) {
  SmallVector<int64_t> shape(getShape(value));
  int64_t heads = getShape(query)[1];
  if (shape[1] == heads)
    return value;
  if (heads % shape[1] != 0) {
    node.emitError() << "the " << shape[1]
                     << " heads of keys do not divide the " << heads
                     << " of queries";
    return nullptr;
  }
  Value column =
      node.reshape(value, {shape[0], shape[1], 1, shape[2], shape[3]});
  Value spread = node.broadcast(
      column, {shape[0], shape[1], heads / shape[1], shape[2], shape[3]});
  return node.reshape(spread, {shape[0], heads, shape[2], shape[3]});
}

Value AttentionBuilder::append(Input past, Value value) {
  if (!node.hasInput(past))
    return value;
  return node.concat({node.getInput(past), value}, 2);
}

Value AttentionBuilder::computeScores() {
  double width = static_cast<double>(getShape(query)[3]);
  double scale = node.hasAttribute("scale") ? node.getFloat("scale", 1)
                                            : 1 / std::sqrt(width);
  OpBuilder &builder = node.getBuilder();
  Value product =
      node.create<MatMulOp>(query, repeatHeads(key), builder.getBoolAttr(false),
                            builder.getBoolAttr(true));
  return node.create<MulOp>(node.convert(product, computeType), number(scale));
}

/// softcap * tanh(scores / softcap)
Value AttentionBuilder::cap(Value scores) {
  float limit = node.getFloat("softcap", 0);
  if (limit <= 0)
    return scores;
  Value factor = number(limit);
  return node.create<MulOp>(
      node.create<TanhOp>(node.create<DivOp>(scores, factor)), factor);
}

//===----------------------------------------------------------------------===//
// Masks
//===----------------------------------------------------------------------===//

/// Returns the input mask as numbers to add; keys behind its end are masked.
Value AttentionBuilder::convertMask() {
  Value mask = node.getInput(Mask);
  if (getTensorType(mask).getElementType().isInteger(1))
    mask = node.create<WhereOp>(mask, number(0), number(-kInfinity));
  mask = node.convert(mask, computeType);
  if (!mask)
    return nullptr;
  ArrayRef<int64_t> shape = getShape(mask);
  int64_t missing = shape.empty() ? 0 : numKeys() - shape.back();
  if (missing <= 0)
    return mask;
  SmallVector<int64_t> pads(2 * shape.size(), 0);
  pads.back() = missing;
  OpBuilder &builder = node.getBuilder();
  return node.create<PadOp>(
      mask, builder.getDenseI64ArrayAttr(pads),
      builder.getF64FloatAttr(-kInfinity),
      PadModeAttr::get(builder.getContext(), PadMode::Constant));
}

/// The numbers from 0 to below `count` along an axis of 4.
Value AttentionBuilder::createPositions(int64_t count, int64_t axis) {
  SmallVector<int64_t> shape(4, 1);
  shape[axis] = count;
  return node.reshape(
      node.createInts(llvm::to_vector(llvm::seq<int64_t>(0, count))), shape);
}

/// The position of the first query among the keys, of i64.
Value AttentionBuilder::computeOffset() {
  if (!node.hasInput(ValidKeys))
    return node.createInts(
        {node.hasInput(PastKey) ? getShape(node.getInput(PastKey))[2] : 0},
        /*scalar=*/true);
  Value valid =
      node.reshape(node.getInput(ValidKeys), {getShape(query)[0], 1, 1, 1});
  return node.create<SubOp>(valid,
                            node.createInts({numQueries()}, /*scalar=*/true));
}

Value AttentionBuilder::isAtMost(Value lhs, Value rhs) {
  Value one = node.createInts({1}, /*scalar=*/true);
  return node.isSet(node.create<LessOp>(lhs, node.create<AddOp>(rhs, one)));
}

/// Adds -inf where attention is not allowed.
void AttentionBuilder::addWhere(Value &bias, Value allowed) {
  Value masked = node.create<WhereOp>(allowed, number(0), number(-kInfinity));
  bias = bias ? add(bias, masked) : masked;
}

/// The sum of all masks; null if there is none.
Value AttentionBuilder::computeBias() {
  Value bias = node.hasInput(Mask) ? convertMask() : Value();
  int64_t left = node.getInt("left_window_size", -1),
          right = node.getInt("right_window_size", -1);
  bool causal = node.getBool("is_causal", false);
  if (causal)
    right = right < 0 ? 0 : std::min<int64_t>(right, 0);
  Value keys = createPositions(numKeys(), 3);
  Value place = add(createPositions(numQueries(), 2), computeOffset());
  auto shifted = [&](int64_t count) {
    return add(place, node.createInts({count}, /*scalar=*/true));
  };
  if (right >= 0)
    addWhere(bias, isAtMost(keys, shifted(right)));
  if (left >= 0)
    addWhere(bias, isAtMost(shifted(-left), keys));
  if (node.hasInput(ValidKeys)) {
    Value valid =
        node.reshape(node.getInput(ValidKeys), {getShape(query)[0], 1, 1, 1});
    addWhere(bias, node.isSet(node.create<LessOp>(keys, valid)));
  }
  return bias;
}

/// A query without a key gives zeros.
Value AttentionBuilder::computeProbabilities(Value scores, Value bias) {
  Value result =
      node.create<SoftmaxOp>(scores, node.getBuilder().getI64IntegerAttr(3));
  if (!bias)
    return result;
  OpBuilder &builder = node.getBuilder();
  int64_t last = static_cast<int64_t>(getShape(bias).size()) - 1;
  Value best = node.create<ReduceMaxOp>(
      bias, builder.getDenseI64ArrayAttr({last}), builder.getBoolAttr(true));
  Value isMasked = node.isSet(node.create<EqualOp>(best, number(-kInfinity)));
  return node.create<WhereOp>(isMasked, number(0), result);
}

//===----------------------------------------------------------------------===//
// The whole
//===----------------------------------------------------------------------===//

void AttentionBuilder::build() {
  if (!check())
    return;
  query = splitHeads(node.getInput(Query), "q_num_heads");
  key = append(PastKey, splitHeads(node.getInput(Key), "kv_num_heads"));
  value = append(PastValue, splitHeads(node.getInput(Val), "kv_num_heads"));
  if (!query || !key || !value)
    return;
  Value raw = computeScores();
  Value capped = cap(raw);
  Value bias = computeBias();
  Value masked = bias ? add(capped, bias) : capped;
  Value probabilities = computeProbabilities(masked, bias);
  OpBuilder &builder = node.getBuilder();
  Value product = node.convert(
      node.create<MatMulOp>(node.convert(probabilities, elementType),
                            repeatHeads(value), builder.getBoolAttr(false),
                            builder.getBoolAttr(false)),
      elementType);
  node.setOutput(Result, joinHeads(product));
  node.setOutput(PresentKey, key);
  node.setOutput(PresentValue, value);
  int64_t mode = node.getInt("qk_matmul_output_mode", Raw);
  Value scores[] = {raw, capped, masked, probabilities};
  if (mode < Raw || mode > Probabilities) {
    node.emitError() << "attribute 'qk_matmul_output_mode' is " << mode
                     << ", expected 0 to 3";
    return;
  }
  node.setOutput(Scores, node.convert(scores[mode], elementType));
}

void importAttention(OnnxNode &node) { AttentionBuilder(node).build(); }

//===----------------------------------------------------------------------===//
// Rotary embedding
//===----------------------------------------------------------------------===//

/// Selects the rows of a cache by the positions, if these are there, as batch x
/// positions x 1 x angles.
static Value getAngles(OnnxNode &node, unsigned input) {
  Value cache = node.getInput(input);
  if (node.hasInput(3))
    cache = node.create<GatherOp>(
        cache, node.convert(node.getInput(3), node.getBuilder().getI64Type()),
        node.getBuilder().getI64IntegerAttr(0));
  if (!cache)
    return nullptr;
  if (getShape(cache).size() != 3) {
    node.emitError() << "the cache " << getTensorType(cache)
                     << " does not have the rank 3";
    return nullptr;
  }
  SmallVector<int64_t> shape(getShape(cache));
  shape.insert(shape.begin() + 2, 1);
  return node.reshape(cache, shape);
}

/// Rotates the first `width` channels of batch x positions x heads x channels.
static Value rotate(OnnxNode &node, Value x, int64_t width) {
  bool interleaved = node.getBool("interleaved", false);
  Value cos = getAngles(node, 1), sin = getAngles(node, 2);
  if (!x || !cos || !sin)
    return nullptr;
  SmallVector<int64_t> shape(getShape(x));
  if (getShape(cos).back() != width / 2 || getShape(sin) != getShape(cos)) {
    node.emitError() << "the caches " << getTensorType(cos) << " and "
                     << getTensorType(sin) << " do not have " << width / 2
                     << " angles";
    return nullptr;
  }
  // The two coordinates of a point lie side by side, or half the channels
  // apart.
  int64_t axis = interleaved ? 4 : 3;
  SmallVector<int64_t> points = {shape[0], shape[1], shape[2]}, half = points;
  points.append({interleaved ? width / 2 : 2, interleaved ? 2 : width / 2});
  half.push_back(width / 2);
  Value pairs = node.reshape(node.slice(x, 3, 0, width), points);
  Value first = node.reshape(node.slice(pairs, axis, 0, 1), half),
        second = node.reshape(node.slice(pairs, axis, 1, 1), half);
  auto times = [&](Value lhs, Value rhs) {
    return node.create<MulOp>(lhs, rhs);
  };
  Value real = node.create<SubOp>(times(first, cos), times(second, sin)),
        imaginary = node.create<AddOp>(times(first, sin), times(second, cos));
  SmallVector<int64_t> column = points;
  column[axis] = 1;
  Value joined = node.concat(
      {node.reshape(real, column), node.reshape(imaginary, column)}, axis);
  SmallVector<int64_t> rotated(shape);
  rotated[3] = width;
  joined = node.reshape(joined, rotated);
  if (width == shape[3])
    return joined;
  return node.concat({joined, node.slice(x, 3, width, shape[3] - width)}, 3);
}

void importRotaryEmbedding(OnnxNode &node) {
  Value input = node.getInput(0);
  SmallVector<int64_t> shape(getShape(input));
  bool isFlat = shape.size() == 3;
  int64_t heads = isFlat ? node.getInt("num_heads", 0) : 1;
  if ((!isFlat && shape.size() != 4) || heads < 1 ||
      shape.back() % heads != 0) {
    node.emitError() << "the input " << getTensorType(input)
                     << " does not have " << heads << " heads";
    return;
  }
  Value x = isFlat ? node.reshape(input,
                                  {shape[0], shape[1], heads, shape[2] / heads})
                   : node.transpose(input, {0, 2, 1, 3});
  int64_t channels = getShape(x)[3];
  int64_t width = node.getInt("rotary_embedding_dim", 0);
  width = width == 0 ? channels : width;
  if (width < 0 || width > channels || width % 2 != 0)
    node.emitError() << "attribute 'rotary_embedding_dim' is " << width
                     << ", expected an even number up to " << channels;
  if (node.hasFailed())
    return;
  Value rotated = rotate(node, x, width);
  node.setOutput(0, isFlat ? node.reshape(rotated, shape)
                           : node.transpose(rotated, {0, 2, 1, 3}));
}

} // namespace tarpon
