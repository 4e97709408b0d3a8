//===- InputPack.cpp - Packs inputs for the product -----------------------===//
//
// Part of Tarpon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Packing.h"

#include "mlir/Dialect/Vector/IR/VectorOps.h"

#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace tarpon;
using namespace tarpon::gpuigemm;
using llvm::divideCeil;

namespace {

/// A lane packs one chunk: neighbouring channels of a pixel.
class InputPackKernel {
public:
  InputPackKernel(LaunchBuilder &launch, const Geometry &g, DType dtype,
                  const InputStrides &strides, int64_t images, int64_t packed,
                  const std::optional<PixelFold> &fold);
  void emit(KernelBuilder &b) const;
  std::string symbol() const;
  int64_t chunks() const { return numChunks; }

private:
  struct Place {
    Value image, pixel, group, chunk;
  };
  Place getPlace(KernelBuilder &b, Value index) const;
  Value loadChunk(KernelBuilder &b, const Place &place) const;
  /// The chunk of a pixel that several pixels of the input become.
  Value loadFolded(KernelBuilder &b, const Place &place) const;

  DType dtype;
  /// True if consecutive lanes read consecutive pixels, false for channels.
  bool pixelsFirst;
  int64_t source, to;
  int64_t channels, imageStride, pixelStride, channelStride, count;
  MagicDivisor chunksPerGroup, groups, pixels;
  /// The fold, with the folded width and parameters: the image's sides before,
  /// their padding, and its value.
  std::optional<PixelFold> fold;
  std::optional<MagicDivisor> foldedWidth;
  int64_t height = 0, width = 0, padTop = 0, padLeft = 0, fill = 0;
  int64_t numChunks;
};

} // namespace

static int64_t countElements(DType dtype) {
  return kChunkBytes / runtime::dtypeBytes(dtype);
}

int64_t gpuigemm::getInputPackBytes(const Geometry &g, DType dtype,
                                    int64_t images) {
  return images * g.pixels() * g.groups *
         divideCeil(g.channels, countElements(dtype)) * kChunkBytes;
}

InputPackKernel::InputPackKernel(LaunchBuilder &launch, const Geometry &g,
                                 DType dtype, const InputStrides &strides,
                                 int64_t images, int64_t packed,
                                 const std::optional<PixelFold> &fold)
    : dtype(dtype), pixelsFirst(strides.pixel < strides.channel),
      source(launch.addOperand(0)),
      to(launch.addBuffer({BufferSlot::Workspace, packed})),
      channels(launch.addParam(fold ? fold->channels : g.channels)),
      imageStride(launch.addParam(strides.image)),
      pixelStride(launch.addParam(strides.pixel)),
      channelStride(launch.addParam(strides.channel)),
      count(launch.addParam(getInputPackBytes(g, dtype, images) / kChunkBytes)),
      chunksPerGroup(launch, divideCeil(g.channels, countElements(dtype))),
      groups(launch, g.groups), pixels(launch, g.pixels()), fold(fold),
      numChunks(getInputPackBytes(g, dtype, images) / kChunkBytes) {
  if (!fold)
    return;
  foldedWidth.emplace(launch, g.width);
  height = launch.addParam(fold->rows.size);
  width = launch.addParam(fold->columns.size);
  padTop = launch.addParam(fold->rows.pad);
  padLeft = launch.addParam(fold->columns.pad);
  fill = launch.addParam(fold->fill);
}

std::string InputPackKernel::symbol() const {
  return "gpu_igemm_pack_input_" + std::string(runtime::dtypeName(dtype)) +
         (pixelsFirst ? "_pixels" : "_channels") +
         (fold ? "_f" + std::to_string(fold->rows.pixels) + "x" +
                     std::to_string(fold->columns.pixels) + "c" +
                     std::to_string(fold->channels)
               : "");
}

InputPackKernel::Place InputPackKernel::getPlace(KernelBuilder &b,
                                                 Value index) const {
  Place place;
  auto take = [&](const MagicDivisor &divisor, Value &remainder) {
    std::tie(index, remainder) = divisor.bind(b).divRem(b, index);
  };
  if (pixelsFirst)
    take(pixels, place.pixel);
  take(chunksPerGroup, place.chunk);
  take(groups, place.group);
  if (!pixelsFirst)
    take(pixels, place.pixel);
  place.image = index;
  return place;
}

