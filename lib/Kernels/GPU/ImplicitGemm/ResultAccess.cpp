//===- ResultAccess.cpp - Turns sums into results -------------------------===//
//
// Part of Tarpon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "ResultAccess.h"

#include "GPU/ByteNumbers.h"
#include "tarpon/Kernels/Common/SmallFloats.h"
#include "tarpon/Runtime/KernelABI.h"

#include "mlir/Dialect/Vector/IR/VectorOps.h"

#include "llvm/Support/MathExtras.h"

#include <numeric>

using namespace mlir;
using namespace tarpon;
using namespace tarpon::gpuigemm;

//===----------------------------------------------------------------------===//
// ResultSpec
//===----------------------------------------------------------------------===//

/// The numbers that are added to sums: none without a zero point, which is
/// another one where bytes are multiplied as signed numbers.
static bool hasStarts(const TensorDesc &input, const Tile &tile) {
  bool isBiased = input.dtype == DType::U8 && !tile.getOp().unsignedB;
  return input.quantized && input.zeroPoint != (isBiased ? 128 : 0);
}

/// Where accesses must be aligned, as many channels as pixels and runs are
/// multiples of.
static int64_t choosePart(const Geometry &g, int64_t run,
                          const GpuTarget &gpu) {
  return gpu.accessAlignment > 1 ? std::gcd(g.outChannels, run) : 1;
}

ResultSpec::ResultSpec(const Problem &problem, const Geometry &g,
                       const Tile &tile, const GpuTarget &gpu)
    : dtype(problem.result.dtype), quantized(problem.result.quantized),
      planes(problem.op != OpKind::MatMul &&
             problem.result.layout.kind == Layout::NCHW && g.outPixels() > 1),
      integerSums(problem.operands[0].quantized),
      addsStarts(hasStarts(problem.operands[0], tile)),
      channelTail(g.outChannels % tile.run() != 0),
      part(channelTail ? choosePart(g, tile.run(), gpu) : 1),
      batched(g.batched), run(tile.run()) {
  for (size_t i = problem.rootOperands; i < problem.operands.size(); ++i) {
    const TensorDesc &operand = problem.operands[i];
    operands.push_back({static_cast<int>(i),
                        *igemm::getAccess(problem, operand, g.batched),
                        operand.dtype, operand.quantized});
  }
}

static char getLetter(AccessKind kind) {
  switch (kind) {
  case AccessKind::Scalar:
    return 's';
  case AccessKind::PerChannel:
    return 'c';
  case AccessKind::Tensor:
    return 't';
  case AccessKind::Rows:
    return 'r';
  case AccessKind::Pixels:
    return 'p';
  }
  llvm_unreachable("unknown access");
}

std::string ResultSpec::symbol(const EpilogueEmitter &epilogue) const {
  std::string text = integerSums ? "i32_to_" : "f32_to_";
  text += runtime::dtypeName(dtype);
  text += quantized ? "q" : "";
  text += planes ? "_nchw" : "_nhwc";
  text += addsStarts ? "_z" : "";
  text += "_r" + std::to_string(run);
  text += channelTail ? "t" : "";
  text += part > 1 ? std::to_string(part) : "";
  text += batched ? "_batch" : "";
  text += epilogue.symbolPart();
  for (const OperandAccess &operand : operands) {
    text += std::string("_") + getLetter(operand.kind);
    text += runtime::dtypeName(operand.dtype);
    text += operand.quantized ? "q" : "";
  }
  return text;
}

int64_t gpuigemm::countTableColumns(ArrayRef<OperandAccess> operands) {
  int64_t columns = 2;
  for (const OperandAccess &operand : operands)
    if (igemm::isInTable(operand.kind))
      columns += 2;
  return columns;
}

//===----------------------------------------------------------------------===//
// ResultAccess
//===----------------------------------------------------------------------===//

