//===- GroupQueryAttentionOp.cpp - Import of attention with a cache -------===//
//
// Part of Tarpon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Each batch entry has had `past` keys before, which is known when it runs: the
// new ones follow them in the cache, and anything behind them is hidden. The
// cache is long enough for both the past that is given and all keys there are
// to be. Where that number is not known, the caller's buffer is the cache, and
// the present is as long as the past.
//
//===----------------------------------------------------------------------===//

#include "MicrosoftAttention.h"
#include "OpTable.h"
#include "Operators.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/Sequence.h"

#include <algorithm>
#include <cmath>

using namespace mlir;

namespace tarpon {

namespace {

class GroupQueryAttention : MicrosoftAttention {
public:
  explicit GroupQueryAttention(OnnxNode &node)
      : MicrosoftAttention(node,
                           getTensorType(node.getInput(0)).getElementType()) {}

  void build();

private:
  enum Input {
    Query,
    Key,
    Val,
    PastKey,
    PastValue,
    LastKeys,
    TotalKeys,
    Cosines,
    Sines,
    Positions,
    AttentionBias,
    Sink,
    FirstRefused
  };

  bool check();
  bool readParts();
  bool splitPacked();
  bool readPast();
  Value getPositions();
  void rotateParts();
  Value append(Input past, Value part);
  void addVisibility(Value &bias);
  void addBiasInput(Value &bias);
  Value normalize(Value masked);

