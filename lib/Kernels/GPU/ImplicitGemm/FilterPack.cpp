//===- FilterPack.cpp - Packs filters for the product ---------------------===//
//
// Part of Tarpon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Packing.h"

#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

#include "llvm/Support/MathExtras.h"

#include <bit>
#include <cstring>

using namespace mlir;
using namespace tarpon;
using namespace tarpon::gpuigemm;
using llvm::divideCeil;

int64_t gpuigemm::getPaddedChannels(const Tile &tile, const Geometry &g) {
  return static_cast<int64_t>(
      llvm::alignTo(g.outChannels, tile.getFields().blockM));
}

int64_t gpuigemm::getPackedBytes(const Tile &tile, const Geometry &g,
                                 int64_t filters) {
  return filters * getPaddedChannels(tile, g) * Depth(tile, g).steps *
         tile.rowBytes();
}

bool PixelFold::unfold(int64_t &tap, int64_t &channel) const {
  int64_t across = columns.folded(), pixel = channel / room;
  int64_t row = tap / across * rows.pixels + pixel / columns.pixels;
  int64_t column = tap % across * columns.pixels + pixel % columns.pixels;
  tap = row * columns.kernel + column;
  channel %= room;
  return row < rows.kernel && column < columns.kernel && channel < channels;
}

//===----------------------------------------------------------------------===//
// TF32
//===----------------------------------------------------------------------===//

// Rounds the 23 bits of a mantissa to 10, halves away from zero: the bits that
// an instruction would ignore are 0 then. A NaN whose payload is in these stays
// one.
static constexpr uint32_t kTf32Half = 0x1000, kTf32Mask = 0xffffe000,
                          kMagnitude = 0x7fffffff, kInfinity = 0x7f800000,
                          kQuietNaN = 0x7fc00000;

/// wgmma drops the lower bits of pixels, of which 0.72 * 2^-11 is lost in the
/// mean of mantissas (u / m for u up to 2^-10 and m from 1 to 2 as logarithms
/// are). It would add up from layer to layer, unless filters are as much
/// larger.
static float getTf32Scale(const Tile &tile) {
  const WaveOp &op = tile.getOp();
  bool isTruncated = op.isTf32 && op.kind == WaveOp::Kind::Wgmma;
  return isTruncated ? 1 + 0.7213f * 0x1p-11f : 1;
}

static float roundToTf32(float value) {
  auto bits = std::bit_cast<uint32_t>(value);
  bool isNaN = (bits & kMagnitude) > kInfinity;
  return std::bit_cast<float>(isNaN ? kQuietNaN
                                    : (bits + kTf32Half) & kTf32Mask);
}

/// The same of an element's bits (i32), scaled.
static Value roundToTf32(KernelBuilder &b, Value bits, float scale) {
  if (scale != 1) {
    Value value = b.bitcast(bits, b.f32());
    value = b.mulF(value, b.cstLike(b.f32(), scale));
    bits = b.bitcast(value, bits.getType());
  }
  auto cst = [&](uint32_t value) {
    return b.cstLike(bits.getType(), static_cast<int32_t>(value));
  };
  Value isNaN = b.ult(cst(kInfinity), b.andI(bits, cst(kMagnitude)));
  Value rounded = b.andI(b.add(bits, cst(kTf32Half)), cst(kTf32Mask));
  return b.select(isNaN, cst(kQuietNaN), rounded);
}

//===----------------------------------------------------------------------===//
// Constants
//===----------------------------------------------------------------------===//

namespace {

class FilterPacker {
public:
  FilterPacker(const Tile &tile, const Geometry &g, const FilterStack &stack)
      : tile(tile), g(g), stack(stack), depth(tile, g),
        rowChannels(tile.getRowChannels()), bytes(tile.getOp().elementBytes()) {
  }

  std::vector<char> pack(ArrayRef<char> source) const {
    const TileFields &f = tile.getFields();
    std::vector<char> packed(getPackedBytes(tile, g, stack.count), 0);
    char *to = packed.data();
    int64_t blocks = divideCeil(g.outChannels, f.blockM);
    for (int64_t filter = 0; filter < stack.count; ++filter)
      for (int64_t block = 0; block < blocks; ++block)
        for (int64_t step = 0; step < depth.steps; ++step)
          for (int64_t row = 0; row < f.blockM; ++row, to += tile.rowBytes())
            packRow(source.data() + filter * stack.elements * bytes,
                    block * f.blockM + getChannel(row),
                    depth.getStart(step, f.blockK), to);
    return packed;
  }

private:
  int64_t getChannel(int64_t row) const {
    int64_t wave = tile.getFields().waveM;
    return row / wave * wave + rowChannels[row % wave];
  }

