//===- ConvProblems.cpp - Convolutions of driver lines --------------------===//
//
// Part of Tarpon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "ConvProblems.h"

#include "tarpon/Problem/Shapes.h"

#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/MathExtras.h"

using namespace tarpon;
using namespace tarpon::driver;
using llvm::formatv;
using llvm::StringRef;
using runtime::Error;
using runtime::Result;
using runtime::Status;

//===----------------------------------------------------------------------===//
// Reading the flags
//===----------------------------------------------------------------------===//

/// The values of one kind of flag for each spatial dimension: the flags ending
/// in _d (3-D only), _h and _w.
static std::vector<int64_t> readDims(const Flags &flags, StringRef prefix,
                                     int64_t dims) {
  std::vector<int64_t> values;
  for (StringRef suffix : {"_d", "_h", "_w"})
    if (dims == 3 || suffix != "_d")
      values.push_back(flags.integer((prefix + suffix).str()));
  return values;
}

static Status checkLeast(StringRef what, llvm::ArrayRef<int64_t> values,
                         int64_t least) {
  for (int64_t value : values)
    if (value < least)
      return Error{formatv("a convolution has {0} of {1}, expected {2} or more",
                           what, value, least)};
  return runtime::success();
}

static Result<ConvDescription> readDescription(const Flags &flags) {
  int64_t dims = flags.integer("spatial_dim");
  if (dims != 2 && dims != 3)
    return Error{formatv("the flag -_ (--spatial_dim) of conv is {0}, expected "
                         "2 or 3",
                         dims)};
  const std::string &mode = flags.text("pad_mode");
  if (mode != "default" && mode != "same" && mode != "valid")
    return Error{"the flag -z (--pad_mode) of conv is '" + mode +
                 "', expected default, same or valid"};
  return ConvDescription{flags.integer("batchsize"),
                         flags.integer("in_channels"),
                         flags.integer("out_channels"),
                         flags.integer("group_count"),
                         readDims(flags, "in", dims),
                         readDims(flags, "fil", dims),
                         readDims(flags, "conv_stride", dims),
                         readDims(flags, "pad", dims),
                         readDims(flags, "dilation", dims),
                         mode,
                         flags.text("in_layout"),
                         flags.text("fil_layout"),
                         flags.text("out_layout")};
}

static Status check(const ConvDescription &conv) {
  for (Status status : {checkLeast("a batch", conv.batch, 1),
                        checkLeast("input channels", conv.channels, 1),
                        checkLeast("output channels", conv.outChannels, 1),
                        checkLeast("groups", conv.groups, 1),
                        checkLeast("an image size", conv.image, 1),
                        checkLeast("a filter size", conv.kernel, 1),
                        checkLeast("a stride", conv.strides, 1),
                        checkLeast("a dilation", conv.dilations, 1),
                        checkLeast("a padding", conv.pads, 0)})
    if (!status)
      return status;
  if (conv.channels % conv.groups != 0 || conv.outChannels % conv.groups != 0)
    return Error{formatv("a convolution has {0} groups of {1} input and {2} "
                         "output channels",
                         conv.groups, conv.channels, conv.outChannels)};
  return runtime::success();
}

/// The paddings at the beginnings of all dimensions, then at their ends.
static std::vector<int64_t> getPads(const ConvDescription &conv) {
  size_t dims = conv.image.size();
  std::vector<int64_t> pads(2 * dims);
  for (size_t i = 0; i < dims; ++i) {
    int64_t total = conv.padMode == "default" ? 2 * conv.pads[i] : 0;
    if (conv.padMode == "same") {
      int64_t places = llvm::divideCeil(conv.image[i], conv.strides[i]);
      int64_t extent = conv.dilations[i] * (conv.kernel[i] - 1) + 1;
      total = std::max<int64_t>(0, (places - 1) * conv.strides[i] + extent -
                                       conv.image[i]);
    }
    pads[i] = total / 2;
    pads[dims + i] = total - total / 2;
  }
  return pads;
}

/// The size of the result in one dimension, of either mode.
static Result<int64_t> getOutputSize(const ConvDescription &conv,
                                     const std::vector<int64_t> &pads, size_t i,
                                     bool transposed, int64_t outputPadding) {
  size_t dims = conv.image.size();
  WindowDim window = {conv.image[i],     conv.kernel[i], conv.strides[i],
                      conv.dilations[i], pads[i],        pads[dims + i]};
  if (transposed) {
    int64_t size = (conv.image[i] - 1) * conv.strides[i] +
                   static_cast<int64_t>(window.getExtent()) - pads[i] -
                   pads[dims + i] + outputPadding;
    if (size >= 1)
      return size;
    return Error{"a transposed convolution has an empty result"};
  }
  if (!window.fits())
    return Error{formatv("a convolution has a filter of {0} cells on {1}",
                         window.getExtent(), window.getPaddedSize())};
  return window.countPlaces();
}

static std::vector<int64_t> makeShape(int64_t images, int64_t channels,
                                      llvm::ArrayRef<int64_t> spatial) {
  std::vector<int64_t> shape = {images, channels};
  shape.insert(shape.end(), spatial.begin(), spatial.end());
  return shape;
}

