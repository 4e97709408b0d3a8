//===- Keys.cpp - Keys of convolutions in MIOpen's files ------------------===//
//
// Part of Tarpon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The key of a find DB, with one size per spatial dimension wherever there is
// an "H":
//
//   C-H-W-fHxfW-K-oH-oW-N-pHxpW-sHxsW-dHxdW-bias-layout-dtype-direction[_g2]
//
// The key of a perf DB: integers separated by "x", height and width before the
// depth, then layout, dtype and direction. In both, the first tensor of a
// backward pass is the gradient of the convolution's result, and the output is
// the gradient of its input, or stands for it.
//
//===----------------------------------------------------------------------===//

#include "Formats.h"

#include "tarpon/Driver/DriverTypes.h"

#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FormatVariadic.h"

using namespace tarpon;
using namespace tarpon::miopen;
using llvm::ArrayRef;
using llvm::formatv;
using llvm::SmallVector;
using llvm::StringRef;
using runtime::Error;
using runtime::Result;

/// No size in a key is larger.
static constexpr int64_t kLargest = int64_t(1) << 31;

static bool parseSize(StringRef text, int64_t &value) {
  return !text.empty() && llvm::all_of(text, llvm::isDigit) &&
         !text.getAsInteger(10, value) && value <= kLargest;
}

static bool parseDirection(StringRef text, ConvDirection &direction) {
  if (text == "F")
    direction = ConvDirection::Forward;
  else if (text == "B")
    direction = ConvDirection::BackwardData;
  else if (text == "W")
    direction = ConvDirection::BackwardWeights;
  else
    return false;
  return true;
}

/// Returns true for one name, or for those of input, filter and output in a
/// row.
static bool isDType(StringRef text) {
  static constexpr llvm::StringLiteral kNames[] = {
      "FP32", "FP16", "BF16", "INT8", "INT32", "INT64", "FP64", "FP8", "BF8"};
  int count = 0;
  while (!text.empty()) {
    bool known = llvm::any_of(
        kNames, [&](StringRef name) { return text.consume_front(name); });
    if (!known)
      return false;
    ++count;
  }
  return count == 1 || count == 3;
}

static bool isLayout(StringRef text) {
  return !text.empty() && llvm::all_of(text, llvm::isAlnum);
}

/// MIOpen's default is not written into driver lines.
static std::string simplifyLayout(StringRef text) {
  return text == "NCHW" || text == "NCDHW" ? "" : text.str();
}

/// Parses "_g32_ciFP8": the options that differ from the default.
static bool parseOptions(StringRef text, ConvKey &key) {
  SmallVector<StringRef, 4> options;
  text.split(options, '_', /*MaxSplit=*/-1, /*KeepEmpty=*/false);
  for (StringRef option : options) {
    if (option.consume_front("g")) {
      if (!parseSize(option, key.conv.groups))
        return false;
    } else if (option.consume_front("ci") || option.consume_front("cw") ||
               option.consume_front("co")) {
      if (!isDType(option))
        return false;
      key.hasCasts = true;
    } else {
      return false;
    }
  }
  return true;
}

/// Swaps the tensors of a backward pass, which come the other way round.
static void swapBackward(ConvKey &key) {
  if (key.direction == ConvDirection::Forward)
    return;
  std::swap(key.conv.channels, key.conv.outChannels);
  std::swap(key.conv.image, key.output);
  std::swap(key.conv.inputLayout, key.conv.outputLayout);
}

//===----------------------------------------------------------------------===//
// Keys of find DBs
//===----------------------------------------------------------------------===//

namespace {
/// Splits fields off the front.
class FieldReader {
public:
  explicit FieldReader(ArrayRef<StringRef> fields) : fields(fields) {}

  /// Returns the next field, or "" after the last one.
  StringRef next() {
    if (fields.empty())
      return "";
    StringRef field = fields.front();
    fields = fields.drop_front();
    return field;
  }
  bool size(int64_t &value) { return parseSize(next(), value); }
  bool sizes(std::vector<int64_t> &values, size_t count) {
    values.resize(count);
    return llvm::all_of(values, [&](int64_t &value) { return size(value); });
  }
  /// Parses a tuple such as "3x3".
  bool tuple(std::vector<int64_t> &values, size_t count) {
    SmallVector<StringRef, 3> parts;
    next().split(parts, 'x');
    return parts.size() == count && FieldReader(parts).sizes(values, count);
  }
  ArrayRef<StringRef> rest() const { return fields; }

private:
  ArrayRef<StringRef> fields;
};
} // namespace

