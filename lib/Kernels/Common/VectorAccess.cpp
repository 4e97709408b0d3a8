//===- VectorAccess.cpp - Vectors of elements, computed in f32 ------------===//
//
// Part of Tarpon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "VectorAccess.h"

#include "TensorAccess.h"

#include <algorithm>

using namespace mlir;
using namespace tarpon;

//===----------------------------------------------------------------------===//
// Consecutive elements
//===----------------------------------------------------------------------===//

bool tarpon::isVectorizable(const TensorDesc &desc) {
  if (desc.quantized)
    return desc.scales.size() == 1 &&
           (desc.dtype == DType::I8 || desc.dtype == DType::U8);
  return fitsF32(desc.dtype);
}

Applicability tarpon::notVectorizable(StringRef subject) {
  return Applicability::no(subject.str() + " is stored in another type than " +
                           runtime::listDTypes(runtime::fitsF32, ", ") +
                           " or a per-tensor quantised one");
}

std::string tarpon::listFloats() {
  return runtime::listDTypes(runtime::fitsF32, " or ");
}

bool tarpon::isVectorizable(const TensorDesc &desc, ComputeKind kind) {
  return desc.quantized ? kind == ComputeKind::F32 && isVectorizable(desc)
                        : true;
}

FlatTensor::FlatTensor(LaunchBuilder &launch, BufferSlot slot,
                       const TensorDesc &desc, ComputeKind kind)
    : dtype(desc.dtype), quantized(desc.quantized), isSlice(desc.pitch != 0),
      kind(kind), buffer(launch.addBuffer(slot)) {
  if (isSlice)
    pitchParam = launch.addParam(desc.pitch);
  if (!quantized)
    return;
  scaleParam = launch.addFloatParam(desc.scales.front());
  zeroPointParam = launch.addFloatParam(desc.zeroPoint);
}

std::string FlatTensor::symbolPart() const {
  std::string part(runtime::dtypeName(dtype));
  if (quantized)
    part.push_back('q');
  if (isSlice)
    part.push_back('p');
  if (kind != ComputeKind::F32)
    part.push_back(kind == ComputeKind::F64   ? 'd'
                   : kind == ComputeKind::I64 ? 'i'
                                              : 'u');
  return part;
}

BoundFlatTensor FlatTensor::bind(KernelBuilder &b) const {
  BoundFlatTensor bound{
      dtype, quantized, b.getBuffer(buffer), Value(), Value(), Value(), kind};
  if (isSlice)
    bound.pitch = b.getParam(pitchParam);
  if (quantized) {
    bound.scale = b.getFloatParam(scaleParam);
    bound.zeroPoint = b.getFloatParam(zeroPointParam);
  }
  return bound;
}

Value BoundFlatTensor::offsetOf(KernelBuilder &b,
                                const VectorPlace &place) const {
  if (!pitch)
    return place.offset;
  assert(place.pixel && "the loop does not know its pixels");
  return b.add(b.mul(place.pixel, pitch), place.element);
}

Value BoundFlatTensor::pointerTo(KernelBuilder &b, Value offset) const {
  return b.offset(base, b.mul(offset, runtime::dtypeBytes(dtype)));
}

Value BoundFlatTensor::loadRaw(KernelBuilder &b, Value offset, int64_t lanes,
                               Value mask) const {
  return emitLoad(b, dtype, kind, pointerTo(b, offset), lanes, mask);
}

static int64_t lanesOf(Value value) {
  auto vector = dyn_cast<VectorType>(value.getType());
  return vector ? vector.getNumElements() : 1;
}

Value BoundFlatTensor::dequantize(KernelBuilder &b, Value raw) const {
  if (!quantized)
    return raw;
  int64_t lanes = lanesOf(raw);
  return emitDequantize(b, raw, b.broadcast(scale, lanes),
                        b.broadcast(zeroPoint, lanes));
}

Value BoundFlatTensor::load(KernelBuilder &b, Value offset, int64_t lanes,
                            Value mask) const {
  return dequantize(b, loadRaw(b, offset, lanes, mask));
}

void BoundFlatTensor::store(KernelBuilder &b, Value value, Value offset,
                            Value mask) const {
  if (quantized) {
    int64_t lanes = lanesOf(value);
    value = emitQuantize(b, value, b.broadcast(scale, lanes),
                         b.broadcast(zeroPoint, lanes));
  }
  if (quantized)
    return b.storeConverted(dtype, value, pointerTo(b, offset), mask);
  emitStore(b, dtype, kind, value, pointerTo(b, offset), mask);
}

