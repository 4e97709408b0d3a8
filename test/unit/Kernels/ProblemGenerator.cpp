//===- ProblemGenerator.cpp - Random small problems -----------------------===//
//
// Part of Tarpon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "ProblemGenerator.h"

#include "AreaProblems.h"

#include "tarpon/Problem/ElementwiseOps.h"

#include "llvm/ADT/STLExtras.h"

#include <algorithm>
#include <cmath>

using namespace tarpon;
using namespace tarpon::test;

int64_t ProblemGenerator::pick(int64_t low, int64_t high) {
  // Not std::uniform_int_distribution, which differs between libraries.
  return low + static_cast<int64_t>(random() % uint64_t(high - low + 1));
}

//===----------------------------------------------------------------------===//
// Tensors
//===----------------------------------------------------------------------===//

TensorDesc ProblemGenerator::makeTensor(std::vector<int64_t> shape,
                                        Layout layout) {
  TensorDesc desc;
  desc.shape = std::move(shape);
  if (desc.rank() >= 3)
    desc.layout = layout;
  return desc;
}

Layout ProblemGenerator::pickLayout() {
  if (chance(15))
    return {Layout::Blocked, oneOf<int64_t>({4, 8, 16, 32})};
  return {chance(50) ? Layout::NHWC : Layout::NCHW, 1};
}

std::vector<int64_t>
ProblemGenerator::makeShape(std::initializer_list<int64_t> ranks) {
  int64_t rank = chance(20) ? pick(0, 1) : oneOf(ranks);
  if (rank >= 2)
    return makeImage(rank);
  std::vector<int64_t> shape;
  if (rank == 1)
    shape = {chance(40) ? 1 : pick(1, 40)};
  return shape;
}

std::vector<int64_t> ProblemGenerator::makeImage(int64_t rank) {
  std::vector<int64_t> shape = {oneOf<int64_t>({1, 1, 2, 3}), pick(1, 40)};
  if (chance(20))
    shape[1] = oneOf<int64_t>({1, 3, 16, 64, 70});
  for (int64_t d = 2; d < rank; ++d)
    shape.push_back(chance(15) ? 1 : pick(1, rank > 4 ? 7 : 22));
  return shape;
}

void ProblemGenerator::setType(TensorDesc &desc, DType dtype, bool quantized) {
  desc.dtype = dtype;
  desc.quantized = quantized;
  if (!quantized) {
    // A copy of a quantised tensor's description may have had some.
    desc.scales.clear();
    desc.zeroPoint = 0;
    desc.quantAxis = -1;
    return;
  }
  desc.scales = {static_cast<float>(pick(10, 30)) / 1000};
  desc.zeroPoint = dtype == DType::U8 ? pick(100, 150) : pick(-3, 3);
}

/// The floats that are computed with as f32.
static std::vector<DType> getFloats(bool withF32) {
  std::vector<DType> floats;
  for (DType dtype : runtime::kDTypes)
    if (runtime::fitsF32(dtype) && (withF32 || dtype != DType::F32))
      floats.push_back(dtype);
  return floats;
}

DType ProblemGenerator::pickFloat() {
  std::vector<DType> floats = getFloats(/*withF32=*/true);
  return floats[pick(0, floats.size() - 1)];
}

DType ProblemGenerator::pickSmallFloat() {
  std::vector<DType> floats = getFloats(/*withF32=*/false);
  return floats[pick(0, floats.size() - 1)];
}

void ProblemGenerator::chooseTypes(Problem &problem) {
  int64_t mode = pick(0, 9);
  if (mode >= 7) {
    for (TensorDesc &operand : problem.operands)
      setType(operand, chance(70) ? DType::U8 : DType::I8, true);
    setType(problem.result, DType::U8, true);
    if (chance(30))
      setType(problem.result, DType::F32, false);
    return;
  }
  std::vector<DType> small = getFloats(/*withF32=*/false);
  DType dtype = mode < 3 ? DType::F32 : small[(mode - 3) * small.size() / 4];
  for (TensorDesc &operand : problem.operands)
    setType(operand, dtype, false);
  setType(problem.result, chance(80) ? dtype : DType::F32, false);
}

