//===- RuleParts.cpp - Common parts of rules ------------------------------===//
//
// Part of Tarpon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "RuleParts.h"

#include "llvm/Support/FormatVariadic.h"

#include <numeric>

using namespace mlir;
using namespace tarpon;
using llvm::formatv;

ArrayRef<TensorDesc> tarpon::getRootOperands(const Problem &problem) {
  return ArrayRef(problem.operands).take_front(problem.rootOperands);
}

int64_t tarpon::product(ArrayRef<int64_t> numbers) {
  return std::accumulate(numbers.begin(), numbers.end(), int64_t(1),
                         std::multiplies<>());
}

//===----------------------------------------------------------------------===//
// Inference
//===----------------------------------------------------------------------===//

std::string tarpon::inferSame(const Problem &problem,
                              std::vector<Shape> &results) {
  results.emplace_back(ArrayRef(problem.operands[0].shape));
  return "";
}

std::string tarpon::inferAlongAxis(const Problem &problem,
                                   std::vector<Shape> &results) {
  const TensorDesc &input = problem.operands[0];
  int64_t axis = problem.integer("axis");
  if (axis >= input.rank())
    return formatv("{0} has the axis {1} of rank {2}", problem.op, axis,
                   input.rank());
  for (const TensorDesc &operand : getRootOperands(problem))
    if (operand.shape != input.shape)
      return formatv("{0} has a gradient of another shape than its operand",
                     problem.op);
  return inferSame(problem, results);
}

std::string tarpon::inferWindow(const Problem &problem,
                                ArrayRef<int64_t> spatial,
                                ArrayRef<int64_t> kernel, Shape &shape) {
  std::vector<int64_t> strides = problem.ints("strides"),
                       dilations = problem.ints("dilations"),
                       pads = problem.ints("pads");
  auto ceilMode = problem.attrs.find("ceil_mode");
  SlidingWindow window{kernel, strides, pads, dilations,
                       ceilMode != problem.attrs.end() &&
                           ceilMode->second.front() != 0};
  std::optional<size_t> tooSmall = window.appendPlaces(spatial, shape);
  if (!tooSmall)
    return "";
  WindowDim dim = window.getDim(spatial, *tooSmall);
  return formatv("{0} has a window of {1} cells on {2}", problem.op,
                 dim.getExtent(), dim.getPaddedSize());
}

//===----------------------------------------------------------------------===//
// Cost
//===----------------------------------------------------------------------===//

double tarpon::countWindowFlops(const Problem &problem) {
  return static_cast<double>(problem.result.numElements()) *
         static_cast<double>(product(problem.ints("kernel")));
}

int64_t tarpon::countTermsByFlops(const Problem &problem) {
  int64_t outputs = std::max<int64_t>(1, problem.result.numElements());
  return std::max<int64_t>(
      1, std::llround(problem.flops() / 2 / static_cast<double>(outputs)));
}
