//===- ProblemCheck.cpp - What graphs cannot pose as problems -------------===//
//
// Part of Tarpon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Problems from graphs went through the dialect's type inference. Those from
// keys did not: the same constraints are checked here, on which solvers rely.
//
//===----------------------------------------------------------------------===//

#include "tarpon/IR/Shapes.h"
#include "tarpon/Problem/ComputeKind.h"
#include "tarpon/Problem/ElementwiseOps.h"
#include "tarpon/Problem/ProblemRules.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringSwitch.h"
#include "llvm/Support/Format.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/raw_ostream.h"

#include <cmath>

using namespace mlir;
using namespace tarpon;
using llvm::formatv;

namespace {

using Shape = OpRule::Shape;

/// Each check returns what is wrong, or "".
class Checker {
public:
  explicit Checker(const Problem &problem)
      : problem(problem), rule(findOpRule(problem.op)) {}
  std::string run() const;

private:
  std::string checkOperandCount() const;
  std::string checkTensor(const TensorDesc &desc) const;
  std::string checkRanks() const;
  std::string checkAttr(const ProblemAttrs &attrs, StringRef op,
                        const AttrRule &rule) const;
  std::string checkAttrs() const;
  std::string checkTypes() const;
  std::string checkStep(const EpilogueStep &step) const;
  std::string checkReshape() const;
  std::string checkResults() const;

  // What the root gives, or what is wrong with its operands.
  std::string inferShape(Shape &shape) const;
  std::string inferWindow(ArrayRef<int64_t> kernel, Shape &shape) const;
  std::string inferConv(Shape &shape) const;
  std::string inferMatMul(Shape &shape) const;
  std::string inferBinary(Shape &shape) const;
  std::string inferConcat(Shape &shape) const;
  std::string inferTranspose(Shape &shape) const;
  std::string inferPad(Shape &shape) const;
  std::string inferResize(Shape &shape) const;
  std::string checkBatchNorm() const;
  std::string checkAxis() const;

  ArrayRef<TensorDesc> getRootOperands() const {
    return ArrayRef(problem.operands).take_front(problem.rootOperands);
  }
  const TensorDesc &input() const { return problem.operands.front(); }
  bool isOneOf(ArrayRef<StringRef> ops) const {
    return llvm::is_contained(ops, problem.op);
  }

  const Problem &problem;
  /// Null for the operations that are spelled out here.
  const OpRule *rule;
};

} // namespace

static std::string print(double number) {
  std::string text;
  llvm::raw_string_ostream(text) << llvm::format("%g", number);
  return text;
}

//===----------------------------------------------------------------------===//
// Operands
//===----------------------------------------------------------------------===//

std::string Checker::checkOperandCount() const {
  int expected = llvm::StringSwitch<int>(problem.op)
                     .Cases({"conv", "matmul"}, 2)
                     .Cases({"max_pool", "avg_pool"}, 1)
                     .Cases({"global_max_pool", "global_avg_pool"}, 1)
                     .Cases({"softmax", "lrn", "convert"}, 1)
                     .Cases({"transpose", "pad", "reshape", "resize"}, 1)
                     .Case("shuffle_channels", 1)
                     .Case("batch_norm", 5)
                     .Case("concat", std::max(1, problem.rootOperands))
                     .Default(0);
  if (isElementwiseOp(problem.op))
    expected = isBinaryOp(problem.op) ? 2 : 1;
  if (rule)
    expected = std::clamp(problem.rootOperands, rule->leastOperands,
                          rule->mostOperands);
  if (expected == 0)
    return formatv("there is no operation '{0}'", problem.op);
  if (problem.rootOperands != expected)
    return formatv("{0} has {1} operands, expected {2}", problem.op,
                   problem.rootOperands, expected);
  return "";
}

std::string Checker::checkTensor(const TensorDesc &desc) const {
  // Far more than there is memory, and products with a few bytes or cells still
  // fit into 64 bits.
  constexpr int64_t kMaxElements = int64_t(1) << 48;
  int64_t elements = 1;
  for (int64_t size : desc.shape) {
    if (size < 1)
      return "a tensor is empty";
    if (size > kMaxElements / elements)
      return formatv("a tensor has more than {0} elements", kMaxElements);
    elements *= size;
  }
  if (desc.quantized && desc.dtype != DType::I8 && desc.dtype != DType::U8)
    return "a quantised tensor is neither of i8 nor of u8";
  if (desc.layout.kind != Layout::NCHW && desc.rank() < 3)
    return formatv("a tensor in {0} has rank {1}, expected 3 or more",
                   desc.layout.name(), desc.rank());
  if (desc.layout.kind == Layout::Blocked &&
      !llvm::is_contained({4, 8, 16, 32, 64}, desc.layout.block))
    return "a block of channels is not 4, 8, 16, 32 or 64";
  if (desc.pitch) {
    if (desc.layout.kind != Layout::NHWC)
      return "a slice is not in nhwc";
    if (desc.pitch <= desc.shape[1])
      return formatv("a slice of {0} channels has a pitch of {1}, expected "
                     "more",
                     desc.shape[1], desc.pitch);
    if (desc.pitch > kMaxElements / elements)
      return formatv("a slice spans more than {0} elements", kMaxElements);
    if (desc.constant)
      return "a slice is constant";
  }
  return "";
}