//===----------------------------------------------------------------------===//
// Epilogues
//===----------------------------------------------------------------------===//

void ProblemGenerator::addEpilogue(Problem &problem) {
  for (int64_t steps = oneOf<int64_t>({0, 0, 1, 1, 2, 3}); steps > 0; --steps) {
    EpilogueStep step;
    step.op = oneOf<OpKind>({OpKind::Add, OpKind::Add, OpKind::Sub, OpKind::Mul,
                             OpKind::Div, OpKind::Relu, OpKind::Relu,
                             OpKind::Clip, OpKind::LeakyRelu, OpKind::Sigmoid,
                             OpKind::HardSigmoid, OpKind::HardSwish});
    // Operations without jumps, and that do not magnify errors.
    if (chance(30))
      step.op = oneOf<OpKind>(
          {OpKind::Abs, OpKind::Celu, OpKind::Elu, OpKind::Erf, OpKind::Gelu,
           OpKind::GeluTanh, OpKind::Max, OpKind::Min, OpKind::Mish,
           OpKind::Neg, OpKind::PRelu, OpKind::Selu, OpKind::Sin,
           OpKind::Softplus, OpKind::Softsign, OpKind::Swish, OpKind::Tanh,
           OpKind::TanhBackward});
    step.attrs = makeStepAttrs(step.op);
    if (isBinaryOp(step.op)) {
      const TensorDesc &result = problem.result;
      std::vector<int64_t> shape = result.shape;
      int64_t kind = pick(0, 4);
      if (kind == 0)
        shape.assign(std::min<size_t>(1, shape.size()), 1);
      for (size_t d = 0; kind >= 3 && d < shape.size(); ++d)
        if (d != 1)
          shape[d] = 1;
      TensorDesc operand =
          makeTensor(shape, kind < 3 ? result.layout : Layout());
      setType(operand, chance(60) ? DType::F32 : pickSmallFloat(), false);
      operand.constant = kind >= 3 && chance(70);
      step.operand = static_cast<int>(problem.operands.size());
      step.swapped = step.op != OpKind::Div && chance(30);
      problem.operands.push_back(operand);
    }
    problem.epilogue.push_back(step);
  }
}

//===----------------------------------------------------------------------===//
// Windows
//===----------------------------------------------------------------------===//

void ProblemGenerator::addWindow(Problem &problem,
                                 const std::vector<int64_t> &kernel) {
  TensorDesc &input = problem.operands[0];
  size_t dims = kernel.size();
  std::vector<double> strides, dilations, begins, ends;
  bool ceilMode = problem.attrs.count("ceil_mode") &&
                  problem.attrs["ceil_mode"].front() != 0;
  for (size_t d = 0; d < dims; ++d) {
    int64_t stride = oneOf<int64_t>({1, 1, 2, 2, 3});
    int64_t dilation = chance(80) ? 1 : 2;
    int64_t extent = dilation * (kernel[d] - 1) + 1;
    // Now and then, whole windows of a convolution see nothing but padding.
    int64_t most = problem.op == OpKind::Conv && chance(10)
                       ? kernel[d] + 1
                       : std::min<int64_t>(2, kernel[d] - 1);
    int64_t begin = pick(0, most), end = pick(0, most);
    input.shape[2 + d] = std::max(input.shape[2 + d],
                                  std::max<int64_t>(1, extent - begin - end));
    int64_t room = input.shape[2 + d] + begin + end - extent;
    int64_t out = room / stride + 1;
    // In ceil_mode no window starts in the padding behind the input.
    if (ceilMode && room % stride != 0 &&
        out * stride < input.shape[2 + d] + begin)
      ++out;
    problem.result.shape[2 + d] = out;
    strides.push_back(static_cast<double>(stride));
    dilations.push_back(static_cast<double>(dilation));
    begins.push_back(static_cast<double>(begin));
    ends.push_back(static_cast<double>(end));
  }
  begins.insert(begins.end(), ends.begin(), ends.end());
  problem.attrs["strides"] = strides;
  problem.attrs["dilations"] = dilations;
  problem.attrs["pads"] = begins;
}