//===----------------------------------------------------------------------===//
// Operands
//===----------------------------------------------------------------------===//

/// Returns true if nchw and nhwc have the same bytes.
static bool hasOnePixel(const TensorDesc &desc) {
  return desc.layout.kind != Layout::Blocked && desc.spatialSize() == 1;
}

/// The sizes without leading ones.
static ArrayRef<int64_t> withoutLeadingOnes(ArrayRef<int64_t> shape) {
  return shape.drop_while([](int64_t size) { return size == 1; });
}

static bool followsElements(const TensorDesc &operand,
                            const TensorDesc &result) {
  if (withoutLeadingOnes(operand.shape) != withoutLeadingOnes(result.shape))
    return false;
  bool sameOrder = operand.layout == result.layout ||
                   (hasOnePixel(operand) && hasOnePixel(result));
  return sameOrder && (operand.rank() == result.rank() ||
                       result.layout.kind == Layout::NCHW);
}

static bool followsChannels(const TensorDesc &operand,
                            const TensorDesc &result) {
  int64_t dim = operand.rank() - result.rank() + 1;
  return result.rank() >= 2 && dim >= 0 && dim < operand.rank() &&
         operand.shape[dim] == result.shape[1] &&
         operand.numElements() == result.shape[1];
}

std::optional<Follows> tarpon::classifyOperand(const TensorDesc &operand,
                                               const TensorDesc &result) {
  // One element may still lie in front of a block's padding, at its start.
  if (operand.numElements() == 1)
    return Follows::Nothing;
  if (followsElements(operand, result))
    return Follows::Elements;
  if (followsChannels(operand, result))
    return Follows::Channels;
  return std::nullopt;
}

bool tarpon::needsChannels(const Problem &problem) {
  auto follows = [&](const TensorDesc &operand) {
    return classifyOperand(operand, problem.result) == Follows::Channels;
  };
  return problem.hasSlices() || llvm::any_of(problem.operands, follows);
}

std::string PlacedOperand::symbolPart() const {
  std::string part = tensor.symbolPart();
  if (follows == Follows::Nothing)
    part.push_back('s');
  if (follows == Follows::Channels)
    part.push_back('c');
  return part;
}

Value PlacedOperand::load(KernelBuilder &b, const BoundFlatTensor &bound,
                          const VectorPlace &place) const {
  if (follows == Follows::Elements)
    return bound.load(b, bound.offsetOf(b, place), place.lanes, place.mask);
  if (follows == Follows::Nothing)
    return b.broadcast(bound.load(b, b.cst(0), 1), place.lanes);
  assert(place.channel && "the loop does not know its channels");
  if (!place.lanesAreChannels)
    return b.broadcast(bound.load(b, place.channel, 1), place.lanes);
  return bound.load(b, place.channel, place.lanes,
                    place.channelMask ? place.channelMask : place.mask);
}

//===----------------------------------------------------------------------===//
// Results
//===----------------------------------------------------------------------===//

Applicability VectorOutput::check(const Problem &problem) {
  if (computeKindOf(problem) != ComputeKind::F32)
    return Applicability::no("does not compute in f32");
  if (!isVectorizable(problem.result))
    return notVectorizable("the result");
  ArrayRef<TensorDesc> others =
      ArrayRef(problem.operands).drop_front(problem.rootOperands);
  for (const TensorDesc &operand : others) {
    if (!isVectorizable(operand))
      return notVectorizable("an operand of the epilogue");
    if (!classifyOperand(operand, problem.result))
      return Applicability::no("an operand of the epilogue is broadcast along "
                               "another dimension than the channels, or lies "
                               "in another layout");
  }
  return Applicability::yes();
}

Applicability VectorOutput::checkAnyKind(const Problem &problem) {
  ComputeKind kind = computeKindOf(problem);
  if (!isVectorizable(problem.result, kind))
    return Applicability::no("the result is quantised per channel, or in a "
                             "problem that is not computed in f32");
  ArrayRef<TensorDesc> others =
      ArrayRef(problem.operands).drop_front(problem.rootOperands);
  for (const TensorDesc &operand : others) {
    if (!isVectorizable(operand, kind))
      return Applicability::no("an operand of the epilogue is quantised per "
                               "channel, or in a problem that is not "
                               "computed in f32");
    if (!classifyOperand(operand, problem.result))
      return Applicability::no("an operand of the epilogue is broadcast along "
                               "another dimension than the channels, or lies "
                               "in another layout");
  }
  return Applicability::yes();
}