std::string Checker::checkRanks() const {
  if (rule &&
      (input().rank() < rule->leastRank || input().rank() > rule->mostRank))
    return formatv("{0} has an operand of rank {1}, expected {2} {3}",
                   problem.op, input().rank(), rule->leastRank,
                   rule->mostRank == INT64_MAX
                       ? "or more"
                       : "to " + std::to_string(rule->mostRank));
  bool isWindow = isOneOf(
      {"conv", "max_pool", "avg_pool", "global_max_pool", "global_avg_pool"});
  int64_t least = isWindow || problem.op == "lrn"                         ? 3
                  : isOneOf({"matmul", "batch_norm", "shuffle_channels"}) ? 2
                                                                          : 0;
  if (input().rank() < least || (isWindow && input().rank() > 5))
    return formatv("{0} has an operand of rank {1}, expected {2} {3}",
                   problem.op, input().rank(), least,
                   isWindow ? "to 5" : "or more");
  return "";
}

std::string Checker::checkTypes() const {
  // Sums of products are taken of integers, or of floats.
  if (isOneOf({"conv", "matmul"}) &&
      input().quantized != problem.operands[1].quantized)
    return formatv("{0} has one quantised operand, expected both or none",
                   problem.op);
  if (problem.op == "conv" && problem.operands[1].layout.kind != Layout::NCHW)
    return "conv has a filter that is not row-major";
  ComputeKind kind = computeKindOf(problem);
  if (kind == ComputeKind::F32 || kind == ComputeKind::F64)
    return "";
  for (const TensorDesc &operand : problem.operands)
    if (ComputeKind other = computeKindOf(operand);
        other == ComputeKind::F32 || other == ComputeKind::F64)
      return "an operand of floats beside one of integers";
  if (isRealOp(problem.op))
    return formatv("{0} of integers, which is defined on floats", problem.op);
  for (const EpilogueStep &step : problem.epilogue)
    if (isRealOp(step.op))
      return formatv("{0} of integers, which is defined on floats", step.op);
  return "";
}

//===----------------------------------------------------------------------===//
// Attributes
//===----------------------------------------------------------------------===//

static SmallVector<AttrRule> getAttrRules(StringRef op) {
  const AttrRule strides = {"strides", Count::Spatial, true, 1},
                 dilations = {"dilations", Count::Spatial, true, 1},
                 pads = {"pads", Count::SpatialTwice, true, 0},
                 kernel = {"kernel", Count::Spatial, true, 1},
                 ceilMode = {"ceil_mode", Count::One, true, 0},
                 axis = {"axis", Count::One, true, 0};
  if (op == "conv")
    return {strides, dilations, pads, {"group", Count::One, true, 1}};
  if (op == "max_pool")
    return {kernel, strides, dilations, pads, ceilMode};
  if (op == "avg_pool")
    return {kernel, strides,  dilations,
            pads,   ceilMode, {"count_include_pad", Count::One, true, 0}};
  if (op == "matmul")
    return {{"transpose_lhs", Count::One, true, 0},
            {"transpose_rhs", Count::One, true, 0}};
  if (op == "batch_norm")
    return {{"epsilon", Count::One, false, 0}};
  if (op == "softmax" || op == "concat")
    return {axis};
  if (op == "lrn")
    return {{"size", Count::One, true, 1},
            {"alpha", Count::One, false},
            {"beta", Count::One, false},
            {"bias", Count::One, false}};
  if (op == "shuffle_channels")
    return {{"group", Count::One, true, 1}};
  if (op == "transpose")
    return {{"permutation", Count::Rank, true, 0}};
  if (op == "pad")
    return {{"pads", Count::RankTwice, true},
            {"mode", Count::One, true, 0},
            {"value", Count::One, false}};
  if (op == "resize")
    return {{"sizes", Count::Rank, true, 1},
            {"scales", Count::Rank, false, 1e-9},
            {"mode", Count::One, true, 0},
            {"coordinates", Count::One, true, 0},
            {"rounding", Count::One, true, 0},
            {"cubic_a", Count::One, false},
            {"exclude_outside", Count::One, true, 0},
            {"extrapolation", Count::One, false}};
  SmallVector<AttrRule> rules;
  for (StringLiteral name : getStepAttrs(op))
    rules.push_back({name, Count::One, false});
  return rules;
}