Problem ProblemGenerator::makeConv(bool depthwise) {
  Problem problem;
  problem.op = OpKind::Conv;
  int64_t rank = oneOf<int64_t>({3, 4, 4, 4, 4, 5});
  Layout layout = pickLayout();
  std::vector<int64_t> shape = makeImage(rank);
  int64_t group = depthwise ? shape[1] : oneOf<int64_t>({1, 1, 1, 2, 3});
  shape[1] = depthwise ? shape[1] : group * pick(1, 20);
  std::vector<int64_t> filter = {depthwise ? shape[1] : group * pick(1, 24),
                                 shape[1] / group};
  std::vector<int64_t> kernel;
  for (int64_t d = 2; d < rank; ++d)
    kernel.push_back(oneOf<int64_t>({1, 2, 3, 3, 5}));
  filter.insert(filter.end(), kernel.begin(), kernel.end());
  problem.operands = {makeTensor(shape, layout), makeTensor(filter, Layout())};
  problem.rootOperands = 2;
  shape[1] = filter[0];
  problem.result = makeTensor(shape, layout);
  problem.attrs["group"] = {static_cast<double>(group)};
  addWindow(problem, kernel);
  chooseConvTypes(problem);
  addEpilogue(problem);
  return problem;
}

Problem ProblemGenerator::makePool() {
  Problem problem;
  problem.op = chance(50) ? OpKind::MaxPool : OpKind::AvgPool;
  int64_t rank = oneOf<int64_t>({3, 4, 4, 4, 4, 5});
  Layout layout = pickLayout();
  std::vector<int64_t> shape = makeImage(rank), kernel;
  for (int64_t d = 2; d < rank; ++d)
    kernel.push_back(pick(1, 4));
  problem.operands = {makeTensor(shape, layout)};
  problem.result = makeTensor(shape, layout);
  problem.attrs["kernel"] = {kernel.begin(), kernel.end()};
  problem.attrs["ceil_mode"] = {double(chance(30))};
  if (problem.op == OpKind::AvgPool)
    problem.attrs["count_include_pad"] = {double(chance(50))};
  addWindow(problem, kernel);
  chooseTypes(problem);
  if (chance(60) && problem.result.quantized) {
    problem.result = problem.operands[0];
    problem.result.shape = makeTensor(shape, layout).shape;
    for (size_t d = 0; d < kernel.size(); ++d)
      problem.result.shape[2 + d] = 1;
    addWindow(problem, kernel);
  }
  if (chance(40))
    addEpilogue(problem);
  return problem;
}

Problem ProblemGenerator::makeGlobalPool() {
  Problem problem;
  problem.op = chance(30) ? OpKind::GlobalMaxPool : OpKind::GlobalAvgPool;
  std::vector<int64_t> shape = makeImage(oneOf<int64_t>({3, 4, 4, 5}));
  Layout layout = pickLayout();
  problem.operands = {makeTensor(shape, layout)};
  std::fill(shape.begin() + 2, shape.end(), 1);
  problem.result = makeTensor(shape, layout);
  chooseTypes(problem);
  if (chance(40))
    addEpilogue(problem);
  return problem;
}

//===----------------------------------------------------------------------===//
// Norms
//===----------------------------------------------------------------------===//

Problem ProblemGenerator::makeBatchNorm() {
  Problem problem;
  problem.op = OpKind::BatchNorm;
  std::vector<int64_t> shape = makeImage(oneOf<int64_t>({2, 3, 4, 4}));
  Layout layout = pickLayout();
  problem.operands = {makeTensor(shape, layout)};
  problem.result = makeTensor(shape, layout);
  chooseTypes(problem);
  problem.rootOperands = 5;
  for (int i = 1; i < 5; ++i) {
    problem.operands.push_back(makeTensor({shape[1]}, Layout()));
    problem.operands.back().constant = chance(95);
  }
  problem.attrs["epsilon"] = {1e-5};
  if (chance(50))
    addEpilogue(problem);
  return problem;
}

