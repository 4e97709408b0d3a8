//===- AttentionOps.cpp - Import of attention and of rotations ------------===//
//
// Part of Tarpon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The operators of ONNX. Scores and probabilities are computed in f32 at least,
// whatever the attribute softmax_precision asks for.
//
//===----------------------------------------------------------------------===//

#include "Attention.h"
#include "OpTable.h"

#include "llvm/ADT/STLExtras.h"

using namespace mlir;

namespace tarpon {

//===----------------------------------------------------------------------===//
// Attention
//===----------------------------------------------------------------------===//

namespace {

/// Builds one node.
class AttentionBuilder : Attention {
public:
  explicit AttentionBuilder(OnnxNode &node)
      : Attention(node, getTensorType(node.getInput(0)).getElementType()),
        isFlat(getShape(node.getInput(0)).size() == 3) {}

  void build();

private:
  enum Input { Query, Key, Val, Mask, PastKey, PastValue, ValidKeys };
  enum Output { Result, PresentKey, PresentValue, Scores };
  enum ScoresMode { Raw, Capped, Masked, Probabilities };

  bool check();
  Value getHeads(Input input, StringRef attribute);
  Value append(Input past, Value value);
  Value convertMask();
  Value computeOffset();
  Value computeBias();
  Value computeProbabilities(Value scores, Value bias);

  bool isFlat;
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

Value AttentionBuilder::getHeads(Input input, StringRef attribute) {
  Value given = node.getInput(input);
  return isFlat ? splitHeads(given, attribute) : given;
}

Value AttentionBuilder::append(Input past, Value value) {
  if (!node.hasInput(past))
    return value;
  return node.concat({node.getInput(past), value}, 2);
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

/// The position of the first query among the keys, of i64.
Value AttentionBuilder::computeOffset() {
  if (!node.hasInput(ValidKeys))
    return integer(node.hasInput(PastKey) ? getShape(node.getInput(PastKey))[2]
                                          : 0);
  Value valid = node.reshape(node.getInput(ValidKeys), {numBatches(), 1, 1, 1});
  return node.create<SubOp>(valid, integer(numQueries()));
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
  auto shifted = [&](int64_t count) { return add(place, integer(count)); };
  if (right >= 0)
    addWhere(bias, isAtMost(keys, shifted(right)));
  if (left >= 0)
    addWhere(bias, isAtMost(shifted(-left), keys));
  if (node.hasInput(ValidKeys)) {
    Value valid =
        node.reshape(node.getInput(ValidKeys), {numBatches(), 1, 1, 1});
    addWhere(bias, node.isSet(node.create<LessOp>(keys, valid)));
  }
  return bias;
}

/// A query without a key gives zeros.
Value AttentionBuilder::computeProbabilities(Value scores, Value bias) {
  Value result = createSoftmax(scores);
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
  query = getHeads(Query, "q_num_heads");
  key = append(PastKey, getHeads(Key, "kv_num_heads"));
  value = append(PastValue, getHeads(Val, "kv_num_heads"));
  if (!query || !key || !value)
    return;
  Value raw = computeScores(
      node.hasAttribute("scale") ? node.getFloat("scale", 1) : defaultScale());
  Value capped = cap(raw, node.getFloat("softcap", 0));
  Value bias = computeBias();
  Value masked = bias ? add(capped, bias) : capped;
  Value probabilities = computeProbabilities(masked, bias);
  Value product = weighValues(probabilities);
  node.setOutput(Result, isFlat ? joinHeads(product) : product);
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
  int64_t width = readRotatedWidth(node, channels);
  if (node.hasFailed())
    return;
  Value positions = node.getInput(3);
  Rotation rotation = {selectAngles(node, node.getInput(1), positions),
                       selectAngles(node, node.getInput(2), positions),
                       node.getBool("interleaved", false)};
  Value rotated = rotate(node, x, rotation, width);
  node.setOutput(0, isFlat ? node.reshape(rotated, shape)
                           : node.transpose(rotated, {0, 2, 1, 3}));
}

} // namespace tarpon
