//===- TensorAccess.cpp - Elements of a tensor in any layout --------------===//
//
// Part of Tarpon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "TensorAccess.h"

#include "mlir/Dialect/Math/IR/Math.h"

#include <algorithm>
#include <cmath>

using namespace mlir;
using namespace tarpon;

//===----------------------------------------------------------------------===//
// Conversion
//===----------------------------------------------------------------------===//

static bool isUnsignedDType(DType dtype) {
  return !runtime::isFloat(dtype) && !runtime::isSignedInteger(dtype);
}

/// `scalar`, or a vector of as many lanes as `like` has.
static Type withLanesOf(Value like, Type scalar) {
  if (auto vector = dyn_cast<VectorType>(like.getType()))
    return VectorType::get(vector.getShape(), scalar);
  return scalar;
}

/// Converts between f32 and f64.
static Value castFloat(KernelBuilder &b, Value value, Type element) {
  Type type = withLanesOf(value, element);
  if (type == value.getType())
    return value;
  if (element.isF64())
    return arith::ExtFOp::create(b, type, value);
  return arith::TruncFOp::create(b, type, value);
}

/// Rounds f64 to odd f32: a second rounding to fewer bits then has the result
/// of a single one.
static Value roundToOdd(KernelBuilder &b, Value value) {
  Type f32 = withLanesOf(value, b.getF32Type()),
       i32 = withLanesOf(value, b.getI32Type());
  Value rounded = castFloat(b, value, b.getF32Type());
  Value back = castFloat(b, rounded, b.getF64Type());
  auto compare = [&](arith::CmpFPredicate predicate, Value lhs, Value rhs) {
    Value isSet = arith::CmpFOp::create(b, predicate, lhs, rhs);
    return Value(arith::ExtUIOp::create(b, i32, isSet));
  };
  Value isLarger =
      compare(arith::CmpFPredicate::OGT, math::AbsFOp::create(b, back),
              math::AbsFOp::create(b, value));
  Value isInexact = compare(arith::CmpFPredicate::ONE, back, value);
  Value bits = b.sub(b.bitcast(rounded, i32), isLarger);
  return b.bitcast(b.orI(bits, isInexact), f32);
}

static Value loadStored(KernelBuilder &b, DType dtype, Value pointer,
                        int64_t lanes, Value mask) {
  Type type = b.storageType(dtype);
  if (lanes > 1)
    type = b.vec(type, lanes);
  return mask ? b.maskedLoad(pointer, mask, cast<VectorType>(type))
              : b.load(pointer, type);
}

static Value loadInteger(KernelBuilder &b, DType dtype, Value pointer,
                         int64_t lanes, Value mask) {
  Value stored = loadStored(b, dtype, pointer, lanes, mask);
  Type wide = withLanesOf(stored, b.getI64Type());
  if (wide == stored.getType())
    return stored;
  if (isUnsignedDType(dtype))
    return arith::ExtUIOp::create(b, wide, stored);
  return arith::ExtSIOp::create(b, wide, stored);
}

Value tarpon::emitLoad(KernelBuilder &b, DType dtype, ComputeKind kind,
                       Value pointer, int64_t lanes, Value mask) {
  if (!isFloat(kind)) {
    assert(!isFloat(dtype) && "floats are not computed with as integers");
    return loadInteger(b, dtype, pointer, lanes, mask);
  }
  Type element = computeTypeOf(b, kind);
  bool isWideInteger = b.computeType(dtype).isInteger(64);
  if (!isWideInteger)
    return castFloat(b, b.loadConverted(dtype, pointer, lanes, mask), element);
  // Conversion starts from the stored width, for which vectors have
  // instructions.
  Value integer = loadStored(b, dtype, pointer, lanes, mask);
  Type type = withLanesOf(integer, element);
  if (isUnsignedDType(dtype))
    return arith::UIToFPOp::create(b, type, integer);
  return arith::SIToFPOp::create(b, type, integer);
}