Problem ProblemGenerator::makeSoftmax() {
  Problem problem;
  problem.op = OpKind::Softmax;
  std::vector<int64_t> shape;
  for (int64_t rank = pick(1, 4); rank > 0; --rank)
    shape.push_back(pick(1, 20));
  if (chance(40))
    shape.back() = pick(1, 1100);
  problem.operands = {makeTensor(shape, Layout())};
  problem.result = problem.operands[0];
  int64_t rank = problem.result.rank();
  problem.attrs["axis"] = {double(chance(70) ? rank - 1 : pick(0, rank - 1))};
  chooseTypes(problem);
  return problem;
}

Problem ProblemGenerator::makeLrn() {
  Problem problem;
  problem.op = OpKind::Lrn;
  problem.operands = {
      makeTensor(makeImage(oneOf<int64_t>({3, 4})), pickLayout())};
  problem.result = problem.operands[0];
  problem.attrs = {{"size", {double(pick(1, 6))}},
                   {"alpha", {0.125}},
                   {"beta", {0.75}},
                   {"bias", {1.5}}};
  chooseTypes(problem);
  if (chance(30))
    addEpilogue(problem);
  return problem;
}

//===----------------------------------------------------------------------===//
// Movement
//===----------------------------------------------------------------------===//

void ProblemGenerator::moveIntegers(Problem &problem,
                                    llvm::MutableArrayRef<TensorDesc> moved) {
  if (!chance(20))
    return;
  DType dtype = oneOf({DType::Bool, DType::I32, DType::I64});
  for (TensorDesc &operand : moved)
    setType(operand, dtype, false);
  setType(problem.result, dtype, false);
}

Problem ProblemGenerator::makeConcat() {
  Problem problem;
  problem.op = OpKind::Concat;
  Layout layout = pickLayout();
  std::vector<int64_t> shape = makeImage(oneOf<int64_t>({2, 3, 4, 4}));
  int64_t axis =
      chance(60) ? 1 : pick(0, static_cast<int64_t>(shape.size()) - 1);
  bool blocked = layout.kind == Layout::Blocked;
  int64_t total = 0;
  problem.rootOperands = static_cast<int>(pick(1, 4));
  for (int i = 0; i < problem.rootOperands; ++i) {
    shape[axis] = pick(1, 20);
    if (axis == 1 && blocked)
      shape[axis] = layout.block * pick(1, 3);
    total += shape[axis];
    problem.operands.push_back(makeTensor(shape, layout));
  }
  shape[axis] = total;
  problem.result = makeTensor(shape, layout);
  problem.attrs["axis"] = {double(axis)};
  chooseTypes(problem);
  if (chance(60))
    for (TensorDesc &operand : problem.operands)
      setType(operand, problem.operands[0].dtype, operand.quantized),
          operand.scales = problem.operands[0].scales,
          operand.zeroPoint = problem.operands[0].zeroPoint;
  if (chance(50)) {
    problem.result.dtype = problem.operands[0].dtype;
    problem.result.quantized = problem.operands[0].quantized;
    problem.result.scales = problem.operands[0].scales;
    problem.result.zeroPoint = problem.operands[0].zeroPoint;
    moveIntegers(problem, problem.operands);
  } else {
    addEpilogue(problem);
  }
  return problem;
}

Problem ProblemGenerator::makeTranspose() {
  Problem problem;
  problem.op = OpKind::Transpose;
  std::vector<int64_t> shape, permutation, out;
  for (int64_t rank = pick(2, 5); rank > 0; --rank) {
    shape.push_back(pick(1, rank > 3 ? 6 : 18));
    permutation.push_back(static_cast<int64_t>(permutation.size()));
  }
  for (size_t i = permutation.size(); i-- > 1;)
    std::swap(permutation[i], permutation[pick(0, static_cast<int64_t>(i))]);
  for (int64_t dim : permutation)
    out.push_back(shape[dim]);
  problem.operands = {makeTensor(shape, Layout())};
  problem.result = makeTensor(out, Layout());
  problem.attrs["permutation"] = {permutation.begin(), permutation.end()};
  chooseTypes(problem);
  if (chance(30))
    setType(problem.operands[0], oneOf({DType::I64, DType::I32, DType::F64}),
            false);
  passElementsOn(problem);
  moveIntegers(problem, problem.operands);
  return problem;
}