std::string Checker::checkAttr(const ProblemAttrs &attrs, StringRef op,
                               const AttrRule &rule) const {
  size_t rank = input().shape.size(), expected = 1;
  if (rule.count == Count::Rank || rule.count == Count::RankTwice)
    expected = rank;
  else if (rule.count != Count::One)
    expected = std::max<size_t>(rank, 2) - 2;
  if (rule.count == Count::SpatialTwice || rule.count == Count::RankTwice)
    expected *= 2;
  auto found = attrs.find(rule.name.str());
  if (found == attrs.end())
    return formatv("{0} lacks the attribute {1}", op, rule.name);
  if (rule.count != Count::Any && found->second.size() != expected)
    return formatv("{0} has {1} values in {2}, expected {3}", op,
                   found->second.size(), rule.name, expected);
  for (double value : found->second) {
    if (rule.isInteger &&
        (value != std::trunc(value) || std::fabs(value) > 0x1p53))
      return formatv("{0} has the value {1} in {2}, expected an integer", op,
                     print(value), rule.name);
    if (value < rule.least)
      return formatv("{0} has the value {1} in {2}, expected {3} or more", op,
                     print(value), rule.name, print(rule.least));
  }
  return "";
}

std::string Checker::checkAttrs() const {
  SmallVector<AttrRule> attrRules = getAttrRules(problem.op);
  if (rule)
    llvm::append_range(attrRules, rule->attrs);
  for (const AttrRule &rule : attrRules)
    if (std::string fault = checkAttr(problem.attrs, problem.op, rule);
        !fault.empty())
      return fault;
  return "";
}

//===----------------------------------------------------------------------===//
// Shapes
//===----------------------------------------------------------------------===//

/// Appends the places of the window to a shape of images and channels.
std::string Checker::inferWindow(ArrayRef<int64_t> kernel, Shape &shape) const {
  std::vector<int64_t> strides = problem.ints("strides"),
                       dilations = problem.ints("dilations"),
                       pads = problem.ints("pads");
  auto ceilMode = problem.attrs.find("ceil_mode");
  for (size_t dim = 0; dim < kernel.size(); ++dim) {
    WindowDim window{input().spatial()[dim],
                     kernel[dim],
                     strides[dim],
                     dilations[dim],
                     pads[dim],
                     pads[kernel.size() + dim],
                     ceilMode != problem.attrs.end() &&
                         ceilMode->second.front() != 0};
    if (!window.fits())
      return formatv("{0} has a window of {1} cells on {2}", problem.op,
                     window.getExtent(), window.getPaddedSize());
    shape.push_back(window.countPlaces());
  }
  return "";
}

std::string Checker::inferConv(Shape &shape) const {
  const TensorDesc &filter = problem.operands[1];
  if (filter.rank() != input().rank())
    return formatv("conv has operands of ranks {0} and {1}", input().rank(),
                   filter.rank());
  int64_t group = problem.integer("group");
  if (input().shape[1] % group != 0 || filter.shape[0] % group != 0)
    return formatv("conv has {0} groups of {1} input and {2} output channels",
                   group, input().shape[1], filter.shape[0]);
  if (filter.shape[1] != input().shape[1] / group)
    return formatv("conv has a filter of {0} input channels, expected {1}",
                   filter.shape[1], input().shape[1] / group);
  shape = {input().shape[0], filter.shape[0]};
  return inferWindow(filter.spatial(), shape);
}

std::string Checker::inferMatMul(Shape &shape) const {
  const TensorDesc &rhs = problem.operands[1];
  if (rhs.rank() < 2)
    return formatv("matmul has an operand of rank {0}, expected 2 or more",
                   rhs.rank());
  auto read = [](const TensorDesc &desc, bool transposed) {
    Shape sizes(ArrayRef(desc.shape));
    if (transposed)
      std::swap(sizes[sizes.size() - 1], sizes[sizes.size() - 2]);
    return sizes;
  };
  Shape left = read(input(), problem.integer("transpose_lhs") != 0);
  Shape right = read(rhs, problem.integer("transpose_rhs") != 0);
  int64_t depth = left.pop_back_val(), rows = left.pop_back_val();
  int64_t columns = right.pop_back_val(), otherDepth = right.pop_back_val();
  if (depth != otherDepth)
    return formatv("matmul contracts {0} with {1} elements", depth, otherDepth);
  std::optional<Shape> batch = broadcastShapes(left, right);
  if (!batch)
    return "matmul has batch dimensions that do not broadcast";
  shape = *batch;
  shape.append({rows, columns});
  return "";
}

