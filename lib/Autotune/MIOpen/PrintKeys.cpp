//===- PrintKeys.cpp - Writes keys of convolutions ------------------------===//
//
// Part of Tarpon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The reverse of Keys.cpp, which describes the keys.
//
//===----------------------------------------------------------------------===//

#include "Formats.h"

#include "tarpon/Driver/DriverTypes.h"

#include "llvm/ADT/StringExtras.h"

using namespace tarpon;
using namespace tarpon::miopen;
using llvm::ArrayRef;
using llvm::StringRef;
using runtime::Result;

static StringRef getDirectionName(ConvDirection direction) {
  switch (direction) {
  case ConvDirection::Forward:
    return "F";
  case ConvDirection::BackwardData:
    return "B";
  case ConvDirection::BackwardWeights:
    return "W";
  }
  llvm_unreachable("unknown direction");
}

static std::string join(ArrayRef<int64_t> values, StringRef separator) {
  return llvm::join(
      llvm::map_range(values,
                      [](int64_t value) { return std::to_string(value); }),
      separator);
}

/// MIOpen spells the default layout out.
static std::string nameLayout(StringRef layout, size_t dims) {
  if (!layout.empty())
    return layout.str();
  return dims == 3 ? "NCDHW" : "NCHW";
}

namespace {
/// The two tensors of images in a key: those of a backward pass come the other
/// way round.
struct KeyTensors {
  int64_t inChannels, outChannels;
  ArrayRef<int64_t> in, out;
  std::string inLayout, filterLayout, outLayout;
};
} // namespace

static KeyTensors getTensors(const ConvKey &key) {
  const ConvDescription &conv = key.conv;
  size_t dims = conv.image.size();
  KeyTensors tensors = {conv.channels,
                        conv.outChannels,
                        conv.image,
                        key.output,
                        nameLayout(conv.inputLayout, dims),
                        nameLayout(conv.filterLayout, dims),
                        nameLayout(conv.outputLayout, dims)};
  if (key.direction != ConvDirection::Forward) {
    std::swap(tensors.inChannels, tensors.outChannels);
    std::swap(tensors.in, tensors.out);
    std::swap(tensors.inLayout, tensors.outLayout);
  }
  return tensors;
}

/// One name if all three layouts are the default, as MIOpen has it.
static std::string printLayouts(const KeyTensors &tensors) {
  bool isDefault = StringRef(tensors.inLayout).starts_with("NC") &&
                   tensors.inLayout == tensors.filterLayout &&
                   tensors.inLayout == tensors.outLayout;
  return isDefault ? tensors.inLayout
                   : tensors.inLayout + "-" + tensors.filterLayout + "-" +
                         tensors.outLayout;
}

std::string miopen::printFindKey(const ConvKey &key) {
  const ConvDescription &conv = key.conv;
  KeyTensors tensors = getTensors(key);
  const std::string fields[] = {std::to_string(tensors.inChannels),
                                join(tensors.in, "-"),
                                join(conv.kernel, "x"),
                                std::to_string(tensors.outChannels),
                                join(tensors.out, "-"),
                                std::to_string(conv.batch),
                                join(conv.pads, "x"),
                                join(conv.strides, "x"),
                                join(conv.dilations, "x"),
                                std::to_string(int(key.hasBias)),
                                printLayouts(tensors),
                                key.dtype,
                                getDirectionName(key.direction).str()};
  std::string text = llvm::join(ArrayRef(fields), "-");
  return conv.groups == 1 ? text : text + "_g" + std::to_string(conv.groups);
}

/// Height and width come before the depth, which `flat` stands for if there is
/// none.
static std::string printSizes(ArrayRef<int64_t> values, int64_t flat) {
  if (values.size() == 2)
    return join({values[0], values[1], flat}, "x");
  return join({values[1], values[2], values[0]}, "x");
}

std::string miopen::printPerfKey(const ConvKey &key) {
  const ConvDescription &conv = key.conv;
  KeyTensors tensors = getTensors(key);
  const std::string fields[] = {std::to_string(conv.image.size()),
                                std::to_string(tensors.inChannels),
                                printSizes(tensors.in, 1),
                                printSizes(conv.kernel, 1),
                                std::to_string(tensors.outChannels),
                                std::to_string(conv.batch),
                                printSizes(conv.pads, 0),
                                printSizes(conv.strides, 0),
                                printSizes(conv.dilations, 0),
                                std::to_string(int(key.hasBias)),
                                std::to_string(conv.groups),
                                tensors.inLayout,
                                key.dtype,
                                getDirectionName(key.direction).str()};
  return llvm::join(ArrayRef(fields), "x");
}

/// The convolution's result is the result of the forward pass, the first
/// operand of backward data, and the second of backward weights.
const TensorDesc &miopen::getConvResult(const Problem &problem,
                                        ConvDirection direction) {
  switch (direction) {
  case ConvDirection::Forward:
    return problem.result;
  case ConvDirection::BackwardData:
    return problem.operands[0];
  case ConvDirection::BackwardWeights:
    return problem.operands[1];
  }
  llvm_unreachable("unknown direction");
}

std::optional<std::string> miopen::findKey(Format format,
                                           const Problem &problem) {
  std::optional<DescribedConv> described = describeConv(problem);
  if (!described)
    return std::nullopt;
  ConvKey key;
  key.conv = std::move(described->conv);
  // The filter's layout makes no difference here, and is that of the input
  // wherever MIOpen can compute.
  key.conv.filterLayout = key.conv.inputLayout;
  key.direction = described->direction;
  key.dtype = findDriverType(described->dtype)->key.str();
  ArrayRef<int64_t> output =
      getConvResult(problem, described->direction).spatial();
  key.output.assign(output.begin(), output.end());
  std::string text =
      format == Format::FindText ? printFindKey(key) : printPerfKey(key);
  // A perf DB's key lacks layouts and, in strided backward passes, the image.
  Result<ConvKey> parsed = parseKey(format, text);
  if (!parsed)
    return std::nullopt;
  Result<PosedProblem> posed = poseProblem(*parsed);
  if (!posed || posed->problem.key() != problem.key())
    return std::nullopt;
  return text;
}