ResultAccess::ResultAccess(LaunchBuilder &launch, const Problem &problem,
                           const ResultSpec &spec, const Geometry &g,
                           const ChannelTables &tables, int64_t paddedChannels,
                           BufferSlot batchTable)
    : spec(spec), firstOperand(problem.rootOperands),
      epilogue(launch.addEpilogue(problem)),
      channels(launch.addParam(g.outChannels)),
      pitch(launch.addParam(g.resultPitch ? g.resultPitch
                                          : g.groups * g.outChannels)),
      planeElements(launch.addParam(g.outPixels())),
      imageElements(launch.addParam(g.groups * g.outChannels * g.outPixels())),
      paddedChannels(launch.addParam(paddedChannels)),
      outPixels(launch, g.outPixels()) {
  if (spec.integerSums)
    scales = launch.addBuffer(tables.scales);
  if (spec.addsStarts)
    starts = launch.addBuffer(tables.starts);
  if (spec.batched)
    table = launch.addBuffer(batchTable);
  for (const OperandAccess &operand : spec.operands) {
    int64_t buffer = launch.addOperand(operand.operand);
    firstBuffer = &operand == &spec.operands.front() ? buffer : firstBuffer;
  }
  result = launch.addResult();
  const TensorDesc &stored = problem.result;
  inverseScale =
      launch.addFloatParam(1.0f / (stored.quantized ? stored.scales[0] : 1.0f));
  launch.addFloatParam(static_cast<double>(stored.zeroPoint));
  firstScale = inverseScale + 2;
  for (const OperandAccess &operand : spec.operands) {
    const TensorDesc &desc = problem.operands[operand.operand];
    launch.addFloatParam(desc.quantized ? desc.scales[0] : 1.0f);
    launch.addFloatParam(static_cast<double>(desc.zeroPoint));
  }
}

ResultAccess::Bound ResultAccess::bind(GpuKernelBuilder &b) const {
  return Bound(*this, b);
}

ResultAccess::Bound::Bound(const ResultAccess &access, GpuKernelBuilder &b)
    : access(access), b(b), ints(b),
      epilogueParams(access.epilogue.loadParams(b)),
      result(b.getBuffer(access.result)),
      channelCount(ints.param(access.channels)),
      pitch(ints.param(access.pitch)),
      planeElements(ints.param(access.planeElements)),
      imageElements(ints.param(access.imageElements)),
      inverseScale(b.getFloatParam(access.inverseScale)),
      zeroPoint(b.getFloatParam(access.inverseScale + 1)),
      outPixels(access.outPixels.bind(b)) {
  const ResultSpec &spec = access.spec;
  if (spec.integerSums)
    scales = b.getBuffer(access.scales);
  if (spec.addsStarts)
    starts = b.getBuffer(access.starts);
  if (spec.batched)
    table = b.getBuffer(access.table);
  for (size_t i = 0; i < spec.operands.size(); ++i) {
    int64_t at = static_cast<int64_t>(i);
    buffers.push_back(b.getBuffer(access.firstBuffer + at));
    // (q - zero point) * scale as one multiplication and addition.
    Value scale = b.getFloatParam(access.firstScale + 2 * at);
    Value shift =
        b.subF(b.cstF(0),
               b.mulF(b.getFloatParam(access.firstScale + 2 * at + 1), scale));
    operandScales.emplace_back(scale, shift);
  }
}

//===----------------------------------------------------------------------===//
// Places
//===----------------------------------------------------------------------===//

ResultAccess::Bound::Pixel ResultAccess::Bound::getPixel(Value pixel,
                                                         Value group,
                                                         Value image,
                                                         Value row) {
  Value channel = b.mul(group, channelCount);
  if (!access.spec.planes)
    return {b.add(b.mul(pixel, pitch), channel), image, row};
  auto [inBatch, place] = outPixels.divRem(b, pixel);
  Value element = b.add(b.mul(inBatch, imageElements),
                        b.add(b.mul(channel, planeElements), place));
  return {element, image, row};
}

Value ResultAccess::Bound::getPointer(DType dtype, Value base, Value element) {
  Value bytes = ints.mul(element, runtime::dtypeBytes(dtype));
  return b.offset(base, ints.widen(bytes));
}

/// The type of elements in memory. Small floats are loaded as integers.
static Type getStorage(KernelBuilder &b, DType dtype) {
  return dtype == DType::F32
             ? b.f32()
             : Type(b.getIntegerType(8 * runtime::dtypeBytes(dtype)));
}

Value ResultAccess::Bound::loadAt(DType dtype, Value base, Value element,
                                  int64_t lanes) {
  return b.load(getPointer(dtype, base, element),
                b.vec(getStorage(b, dtype), lanes));
}

Value ResultAccess::Bound::loadScalar(DType dtype, Value base, Value element) {
  Value loaded = b.load(getPointer(dtype, base, element), getStorage(b, dtype));
  return b.broadcast(loaded, access.spec.run);
}

