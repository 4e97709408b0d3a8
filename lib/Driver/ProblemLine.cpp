//===- ProblemLine.cpp - A problem as a driver line -----------------------===//
//
// Part of Tarpon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tarpon/Driver/Convolution.h"
#include "tarpon/Driver/DriverTypes.h"
#include "tarpon/Driver/Workload.h"

#include "llvm/ADT/ArrayRef.h"

#include <optional>

using namespace tarpon;

namespace {

/// The roles of a convolution problem's tensors in the forward convolution,
/// which the driver always describes.
struct ConvRoles {
  OpKind op;
  ConvDirection direction;
  /// Input, filter and output: indices of operands, or -1 for the result.
  int input, filter, output;
};

} // namespace

static constexpr ConvRoles kConvRoles[] = {
    {OpKind::Conv, ConvDirection::Forward, 0, 1, -1},
    {OpKind::ConvTranspose, ConvDirection::BackwardData, -1, 1, 0},
    {OpKind::ConvBackwardWeights, ConvDirection::BackwardWeights, 0, -1, 1}};

static const TensorDesc &getTensor(const Problem &problem, int role) {
  return role < 0 ? problem.result : problem.operands[role];
}

static std::vector<int64_t> getSpatial(const TensorDesc &desc) {
  return {desc.shape.begin() + 2, desc.shape.end()};
}

/// MIOpen's name of a layout; "" for the default one.
static std::string getLayoutName(const TensorDesc &desc) {
  if (desc.layout.kind == Layout::NCHW)
    return "";
  return desc.rank() == 5 ? "NDHWC" : "NHWC";
}

/// Describes a convolution of that kind as far as the description goes: the
/// caller compares the problem that it describes with the original.
static ConvDescription describe(const Problem &problem,
                                const ConvRoles &roles) {
  const TensorDesc &input = getTensor(problem, roles.input);
  const TensorDesc &filter = getTensor(problem, roles.filter);
  const TensorDesc &output = getTensor(problem, roles.output);
  ConvDescription conv;
  conv.batch = input.shape[0];
  conv.channels = input.shape[1];
  conv.outChannels = output.shape[1];
  conv.groups = problem.integer("group");
  conv.image = getSpatial(input);
  conv.kernel = getSpatial(filter);
  conv.strides = problem.ints("strides");
  conv.dilations = problem.ints("dilations");
  conv.pads = problem.ints("pads");
  conv.pads.resize(conv.image.size());
  conv.inputLayout = getLayoutName(input);
  conv.outputLayout = getLayoutName(output);
  return conv;
}

static std::optional<DescribedConv> describeAs(const Problem &problem,
                                               const ConvRoles &roles) {
  DType dtype = problem.operands.front().dtype;
  int64_t dims = problem.result.rank() - 2;
  if (problem.operands.size() != 2 || (dims != 2 && dims != 3) ||
      !findDriverType(dtype))
    return std::nullopt;
  ConvDescription conv = describe(problem, roles);
  runtime::Result<Problem> described =
      makeConvProblem(conv, roles.direction, dtype);
  if (!described || described->key() != problem.key())
    return std::nullopt;
  return DescribedConv{std::move(conv), roles.direction, dtype};
}

std::optional<DescribedConv> tarpon::describeConv(const Problem &problem) {
  for (const ConvRoles &roles : kConvRoles)
    if (problem.op == roles.op)
      return describeAs(problem, roles);
  return std::nullopt;
}

std::string tarpon::printDriverLine(const Problem &problem) {
  if (std::optional<DescribedConv> found = describeConv(problem))
    return "graph-opt driver " +
           printConvLine(found->conv, found->direction, found->dtype);
  return "graph-opt driver '" + problem.key() + "'";
}
