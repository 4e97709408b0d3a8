//===- SampleOps.cpp - Import of operators that sample images -------------===//
//
// Part of Tarpon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The dialect samples at coordinates in pixels. Those of ONNX, which are
// relative to the image, and the moved taps of a deformable convolution become
// such coordinates by arithmetic, in f32 at least.
//
//===----------------------------------------------------------------------===//

#include "OpTable.h"
#include "Window.h"
#include "tarpon/Problem/Shapes.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringSwitch.h"

using namespace mlir;

namespace tarpon {

/// Converts floats to the type in which coordinates are computed.
static Value widen(OnnxNode &node, Value value) {
  if (getTensorType(value).getElementType().isF64())
    return value;
  return node.convert(value, node.getBuilder().getF32Type());
}

/// Returns `value` times a number.
static Value scale(OnnxNode &node, Value value, double factor) {
  if (!value)
    return nullptr;
  Type elementType = getTensorType(value).getElementType();
  return node.create<MulOp>(value, node.createFloat(factor, elementType));
}

/// Returns `value` plus a number.
static Value shift(OnnxNode &node, Value value, double offset) {
  if (!value)
    return nullptr;
  Type elementType = getTensorType(value).getElementType();
  return node.create<AddOp>(value, node.createFloat(offset, elementType));
}

//===----------------------------------------------------------------------===//
// GridSample
//===----------------------------------------------------------------------===//

/// The names of the modes have changed in opset 20.
static std::optional<SampleMode> readMode(OnnxNode &node) {
  bool isOld = node.getOpset() < 20;
  std::string name = node.getString("mode", isOld ? "bilinear" : "linear");
  auto mode = isOld ? llvm::StringSwitch<std::optional<SampleMode>>(name)
                          .Case("bilinear", SampleMode::Linear)
                          .Case("nearest", SampleMode::Nearest)
                          .Case("bicubic", SampleMode::Cubic)
                          .Default(std::nullopt)
                    : symbolizeSampleMode(name);
  if (!mode)
    node.emitError() << "attribute 'mode' is '" << name << "', expected "
                     << (isOld ? "bilinear, nearest or bicubic"
                               : "linear, nearest or cubic");
  return mode;
}

static std::optional<SamplePadding> readPadding(OnnxNode &node) {
  std::string name = node.getString("padding_mode", "zeros");
  std::optional<SamplePadding> padding = symbolizeSamplePadding(name);
  if (!padding)
    node.emitError() << "attribute 'padding_mode' is '" << name
                     << "', expected zeros, border or reflection";
  return padding;
}

static Value createSample(OnnxNode &node, Value input, Value grid,
                          SampleMode mode, SamplePadding padding,
                          bool alignCorners) {
  OpBuilder &builder = node.getBuilder();
  MLIRContext *context = builder.getContext();
  return node.create<GridSampleOp>(input, grid,
                                   SampleModeAttr::get(context, mode),
                                   SamplePaddingAttr::get(context, padding),
                                   builder.getBoolAttr(alignCorners));
}

/// The grid in pixels. From -1 to 1, it goes from edge to edge of the image, or
/// between the middles of the outermost pixels.
static Value findPixels(OnnxNode &node, Value grid, ArrayRef<int64_t> spatial,
                        bool alignCorners) {
  grid = widen(node, grid);
  Type elementType = getTensorType(grid).getElementType();
  SmallVector<double> lengths;
  for (int64_t size : llvm::reverse(spatial))
    lengths.push_back(static_cast<double>(alignCorners ? size - 1 : size));
  auto dims = static_cast<int64_t>(spatial.size());
  Value extent = node.createFloats(lengths, dims, elementType);
  Value fromStart = shift(node, grid, 1);
  if (alignCorners)
    return node.create<MulOp>(scale(node, fromStart, 0.5), extent);
  return scale(node, shift(node, node.create<MulOp>(fromStart, extent), -1),
               0.5);
}

void importGridSample(OnnxNode &node) {
  Value input = node.getInput(0), grid = node.getInput(1);
  std::optional<SampleMode> mode = readMode(node);
  std::optional<SamplePadding> padding = readPadding(node);
  bool alignCorners = node.getBool("align_corners", false);
  ArrayRef<int64_t> shape = getShape(input), places = getShape(grid);
  if (shape.size() < 3 || places.size() != shape.size() ||
      places.back() != static_cast<int64_t>(shape.size()) - 2 ||
      !isa<FloatType>(getTensorType(grid).getElementType()))
    node.emitError() << "the grid " << getTensorType(grid)
                     << " does not fit the input " << getTensorType(input);
  if (node.hasFailed())
    return;
  Value pixels = findPixels(node, grid, shape.drop_front(2), alignCorners);
  node.setOutput(
      0, createSample(node, input, pixels, *mode, *padding, alignCorners));
}

//===----------------------------------------------------------------------===//
// AffineGrid
//===----------------------------------------------------------------------===//

/// The coordinate of place `index` of a dimension, from -1 to 1.
static double getCoordinate(int64_t index, int64_t size, bool alignCorners) {
  auto place = static_cast<double>(index), length = static_cast<double>(size);
  return alignCorners ? 2 * place / (length - 1) - 1
                      : (2 * place + 1) / length - 1;
}

/// The grid of the identity: a row for each place, which holds its coordinates,
/// the last dimension's first, and 1.
static Value createBaseGrid(OnnxNode &node, ArrayRef<int64_t> spatial,
                            bool alignCorners, Type elementType) {
  int64_t places = multiply(spatial);
  auto dims = static_cast<int64_t>(spatial.size());
  SmallVector<double> rows;
  for (int64_t place = 0; place < places; ++place) {
    int64_t rest = place;
    for (int64_t size : llvm::reverse(spatial)) {
      rows.push_back(getCoordinate(rest % size, size, alignCorners));
      rest /= size;
    }
    rows.push_back(1);
  }
  return node.createFloats(rows, {places, dims + 1}, elementType);
}

void importAffineGrid(OnnxNode &node) {
  Value theta = node.getInput(0);
  std::optional<SmallVector<int64_t>> sizes =
      node.getConstantInts(1, "the size");
  bool alignCorners = node.getBool("align_corners", false);
  if (!sizes || node.hasFailed())
    return;
  auto rank = static_cast<int64_t>(sizes->size());
  SmallVector<int64_t> expected = {sizes->empty() ? 0 : sizes->front(),
                                   rank - 2, rank - 1};
  Type elementType = getTensorType(theta).getElementType();
  if (rank < 4 || rank > 5 || getShape(theta) != ArrayRef(expected) ||
      llvm::any_of(*sizes, [](int64_t size) { return size < 1; }) ||
      !isa<FloatType>(elementType) || !countElements(*sizes)) {
    node.emitError() << "the size [" << *sizes << "] does not fit the input "
                     << getTensorType(theta);
    return;
  }
  ArrayRef<int64_t> spatial = ArrayRef(*sizes).drop_front(2);
  if (alignCorners && llvm::is_contained(spatial, 1)) {
    node.emitError() << "a dimension of one place has no corners to align";
    return;
  }
  theta = widen(node, theta);
  Value base = createBaseGrid(node, spatial, alignCorners,
                              getTensorType(theta).getElementType());
  OpBuilder &builder = node.getBuilder();
  Value grid = node.create<MatMulOp>(base, theta, builder.getBoolAttr(false),
                                     builder.getBoolAttr(true));
  SmallVector<int64_t> shape = {sizes->front()};
  llvm::append_range(shape, spatial);
  shape.push_back(rank - 2);
  node.setOutput(0, node.convert(node.reshape(grid, shape), elementType));
}

//===----------------------------------------------------------------------===//
// RoiAlign
//===----------------------------------------------------------------------===//

/// Returns true if pixels have half a pixel before their middle, as since opset
/// 16.
static bool readHalfPixel(OnnxNode &node) {
  std::string name =
      node.getString("coordinate_transformation_mode",
                     node.getOpset() < 16 ? "output_half_pixel" : "half_pixel");
  if (name != "half_pixel" && name != "output_half_pixel")
    node.emitError() << "attribute 'coordinate_transformation_mode' is '"
                     << name << "', expected half_pixel or output_half_pixel";
  return name == "half_pixel";
}

static bool readTakesMax(OnnxNode &node) {
  std::string name = node.getString("mode", "avg");
  if (name != "avg" && name != "max")
    node.emitError() << "attribute 'mode' is '" << name
                     << "', expected avg or max";
  return name == "max";
}

void importRoiAlign(OnnxNode &node) {
  bool halfPixel = readHalfPixel(node), takesMax = readTakesMax(node);
  SmallVector<int64_t> sizes = {node.getInt("output_height", 1),
                                node.getInt("output_width", 1)};
  int64_t samples = std::max<int64_t>(node.getInt("sampling_ratio", 0), 0);
  double scaleOfImage = node.getFloat("spatial_scale", 1.0f);
  OpBuilder &builder = node.getBuilder();
  Value images = node.convert(node.getInput(2), builder.getI64Type());
  if (node.hasFailed())
    return;
  node.setOutput(
      0, node.create<RoiAlignOp>(node.getInput(0), node.getInput(1), images,
                                 builder.getDenseI64ArrayAttr(sizes),
                                 builder.getI64IntegerAttr(samples),
                                 builder.getF64FloatAttr(scaleOfImage),
                                 builder.getBoolAttr(halfPixel),
                                 builder.getBoolAttr(takesMax)));
}

//===----------------------------------------------------------------------===//
// DeformConv
//===----------------------------------------------------------------------===//

namespace {
/// A deformable convolution. Taps are the cells of the kernel.
struct Deformed {
  Window window;
  SmallVector<int64_t> places;
  int64_t group, offsetGroup, taps, numPlaces;

