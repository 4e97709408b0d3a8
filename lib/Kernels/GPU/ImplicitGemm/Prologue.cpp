//===- Prologue.cpp - Computes pixels on their way to LDS -----------------===//
//
// Part of Tarpon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Prologue.h"

#include "Host/Conv/ConvGeometry.h"
#include "Host/Depthwise/Depthwise.h"
#include "Tile.h"
#include "tarpon/Kernels/Common/SmallFloats.h"
#include "tarpon/Kernels/GPU/GpuKernelBuilder.h"

#include "llvm/ADT/STLExtras.h"

#include <cstring>

using namespace mlir;
using namespace tarpon;
using namespace tarpon::gpuigemm;
using igemm::AccessKind;

//===----------------------------------------------------------------------===//
// Producers
//===----------------------------------------------------------------------===//

/// Returns true for operations of a few instructions. A chunk's elements take
/// longer ones all at once, for which there are no registers.
static bool isShort(OpKind op) {
  return llvm::is_contained({OpKind::Add, OpKind::Sub, OpKind::Mul, OpKind::Max,
                             OpKind::Min, OpKind::Relu, OpKind::Clip,
                             OpKind::LeakyRelu, OpKind::HardSigmoid,
                             OpKind::HardSwish, OpKind::Sigmoid, OpKind::Swish},
                            op);
}

static bool isDepthwise(const Problem &producer) {
  return producer.op == OpKind::Conv;
}

/// The producer with an elementwise root as its first step.
static Problem makeSteps(Problem producer) {
  if (isDepthwise(producer))
    return producer;
  EpilogueStep root;
  root.op = producer.op;
  root.operand = producer.rootOperands > 1 ? 1 : -1;
  root.attrs = producer.attrs;
  producer.epilogue.insert(producer.epilogue.begin(), root);
  producer.rootOperands = 1;
  return producer;
}

/// Operands are numbers, or have one for each channel.
static std::optional<AccessKind> getKind(const Problem &producer,
                                         const TensorDesc &operand) {
  std::optional<AccessKind> kind =
      igemm::getAccess(producer, operand, /*batched=*/false);
  bool isShared = kind == AccessKind::Scalar || kind == AccessKind::PerChannel;
  return isShared ? kind : std::nullopt;
}

static Applicability checkSteps(const Problem &producer) {
  for (const EpilogueStep &step : producer.epilogue)
    if (!isShort(step.op))
      return Applicability::no("the producer has a step that takes many "
                               "registers");
  for (const TensorDesc &operand :
       ArrayRef(producer.operands).drop_front(producer.rootOperands))
    if (!getKind(producer, operand) || operand.quantized ||
        !runtime::fitsF32(operand.dtype) || operand.pitch != 0)
      return Applicability::no("the producer has an operand other than numbers "
                               "for each channel");
  return Applicability::yes();
}

static Applicability checkDepthwiseProducer(const Problem &producer) {
  // A lane holds all cells of a pixel's chunk.
  constexpr int64_t kMostCells = 16;
  if (Applicability answer = checkDepthwise(producer); !answer)
    return answer;
  const TensorDesc &filter = producer.operands[1];
  if (filter.spatialSize() > kMostCells)
    return Applicability::no("the producer has more than 16 cells");
  if (filter.dtype != producer.operands[0].dtype)
    return Applicability::no("the producer has a filter of another dtype");
  return Applicability::yes();
}

Applicability Prologue::check(const Problem &producer) {
  const TensorDesc &input = producer.operands[0], &value = producer.result;
  if (value.rank() != 4 || input.rank() != 4)
    return Applicability::no("the producer needs two spatial dimensions");
  for (const TensorDesc *desc : {&input, &value})
    if (desc->layout.kind != Layout::NHWC || desc->pitch != 0)
      return Applicability::no("the producer needs nhwc");
  if (input.dtype != value.dtype || input.quantized ||
      !runtime::fitsF32(input.dtype))
    return Applicability::no("the producer needs floats of one dtype");
  if (isDepthwise(producer)) {
    if (Applicability answer = checkDepthwiseProducer(producer); !answer)
      return answer;
  } else if (!isElementwiseOp(producer.op) || input.shape != value.shape) {
    return Applicability::no("the producer is neither depthwise nor "
                             "elementwise");
  }
  return checkSteps(makeSteps(producer));
}

Geometry Prologue::getWindow(const Problem &producer) {
  if (isDepthwise(producer))
    return getConvGeometry(producer);
  Geometry window;
  ArrayRef<int64_t> shape = producer.result.shape;
  window.batch = shape[0];
  window.height = window.outHeight = shape[2];
  window.width = window.outWidth = shape[3];
  return window;
}

//===----------------------------------------------------------------------===//
// Buffers and parameters
//===----------------------------------------------------------------------===//

/// The filter of the producer with its cells outermost.
static ConstantPlan packCells(const Problem &producer, int64_t operand) {
  const TensorDesc &filter = producer.operands[1];
  int64_t channels = filter.shape[0], cells = filter.spatialSize();
  int64_t bytes = runtime::dtypeBytes(filter.dtype);
  return {[=](const ConstantOperands &constants) {
    std::vector<char> packed(channels * cells * bytes);
    const char *from = constants[operand].data();
    for (int64_t channel = 0; channel < channels; ++channel)
      for (int64_t cell = 0; cell < cells; ++cell)
        std::memcpy(packed.data() + (cell * channels + channel) * bytes,
                    from + (channel * cells + cell) * bytes, bytes);
    return packed;
  }};
}