Result<ConvKey> miopen::parseFindKey(StringRef text) {
  SmallVector<StringRef, 20> fields;
  text.split(fields, '-');
  auto fail = [&](StringRef what) {
    return Error{formatv("its key has {0}", what)};
  };
  if (fields.size() < 15 || fields.size() > 19)
    return fail(formatv("{0} fields, expected 15 to 19", fields.size()).str());
  ConvKey key;
  ConvDescription &conv = key.conv;
  size_t dims = fields[3].contains('x') ? 2 : 3;
  FieldReader reader(fields);
  int64_t bias = 0;
  if (!reader.size(conv.channels) || !reader.sizes(conv.image, dims) ||
      !reader.tuple(conv.kernel, dims) || !reader.size(conv.outChannels) ||
      !reader.sizes(key.output, dims) || !reader.size(conv.batch) ||
      !reader.tuple(conv.pads, dims) || !reader.tuple(conv.strides, dims) ||
      !reader.tuple(conv.dilations, dims) || !reader.size(bias))
    return fail("no sizes of a convolution");
  key.hasBias = bias != 0;

  ArrayRef<StringRef> names = reader.rest();
  if (names.size() != 3 && names.size() != 5)
    return fail(
        formatv("{0} fields behind its sizes, expected 3 or 5", names.size())
            .str());
  ArrayRef<StringRef> layouts = names.drop_back(2);
  for (StringRef layout : layouts)
    if (!isLayout(layout))
      return fail("no layout");
  conv.inputLayout = simplifyLayout(layouts.front());
  conv.filterLayout = simplifyLayout(layouts[layouts.size() / 2]);
  conv.outputLayout = simplifyLayout(layouts.back());
  key.dtype = names[names.size() - 2].str();
  if (!isDType(key.dtype))
    return fail(formatv("the unknown data type '{0}'", key.dtype).str());
  auto [direction, options] = names.back().split('_');
  if (!parseDirection(direction, key.direction))
    return fail(formatv("the unknown direction '{0}'", direction).str());
  if (!parseOptions(options, key))
    return fail(formatv("unknown options '_{0}'", options).str());
  swapBackward(key);
  return key;
}

//===----------------------------------------------------------------------===//
// Keys of perf DBs
//===----------------------------------------------------------------------===//

/// Infers the image that a result of this size comes from; it is unique only
/// without strides.
static void inferImage(ConvKey &key) {
  ConvDescription &conv = key.conv;
  for (size_t i = 0; i < key.output.size(); ++i) {
    key.isImageKnown &= conv.strides[i] == 1;
    conv.image.push_back((key.output[i] - 1) * conv.strides[i] +
                         conv.dilations[i] * (conv.kernel[i] - 1) + 1 -
                         2 * conv.pads[i]);
  }
}

Result<ConvKey> miopen::parsePerfKey(StringRef text) {
  SmallVector<StringRef, 24> fields;
  text.split(fields, 'x');
  if (fields.size() != 24)
    return Error{formatv("its key has {0} fields, expected 24", fields.size())};
  int64_t values[21];
  for (size_t i = 0; i < 21; ++i)
    if (!parseSize(fields[i], values[i]))
      return Error{"its key has no sizes of a convolution"};
  int64_t dims = values[0];
  if (dims != 2 && dims != 3)
    return Error{formatv("its key has {0} dimensions, expected 2 or 3", dims)};
  // Parses height, width and depth from `first` on.
  auto read = [&](size_t first) {
    std::vector<int64_t> sizes = {values[first], values[first + 1]};
    if (dims == 3)
      sizes.insert(sizes.begin(), values[first + 2]);
    return sizes;
  };
  ConvKey key;
  ConvDescription &conv = key.conv;
  conv.channels = values[1];
  conv.image = read(2);
  conv.kernel = read(5);
  conv.outChannels = values[8];
  conv.batch = values[9];
  conv.pads = read(10);
  conv.strides = read(13);
  conv.dilations = read(16);
  key.hasBias = values[19] != 0;
  conv.groups = values[20];
  if (!isLayout(fields[21]))
    return Error{"its key has no layout"};
  // Only the input's layout is in the key; the others are taken to be the same.
  conv.inputLayout = conv.filterLayout = conv.outputLayout =
      simplifyLayout(fields[21]);
  key.dtype = fields[22].str();
  if (!isDType(key.dtype))
    return Error{formatv("its key has the unknown data type '{0}'", key.dtype)};
  if (!parseDirection(fields[23], key.direction))
    return Error{
        formatv("its key has the unknown direction '{0}'", fields[23])};
  swapBackward(key);
  if (key.direction != ConvDirection::Forward)
    inferImage(key);
  return key;
}

Result<ConvKey> miopen::parseKey(Format format, StringRef key) {
  return format == Format::FindText ? parseFindKey(key) : parsePerfKey(key);
}

//===----------------------------------------------------------------------===//
// Tarpon's problems
//===----------------------------------------------------------------------===//

static std::optional<DType> getDType(StringRef name) {
  for (const DriverType &type : kDriverTypes)
    if (type.key == name)
      return type.dtype;
  return std::nullopt;
}

Result<PosedProblem> miopen::poseProblem(const ConvKey &key) {
  if (key.hasCasts)
    return Error{"it casts its data"};
  if (key.hasBias)
    return Error{"it has a bias"};
  std::optional<DType> dtype = getDType(key.dtype);
  if (!dtype)
    return Error{"its data type is " + key.dtype};
  if (!key.isImageKnown)
    return Error{"its key does not say how large the image is"};
  Result<Problem> problem = makeConvProblem(key.conv, key.direction, *dtype);
  if (!problem)
    return problem.error();
  PosedProblem posed = {std::move(*problem),
                        printConvLine(key.conv, key.direction, *dtype)};
  if (key.output.empty())
    return posed;
  const TensorDesc &result = getConvResult(posed.problem, key.direction);
  if (result.spatial() != ArrayRef(key.output))
    return Error{"its result is not of the size that follows from its window"};
  return posed;
}