bool VectorOutput::followsChannels(const Problem &problem) {
  return llvm::any_of(
      ArrayRef(problem.operands).drop_front(problem.rootOperands),
      [&](const TensorDesc &operand) {
        return classifyOperand(operand, problem.result) == Follows::Channels;
      });
}

VectorOutput::VectorOutput(LaunchBuilder &launch, const Problem &problem)
    : firstOperand(problem.rootOperands),
      result(launch, {BufferSlot::Result, 0}, problem.result,
             computeKindOf(problem)),
      epilogue(launch.addEpilogue(problem)) {
  for (size_t i = firstOperand; i < problem.operands.size(); ++i)
    operands.emplace_back(
        launch, BufferSlot{BufferSlot::Operand, static_cast<int64_t>(i)},
        problem.operands[i],
        *classifyOperand(problem.operands[i], problem.result),
        computeKindOf(problem));
}

std::string VectorOutput::symbolPart() const {
  std::string part = joinSymbol({epilogue.symbolPart()});
  for (const PlacedOperand &operand : operands)
    part = joinSymbol({part, operand.symbolPart()});
  return joinSymbol({part, "to", result.symbolPart()});
}

VectorOutput::Bound VectorOutput::bind(KernelBuilder &b) const {
  Bound bound;
  bound.output = this;
  for (const PlacedOperand &operand : operands)
    bound.operands.push_back(operand.bind(b));
  bound.epilogueParams = epilogue.loadParams(b);
  bound.result = result.bind(b);
  return bound;
}

Value VectorOutput::Bound::apply(KernelBuilder &b, const VectorPlace &place,
                                 Value value) const {
  auto loadOperand = [&](int index) {
    size_t i = index - output->firstOperand;
    return output->operands[i].load(b, operands[i], place);
  };
  return output->epilogue.emit(b, value, epilogueParams, loadOperand);
}

void VectorOutput::Bound::store(KernelBuilder &b, const VectorPlace &place,
                                Value value) const {
  value = apply(b, place, value);
  result.store(b, value, result.offsetOf(b, place), place.mask);
}

//===----------------------------------------------------------------------===//
// Loops
//===----------------------------------------------------------------------===//

/// Few CPUs without AVX-512 have masks for all element sizes: on them the last
/// vector overlaps the previous one instead, if there is one.
static bool overlapsTails(const TargetInfo &target) {
  return target.vectorBits < 512;
}

static void emitTail(KernelBuilder &b, Value begin, Value tail, Value end,
                     int64_t lanes, function_ref<void(Value, Value)> body) {
  auto masked = [&] { body(tail, b.firstLanes(b.sub(end, tail), lanes)); };
  if (!overlapsTails(b.getTarget()))
    return masked();
  Value overlapping = b.sub(end, lanes);
  b.ifThenElse(b.slt(overlapping, begin), masked,
               [&] { body(overlapping, Value()); });
}

void tarpon::forVectors(KernelBuilder &b, Value begin, Value end, int64_t lanes,
                        function_ref<void(Value, Value)> body) {
  Value count = b.maxS(b.sub(end, begin), b.cst(0));
  Value whole = b.mul(b.div(count, lanes), lanes);
  Value tail = b.add(begin, whole);
  b.forLoop(begin, tail, b.cst(lanes), [&](Value i) { body(i, Value()); });
  b.ifThen(b.slt(tail, end),
           [&] { emitTail(b, begin, tail, end, lanes, body); });
}

/// The number of elements of one task: about 64 KiB of f32.
static constexpr int64_t kElementsPerTask = 16384;

VectorLoop::Order VectorLoop::chooseOrder(const TensorDesc &desc,
                                          bool needsChannels) {
  if (!needsChannels)
    return Order::Flat;
  if (desc.layout.kind == Layout::Blocked)
    return Order::Blocked;
  return desc.layout.kind == Layout::NHWC || desc.spatialSize() == 1
             ? Order::Pixels
             : Order::Planes;
}

static int64_t getChannels(const TensorDesc &desc) {
  return desc.rank() >= 2 ? desc.shape[1] : 1;
}

static int64_t getStoredElements(const TensorDesc &desc) {
  return desc.numBytes() / runtime::dtypeBytes(desc.dtype);
}

bool VectorLoop::coversOnce(const TensorDesc &desc, bool needsChannels,
                            const TargetInfo &target) {
  Order order = chooseOrder(desc, needsChannels);
  if (order == Order::Blocked || !overlapsTails(target))
    return true;
  // Tasks of a flat loop start at whole vectors.
  int64_t row = order == Order::Flat     ? getStoredElements(desc)
                : order == Order::Pixels ? getChannels(desc)
                                         : desc.spatialSize();
  return row % target.lanes() == 0;
}

