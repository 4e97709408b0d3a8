//===- ResizeOps.cpp - Import of Resize and Upsample ------------*- C++ -*-===//
//
// Part of Tarpon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "OpTable.h"
#include "RealResize.h"
#include "SizeValues.h"
#include "SmoothResize.h"
#include "tarpon/IR/ConstantData.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringSwitch.h"

#include <cmath>
#include <cstring>

using namespace mlir;

namespace tarpon {

namespace {
/// The meaning of sizes: those of the result, or bounds of a result whose
/// dimensions have one scale.
enum class AspectRatio : uint8_t { Stretch, NotLarger, NotSmaller };

/// All parameters of a resize except its input.
struct Resizing {
  SmallVector<int64_t> sizes;
  /// Dimensions that get a size that depends on data, which `sizes` leaves as
  /// they are.
  SmallVector<RealResize> real;
  SmallVector<double> scales, roi;
  ResizeMode mode = ResizeMode::Nearest;
  ResizeCoordinates coordinates = ResizeCoordinates::Asymmetric;
  ResizeRounding rounding = ResizeRounding::Floor;
  double cubicA = -0.75, extrapolation = 0;
  bool excludeOutside = false, antialias = false;
  AspectRatio aspectRatio = AspectRatio::Stretch;
};
} // namespace

/// The float elements of an optional input; empty if it is absent.
static SmallVector<double> readFloats(OnnxNode &node, unsigned input,
                                      StringRef what) {
  SmallVector<double> numbers;
  if (!node.hasInput(input))
    return numbers;
  ElementsAttr attr = node.getConstantInput(input, what);
  if (!attr)
    return numbers;
  if (!isa<FloatType>(attr.getElementType())) {
    node.emitError() << what << " are not floats";
    return numbers;
  }
  if (attr.getElementType().isF64()) {
    numbers.resize(attr.getNumElements());
    std::vector<char> bytes = getConstantBytes(attr);
    std::memcpy(numbers.data(), bytes.data(), bytes.size());
    return numbers;
  }
  std::vector<float> floats = getConstantFloats(attr);
  numbers.assign(floats.begin(), floats.end());
  return numbers;
}

/// Reads an attribute that names one case of an enum.
template <typename Enum>
static Enum readCase(OnnxNode &node, StringRef name, Enum otherwise,
                     StringRef otherwiseName,
                     std::optional<Enum> (*symbolize)(StringRef)) {
  std::string text = node.getString(name, otherwiseName);
  std::optional<Enum> value = symbolize(text);
  if (!value)
    node.emitError() << "attribute '" << name << "' is '" << text
                     << "', which is not supported";
  return value.value_or(otherwise);
}

/// Expands `values`, which belong to `axes`, to one entry per dimension.
template <typename T>
static bool spread(OnnxNode &node, ArrayRef<int64_t> axes, int64_t rank,
                   StringRef what, T otherwise, SmallVectorImpl<T> &values) {
  if (values.size() != axes.size()) {
    node.emitError() << what << " have " << values.size()
                     << " entries, expected " << axes.size();
    return false;
  }
  SmallVector<T> all(rank, otherwise);
  for (auto [axis, value] : llvm::zip_equal(axes, values))
    all[axis] = value;
  values.assign(all.begin(), all.end());
  return true;
}

/// Gives all axes the smallest or the largest of their scales.
static void keepAspectRatio(ArrayRef<int64_t> shape, ArrayRef<int64_t> axes,
                            Resizing &resizing) {
  if (resizing.aspectRatio == AspectRatio::Stretch || axes.empty())
    return;
  auto scales = llvm::map_range(
      axes, [&](int64_t axis) { return resizing.scales[axis]; });
  double scale = resizing.aspectRatio == AspectRatio::NotLarger
                     ? *llvm::min_element(scales)
                     : *llvm::max_element(scales);
  for (int64_t axis : axes) {
    resizing.scales[axis] = scale;
    resizing.sizes[axis] = static_cast<int64_t>(
        std::floor(scale * static_cast<double>(shape[axis]) + 0.5));
  }
}

/// Computes sizes from scales, or scales from sizes.
static bool complete(OnnxNode &node, ArrayRef<int64_t> shape,
                     ArrayRef<int64_t> axes, Resizing &resizing) {
  int64_t rank = static_cast<int64_t>(shape.size());
  if (resizing.sizes.empty()) {
    if (!spread(node, axes, rank, "the scales", 1.0, resizing.scales))
      return false;
    for (auto [size, scale] : llvm::zip_equal(shape, resizing.scales)) {
      // ONNX multiplies in fp32, in which a scale that was rounded down, such
      // as 19/13, makes the size that it was computed from.
      double wanted =
          std::floor(static_cast<float>(size) * static_cast<float>(scale));
      if (!(wanted >= 1 && wanted <= 0x1p31)) {
        node.emitError() << "the scale " << scale << " makes a dimension of "
                         << size << " empty or too large";
        return false;
      }
      resizing.sizes.push_back(static_cast<int64_t>(wanted));
    }
    return true;
  }
  if (!spread(node, axes, rank, "the sizes", int64_t(0), resizing.sizes))
    return false;
  for (int64_t dim = 0; dim < rank; ++dim) {
    if (!llvm::is_contained(axes, dim))
      resizing.sizes[dim] = shape[dim];
    resizing.scales.push_back(static_cast<double>(resizing.sizes[dim]) /
                              static_cast<double>(shape[dim]));
  }
  keepAspectRatio(shape, axes, resizing);
  return true;
}

static Value resizeSmoothly(OnnxNode &node, const Resizing &resizing) {
  Value value = node.getInput(0);
  Type elementType = getTensorType(value).getElementType();
  if (!isa<FloatType>(elementType) ||
      resizing.coordinates == ResizeCoordinates::TfCropAndResize) {
    node.emitError() << "antialiasing is supported for floats, and not with "
                        "tf_crop_and_resize";
    return nullptr;
  }
  if (!elementType.isF64())
    value = node.convert(value, node.getBuilder().getF32Type());
  SmallVector<int64_t> shape(getShape(value));
  for (auto [dim, size] : llvm::enumerate(shape)) {
    if (resizing.sizes[dim] == size && resizing.scales[dim] == 1)
      continue;
    SmoothResize line;
    line.coordinates = resizing.coordinates;
    line.in = static_cast<double>(size);
    line.out = static_cast<double>(resizing.sizes[dim]);
    line.scale = resizing.scales[dim];
    line.isCubic = resizing.mode == ResizeMode::Cubic;
    line.cubicA = resizing.cubicA;
    line.excludeOutside = resizing.excludeOutside;
    value = line.apply(node, value, static_cast<int64_t>(dim));
  }
  return node.convert(value, elementType);
}

/// Resizes one dimension after the other, as some get sizes that depend on
/// data.
static void finishReal(OnnxNode &node, const Resizing &resizing) {
  Value value = node.getInput(0);
  bool isAtMiddles =
      resizing.coordinates == ResizeCoordinates::HalfPixel ||
      resizing.coordinates == ResizeCoordinates::PytorchHalfPixel;
  if (resizing.mode != ResizeMode::Linear || !isAtMiddles ||
      resizing.antialias || resizing.aspectRatio != AspectRatio::Stretch ||
      !isa<FloatType>(getTensorType(value).getElementType())) {
    node.emitError() << "resizes dimension " << resizing.real.front().dim
                     << " to a size that depends on data, which is supported "
                        "for floats in the mode linear with half_pixel or "
                        "pytorch_half_pixel";
    return;
  }
  RealSizes sizes;
  for (const RealResize &line : resizing.real) {
    value = line.apply(node, value);
    sizes.push_back({line.dim, line.to});
  }
  for (auto [place, size] : llvm::enumerate(resizing.sizes)) {
    auto dim = static_cast<int64_t>(place);
    bool isReal = llvm::any_of(
        sizes, [&](const RealSize &real) { return real.dim == dim; });
    int64_t old = getShape(node.getInput(0))[dim];
    if (isReal || size == old)
      continue;
    RealResize line = resizing.real.front();
    line.dim = dim;
    line.from = node.createInts({old});
    line.to = node.createInts({size});
    line.most = size;
    value = line.apply(node, value);
  }
  node.setOutput(0, value, sizes);
}

static void finish(OnnxNode &node, const Resizing &resizing) {
  if (!resizing.real.empty())
    return finishReal(node, resizing);
  if (resizing.antialias)
    return node.setOutput(0, resizeSmoothly(node, resizing));

  OpBuilder &builder = node.getBuilder();
  MLIRContext *context = builder.getContext();
  node.setOutput(
      0, node.create<ResizeOp>(
             node.getInput(0), builder.getDenseI64ArrayAttr(resizing.sizes),
             builder.getDenseF64ArrayAttr(resizing.scales),
             builder.getDenseF64ArrayAttr(resizing.roi),
             ResizeModeAttr::get(context, resizing.mode),
             ResizeCoordinatesAttr::get(context, resizing.coordinates),
             ResizeRoundingAttr::get(context, resizing.rounding),
             builder.getF64FloatAttr(resizing.cubicA),
             builder.getBoolAttr(resizing.excludeOutside),
             builder.getF64FloatAttr(resizing.extrapolation)));
}

static SmallVector<int64_t> allAxes(int64_t rank) {
  return llvm::to_vector(llvm::seq<int64_t>(0, rank));
}

void importUpsample(OnnxNode &node) {
  ArrayRef<int64_t> shape = getShape(node.getInput(0));
  Resizing resizing;
  resizing.mode = readCase<ResizeMode>(node, "mode", ResizeMode::Nearest,
                                       "nearest", symbolizeResizeMode);
  resizing.scales = readFloats(node, 1, "the scales");
  if (!node.hasInput(1))
    for (float scale : node.getFloats("scales"))
      resizing.scales.push_back(scale);
  if (node.hasFailed() ||
      !complete(node, shape, allAxes(shape.size()), resizing))
    return;
  finish(node, resizing);
}

static std::optional<AspectRatio> findAspectRatio(StringRef name) {
  return llvm::StringSwitch<std::optional<AspectRatio>>(name)
      .Case("stretch", AspectRatio::Stretch)
      .Case("not_larger", AspectRatio::NotLarger)
      .Case("not_smaller", AspectRatio::NotSmaller)
      .Default(std::nullopt);
}

/// The dimensions that scales, sizes and the region of interest are of.
static SmallVector<int64_t> readAxes(OnnxNode &node, int64_t rank) {
  SmallVector<int64_t> axes = allAxes(rank);
  if (node.hasAttribute("axes"))
    axes = node.getInts("axes");
  for (int64_t &axis : axes)
    axis = node.normalizeAxis(axis, rank);
  return axes;
}

bool keepsDimension(OnnxNode &node, int64_t dim) {
  bool isOld = node.getOpset() < 11;
  SmallVector<int64_t> axes =
      readAxes(node, static_cast<int64_t>(getShape(node.getInput(0)).size()));
  auto place = static_cast<size_t>(llvm::find(axes, dim) - axes.begin());
  if (place == axes.size())
    return true;
  if (!isOld && node.getString("coordinate_transformation_mode",
                               "half_pixel") == "tf_crop_and_resize") {
    SmallVector<double> roi = readFloats(node, 1, "the region of interest");
    if (roi[place] != 0 || roi[axes.size() + place] != 1)
      return false;
  }
  SmallVector<double> scales = readFloats(node, isOld ? 1 : 2, "the scales");
  if (!scales.empty())
    return scales[place] == 1;
  auto sizes = node.getSizes(3, "the input sizes");
  return sizes && !(*sizes)[place].isKnown();
}

/// The attributes that opset 11 has added.
static void readRules(OnnxNode &node, Resizing &resizing) {
  resizing.coordinates = readCase<ResizeCoordinates>(
      node, "coordinate_transformation_mode", ResizeCoordinates::HalfPixel,
      "half_pixel", symbolizeResizeCoordinates);
  resizing.rounding = readCase<ResizeRounding>(
      node, "nearest_mode", ResizeRounding::RoundPreferFloor,
      "round_prefer_floor", symbolizeResizeRounding);
  resizing.cubicA = node.getFloat("cubic_coeff_a", -0.75f);
  resizing.excludeOutside = node.getBool("exclude_outside", false);
  resizing.extrapolation = node.getFloat("extrapolation_value", 0);
  // There is nothing to smooth about the nearest element.
  resizing.antialias =
      node.getBool("antialias", false) && resizing.mode != ResizeMode::Nearest;
  resizing.aspectRatio =
      readCase<AspectRatio>(node, "keep_aspect_ratio_policy",
                            AspectRatio::Stretch, "stretch", findAspectRatio);
}

/// Reads the sizes of the axes. One that depends on data is that which the
/// dimension has already, or one that it gets at run time.
static void readSizes(OnnxNode &node, ArrayRef<int64_t> axes,
                      Resizing &resizing) {
  auto sizes = node.getSizes(3, "the input sizes");
  if (!sizes || sizes->empty())
    return;
  if (sizes->size() != axes.size()) {
    node.emitError() << "the sizes have " << sizes->size()
                     << " entries, expected " << axes.size();
    return;
  }
  Value input = node.getInput(0);
  bool startsAtFirst =
      resizing.coordinates == ResizeCoordinates::PytorchHalfPixel;
  for (auto [place, size] : llvm::enumerate(*sizes)) {
    int64_t axis = axes[place], known = getShape(input)[axis];
    resizing.sizes.push_back(size.isKnown() ? size.least : known);
    std::optional<RealSize> real = node.findRealSize(input, axis);
    if (size.isKnown() || (real && real->size == size.size))
      continue;
    if (size.least < 1) {
      node.emitError() << "the size of dimension " << axis
                       << " depends on data, and may be below 1";
      return;
    }
    Value to =
        getSizeValue(node, node.getInput(3), static_cast<int64_t>(place), size);
    resizing.real.push_back({axis, real ? real->size : node.createInts({known}),
                             to, size.most, startsAtFirst});
  }
}

void importResize(OnnxNode &node) {
  ArrayRef<int64_t> shape = getShape(node.getInput(0));
  int64_t rank = static_cast<int64_t>(shape.size());
  Resizing resizing;
  resizing.mode = readCase<ResizeMode>(node, "mode", ResizeMode::Nearest,
                                       "nearest", symbolizeResizeMode);
  SmallVector<int64_t> axes = allAxes(rank);
  if (node.getOpset() < 11) {
    resizing.scales = readFloats(node, 1, "the scales");
  } else {
    readRules(node, resizing);
    axes = readAxes(node, rank);
    resizing.scales = readFloats(node, 2, "the scales");
    if (node.hasInput(3) && !node.hasFailed())
      readSizes(node, axes, resizing);
    if (!resizing.sizes.empty() && !resizing.scales.empty())
      node.emitError() << "there are both scales and sizes";
  }
  bool crops = resizing.coordinates == ResizeCoordinates::TfCropAndResize;
  if (crops && !node.hasFailed()) {
    SmallVector<double> roi = readFloats(node, 1, "the region of interest");
    if (roi.size() != 2 * axes.size() && !node.hasFailed())
      node.emitError() << "the region of interest has " << roi.size()
                       << " entries, expected " << 2 * axes.size();
    if (node.hasFailed())
      return;
    resizing.roi.assign(2 * rank, 0);
    for (int64_t dim = 0; dim < rank; ++dim)
      resizing.roi[rank + dim] = 1;
    for (auto [i, axis] : llvm::enumerate(axes)) {
      resizing.roi[axis] = roi[i];
      resizing.roi[rank + axis] = roi[axes.size() + i];
    }
  }
  if (node.hasFailed() || !complete(node, shape, axes, resizing))
    return;
  finish(node, resizing);
}

} // namespace tarpon