  /// Packs one channel's elements from k on.
  void packRow(const char *filter, int64_t channel, int64_t k, char *to) const {
    if (channel >= g.outChannels)
      return;
    const FilterStrides &strides = stack.strides;
    for (int64_t i = 0; i < tile.getFields().blockK; ++i) {
      int64_t tap = (k + i) / depth.perTap, c = (k + i) % depth.perTap;
      if (tap >= g.taps() || c >= g.channels)
        continue;
      if (stack.fold && !stack.fold->unfold(tap, c))
        continue;
      int64_t from = channel * strides.outChannel + c * strides.channel +
                     tap * strides.tap;
      std::memcpy(to + i * bytes, filter + from * bytes, bytes);
      if (tile.getOp().isTf32)
        roundElement(to + i * bytes);
    }
  }

  void roundElement(char *element) const {
    float value = 0;
    std::memcpy(&value, element, sizeof value);
    value = roundToTf32(value * getTf32Scale(tile));
    std::memcpy(element, &value, sizeof value);
  }

  const Tile &tile;
  const Geometry &g;
  const FilterStack &stack;
  Depth depth;
  std::vector<int64_t> rowChannels;
  int64_t bytes;
};

} // namespace

std::vector<char> gpuigemm::packFilters(const Tile &tile, const Geometry &g,
                                        const FilterStack &stack,
                                        ArrayRef<char> bytes) {
  return FilterPacker(tile, g, stack).pack(bytes);
}

//===----------------------------------------------------------------------===//
// At run time
//===----------------------------------------------------------------------===//

namespace {

/// A lane packs one chunk.
class FilterPackKernel {
public:
  FilterPackKernel(LaunchBuilder &launch, const Tile &tile, const Geometry &g,
                   const FilterStack &stack, int64_t packed);
  void emit(KernelBuilder &b) const;
  std::string symbol(DType dtype) const;
  int64_t chunks() const { return numChunks; }

private:
  Value getElement(KernelBuilder &b, Value base, Value exists, Value channel,
                   int64_t i) const;

  Tile tile;
  int64_t source, to, rows;
  int64_t outChannels, channels, taps;
  int64_t filterStride, outChannelStride, channelStride, tapStride, count;
  MagicDivisor steps, blocks, tapSteps, perTap;
  int64_t numChunks;
};

/// Makes a buffer of i32.
ConstantPlan makeInts(std::vector<int64_t> values) {
  return {[values = std::move(values)](const ConstantOperands &) {
    std::vector<int32_t> narrow(values.begin(), values.end());
    std::vector<char> bytes(narrow.size() * sizeof(int32_t));
    std::memcpy(bytes.data(), narrow.data(), bytes.size());
    return bytes;
  }};
}

} // namespace

FilterPackKernel::FilterPackKernel(LaunchBuilder &launch, const Tile &tile,
                                   const Geometry &g, const FilterStack &stack,
                                   int64_t packed)
    : tile(tile), source(launch.addOperand(1)),
      to(launch.addBuffer({BufferSlot::Workspace, packed})),
      rows(launch.addConstant(makeInts(tile.getRowChannels()))),
      outChannels(launch.addParam(g.outChannels)),
      channels(launch.addParam(g.channels)), taps(launch.addParam(g.taps())),
      filterStride(launch.addParam(stack.elements)),
      outChannelStride(launch.addParam(stack.strides.outChannel)),
      channelStride(launch.addParam(stack.strides.channel)),
      tapStride(launch.addParam(stack.strides.tap)),
      count(
          launch.addParam(getPackedBytes(tile, g, stack.count) / kChunkBytes)),
      steps(launch, Depth(tile, g).steps),
      blocks(launch, divideCeil(g.outChannels, tile.getFields().blockM)),
      tapSteps(launch, Depth(tile, g).tapSteps()),
      perTap(launch, Depth(tile, g).perTap),
      numChunks(getPackedBytes(tile, g, stack.count) / kChunkBytes) {}