/// Truncates towards zero, and saturates at the range of `dtype`.
static Value floatToInteger(KernelBuilder &b, DType dtype, Value value) {
  Type wide = withLanesOf(value, b.getI64Type());
  if (dtype == DType::U64) {
    Value positive = b.maxF(value, b.cstLike(value.getType(), 0));
    return arith::FPToUIOp::create(b, wide, positive);
  }
  int64_t bits = runtime::dtypeBits(dtype);
  bool isUnsigned = isUnsignedDType(dtype);
  double low = isUnsigned ? 0 : -std::ldexp(1, bits - 1);
  double high = std::ldexp(1, isUnsigned ? bits : bits - 1) - 1;
  // The upper bound must not round up in the value's own type.
  bool isF32 = withLanesOf(value, b.getF32Type()) == value.getType();
  if (isF32 && bits == 32)
    high = isUnsigned ? 4294967040.0 : 2147483520.0;
  if (bits == 64)
    high = isF32 ? 9223371487098961920.0 : 9223372036854774784.0;
  Type type = value.getType();
  Value clamped =
      b.minF(b.maxF(value, b.cstLike(type, low)), b.cstLike(type, high));
  // Vectors of f32 have one instruction for that.
  if (bits < 32 || (bits == 32 && !isUnsigned))
    wide = withLanesOf(value, b.getI32Type());
  return arith::FPToSIOp::create(b, wide, clamped);
}

/// Wraps an integer to the range of `dtype`, whose elements take more bits than
/// they have.
static Value wrap(KernelBuilder &b, DType dtype, Value value) {
  Type type = value.getType();
  int64_t width = getElementTypeOrSelf(type).getIntOrFloatBitWidth();
  Value unused = b.cstLike(type, width - runtime::dtypeBits(dtype));
  Value upper = arith::ShLIOp::create(b, value, unused);
  if (isUnsignedDType(dtype))
    return arith::ShRUIOp::create(b, upper, unused);
  return arith::ShRSIOp::create(b, upper, unused);
}

static void storeInteger(KernelBuilder &b, DType dtype, Value value,
                         Value pointer, Value mask) {
  if (dtype == DType::Bool) {
    Value isSet =
        b.cmp(KernelBuilder::Pred::ne, value, b.cstLike(value.getType(), 0));
    value = arith::ExtUIOp::create(b, value.getType(), isSet);
  }
  Type storage = withLanesOf(value, b.storageType(dtype));
  if (runtime::dtypeBits(dtype) < 8)
    value = wrap(b, dtype, value);
  if (storage != value.getType())
    value = arith::TruncIOp::create(b, storage, value);
  if (mask)
    b.maskedStore(value, pointer, mask);
  else
    b.store(value, pointer);
}

void tarpon::emitStore(KernelBuilder &b, DType dtype, ComputeKind kind,
                       Value value, Value pointer, Value mask) {
  if (isFloat(dtype)) {
    Type element = b.computeType(dtype);
    if (kind == ComputeKind::F64 && runtime::dtypeBits(dtype) < 32)
      value = roundToOdd(b, value);
    else if (isFloat(kind))
      value = castFloat(b, value, element);
    else if (kind == ComputeKind::U64)
      value = arith::UIToFPOp::create(b, withLanesOf(value, element), value);
    else
      value = arith::SIToFPOp::create(b, withLanesOf(value, element), value);
    return b.storeConverted(dtype, value, pointer, mask);
  }
  if (isFloat(kind) && dtype == DType::Bool) {
    Value isSet = arith::CmpFOp::create(b, arith::CmpFPredicate::UNE, value,
                                        b.cstLike(value.getType(), 0));
    value =
        arith::ExtUIOp::create(b, withLanesOf(value, b.getI64Type()), isSet);
  } else if (isFloat(kind)) {
    value = floatToInteger(b, dtype, value);
  }
  storeInteger(b, dtype, value, pointer, mask);
}

Value tarpon::emitDequantize(KernelBuilder &b, Value stored, Value scale,
                             Value zeroPoint) {
  return b.mulF(b.subF(stored, zeroPoint), scale);
}

Value tarpon::emitQuantize(KernelBuilder &b, Value value, Value scale,
                           Value zeroPoint) {
  Value rounded = math::RoundEvenOp::create(b, b.divF(value, scale));
  return b.addF(rounded, zeroPoint);
}

//===----------------------------------------------------------------------===//
// BoundTensor
//===----------------------------------------------------------------------===//