/// `outputPadding` is used for transposed convolutions only, one value per
/// spatial dimension.
static Result<ConvShape> makeConvShape(const ConvDescription &conv,
                                       std::vector<int64_t> outputPadding,
                                       bool transposed) {
  if (Status status = check(conv); !status)
    return status.error();
  std::vector<int64_t> pads = getPads(conv);
  ConvShape shape;
  shape.strides = conv.strides;
  shape.dilations = conv.dilations;
  shape.pads = pads;
  shape.groups = conv.groups;
  size_t dims = conv.image.size();
  shape.outputPadding = std::move(outputPadding);

  std::vector<int64_t> spatial;
  for (size_t i = 0; i < dims; ++i) {
    Result<int64_t> size =
        getOutputSize(conv, pads, i, transposed, shape.outputPadding[i]);
    if (!size)
      return size.error();
    spatial.push_back(*size);
  }
  auto rank = static_cast<int64_t>(dims) + 2;
  Result<Layout> in = readLayout(conv.inputLayout, rank);
  Result<Layout> out = readLayout(conv.outputLayout, rank);
  // Filters are constants, which every solver packs in its own way: their
  // layout makes no difference.
  Result<Layout> filter = readLayout(conv.filterLayout, rank);
  for (const Result<Layout> *layout : {&in, &out, &filter})
    if (!*layout)
      return layout->error();
  shape.input = makeShape(conv.batch, conv.channels, conv.image);
  shape.output = makeShape(conv.batch, conv.outChannels, spatial);
  shape.inputLayout = *in;
  shape.outputLayout = *out;
  int64_t filterOut = conv.outChannels, filterIn = conv.channels;
  if (transposed) {
    std::swap(shape.input, shape.output);
    std::swap(shape.inputLayout, shape.outputLayout);
    std::swap(filterOut, filterIn);
  }
  shape.filter = makeShape(filterOut, filterIn / conv.groups, conv.kernel);
  if (transposed)
    return shape;
  // The window does not reach these pixels at the end of the image.
  for (size_t i = 0; i < dims; ++i) {
    int64_t extent = conv.dilations[i] * (conv.kernel[i] - 1) + 1;
    int64_t reached = (spatial[i] - 1) * conv.strides[i] + extent;
    shape.outputPadding[i] = conv.image[i] + pads[i] + pads[dims + i] - reached;
  }
  return shape;
}

Result<ConvShape> driver::readConvShape(const Flags &flags, bool transposed) {
  Result<ConvDescription> conv = readDescription(flags);
  if (!conv)
    return conv.error();
  auto dims = static_cast<int64_t>(conv->image.size());
  std::vector<int64_t> padding(dims, 0);
  if (transposed)
    padding = readDims(flags, "trans_output_pad", dims);
  return makeConvShape(*conv, std::move(padding), transposed);
}

//===----------------------------------------------------------------------===//
// The problems
//===----------------------------------------------------------------------===//

static std::vector<double> toNumbers(const std::vector<int64_t> &values) {
  return std::vector<double>(values.begin(), values.end());
}

static Problem makeProblem(const ConvShape &shape, OpKind op) {
  Problem problem;
  problem.op = op;
  problem.rootOperands = 2;
  problem.attrs["strides"] = toNumbers(shape.strides);
  problem.attrs["pads"] = toNumbers(shape.pads);
  problem.attrs["dilations"] = toNumbers(shape.dilations);
  problem.attrs["group"] = {static_cast<double>(shape.groups)};
  return problem;
}

/// MIOpen's int8 results are wider than int8 unless a cast is requested.
static DType getResultDType(DType dtype) {
  return dtype == DType::I8 ? DType::F32 : dtype;
}

static TensorDesc makeFilter(const ConvShape &shape, DType dtype) {
  return makeTensor(dtype, shape.filter, Layout(), /*constant=*/true);
}

Problem driver::makeForward(const ConvShape &shape, DType dtype) {
  Problem problem = makeProblem(shape, OpKind::Conv);
  problem.operands = {makeTensor(dtype, shape.input, shape.inputLayout),
                      makeFilter(shape, dtype)};
  problem.result =
      makeTensor(getResultDType(dtype), shape.output, shape.outputLayout);
  return problem;
}

Problem driver::makeBackwardData(const ConvShape &shape, DType dtype) {
  Problem problem = makeProblem(shape, OpKind::ConvTranspose);
  problem.operands = {makeTensor(dtype, shape.output, shape.outputLayout),
                      makeFilter(shape, dtype)};
  problem.result =
      makeTensor(getResultDType(dtype), shape.input, shape.inputLayout);
  problem.attrs["output_padding"] = toNumbers(shape.outputPadding);
  return problem;
}

Problem driver::makeBackwardWeights(const ConvShape &shape, DType dtype) {
  Problem problem = makeProblem(shape, OpKind::ConvBackwardWeights);
  problem.operands = {makeTensor(dtype, shape.input, shape.inputLayout),
                      makeTensor(dtype, shape.output, shape.outputLayout)};
  problem.result = makeTensor(getResultDType(dtype), shape.filter, Layout());
  return problem;
}

Result<Problem> tarpon::makeConvProblem(const ConvDescription &conv,
                                        ConvDirection direction, DType dtype) {
  Result<ConvShape> shape = makeConvShape(
      conv, std::vector<int64_t>(conv.image.size()), /*transposed=*/false);
  if (!shape)
    return shape.error();
  Problem problem = direction == ConvDirection::Forward
                        ? makeForward(*shape, dtype)
                    : direction == ConvDirection::BackwardData
                        ? makeBackwardData(*shape, dtype)
                        : makeBackwardWeights(*shape, dtype);
  if (std::string fault = findFault(problem); !fault.empty())
    return Error{fault};
  return problem;
}

void driver::addPerChannel(Problem &problem, OpKind op) {
  std::vector<int64_t> shape(problem.result.shape.size(), 1);
  shape[1] = problem.result.shape[1];
  DType dtype = problem.result.dtype;
  problem.epilogue.push_back(
      {op, static_cast<int>(problem.operands.size()), false, {}});
  problem.operands.push_back(
      makeTensor(dtype, shape, Layout(), /*constant=*/true));
}