std::string FilterPackKernel::symbol(DType dtype) const {
  const TileFields &f = tile.getFields();
  return "gpu_igemm_pack_filter_" + std::string(runtime::dtypeName(dtype)) +
         "_m" + std::to_string(f.blockM) + "k" + std::to_string(f.blockK) +
         "_w" + std::to_string(f.waveM) + (tile.getOp().isTf32 ? "_tf32" : "") +
         (getTf32Scale(tile) == 1 ? "" : "x");
}

/// Element i of a chunk, or zero where there is none.
Value FilterPackKernel::getElement(KernelBuilder &b, Value base, Value exists,
                                   Value channel, int64_t i) const {
  Ints ints(b);
  Type type = b.getIntegerType(8 * tile.getOp().elementBytes());
  Value c = ints.add(channel, i);
  exists = b.andI(exists, b.slt(c, ints.param(channels)));
  Value element = b.add(base, b.mul(c, ints.param(channelStride)));
  Value place = b.select(exists, element, ints.cst(0));
  Value bytes = ints.mul(place, tile.getOp().elementBytes());
  Value loaded = b.load(b.offset(b.getBuffer(source), ints.widen(bytes)), type);
  if (tile.getOp().isTf32)
    loaded = roundToTf32(b, loaded, getTf32Scale(tile));
  return b.select(exists, loaded, b.cstLike(type, 0));
}

void FilterPackKernel::emit(KernelBuilder &b) const {
  Ints ints(b);
  const TileFields &f = tile.getFields();
  Value index = b.add(ints.mul(ints.from(b.getBegin()), b.getLaneCount()),
                      ints.from(b.getLane()));
  b.ifThen(b.slt(index, ints.param(count)), [&] {
    Value inRow = ints.rem(index, tile.rowChunks());
    Value rest = ints.div(index, tile.rowChunks());
    Value row = ints.rem(rest, f.blockM);
    rest = ints.div(rest, f.blockM);
    Value step, block, filter;
    std::tie(rest, step) = steps.bind(b).divRem(b, rest);
    std::tie(filter, block) = blocks.bind(b).divRem(b, rest);

    Value inWave = ints.rem(row, f.waveM);
    Value channel =
        b.load(b.offset(b.getBuffer(rows), ints.widen(ints.mul(inWave, 4))),
               b.getI32Type());
    channel = b.add(channel, b.sub(row, inWave));
    channel = b.add(channel, ints.mul(block, f.blockM));

    int64_t chunkElements = kChunkBytes / tile.getOp().elementBytes();
    // See Depth::getStart.
    auto [outer, inner] = tapSteps.bind(b).divRem(b, step);
    Value k = ints.mul(b.add(ints.mul(outer, tile.rowChunks()), inRow),
                       chunkElements);
    Value size = ints.from(perTap.bind(b).getDivisor());
    k = b.add(k, b.mul(inner, size));
    auto [tap, c] = perTap.bind(b).divRem(b, k);
    Value exists = b.andI(b.slt(channel, ints.param(outChannels)),
                          b.slt(tap, ints.param(taps)));
    Value base = b.mul(filter, ints.param(filterStride));
    base = b.add(base, b.mul(channel, ints.param(outChannelStride)));
    base = b.add(base, b.mul(tap, ints.param(tapStride)));
    SmallVector<Value> elements;
    for (int64_t i = 0; i < chunkElements; ++i)
      elements.push_back(getElement(b, base, exists, c, i));
    Value chunk = vector::FromElementsOp::create(
        b, b.vec(elements[0].getType(), chunkElements), elements);
    Value bytes = ints.mul(index, kChunkBytes);
    b.store(chunk, b.offset(b.getBuffer(to), ints.widen(bytes)));
  });
}

static constexpr int64_t kPackLanes = 256;

void gpuigemm::planFilterPack(SolutionPlan &plan, const Tile &tile,
                              const Geometry &geometry,
                              const FilterStack &stack, DType dtype,
                              int64_t packed) {
  LaunchBuilder launch(plan);
  FilterPackKernel kernel(launch, tile, geometry, stack, packed);
  launch.finish(
      kernel.symbol(dtype), [kernel](KernelBuilder &b) { kernel.emit(b); },
      divideCeil(kernel.chunks(), kPackLanes));
  plan.launches.back().kernel.workgroup = kPackLanes;
}
