//===- FeatureOps.cpp - Import of features of classical learning ----------===//
//
// Part of Tarpon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "OnnxNode.h"
#include "OpTable.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/Sequence.h"

using namespace mlir;

namespace tarpon {

void importArrayFeatureExtractor(OnnxNode &node) {
  Value data = node.getInput(0), indices = node.getInput(1);
  SmallVector<int64_t> shape(getShape(data));
  if (shape.empty() || shape.back() == 0 ||
      !getTensorType(indices).getElementType().isInteger()) {
    node.emitError() << "cannot select " << indices.getType() << " of "
                     << data.getType();
    return;
  }
  int64_t count = multiply(getShape(indices));
  indices = node.convert(node.reshape(indices, {count}),
                         node.getBuilder().getI64Type());
  Value result = node.create<GatherOp>(
      data, indices,
      node.getBuilder().getI64IntegerAttr(int64_t(shape.size()) - 1));
  // The features of one vector become a row.
  shape.back() = count;
  if (shape.size() == 1)
    shape.insert(shape.begin(), 1);
  node.setOutput(0, node.reshape(result, shape));
}

void importBinarizer(OnnxNode &node) {
  Value input = node.getInput(0);
  Type elementType = getTensorType(input).getElementType();
  if (!isa<FloatType>(elementType)) {
    node.emitError() << "the input is not of floats";
    return;
  }
  Value threshold =
      node.createNumber(node.getFloat("threshold", 0), elementType);
  node.setOutput(0, node.create<LessOp>(threshold, input));
}

//===----------------------------------------------------------------------===//
// TfIdfVectorizer
//===----------------------------------------------------------------------===//

namespace {

/// Counts n-grams of integers: those of one length at a time, with the number
/// of items that are skipped between two of theirs.
class NgramCounter {
public:
  explicit NgramCounter(OnnxNode &node) : node(node) {}

  void build();

private:
  bool readPool();
  bool readMode();
  Value countGrams(int64_t length);
  Value countSkipping(Value grams, int64_t length, int64_t skip);
  Value weigh(Value counts);

  /// The n-grams of one length.
  struct Grams {
    SmallVector<int64_t> items, columns;
  };