  int64_t batches = 0;
  /// The numbers of new keys, of those that past_key has room for, and of those
  /// that present_key has.
  int64_t newKeys = 0, pastRoom = 0, presentRoom = 0;
  /// The number of places for keys that queries may see: if the total is not
  /// known, the cache may be full, and the new keys come behind it.
  int64_t room = 0;
  /// The number of keys before the new ones, of i64 and batch x 1 x 1 x 1, and
  /// if it is known, that.
  Value past;
  std::optional<int64_t> knownPast;
};

} // namespace

//===----------------------------------------------------------------------===//
// Inputs
//===----------------------------------------------------------------------===//

bool GroupQueryAttention::check() {
  refuseInputs(FirstRefused, {"k_scale", "v_scale", "q_norm_weight",
                              "k_norm_weight", "query_seqlens"});
  refuseOthers({{"qk_output", 0}, {"sliding_window_cache", 0}});
  for (StringRef name : {"k_quant_type", "v_quant_type"})
    if (std::string type = node.getString(name, "NONE"); type != "NONE")
      node.emitError() << "attribute '" << name << "' is '" << type
                       << "', expected NONE";
  if (node.hasInput(PastKey) != node.hasInput(PastValue))
    node.emitError() << "only one of past_key and past_value is there";
  if (node.hasInput(Key) != node.hasInput(Val))
    node.emitError() << "only one of key and value is there";
  return requireInputs(node, {LastKeys, TotalKeys});
}

/// The channels of the query hold those of keys and values, too.
bool GroupQueryAttention::splitPacked() {
  Value packed = node.getInput(Query);
  int64_t heads = node.getInt("num_heads", 0),
          shared = node.getInt("kv_num_heads", 0),
          channels = getShape(packed)[2];
  if (heads < 1 || shared < 1 || heads > channels || shared > channels ||
      channels % (heads + 2 * shared) != 0) {
    node.emitError() << "the packed query " << packed.getType()
                     << " does not have " << heads << " and twice " << shared
                     << " heads";
    return false;
  }
  int64_t width = channels / (heads + 2 * shared);
  auto take = [&](int64_t first, int64_t count, StringRef attribute) {
    return splitHeads(node.slice(packed, 2, first * width, count * width),
                      attribute);
  };
  query = take(0, heads, "num_heads");
  key = take(heads, shared, "kv_num_heads");
  value = take(heads + shared, shared, "kv_num_heads");
  return true;
}

bool GroupQueryAttention::readParts() {
  for (Input input : {Query, Key, Val})
    if (node.hasInput(input) && getShape(node.getInput(input)).size() != 3) {
      node.emitError() << "input " << static_cast<int>(input) << " is "
                       << node.getInput(input).getType()
                       << ", expected the rank 3";
      return false;
    }
  if (!node.hasInput(Key)) {
    if (!splitPacked())
      return false;
  } else {
    query = splitHeads(node.getInput(Query), "num_heads");
    key = splitHeads(node.getInput(Key), "kv_num_heads");
    value = splitHeads(node.getInput(Val), "kv_num_heads");
  }
  if (!query || !key || !value)
    return false;
  batches = numBatches();
  newKeys = numKeys();
  if (newKeys == numQueries())
    return true;
  node.emitError() << "there are " << newKeys << " keys for " << numQueries()
                   << " queries, expected as many";
  return false;
}

/// seqlens_k has the place of the last key. A first prompt may be padded, so
/// that it has fewer keys than there are new ones, and no past.
bool GroupQueryAttention::readPast() {
  if (node.hasInput(PastKey)) {
    ArrayRef<int64_t> shape = getShape(node.getInput(PastKey));
    if (shape.size() != 4) {
      node.emitError() << "past_key is " << node.getInput(PastKey).getType()
                       << ", expected the rank 4";
      return false;
    }
    pastRoom = shape[2];
    if (getShape(node.getInput(PastValue)) != shape) {
      node.emitError() << "past_value is " << node.getInput(PastValue).getType()
                       << ", expected the shape of past_key";
      return false;
    }
  }
  if (multiply(getShape(node.getInput(LastKeys))) != batches) {
    node.emitError() << "seqlens_k is " << node.getInput(LastKeys).getType()
                     << ", expected " << batches << " numbers";
    return false;
  }
  std::optional<int64_t> total;
  if (node.findConstantInput(TotalKeys)) {
    std::optional<double> number =
        node.getConstantNumber(TotalKeys, "the input total_sequence_length");
    if (!number)
      return false;
    constexpr double kMost = 1e15;
    total = std::abs(*number) < kMost ? static_cast<int64_t>(*number) : -1;
  }
  if (total && (*total < newKeys || *total > pastRoom + newKeys)) {
    node.emitError() << "total_sequence_length is " << *total
                     << ", expected from " << newKeys << " to "
                     << pastRoom + newKeys << ", as there are " << newKeys
                     << " new keys";
    return false;
  }
  presentRoom = pastRoom == 0 ? newKeys : std::max(pastRoom, total.value_or(0));
  room = pastRoom == 0 || total ? presentRoom : pastRoom + newKeys;
  // The total may be more than an entry has, whose mask is padded.
  if (pastRoom == 0 || total == newKeys)
    knownPast = 0;
  else if (batches == 1 && node.findConstantInput(LastKeys))
    if (auto lasts = node.getConstantInts(LastKeys, "the input seqlens_k"))
      knownPast = std::clamp(lasts->front() + 1 - newKeys, int64_t(0),
                             presentRoom - newKeys);
  if (node.hasFailed())
    return false;
  if (knownPast) {
    past = node.reshape(integer(*knownPast), {1, 1, 1, 1});
    return true;
  }
  Value last =
      node.convert(node.getInput(LastKeys), node.getBuilder().getI64Type());
  past = node.create<MaxOp>(
      node.create<SubOp>(node.reshape(last, {batches, 1, 1, 1}),
                         integer(newKeys - 1)),
      integer(0));
  return past != nullptr;
}

//===----------------------------------------------------------------------===//
// Rotation
//===----------------------------------------------------------------------===//

/// The positions of the queries, of batch x positions.
Value GroupQueryAttention::getPositions() {
  // The first prompt starts at 0, whatever the input says.
  if (node.hasInput(Positions) && knownPast != 0)
    return node.reshape(node.getInput(Positions), {batches, newKeys});
  Value places = add(createPositions(newKeys, 1), past);
  return node.reshape(node.broadcast(places, {batches, newKeys, 1, 1}),
                      {batches, newKeys});
}

void GroupQueryAttention::rotateParts() {
  if (!node.getBool("do_rotary", false))
    return;
  if (!node.hasInput(Cosines) || !node.hasInput(Sines)) {
    node.emitError() << "attribute 'do_rotary' is 1, but cos_cache or "
                        "sin_cache is missing";
    return;
  }
  Value positions = getPositions();
  Rotation rotation = {selectAngles(node, node.getInput(Cosines), positions),
                       selectAngles(node, node.getInput(Sines), positions),
                       node.getBool("rotary_interleaved", false)};
  if (!rotation.cos || !rotation.sin)
    return;
  int64_t width = 2 * getShape(rotation.cos).back();
  if (width > getShape(query)[3]) {
    node.emitError() << "the cache " << node.getInput(Cosines).getType()
                     << " has more angles than the " << getShape(query)[3]
                     << " channels of a head";
    return;
  }
  for (Value *part : {&query, &key}) {
    Value turned =
        rotate(node, node.transpose(*part, {0, 2, 1, 3}), rotation, width);
    *part = node.transpose(turned, {0, 2, 1, 3});
  }
}

//===----------------------------------------------------------------------===//
// The cache
//===----------------------------------------------------------------------===//

/// Returns the cache with the new keys or values in it.
Value GroupQueryAttention::append(Input pastInput, Value part) {
  Value before = node.getInput(pastInput);
  if (!part || pastRoom == 0)
    return part;
  if (knownPast) {
    int64_t end = *knownPast + newKeys;
    SmallVector<Value> parts = {part};
    if (*knownPast > 0)
      parts.insert(parts.begin(), node.slice(before, 2, 0, *knownPast));
    if (end < pastRoom)
      parts.push_back(node.slice(before, 2, end, pastRoom - end));
    Value cache = node.concat(parts, 2);
    int64_t missing = room - std::max(end, pastRoom);
    if (!cache || missing <= 0)
      return cache;
    SmallVector<int64_t> empty(getShape(cache));
    empty[2] = missing;
    return node.concat({cache, node.createZeros(empty, elementType)}, 2);
  }
  Value both = node.concat({before, part}, 2);
  if (!both)
    return nullptr;
  // The row of `both` that each place of the cache holds.
  Value places = createPositions(room, 1);
  Value after = node.create<SubOp>(places, past);
  Value isNew = node.create<LessOp>(integer(-1), after);
  isNew = node.isSet(
      node.create<MulOp>(isNew, node.create<LessOp>(after, integer(newKeys))));
  Value kept = node.create<MinOp>(places, integer(pastRoom - 1));
  Value rows = node.create<WhereOp>(isNew, add(after, integer(pastRoom)), kept);
  SmallVector<int64_t> shape(getShape(both));
  Value firstRows = node.create<MulOp>(
      node.reshape(createPositions(batches, 0), {batches, 1, 1, 1}),
      integer(shape[2]));
  rows =
      node.reshape(node.broadcast(add(rows, firstRows), {batches, room, 1, 1}),
                   {batches * room});
  Value flat = node.reshape(node.transpose(both, {0, 2, 1, 3}),
                            {batches * shape[2], shape[1] * shape[3]});
  Value taken =
      node.create<GatherOp>(flat, rows, node.getBuilder().getI64IntegerAttr(0));
  return node.transpose(
      node.reshape(taken, {batches, room, shape[1], shape[3]}), {0, 2, 1, 3});
}

//===----------------------------------------------------------------------===//
// Scores
//===----------------------------------------------------------------------===//

/// Hides keys behind each query, those that are too far before it, and those
/// that do not exist.
void GroupQueryAttention::addVisibility(Value &bias) {
  int64_t window = node.getInt("local_window_size", -1);
  bool causal = node.getBool("causal", true);
  if (window == 0 || window < -1)
    node.emitError() << "attribute 'local_window_size' is " << window
                     << ", expected -1 or a positive number";
  Value keys = createPositions(numKeys(), 3);
  Value place = add(createPositions(numQueries(), 2), past);
  if (!causal && window > 0)
    node.emitError() << "attribute 'local_window_size' is " << window
                     << ", expected -1 where 'causal' is 0";
  Value last =
      node.convert(node.getInput(LastKeys), node.getBuilder().getI64Type());
  addWhere(
      bias,
      isAtMost(keys, causal ? place : node.reshape(last, {batches, 1, 1, 1})));
  if (window > 0)
    addWhere(bias, isAtMost(add(place, integer(1 - window)), keys));
}

/// The bias of keys behind its end, which are hidden, is 0.
void GroupQueryAttention::addBiasInput(Value &bias) {
  Value given = node.getInput(AttentionBias);
  if (!given)
    return;
  SmallVector<int64_t> shape(getShape(given));
  if (shape.size() != 4 || !fitsScores(shape) || shape[2] != numQueries() ||
      shape[3] > numKeys()) {
    node.emitError() << "the attention_bias " << given.getType() << " of "
                     << numQueries() << " queries and " << numKeys()
                     << " keys is not supported";
    return;
  }
  given = node.convert(given, computeType);
  if (int64_t missing = numKeys() - shape[3]; missing > 0) {
    shape[3] = missing;
    given = node.concat({given, node.createZeros(shape, computeType)}, 3);
  }
  addTo(bias, given);
}

/// The softmax, of which a sink takes a share: it is a score without a key.
Value GroupQueryAttention::normalize(Value masked) {
  bool isSmooth = node.getInt("smooth_softmax", 0) == 1;
  if (!masked || (!isSmooth && !node.hasInput(Sink)))
    return createSoftmax(masked);
  SmallVector<int64_t> column(getShape(masked));
  int64_t count = column[3];
  column[3] = 1;
  Value sink = node.createZeros(column, computeType);
  if (node.hasInput(Sink)) {
    Value given = node.convert(node.getInput(Sink), computeType);
    sink = node.broadcast(node.reshape(given, {1, column[1], 1, 1}), column);
  }
  return node.slice(createSoftmax(node.concat({masked, sink}, 3)), 3, 0, count);
}

void GroupQueryAttention::build() {
  if (!check() || !readParts() || !readPast())
    return;
  rotateParts();
  if (node.hasFailed())
    return;
  key = append(PastKey, key);
  value = append(PastValue, value);
  if (!key || !value)
    return;
  Value bias;
  addVisibility(bias);
  addBiasInput(bias);
  if (node.hasFailed())
    return;
  Value capped = cap(computeScores(getScale()), node.getFloat("softcap", 0));
  node.setOutput(0, joinHeads(weighValues(normalize(add(capped, bias)))));
  node.setOutput(1, node.slice(key, 2, 0, presentRoom));
  node.setOutput(2, node.slice(value, 2, 0, presentRoom));
}

void importGroupQueryAttention(OnnxNode &node) {
  GroupQueryAttention(node).build();
}

} // namespace tarpon