Prologue::Prologue(LaunchBuilder &launch, const Problem &producer,
                   int64_t first)
    : dtype(producer.result.dtype), kernelH(getWindow(producer).kernelH),
      kernelW(getWindow(producer).kernelW), hasFilter(isDepthwise(producer)),
      firstOperand(makeSteps(producer).rootOperands),
      steps(launch.addEpilogue(makeSteps(producer))),
      channels(launch.addParam(producer.result.shape[1])) {
  if (hasFilter)
    filter = launch.addConstant(packCells(producer, first + 1));
  for (size_t i = firstOperand; i < producer.operands.size(); ++i) {
    auto operand = static_cast<int>(i);
    const TensorDesc &desc = producer.operands[i];
    operands.push_back({operand, *getKind(producer, desc), desc.dtype,
                        /*quantized=*/false});
    int64_t buffer = launch.addOperand(first + operand);
    firstBuffer = operands.size() == 1 ? buffer : firstBuffer;
  }
}

std::string Prologue::symbol() const {
  std::string text = hasFilter ? "of_depthwise" + std::to_string(kernelH) +
                                     "x" + std::to_string(kernelW)
                               : "of";
  text += steps.symbolPart();
  for (const OperandAccess &operand : operands) {
    text += operand.kind == AccessKind::Scalar ? "_s" : "_c";
    text += runtime::dtypeName(operand.dtype);
  }
  return text;
}

Prologue::Bound Prologue::bind(GpuKernelBuilder &b) const {
  return Bound(*this, b);
}

//===----------------------------------------------------------------------===//
// In a kernel
//===----------------------------------------------------------------------===//

Prologue::Bound::Bound(const Prologue &prologue, GpuKernelBuilder &b)
    : prologue(prologue), b(b), ints(b),
      elements(kChunkBytes / runtime::dtypeBytes(prologue.dtype)),
      params(prologue.steps.loadParams(b)) {}

Value Prologue::Bound::decode(Value chunk) {
  if (prologue.dtype == DType::F32)
    return b.bitcast(chunk, b.vec(b.f32(), elements));
  Value stored = b.bitcast(chunk, b.vec(b.getI16Type(), elements));
  return emitDecodeFloat(b, *runtime::getFloatFormat(prologue.dtype), stored);
}

Value Prologue::Bound::encode(Value values) {
  Type chunk = b.vec(b.getI32Type(), kChunkBytes / 4);
  if (prologue.dtype == DType::F32)
    return b.bitcast(values, chunk);
  return b.bitcast(
      emitEncodeFloat(b, *runtime::getFloatFormat(prologue.dtype), values),
      chunk);
}

Value Prologue::Bound::loadElements(DType dtype, Value base, Value element) {
  Value at = ints.widen(ints.mul(element, runtime::dtypeBytes(dtype)));
  return b.loadConverted(dtype, b.offset(base, at), elements);
}

Prologue::Bound::Values Prologue::Bound::loadOperands(Value channel) {
  Values loaded;
  for (auto [index, operand] : llvm::enumerate(prologue.operands)) {
    Value base =
        b.getBuffer(prologue.firstBuffer + static_cast<int64_t>(index));
    loaded.push_back(
        operand.kind == AccessKind::Scalar
            ? b.broadcast(b.loadConverted(operand.dtype, base), elements)
            : loadElements(operand.dtype, base, channel));
  }
  return loaded;
}

Prologue::Bound::Values Prologue::Bound::compute(ArrayRef<Value> cells,
                                                 Value channelBytes,
                                                 Value exists) {
  int64_t count = prologue.cells();
  Value all = ints.param(prologue.channels);
  // Channels that do not exist read others.
  Value channel = b.minS(ints.div(channelBytes, kChunkBytes / elements),
                         ints.sub(all, ints.cst(elements)));
  Values sums;
  for (size_t first = 0; first < cells.size(); first += count)
    sums.push_back(prologue.hasFilter ? b.broadcast(b.cstF(0), elements)
                                      : decode(cells[first]));
  for (int64_t cell = 0; prologue.hasFilter && cell < count; ++cell) {
    Value weights = loadElements(prologue.dtype, b.getBuffer(prologue.filter),
                                 b.add(ints.mul(all, cell), channel));
    for (auto [pixel, sum] : llvm::enumerate(sums))
      sum = b.fma(decode(cells[pixel * count + cell]), weights, sum);
  }
  Values operands = loadOperands(channel), chunks;
  Value zeros = b.broadcast(b.cstF(0), elements);
  for (Value sum : sums) {
    Value value =
        prologue.steps.emit(b, sum, params, [&](int operand) -> Value {
          return operands[operand - prologue.firstOperand];
        });
    // Filters have zeros for these channels, which times infinity is NaN.
    chunks.push_back(encode(b.select(exists, value, zeros)));
  }
  return chunks;
}