  OnnxNode &node;
  /// Rows x items, of i64.
  Value input;
  int64_t shortest = 1, longest = 1, mostSkipped = 0, numColumns = 0;
  /// By their length, which starts with 1.
  std::vector<Grams> pool;
  bool countsOnce = false, isWeighted = false;
};

} // namespace

bool NgramCounter::readPool() {
  SmallVector<int64_t> items = node.getInts("pool_int64s"),
                       starts = node.getInts("ngram_counts"),
                       columns = node.getInts("ngram_indexes");
  shortest = node.getInt("min_gram_length", 1);
  longest = node.getInt("max_gram_length", 1);
  mostSkipped = node.getInt("max_skip_count", 0);
  if (node.hasAttribute("pool_strings") || items.empty())
    node.emitError() << "n-grams are supported for integers only";
  constexpr int64_t most = 64;
  if (shortest < 1 || longest < shortest || longest > most || mostSkipped < 0 ||
      mostSkipped > most)
    node.emitError() << "n-grams of " << shortest << " to " << longest
                     << " items, with up to " << mostSkipped
                     << " skipped, are not supported";
  size_t used = 0;
  for (size_t i = 0; i < starts.size() && !node.hasFailed(); ++i) {
    auto length = static_cast<int64_t>(i) + 1;
    auto size = static_cast<int64_t>(items.size());
    int64_t begin = starts[i],
            end = i + 1 < starts.size() ? starts[i + 1] : size;
    size_t count = (end - begin) / length;
    if (begin < 0 || begin > end || end > size || (end - begin) % length != 0 ||
        used + count > columns.size()) {
      node.emitError() << "the attributes pool_int64s, ngram_counts and "
                          "ngram_indexes do not fit each other";
      return false;
    }
    pool.push_back(
        {SmallVector<int64_t>(items.begin() + begin, items.begin() + end),
         SmallVector<int64_t>(columns.begin() + used,
                              columns.begin() + used + count)});
    used += count;
  }
  for (int64_t column : columns) {
    if (column < 0 || column > 1 << 20)
      node.emitError() << "the index " << column << " is out of range";
    numColumns = std::max(numColumns, column + 1);
  }
  if (numColumns == 0)
    node.emitError() << "there are no n-grams";
  return !node.hasFailed();
}

bool NgramCounter::readMode() {
  std::string mode = node.getString("mode", "");
  countsOnce = mode == "IDF";
  isWeighted = mode != "TF" && node.hasAttribute("weights");
  if (mode != "TF" && mode != "IDF" && mode != "TFIDF")
    node.emitError() << "attribute 'mode' is '" << mode
                     << "', expected TF, IDF or TFIDF";
  // The standard counts weights like n-grams, its reference like columns.
  SmallVector<int64_t> columns = node.getInts("ngram_indexes");
  if (isWeighted && (node.getFloats("weights").size() != columns.size() ||
                     !llvm::equal(columns, llvm::seq<int64_t>(0, numColumns))))
    node.emitError() << "weights are supported only where ngram_indexes counts "
                        "from 0";
  return !node.hasFailed();
}

/// Returns rows x n-grams; null if rows are too short for any.
Value NgramCounter::countSkipping(Value grams, int64_t length, int64_t skip) {
  int64_t step = skip + 1, rows = getShape(input)[0];
  int64_t count = getShape(grams)[0];
  int64_t places = getShape(input)[1] - (length - 1) * step;
  if (places < 1)
    return nullptr;
  Value found;
  for (int64_t item = 0; item < length; ++item) {
    Value seen = node.reshape(node.slice(input, 1, item * step, places),
                              {rows, 1, places});
    Value wanted = node.reshape(node.slice(grams, 1, item, 1), {1, count, 1});
    Value equal = node.create<EqualOp>(seen, wanted);
    found = found ? node.create<MulOp>(found, equal) : equal;
  }
  OpBuilder &builder = node.getBuilder();
  return node.create<ReduceSumOp>(node.convert(found, builder.getF32Type()),
                                  builder.getDenseI64ArrayAttr({2}),
                                  builder.getBoolAttr(false));
}

/// Returns rows x columns, with the counts of all n-grams of that length; null
/// if there are none.
Value NgramCounter::countGrams(int64_t length) {
  const Grams &known = pool[length - 1];
  auto count = static_cast<int64_t>(known.columns.size());
  if (count == 0)
    return nullptr;
  Value grams = node.reshape(node.createInts(known.items), {count, length});
  Value sum;
  // Nothing lies between the items of a single one.
  for (int64_t skip = 0; skip <= (length == 1 ? 0 : mostSkipped); ++skip)
    if (Value found = countSkipping(grams, length, skip))
      sum = sum ? node.create<AddOp>(sum, found) : found;
  if (!sum)
    return nullptr;
  OpBuilder &builder = node.getBuilder();
  Value columns = node.reshape(node.createInts(known.columns), {count, 1});
  Value all = node.reshape(node.createRange(numColumns), {1, numColumns});
  Value places =
      node.convert(node.create<EqualOp>(columns, all), builder.getF32Type());
  return node.create<MatMulOp>(sum, places, builder.getBoolAttr(false),
                               builder.getBoolAttr(false));
}

Value NgramCounter::weigh(Value counts) {
  Type f32 = node.getBuilder().getF32Type();
  if (countsOnce)
    counts = node.create<LessOp>(node.createFloat(0, f32), counts);
  if (!isWeighted)
    return counts;
  SmallVector<float> weights = node.getFloats("weights");
  const char *data = reinterpret_cast<const char *>(weights.data());
  Value factors = node.createConstant(
      RankedTensorType::get({numColumns}, f32),
      std::vector<char>(data, data + weights.size() * sizeof(float)));
  return node.create<MulOp>(counts, factors);
}

void NgramCounter::build() {
  input = node.getInput(0);
  ArrayRef<int64_t> shape = getShape(input);
  if (shape.empty() || shape.size() > 2 ||
      !getTensorType(input).getElementType().isInteger()) {
    node.emitError() << "the input is " << input.getType()
                     << ", expected integers in one or two dimensions";
    return;
  }
  if (!readPool() || !readMode())
    return;
  int64_t rows = shape.size() == 1 ? 1 : shape[0];
  input = node.convert(node.reshape(input, {rows, shape.back()}),
                       node.getBuilder().getI64Type());
  Value counts;
  for (int64_t length = shortest;
       length <= std::min<int64_t>(longest, pool.size()); ++length)
    if (Value some = countGrams(length))
      counts = counts ? node.create<AddOp>(counts, some) : some;
  if (!counts)
    counts =
        node.createZeros({rows, numColumns}, node.getBuilder().getF32Type());
  SmallVector<int64_t> result(shape.drop_back());
  result.push_back(numColumns);
  node.setOutput(0, node.reshape(weigh(counts), result));
}

void importTfIdfVectorizer(OnnxNode &node) { NgramCounter(node).build(); }

} // namespace tarpon