Value BoundTensor::dimOffset(KernelBuilder &b, int64_t dim, Value value) const {
  if (dim != channelDim)
    return b.mul(value, strides[dim]);
  Value outer = b.mul(b.div(value, block), strides[dim]);
  return b.add(outer, b.mul(b.rem(value, block), laneStride));
}

Value BoundTensor::offsetOf(KernelBuilder &b, ArrayRef<Value> indices) const {
  Value total;
  for (auto [dim, index] : llvm::enumerate(indices)) {
    if (!index)
      continue;
    Value part = dimOffset(b, dim, index);
    total = total ? b.add(total, part) : part;
  }
  return total ? total : b.cst(0);
}

Value BoundTensor::pointerTo(KernelBuilder &b, Value elementOffset) const {
  return b.offset(base, b.mul(elementOffset, runtime::dtypeBytes(dtype)));
}

Value BoundTensor::scaleAt(KernelBuilder &b, ArrayRef<Value> indices) const {
  if (!scaleBuffer)
    return scale;
  Value index = indices[scaleDim];
  return b.load(b.offset(scaleBuffer, b.mul(index, 4)), b.getF32Type());
}

Value BoundTensor::loadAt(KernelBuilder &b, Value elementOffset) const {
  return emitLoad(b, dtype, kind, pointerTo(b, elementOffset));
}

Value BoundTensor::loadInteger(KernelBuilder &b, Value elementOffset) const {
  Value pointer = pointerTo(b, elementOffset);
  Value stored = emitLoad(b, dtype, ComputeKind::I64, pointer);
  Value zero = arith::FPToSIOp::create(b, b.getI64Type(), zeroPoint);
  return b.sub(stored, zero);
}

Value BoundTensor::load(KernelBuilder &b, ArrayRef<Value> indices) const {
  Value pointer = pointerTo(b, offsetOf(b, indices));
  if (!quantized)
    return emitLoad(b, dtype, kind, pointer);
  Value stored = b.loadConverted(dtype, pointer);
  Value real = emitDequantize(b, stored, scaleAt(b, indices), zeroPoint);
  return castFloat(b, real, computeTypeOf(b, kind));
}

void BoundTensor::store(KernelBuilder &b, ArrayRef<Value> indices,
                        Value value) const {
  Value pointer = pointerTo(b, offsetOf(b, indices));
  if (!quantized)
    return emitStore(b, dtype, kind, value, pointer);
  if (!isFloat(kind))
    value = arith::SIToFPOp::create(b, b.getF32Type(), value);
  value = castFloat(b, value, b.getF32Type());
  b.storeConverted(
      dtype, emitQuantize(b, value, scaleAt(b, indices), zeroPoint), pointer);
}

//===----------------------------------------------------------------------===//
// TensorAccess
//===----------------------------------------------------------------------===//

std::vector<int64_t> tarpon::getStrides(const TensorDesc &desc) {
  int64_t rank = desc.rank();
  std::vector<int64_t> strides(rank, 1);
  int64_t next = 1;
  auto place = [&](int64_t dim, int64_t size) {
    strides[dim] = next;
    next *= size;
  };
  bool blocked = desc.layout.kind == Layout::Blocked;
  bool channelsLast = desc.layout.kind == Layout::NHWC;
  if (blocked)
    next = desc.layout.block;
  if (channelsLast && rank > 1)
    place(1, desc.pixelPitch());
  for (int64_t dim = rank - 1; dim >= 2; --dim)
    place(dim, desc.shape[dim]);
  if (!channelsLast && rank > 1)
    place(1, blocked ? llvm::divideCeil(desc.shape[1], desc.layout.block)
                     : desc.shape[1]);
  if (rank > 0)
    place(0, desc.shape[0]);
  return strides;
}

TensorAccess::TensorAccess(const TensorDesc &desc, ComputeKind kind)
    : dtype(desc.dtype), quantized(desc.quantized), kind(kind),
      block(desc.layout.kind == Layout::Blocked ? desc.layout.block : 0) {}

void TensorAccess::addQuantization(LaunchBuilder &launch,
                                   const TensorDesc &desc) {
  if (!quantized)
    return;
  zeroPointParam = launch.addFloatParam(desc.zeroPoint);
  if (scaleDim >= 0)
    scaleBuffer = launch.addFloats(desc.scales);
  else
    scaleParam = launch.addFloatParam(desc.scales.front());
}