std::string Checker::inferBinary(Shape &shape) const {
  std::optional<Shape> both =
      broadcastShapes(input().shape, problem.operands[1].shape);
  if (!both)
    return formatv("{0} has operands that do not broadcast", problem.op);
  shape = *both;
  return "";
}

std::string Checker::checkAxis() const {
  if (problem.integer("axis") >= input().rank())
    return formatv("{0} has the axis {1} of rank {2}", problem.op,
                   problem.integer("axis"), input().rank());
  return "";
}

std::string Checker::inferConcat(Shape &shape) const {
  if (std::string fault = checkAxis(); !fault.empty())
    return fault;
  int64_t axis = problem.integer("axis");
  for (const TensorDesc &operand : getRootOperands().drop_front()) {
    Shape besides(ArrayRef(operand.shape));
    if (operand.rank() == input().rank())
      besides[axis] = input().shape[axis];
    if (besides != ArrayRef(input().shape))
      return formatv("concat has operands that differ beside axis {0}", axis);
    shape[axis] += operand.shape[axis];
  }
  return "";
}

std::string Checker::inferTranspose(Shape &shape) const {
  std::vector<int64_t> permutation = problem.ints("permutation");
  std::vector<int64_t> sorted = permutation;
  llvm::sort(sorted);
  if (!llvm::equal(sorted, llvm::seq<int64_t>(0, input().rank())))
    return "transpose has no permutation of its dimensions";
  for (auto [dim, from] : llvm::enumerate(permutation))
    shape[dim] = input().shape[from];
  return "";
}

std::string Checker::inferPad(Shape &shape) const {
  enum Mode : int64_t { Constant, Edge, Reflect, Wrap };
  int64_t mode = problem.integer("mode");
  if (mode > Wrap)
    return formatv("pad has the mode {0}, expected 0 to 3", mode);
  std::vector<int64_t> pads = problem.ints("pads");
  size_t rank = shape.size();
  for (size_t dim = 0; dim < rank; ++dim) {
    int64_t begin = pads[dim], end = pads[rank + dim];
    if (mode == Reflect && std::max(begin, end) >= shape[dim])
      return formatv("pad reflects {0} cells of {1}", std::max(begin, end),
                     shape[dim]);
    shape[dim] += begin + end;
  }
  return "";
}

std::string Checker::inferResize(Shape &shape) const {
  constexpr int64_t kModes = 3, kCoordinates = 6, kRoundings = 4, kCrop = 5;
  int64_t mode = problem.integer("mode"),
          coordinates = problem.integer("coordinates");
  if (mode >= kModes || coordinates >= kCoordinates ||
      problem.integer("rounding") >= kRoundings)
    return "resize has an unknown mode";
  auto roi = problem.attrs.find("roi");
  size_t entries = roi == problem.attrs.end() ? 1 : roi->second.size();
  if (entries != 0 && entries != 2 * shape.size())
    return formatv("resize lacks a region of 0 or {0} numbers",
                   2 * shape.size());
  ComputeKind kind = computeKindOf(problem);
  bool isReal = kind == ComputeKind::F32 || kind == ComputeKind::F64;
  if ((mode > 0 || coordinates == kCrop) && !isReal)
    return "resize interpolates integers";
  std::vector<int64_t> sizes = problem.ints("sizes");
  shape.assign(sizes.begin(), sizes.end());
  bool keepsChannels =
      entries == 0 && ArrayRef<int64_t>(shape).take_front(2) ==
                          ArrayRef(input().shape).take_front(2);
  if (input().layout.kind != Layout::NCHW && !keepsChannels)
    return "resize changes batch or channels of a tensor that is not in nchw";
  return "";
}

std::string Checker::checkBatchNorm() const {
  int64_t channels = input().shape[1];
  for (const TensorDesc &operand : getRootOperands().drop_front())
    if (ArrayRef(operand.shape) != ArrayRef(channels))
      return formatv("batch_norm has a parameter of {0} elements, expected {1}",
                     printShape(operand.shape), channels);
  return "";
}