Value InputPackKernel::loadChunk(KernelBuilder &b, const Place &place) const {
  Ints ints(b);
  int64_t elements = countElements(dtype), bytes = runtime::dtypeBytes(dtype);
  Type type = b.getIntegerType(8 * bytes);
  Value base = b.add(b.mul(place.image, ints.param(imageStride)),
                     b.mul(place.pixel, ints.param(pixelStride)));
  Value count = ints.param(channels);
  Value first = b.mul(place.group, count);
  Value inGroup = ints.mul(place.chunk, elements);
  SmallVector<Value> loaded;
  for (int64_t i = 0; i < elements; ++i) {
    Value channel = ints.add(inGroup, i);
    Value exists = b.slt(channel, count);
    channel = b.minS(channel, b.sub(count, ints.cst(1)));
    Value element =
        b.add(base, b.mul(b.add(first, channel), ints.param(channelStride)));
    Value at = ints.widen(ints.mul(element, bytes));
    Value one = b.load(b.offset(b.getBuffer(source), at), type);
    loaded.push_back(b.select(exists, one, b.cstLike(type, 0)));
  }
  return vector::FromElementsOp::create(b, b.vec(type, elements), loaded);
}

Value InputPackKernel::loadFolded(KernelBuilder &b, const Place &place) const {
  Ints ints(b);
  int64_t elements = countElements(dtype), bytes = runtime::dtypeBytes(dtype);
  Type type = b.getIntegerType(8 * bytes);
  auto [row, column] = foldedWidth->bind(b).divRem(b, place.pixel);
  Value firstRow = b.sub(ints.mul(row, fold->rows.pixels), ints.param(padTop));
  Value firstColumn =
      b.sub(ints.mul(column, fold->columns.pixels), ints.param(padLeft));
  Value base = b.mul(place.image, ints.param(imageStride));
  Value zero = b.cstLike(type, 0);
  Value padding = arith::TruncIOp::create(b, type, ints.param(fill));
  SmallVector<Value> loaded;
  Value exists, first;
  for (int64_t i = 0; i < elements; ++i) {
    int64_t pixel = i / fold->room, channel = i % fold->room;
    if (channel == 0) {
      Value y = ints.add(firstRow, pixel / fold->columns.pixels);
      Value x = ints.add(firstColumn, pixel % fold->columns.pixels);
      exists =
          b.andI(b.ult(y, ints.param(height)), b.ult(x, ints.param(width)));
      Value at = b.add(b.mul(y, ints.param(width)), x);
      // Padding reads an element that exists.
      at = b.select(exists, b.mul(at, ints.param(pixelStride)), ints.cst(0));
      first = b.add(base, at);
    }
    if (channel >= fold->channels) {
      loaded.push_back(zero);
      continue;
    }
    Value element = b.add(first, ints.mul(ints.param(channelStride), channel));
    Value at = ints.widen(ints.mul(element, bytes));
    Value one = b.load(b.offset(b.getBuffer(source), at), type);
    loaded.push_back(b.select(exists, one, padding));
  }
  return vector::FromElementsOp::create(b, b.vec(type, elements), loaded);
}

void InputPackKernel::emit(KernelBuilder &b) const {
  Ints ints(b);
  Value index = b.add(ints.mul(ints.from(b.getBegin()), b.getLaneCount()),
                      ints.from(b.getLane()));
  b.ifThen(b.slt(index, ints.param(count)), [&] {
    Place place = getPlace(b, index);
    Value loaded = fold ? loadFolded(b, place) : loadChunk(b, place);
    // The order in memory is the same in any case.
    auto join = [&](Value outer, const MagicDivisor &divisor, Value inner) {
      Value count = ints.from(divisor.bind(b).getDivisor());
      return b.add(b.mul(outer, count), inner);
    };
    Value at = join(place.image, pixels, place.pixel);
    at = join(at, groups, place.group);
    at = join(at, chunksPerGroup, place.chunk);
    Value bytes = ints.widen(ints.mul(at, kChunkBytes));
    b.store(loaded, b.offset(b.getBuffer(to), bytes));
  });
}

static constexpr int64_t kPackLanes = 256;

void gpuigemm::planInputPack(SolutionPlan &plan, const Geometry &g, DType dtype,
                             const InputStrides &strides, int64_t images,
                             int64_t packed,
                             const std::optional<PixelFold> &fold) {
  LaunchBuilder launch(plan);
  InputPackKernel kernel(launch, g, dtype, strides, images, packed, fold);
  launch.finish(
      kernel.symbol(), [kernel](KernelBuilder &b) { kernel.emit(b); },
      divideCeil(kernel.chunks(), kPackLanes));
  plan.launches.back().kernel.workgroup = kPackLanes;
}