TensorAccess::TensorAccess(LaunchBuilder &launch, BufferSlot slot,
                           const TensorDesc &desc, ArrayRef<int64_t> indexShape,
                           ComputeKind kind)
    : TensorAccess(desc, kind) {
  rank = static_cast<int64_t>(indexShape.size());
  int64_t ahead = rank - desc.rank();
  assert(ahead >= 0 && "a tensor of higher rank than what it broadcasts to");
  std::vector<int64_t> strides(ahead, 0);
  for (auto [size, stride] : llvm::zip_equal(desc.shape, getStrides(desc)))
    strides.push_back(size == 1 ? 0 : stride);
  buffer = launch.addBuffer(slot);
  firstStride = launch.addParams(strides);
  if (block) {
    channelDim = ahead + 1;
    laneStride = launch.addParam(desc.shape[1] == 1 ? 0 : 1);
  }
  if (quantized && desc.scales.size() > 1)
    scaleDim = ahead + desc.quantAxis;
  addQuantization(launch, desc);
}

TensorAccess TensorAccess::permuted(LaunchBuilder &launch, BufferSlot slot,
                                    const TensorDesc &desc,
                                    ArrayRef<int64_t> dims, ComputeKind kind) {
  TensorAccess access(desc, kind);
  access.rank = desc.rank();
  std::vector<int64_t> strides = getStrides(desc), ordered;
  for (auto [index, dim] : llvm::enumerate(dims)) {
    ordered.push_back(strides[dim]);
    if (access.block && dim == 1)
      access.channelDim = static_cast<int64_t>(index);
    if (desc.scales.size() > 1 && dim == desc.quantAxis)
      access.scaleDim = static_cast<int64_t>(index);
  }
  access.buffer = launch.addBuffer(slot);
  access.firstStride = launch.addParams(ordered);
  if (access.block)
    access.laneStride = launch.addParam(1);
  access.addQuantization(launch, desc);
  return access;
}

std::string TensorAccess::symbolPart() const {
  std::string part(runtime::dtypeName(dtype));
  if (quantized)
    part += "q";
  if (scaleDim >= 0)
    part += std::to_string(scaleDim);
  part += (Twine("r") + Twine(rank)).str();
  if (block)
    part += (Twine("b") + Twine(block) + "c" + Twine(channelDim)).str();
  return part;
}

BoundTensor TensorAccess::bind(KernelBuilder &b) const {
  BoundTensor bound;
  bound.dtype = dtype;
  bound.quantized = quantized;
  bound.kind = kind;
  bound.block = block;
  bound.channelDim = channelDim;
  bound.scaleDim = scaleDim;
  bound.base = b.getBuffer(buffer);
  for (int64_t dim = 0; dim < rank; ++dim)
    bound.strides.push_back(b.getParam(firstStride + dim));
  if (block)
    bound.laneStride = b.getParam(laneStride);
  if (!quantized)
    return bound;
  bound.zeroPoint = b.getFloatParam(zeroPointParam);
  if (scaleDim >= 0)
    bound.scaleBuffer = b.getBuffer(scaleBuffer);
  else
    bound.scale = b.getFloatParam(scaleParam);
  return bound;
}

//===----------------------------------------------------------------------===//
// OutputAccess
//===----------------------------------------------------------------------===//

OutputAccess::OutputAccess(LaunchBuilder &launch, const Problem &problem)
    : firstOperand(problem.rootOperands),
      result(launch, {BufferSlot::Result, 0}, problem.result,
             problem.result.shape, computeKindOf(problem)),
      epilogue(launch.addEpilogue(problem)) {
  for (size_t i = firstOperand; i < problem.operands.size(); ++i)
    operands.emplace_back(
        launch, BufferSlot{BufferSlot::Operand, static_cast<int64_t>(i)},
        problem.operands[i], problem.result.shape, computeKindOf(problem));
}

std::string OutputAccess::symbolPart() const {
  std::string part = epilogue.symbolPart();
  for (const TensorAccess &operand : operands)
    part += (Twine("_") + operand.symbolPart()).str();
  return (part + Twine("_to_") + result.symbolPart()).str();
}

