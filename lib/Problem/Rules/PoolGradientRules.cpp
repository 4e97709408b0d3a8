//===- PoolGradientRules.cpp - Rules of pools' gradients ------------------===//
//
// Part of Tarpon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
//   max_pool_backward(dy, indices)->dx {kernel strides pads dilations
//   ceil_mode} avg_pool_backward(dy)->dx {... count_include_pad}
//   global_max_pool_backward(dy, indices)->dx
//   global_avg_pool_backward(dy)->dx
//
// The indices are those of ONNX's MaxPool: of the element in the whole input in
// row-major order, whatever the layout. An index outside of its window is
// ignored.
//
//===----------------------------------------------------------------------===//

#include "RuleParts.h"

#include "llvm/Support/FormatVariadic.h"

using namespace mlir;
using namespace tarpon;
using llvm::formatv;

/// Checks that a forward pool of dx would give dy's shape.
static std::string checkOperands(const Problem &problem, const Shape &pooled) {
  for (const TensorDesc &desc : getRootOperands(problem))
    if (ArrayRef(desc.shape) != ArrayRef<int64_t>(pooled))
      return formatv("{0} has an operand of {1}, expected {2}", problem.op,
                     printShape(desc.shape), printShape(pooled));
  if (!isFloat(problem.operands[0].dtype) || problem.operands[0].quantized)
    return formatv("{0} has a gradient that is not of floats", problem.op);
  if (problem.rootOperands == 2 && problem.operands[1].dtype != DType::I64 &&
      problem.operands[1].dtype != DType::I32)
    return formatv("{0} has indices that are neither i64 nor i32", problem.op);
  return "";
}

static std::string inferWindowed(const Problem &problem,
                                 std::vector<Shape> &results) {
  // The size of the input does not follow from that of the result.
  Shape shape(ArrayRef(problem.result.shape));
  results.push_back(shape);
  if (shape.size() != problem.operands[0].shape.size())
    return formatv("{0} has a result of rank {1}, expected {2}", problem.op,
                   shape.size(), problem.operands[0].rank());
  Shape pooled(ArrayRef<int64_t>(shape).take_front(2));
  if (std::string fault =
          inferWindow(problem, ArrayRef<int64_t>(shape).drop_front(2),
                      problem.ints("kernel"), pooled);
      !fault.empty())
    return fault;
  return checkOperands(problem, pooled);
}

static std::string inferGlobal(const Problem &problem,
                               std::vector<Shape> &results) {
  Shape shape(ArrayRef(problem.result.shape));
  results.push_back(shape);
  if (shape.size() != problem.operands[0].shape.size())
    return formatv("{0} has a result of rank {1}, expected {2}", problem.op,
                   shape.size(), problem.operands[0].rank());
  return checkOperands(problem, poolGlobally(shape));
}

static constexpr AttrRule kMaxAttrs[] = {
    attr::kernel, attr::strides, attr::dilations, attr::pads, attr::ceilMode};
static constexpr AttrRule kAvgAttrs[] = {
    attr::kernel, attr::strides,  attr::dilations,
    attr::pads,   attr::ceilMode, attr::countIncludePad};

ArrayRef<OpRule> tarpon::getPoolGradientRules() {
  static const OpRule rules[] = {
      {.op = OpKind::MaxPoolBackward,
       .leastOperands = 2,
       .mostOperands = 2,
       .leastRank = 3,
       .mostRank = 5,
       .attrs = kMaxAttrs,
       .infer = inferWindowed,
       .countFlops = countWindowFlops},
      {.op = OpKind::AvgPoolBackward,
       .leastRank = 3,
       .mostRank = 5,
       .attrs = kAvgAttrs,
       .infer = inferWindowed,
       .countFlops = countWindowFlops},
      {.op = OpKind::GlobalMaxPoolBackward,
       .leastOperands = 2,
       .mostOperands = 2,
       .leastRank = 3,
       .mostRank = 5,
       .infer = inferGlobal},
      {.op = OpKind::GlobalAvgPoolBackward,
       .leastRank = 3,
       .mostRank = 5,
       .infer = inferGlobal},
  };
  return rules;
}