std::string Checker::inferShape(Shape &shape) const {
  shape.assign(input().shape.begin(), input().shape.end());
  if (problem.op == "conv")
    return inferConv(shape);
  if (problem.op == "matmul")
    return inferMatMul(shape);
  if (isBinaryOp(problem.op))
    return inferBinary(shape);
  if (problem.op == "concat")
    return inferConcat(shape);
  if (problem.op == "transpose")
    return inferTranspose(shape);
  if (problem.op == "pad")
    return inferPad(shape);
  if (problem.op == "resize")
    return inferResize(shape);
  if (problem.op == "batch_norm")
    return checkBatchNorm();
  if (problem.op == "softmax")
    return checkAxis();
  if (problem.op == "shuffle_channels" &&
      shape[1] % problem.integer("group") != 0)
    return formatv("shuffle_channels has {0} groups of {1} channels",
                   problem.integer("group"), shape[1]);
  if (isOneOf({"max_pool", "avg_pool"})) {
    shape.resize(2);
    return inferWindow(problem.ints("kernel"), shape);
  }
  if (isOneOf({"global_max_pool", "global_avg_pool"}))
    std::fill(shape.begin() + 2, shape.end(), 1);
  return "";
}

std::string Checker::checkReshape() const {
  if (input().numElements() == problem.result.numElements())
    return "";
  return formatv("reshape makes {0} elements of {1}",
                 problem.result.numElements(), input().numElements());
}

std::string Checker::checkResults() const {
  std::vector<Shape> shapes;
  std::string fault;
  if (rule)
    fault = rule->infer(problem, shapes);
  else if (problem.op == "reshape")
    fault = checkReshape();
  else
    fault = inferShape(shapes.emplace_back());
  if (!fault.empty())
    return fault;
  if (problem.op == "reshape")
    shapes.emplace_back(ArrayRef(problem.result.shape));
  if (static_cast<int64_t>(shapes.size()) != problem.numResults())
    return formatv("{0} has {1} results, expected {2}", problem.op,
                   problem.numResults(), shapes.size());
  for (auto [index, shape] : llvm::enumerate(shapes))
    if (const TensorDesc &result =
            problem.getResult(static_cast<int64_t>(index));
        ArrayRef<int64_t>(shape) != ArrayRef(result.shape))
      return formatv("{0} has a result of {1}, expected {2}", problem.op,
                     printShape(result.shape), printShape(shape));
  return "";
}

//===----------------------------------------------------------------------===//
// All of it
//===----------------------------------------------------------------------===//

std::string Checker::checkStep(const EpilogueStep &step) const {
  if (!isElementwiseOp(step.op))
    return formatv("an epilogue has no operation '{0}'", step.op);
  for (StringLiteral name : getStepAttrs(step.op))
    if (std::string fault =
            checkAttr(step.attrs, step.op, {name, Count::One, false});
        !fault.empty())
      return fault;
  if (step.operand < 0)
    return "";
  if (!isBinaryOp(step.op))
    return formatv("{0} has one operand, expected none beside the value",
                   step.op);
  if (step.operand < problem.rootOperands ||
      step.operand >= static_cast<int>(problem.operands.size()))
    return formatv("{0} reads operand {1}, which is none of the epilogue's",
                   step.op, step.operand);
  return "";
}

std::string Checker::run() const {
  if (std::string fault = checkOperandCount(); !fault.empty())
    return fault;
  for (const TensorDesc &operand : problem.operands)
    if (std::string fault = checkTensor(operand); !fault.empty())
      return fault;
  for (int64_t i = 0; i < problem.numResults(); ++i)
    if (std::string fault = checkTensor(problem.getResult(i)); !fault.empty())
      return fault;
  for (const EpilogueStep &step : problem.epilogue)
    if (std::string fault = checkStep(step); !fault.empty())
      return fault;
  for (auto check : {&Checker::checkRanks, &Checker::checkAttrs,
                     &Checker::checkTypes, &Checker::checkResults})
    if (std::string fault = (this->*check)(); !fault.empty())
      return fault;
  ArrayRef<int64_t> shape = problem.result.shape;
  for (const TensorDesc &operand :
       ArrayRef(problem.operands).drop_front(problem.rootOperands))
    if (std::optional<Shape> both = broadcastShapes(shape, operand.shape);
        !both || ArrayRef<int64_t>(*both) != shape)
      return formatv("an operand of {0} does not broadcast to {1}",
                     printShape(operand.shape), printShape(shape));
  return "";
}

std::string tarpon::findFault(const Problem &problem) {
  return Checker(problem).run();
}