  int64_t dims() const { return static_cast<int64_t>(places.size()); }
};
} // namespace

/// The coordinates of all taps at all places, before they are moved.
static Value createTaps(OnnxNode &node, const Deformed &conv,
                        Type elementType) {
  SmallVector<double> coordinates;
  for (int64_t tap = 0; tap < conv.taps; ++tap)
    for (int64_t place = 0; place < conv.numPlaces; ++place) {
      SmallVector<int64_t> cell = splitIndex(tap, conv.window.kernel),
                           at = splitIndex(place, conv.places);
      for (int64_t dim = conv.dims() - 1; dim >= 0; --dim)
        coordinates.push_back(static_cast<double>(
            at[dim] * conv.window.strides[dim] - conv.window.pads[dim] +
            cell[dim] * conv.window.dilations[dim]));
    }
  return node.createFloats(
      coordinates, {1, conv.taps, conv.numPlaces, conv.dims()}, elementType);
}

/// Reads and checks everything but the bias.
static std::optional<Deformed> readDeformed(OnnxNode &node) {
  Value input = node.getInput(0), filter = node.getInput(1),
        offset = node.getInput(2), mask = node.getInput(4);
  ArrayRef<int64_t> shape = getShape(input), weights = getShape(filter);
  if (shape.size() < 3 || shape.size() > 5 || weights.size() != shape.size()) {
    node.emitError() << "the input " << getTensorType(input)
                     << " and the filter " << getTensorType(filter)
                     << " do not fit each other";
    return std::nullopt;
  }
  Deformed conv;
  std::optional<Window> window = readWindow(node, shape, weights.drop_front(2));
  conv.group = node.getInt("group", 1);
  conv.offsetGroup = node.getInt("offset_group", 1);
  if (!window || node.hasFailed())
    return std::nullopt;
  conv.window = *window;
  SlidingWindow sliding{window->kernel, window->strides, window->pads,
                        window->dilations};
  bool fits = !sliding.appendPlaces(shape.drop_front(2), conv.places) &&
              isGroupOf(conv.group, shape[1], weights[0]) &&
              weights[1] * conv.group == shape[1] && conv.offsetGroup > 0 &&
              shape[1] % conv.offsetGroup == 0;
  if (!fits) {
    node.emitError() << "the filter " << getTensorType(filter) << " with "
                     << conv.group << " groups and " << conv.offsetGroup
                     << " groups of offsets does not fit the input "
                     << getTensorType(input);
    return std::nullopt;
  }
  conv.taps = multiply(window->kernel);
  conv.numPlaces = multiply(conv.places);
  auto expect = [&](Value value, int64_t channels) {
    SmallVector<int64_t> expected = {shape[0], channels};
    llvm::append_range(expected, conv.places);
    if (value && getShape(value) != ArrayRef(expected))
      node.emitError() << "expects offsets and mask of shape [" << expected
                       << "], got " << getTensorType(value);
  };
  int64_t taps = conv.offsetGroup * conv.taps;
  expect(offset, taps * conv.dims());
  expect(mask, taps);
  if (node.hasFailed())
    return std::nullopt;
  return conv;
}

/// The input at all taps of all places, in the shape N, C, taps, places.
static Value gatherTaps(OnnxNode &node, const Deformed &conv) {
  Value input = node.getInput(0), offset = widen(node, node.getInput(2)),
        mask = node.getInput(4);
  ArrayRef<int64_t> shape = getShape(input);
  int64_t images = shape[0] * conv.offsetGroup;
  // A group of offsets sees an image of its own.
  SmallVector<int64_t> split = {images, shape[1] / conv.offsetGroup};
  llvm::append_range(split, shape.drop_front(2));
  offset =
      node.reshape(offset, {images, conv.taps, conv.dims(), conv.numPlaces});
  SmallVector<Value> parts;
  for (int64_t dim = conv.dims() - 1; dim >= 0; --dim)
    parts.push_back(node.reshape(node.slice(offset, 2, dim, 1),
                                 {images, conv.taps, conv.numPlaces, 1}));
  Value moved = node.concat(parts, 3);
  if (!moved)
    return nullptr;
  Value taps = createTaps(node, conv, getTensorType(moved).getElementType());
  Value sampled = createSample(node, node.reshape(input, split),
                               node.create<AddOp>(moved, taps),
                               SampleMode::Linear, SamplePadding::Zeros,
                               /*alignCorners=*/false);
  if (mask)
    sampled = node.create<MulOp>(
        sampled, node.reshape(mask, {images, 1, conv.taps, conv.numPlaces}));
  return node.reshape(sampled, {shape[0], shape[1], conv.taps, conv.numPlaces});
}

/// A deformable convolution is the product of its filter and the input where
/// its taps have been moved to.
void importDeformConv(OnnxNode &node) {
  std::optional<Deformed> conv = readDeformed(node);
  if (!conv)
    return;
  Value filter = node.getInput(1), bias = node.getInput(3);
  ArrayRef<int64_t> shape = getShape(node.getInput(0));
  int64_t outputs = getShape(filter)[0], depth = getShape(filter)[1];
  int64_t group = conv->group, terms = depth * conv->taps;
  OpBuilder &builder = node.getBuilder();
  Value columns = node.reshape(gatherTaps(node, *conv),
                               {shape[0], group, terms, conv->numPlaces});
  Value product = node.create<MatMulOp>(
      node.reshape(filter, {1, group, outputs / group, terms}), columns,
      builder.getBoolAttr(false), builder.getBoolAttr(false));
  if (!product)
    return;
  SmallVector<int64_t> result = {shape[0], outputs};
  llvm::append_range(result, conv->places);
  product = node.reshape(product, result);
  if (bias && getShape(bias) != ArrayRef(outputs)) {
    node.emitError() << "the bias is " << bias.getType() << ", expected "
                     << outputs << " elements in one dimension";
    return;
  }
  if (bias) {
    SmallVector<int64_t> spread(result.size(), 1);
    spread[1] = outputs;
    product = node.create<AddOp>(
        product, node.convert(node.reshape(bias, spread),
                              getTensorType(product).getElementType()));
  }
  node.setOutput(
      0,
      node.convert(product, getTensorType(node.getInput(0)).getElementType()));
}

} // namespace tarpon