OutputAccess::Bound OutputAccess::bind(KernelBuilder &b) const {
  Bound bound;
  bound.access = this;
  for (const TensorAccess &operand : operands)
    bound.operands.push_back(operand.bind(b));
  bound.epilogueParams = epilogue.loadParams(b);
  bound.result = result.bind(b);
  return bound;
}

void OutputAccess::Bound::store(KernelBuilder &b, ArrayRef<Value> indices,
                                Value value) const {
  auto loadOperand = [&](int index) {
    return operands[index - access->firstOperand].load(b, indices);
  };
  value = access->epilogue.emit(b, value, epilogueParams, loadOperand);
  result->store(b, indices, value);
}

//===----------------------------------------------------------------------===//
// ElementLoop
//===----------------------------------------------------------------------===//

/// The operations that are worth a task, and the most tasks of a loop: enough
/// for many threads, few enough to cost nothing.
static constexpr double kOperationsPerTask = 32768;
static constexpr int64_t kMaxTasks = 256;

ElementLoop::ElementLoop(LaunchBuilder &launch, ArrayRef<int64_t> shape,
                         double costPerElement)
    : rank(static_cast<int64_t>(shape.size())),
      firstDim(launch.addParams(shape)) {
  int64_t inner = shape.empty() ? 1 : shape.back();
  int64_t rows = 1;
  if (!shape.empty())
    for (int64_t size : shape.drop_back())
      rows *= size;
  double work = double(rows) * double(inner) * costPerElement;
  int64_t wanted = std::clamp<int64_t>(
      static_cast<int64_t>(work / kOperationsPerTask), 1, kMaxTasks);
  int64_t rowsPerTask = std::max<int64_t>(1, llvm::divideCeil(rows, wanted));
  rowsParam = launch.addParam(rows);
  rowsPerTaskParam = launch.addParam(rowsPerTask);
  numTasks = std::max<int64_t>(1, llvm::divideCeil(rows, rowsPerTask));
}

/// Splits the number of a row into the indices of all dimensions but the last.
static void splitRow(KernelBuilder &b, ArrayRef<Value> dims, Value row,
                     SmallVector<Value> &indices) {
  for (int64_t dim = static_cast<int64_t>(dims.size()) - 2; dim > 0; --dim) {
    indices[dim] = b.rem(row, dims[dim]);
    row = b.div(row, dims[dim]);
  }
  if (dims.size() > 1)
    indices[0] = row;
}

void ElementLoop::emit(KernelBuilder &b,
                       function_ref<void(ArrayRef<Value>)> body) const {
  SmallVector<Value> dims;
  for (int64_t dim = 0; dim < rank; ++dim)
    dims.push_back(b.getParam(firstDim + dim));
  Value rows = b.getParam(rowsParam), perTask = b.getParam(rowsPerTaskParam);
  // Consecutive tasks have consecutive rows.
  Value first = b.mul(b.getBegin(), perTask);
  Value last = b.minS(b.mul(b.getEnd(), perTask), rows);
  if (b.getLaneCount() > 1)
    return emitSpread(b, dims, first, last, body);
  b.forLoop(first, last, b.cst(1), [&](Value row) {
    if (rank == 0)
      return body({});
    SmallVector<Value> indices(rank);
    splitRow(b, dims, row, indices);
    b.forLoop(dims.back(), [&](Value inner) {
      indices.back() = inner;
      body(indices);
    });
  });
}

/// The lanes take neighbouring elements.
void ElementLoop::emitSpread(KernelBuilder &b, ArrayRef<Value> dims,
                             Value first, Value last,
                             function_ref<void(ArrayRef<Value>)> body) const {
  Value inner = rank == 0 ? b.cst(1) : dims.back();
  b.forLoop(b.add(b.mul(first, inner), b.getLane()), b.mul(last, inner),
            b.cst(b.getLaneCount()), [&](Value element) {
              if (rank == 0)
                return body({});
              SmallVector<Value> indices(rank);
              indices.back() = b.rem(element, inner);
              splitRow(b, dims, b.div(element, inner), indices);
              body(indices);
            });
}