Problem ProblemGenerator::makeConvert() {
  Problem problem;
  problem.op = OpKind::Convert;
  std::vector<int64_t> shape = makeShape({2, 3, 4, 4});
  problem.operands = {makeTensor(shape, pickLayout())};
  problem.result = makeTensor(shape, pickLayout());
  auto choose = [&](TensorDesc &desc) {
    bool quantized = chance(40);
    setType(desc, quantized ? oneOf({DType::U8, DType::I8}) : pickFloat(),
            quantized);
    if (chance(10))
      setType(desc,
              oneOf({DType::I32, DType::I64, DType::F64, DType::Bool,
                     DType::F8E4M3FN, DType::F8E5M2FNUZ, DType::F4E2M1FN,
                     DType::I4, DType::U2}),
              false);
  };
  choose(problem.operands[0]);
  choose(problem.result);
  return problem;
}

Problem ProblemGenerator::makeReshape() {
  Problem problem;
  problem.op = OpKind::Reshape;
  std::vector<int64_t> shape = makeImage(4);
  problem.operands = {makeTensor(shape, Layout())};
  problem.result =
      makeTensor({shape[0], shape[1] * shape[2] * shape[3]}, Layout());
  chooseTypes(problem);
  passElementsOn(problem);
  moveIntegers(problem, problem.operands);
  return problem;
}

Problem ProblemGenerator::makeShuffleChannels() {
  Problem problem;
  problem.op = OpKind::ShuffleChannels;
  std::vector<int64_t> shape = makeImage(oneOf<int64_t>({2, 3, 4, 4}));
  int64_t group = pick(1, 7);
  shape[1] = group * pick(1, 40);
  Layout layout = pickLayout();
  problem.operands = {makeTensor(shape, layout)};
  problem.result = makeTensor(shape, layout);
  problem.attrs["group"] = {double(group)};
  chooseTypes(problem);
  if (chance(50))
    passElementsOn(problem);
  else
    addEpilogue(problem);
  return problem;
}

void ProblemGenerator::addSlices(Problem &problem) {
  auto addSlice = [&](TensorDesc &desc) {
    if (desc.layout.kind == Layout::NHWC && !desc.constant && chance(20))
      desc.pitch = desc.shape[1] + pick(1, 40);
  };
  for (TensorDesc &operand : problem.operands)
    addSlice(operand);
  addSlice(problem.result);
}

Problem ProblemGenerator::next() {
  Problem problem = nextDense();
  addSlices(problem);
  return problem;
}

Problem ProblemGenerator::nextDense() {
  // Every third problem is one of the areas with a generator of their own.
  using MakeProblem = Problem (*)(ProblemGenerator &);
  if (chance(33))
    return oneOf<MakeProblem>(
        {makeAtrousProblem, makeAttentionProblem, makeBlockMatMulProblem,
         makeConvDirectionProblem, makeDepthwiseProblem, makeFftProblem,
         makeGemmProblem, makeIndexProblem, makeNormProblem,
         makePoolGradientProblem, makePoolIndicesProblem, makeRecurrentProblem,
         makeReduceProblem, makeSampleProblem, makeStrassenProblem,
         makeWinogradProblem})(*this);
  switch (pick(0, 21)) {
  case 0:
    return makeConv(/*depthwise=*/false);
  case 1:
    return chance(33)   ? makeStem()
           : chance(50) ? makePointwise()
                        : makeGrouped();
  case 2:
  case 3:
    return makeConv(/*depthwise=*/true);
  case 4:
    return makeGemmProblem(*this);
  case 5:
  case 6:
  case 7:
    return makePool();
  case 8:
    return makeGlobalPool();
  case 9:
  case 10:
    return makeElementwise();
  case 11:
    return makeBatchNorm();
  case 12:
    return makeSoftmax();
  case 13:
    return makeLrn();
  case 14:
  case 15:
    return makeConcat();
  case 16:
    return makeTranspose();
  case 17:
    return makePad();
  case 18:
    return makeReshape();
  case 19:
    return makeShuffleChannels();
  case 20:
    return makeResize();
  default:
    return makeConvert();
  }
}