bool ResultAccess::Bound::isPerPixel(size_t operand) const {
  AccessKind kind = access.spec.operands[operand].kind;
  return kind == AccessKind::Tensor || igemm::isInTable(kind);
}

Value ResultAccess::Bound::decode(size_t operand, Value stored) {
  const OperandAccess &read = access.spec.operands[operand];
  auto [scale, shift] = operandScales[operand];
  if (read.quantized)
    return emitDecodeBytes(b, stored, runtime::isSignedInteger(read.dtype),
                           scale, shift);
  std::optional<runtime::FloatFormat> format =
      runtime::getFloatFormat(read.dtype);
  return read.dtype == DType::F32 ? stored
                                  : emitDecodeFloat(b, *format, stored);
}

//===----------------------------------------------------------------------===//
// Runs
//===----------------------------------------------------------------------===//

/// Where a run may end early, pixels are no multiple of runs apart.
bool ResultAccess::Bound::areRunsAligned() {
  return !mayEndEarly() ||
         b.getAlignment(b.vec(b.getI8Type(), access.spec.run)) == 1;
}

void ResultAccess::Bound::forExisting(Value channel, int64_t part,
                                      function_ref<void(int64_t)> f) {
  for (int64_t i = 0; i < access.spec.run; i += part) {
    if (i == 0 || !mayEndEarly()) {
      f(i);
      continue;
    }
    Value exists = b.slt(ints.add(channel, i), channelCount);
    b.ifThen(exists, [&] { f(i); });
  }
}

Value ResultAccess::Bound::loadRun(DType dtype, Value base, Value element,
                                   Value channel, bool strided) {
  int64_t run = access.spec.run, part = strided ? 1 : access.spec.part;
  VectorType type = b.vec(getStorage(b, dtype), run);
  auto loadEach = [&]() -> Value {
    SmallVector<Value> values;
    for (int64_t i = 0; i < run; i += part) {
      // Elements that do not exist read others, and are not stored.
      Value at = ints.cst(i);
      if (mayEndEarly())
        at = b.minS(at, b.sub(b.sub(channelCount, channel), ints.cst(part)));
      Value step = strided ? b.mul(at, planeElements) : at;
      Value loaded = loadAt(dtype, base, b.add(element, step), part);
      for (int64_t j = 0; j < part; ++j)
        values.push_back(vector::ExtractOp::create(b, loaded, j));
    }
    return vector::FromElementsOp::create(b, type, values);
  };
  if (strided || !areRunsAligned())
    return loadEach();
  if (!mayEndEarly())
    return loadAt(dtype, base, element, run);
  Value isWhole = b.slt(ints.add(channel, run - 1), channelCount);
  return b.ifThenElse(
      isWhole, type,
      [&] { return SmallVector<Value>{loadAt(dtype, base, element, run)}; },
      [&] { return SmallVector<Value>{loadEach()}; })[0];
}

void ResultAccess::Bound::storeRun(Value values, Value element, Value channel) {
  const ResultSpec &spec = access.spec;
  auto storeAt = [&](Value part, Value at) {
    Value pointer = getPointer(spec.dtype, result, at);
    if (spec.quantized)
      b.store(part, pointer);
    else
      b.storeConverted(spec.dtype, part, pointer);
  };
  auto storeEach = [&] {
    int64_t part = spec.planes ? 1 : spec.part;
    forExisting(channel, part, [&](int64_t i) {
      Value step = spec.planes ? ints.mul(planeElements, i) : ints.cst(i);
      SmallVector<int64_t> lanes(part);
      std::iota(lanes.begin(), lanes.end(), i);
      storeAt(b.shuffle(values, values, lanes), b.add(element, step));
    });
  };
  auto storeAll = [&] { storeAt(values, element); };
  if (spec.planes || !areRunsAligned())
    return storeEach();
  if (!mayEndEarly())
    return storeAll();
  Value isWhole = b.slt(ints.add(channel, spec.run - 1), channelCount);
  b.ifThenElse(isWhole, storeAll, storeEach);
}

//===----------------------------------------------------------------------===//
// Operands
//===----------------------------------------------------------------------===//