VectorLoop::VectorLoop(LaunchBuilder &launch, const TensorDesc &desc,
                       bool needsChannels)
    : order(chooseOrder(desc, needsChannels)) {
  int64_t spatial = desc.spatialSize(), c = getChannels(desc);
  int64_t n = desc.rank() >= 1 ? desc.shape[0] : 1;
  int64_t rowElements = 1, numRows = getStoredElements(desc), channelRows = c;
  if (order == Order::Blocked) {
    block = desc.layout.block;
    channelRows = llvm::divideCeil(c, block);
    rowElements = spatial;
    numRows = n * channelRows;
  } else if (order == Order::Pixels) {
    rowElements = c;
    numRows = n * spatial;
  } else if (order == Order::Planes) {
    rowElements = spatial;
    numRows = n * c;
  }
  int64_t perTask = std::max<int64_t>(
      1, kElementsPerTask / std::max<int64_t>(1, rowElements * block));
  rows = launch.addParam(numRows);
  inner = launch.addParam(rowElements);
  rowsPerTask = launch.addParam(perTask);
  channels = launch.addParam(channelRows);
  numChannels = launch.addParam(c);
  numTasks = std::max<int64_t>(1, llvm::divideCeil(numRows, perTask));
}

std::string VectorLoop::symbolPart() const {
  switch (order) {
  case Order::Flat:
    return "flat";
  case Order::Planes:
    return "nchw";
  case Order::Pixels:
    return "nhwc";
  case Order::Blocked:
    break;
  }
  return ("nchw" + Twine(block) + "c").str();
}

void VectorLoop::emitFlat(
    KernelBuilder &b, Value first, Value last,
    function_ref<void(const VectorPlace &, Value)> body) const {
  forVectors(b, first, last, b.lanes(), [&](Value i, Value mask) {
    VectorPlace place;
    place.offset = i;
    place.lanes = b.lanes();
    place.mask = mask;
    body(place, Value());
  });
}

void VectorLoop::emitRow(
    KernelBuilder &b, Value row,
    function_ref<void(const VectorPlace &, Value)> body) const {
  Value size = b.getParam(inner), start = b.mul(row, size);
  bool isPixel = order == Order::Pixels;
  Value channel = isPixel ? Value() : b.rem(row, b.getParam(channels));
  forVectors(b, b.cst(0), size, b.lanes(), [&](Value i, Value mask) {
    VectorPlace place;
    place.offset = b.add(start, i);
    place.channel = isPixel ? i : channel;
    if (isPixel) {
      place.pixel = row;
      place.element = i;
    }
    place.lanesAreChannels = isPixel;
    place.lanes = b.lanes();
    place.mask = mask;
    body(place, row);
  });
}

void VectorLoop::emitBlockedRow(
    KernelBuilder &b, Value row,
    function_ref<void(const VectorPlace &, Value)> body) const {
  int64_t lanes = std::min(b.lanes(), block);
  Value size = b.getParam(inner);
  Value start = b.mul(row, b.mul(size, block));
  Value firstChannel = b.mul(b.rem(row, b.getParam(channels)), block);
  Value channelCount = b.getParam(numChannels);
  b.forLoop(size, [&](Value pixel) {
    Value pixelStart = b.add(start, b.mul(pixel, block));
    for (int64_t lane = 0; lane < block; lane += lanes) {
      VectorPlace place;
      place.offset = b.add(pixelStart, lane);
      place.channel = b.add(firstChannel, lane);
      place.lanesAreChannels = true;
      place.lanes = lanes;
      place.channelMask =
          b.firstLanes(b.sub(channelCount, place.channel), lanes);
      body(place, row);
    }
  });
}

void VectorLoop::emit(
    KernelBuilder &b,
    function_ref<void(const VectorPlace &, Value)> body) const {
  Value perTask = b.getParam(rowsPerTask);
  Value first = b.mul(b.getBegin(), perTask);
  Value last = b.minS(b.mul(b.getEnd(), perTask), b.getParam(rows));
  if (order == Order::Flat)
    return emitFlat(b, first, last, body);
  b.forLoop(first, last, b.cst(1), [&](Value row) {
    if (order == Order::Blocked)
      emitBlockedRow(b, row, body);
    else
      emitRow(b, row, body);
  });
}