ResultAccess::Bound::Channels
ResultAccess::Bound::getChannels(Value group, Value first, Value image) {
  const ResultSpec &spec = access.spec;
  Channels channels;
  channels.first = first;
  channels.ofAll = b.add(b.mul(group, channelCount), first);
  if (spec.integerSums) {
    Value count = ints.param(access.paddedChannels);
    Value filter = spec.batched ? loadTable(0, image, -1) : group;
    Value padded = b.add(b.mul(group, count), first);
    Value ofFilter = b.add(b.mul(filter, count), first);
    channels.factors = loadAt(DType::F32, scales, padded, spec.run);
    if (spec.addsStarts)
      channels.starts = loadAt(DType::I32, starts, ofFilter, spec.run);
  }
  for (size_t i = 0; i < spec.operands.size(); ++i) {
    const OperandAccess &operand = spec.operands[i];
    Value value;
    if (operand.kind == AccessKind::Scalar)
      value = decode(i, loadScalar(operand.dtype, buffers[i], ints.cst(0)));
    else if (operand.kind == AccessKind::PerChannel)
      value = decode(i, loadRun(operand.dtype, buffers[i], channels.ofAll,
                                first, /*strided=*/false));
    channels.operands.push_back(value);
  }
  return channels;
}

Value ResultAccess::Bound::loadTable(size_t operand, Value image,
                                     int64_t column) {
  column +=
      countTableColumns(ArrayRef(access.spec.operands).take_front(operand));
  int64_t columns = countTableColumns(access.spec.operands);
  Value at = ints.add(ints.mul(image, columns), column);
  return b.load(getPointer(DType::I32, table, at), b.getI32Type());
}

Value ResultAccess::Bound::loadPerPixel(size_t operand, const Pixel &pixel,
                                        Value first) {
  const ResultSpec &spec = access.spec;
  auto [index, kind, dtype, quantized] = spec.operands[operand];
  Value base = buffers[operand];
  if (kind == AccessKind::Tensor) {
    Value step = spec.planes ? b.mul(first, planeElements) : first;
    return loadRun(dtype, base, b.add(pixel.element, step), first, spec.planes);
  }
  Value start = loadTable(operand, pixel.image, 0);
  Value stride = loadTable(operand, pixel.image, 1);
  Value element = b.add(start, b.mul(pixel.row, stride));
  if (kind == AccessKind::Pixels)
    return loadScalar(dtype, base, element);
  return loadRun(dtype, base, b.add(element, first), first, /*strided=*/false);
}

int64_t ResultAccess::Bound::countRegisters() const {
  constexpr int64_t kBytes = 4;
  int64_t count = 0;
  for (size_t i = 0; i < access.spec.operands.size(); ++i) {
    if (!isPerPixel(i))
      continue;
    // Elements that are loaded one by one have a register each.
    int64_t bytes = access.spec.planes || mayEndEarly()
                        ? kBytes
                        : runtime::dtypeBytes(access.spec.operands[i].dtype);
    count += llvm::divideCeil(access.spec.run * bytes, kBytes);
  }
  return count;
}

bool ResultAccess::Bound::hasPixelOperands() const {
  for (size_t i = 0; i < access.spec.operands.size(); ++i)
    if (isPerPixel(i))
      return true;
  return false;
}

ResultAccess::Bound::Loaded ResultAccess::Bound::load(const Pixel &pixel,
                                                      Value first) {
  Loaded loaded;
  for (size_t i = 0; i < access.spec.operands.size(); ++i)
    loaded.push_back(isPerPixel(i) ? loadPerPixel(i, pixel, first) : Value());
  return loaded;
}

void ResultAccess::Bound::store(const Pixel &pixel, const Channels &channels,
                                const Loaded &loaded, Value sums,
                                Value exists) {
  const ResultSpec &spec = access.spec;
  if (spec.addsStarts)
    sums = b.add(sums, channels.starts);
  if (spec.integerSums)
    sums = arith::SIToFPOp::create(b, b.vec(b.f32(), spec.run), sums);
  Value value = access.epilogue.emit(
      b, sums, epilogueParams,
      [&](int index) -> Value {
        size_t operand = index - access.firstOperand;
        return isPerPixel(operand) ? decode(operand, loaded[operand])
                                   : channels.operands[operand];
      },
      channels.factors);
  if (spec.quantized)
    value = emitEncodeBytes(b, value, runtime::isSignedInteger(spec.dtype),
                            inverseScale, zeroPoint);
  Value step =
      spec.planes ? b.mul(channels.first, planeElements) : channels.first;
  b.ifThen(exists, [&] {
    storeRun(value, b.add(pixel.element, step), channels.first);
  });
}
