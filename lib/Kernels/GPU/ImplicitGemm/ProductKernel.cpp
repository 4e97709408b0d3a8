//===- ProductKernel.cpp - The launch that multiplies ---------------------===//
//
// Part of Tarpon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "ProductEmitter.h"

#include "llvm/Support/MathExtras.h"

#include <algorithm>

using namespace mlir;
using namespace tarpon;
using namespace tarpon::gpuigemm;
using llvm::divideCeil;

Depth::Depth(const Tile &tile, const Geometry &g) {
  int64_t blockK = tile.getFields().blockK;
  int64_t chunk = kChunkBytes / tile.getOp().elementBytes();
  int64_t whole = llvm::alignTo(g.channels, blockK);
  int64_t chunks = llvm::alignTo(g.channels, chunk);
  // Decomposing steps takes two divisions; a quarter of the product is more.
  taps = g.taps();
  merged = taps > 1 && whole * 4 > chunks * 5;
  perTap = merged ? chunks : whole;
  steps = divideCeil(taps * perTap, blockK);
}

int64_t gpuigemm::getSumChannels(const Tile &tile, const Geometry &g) {
  return static_cast<int64_t>(llvm::alignTo(g.outChannels, tile.run()));
}

std::string ProductKernel::symbol() const {
  std::string text = "gpu_igemm_";
  text += runtime::dtypeName(spec.inputDtype);
  text += "_" + spec.tile.name();
  text += spec.hasDepth ? "_3d" : "";
  text += spec.merged ? "_taps" : "";
  text += spec.batched ? "_batch" + std::to_string(tableColumns) : "";
  text += spec.split ? "_split" : "";
  text += spec.copies ? "_copy" : "";
  if (spec.covered)
    text += spec.dense ? "_dense" : spec.pointwise ? "_1x1" : "_inside";
  text += spec.sharesPixels ? "_l1b" : "";
  text += spec.sharesFilter ? "_l1a" : "";
  text += spec.wholeBlocks ? "_whole" : "";
  text += spec.sharesSteps ? "_share" : spec.takesTurns ? "_turns" : "";
  text += spec.loadsEarly ? "_early" : "";
  if (prologue)
    text += "_" + prologue->symbol();
  return text;
}

/// The dimensions of the window, innermost first.
static std::vector<ProductKernel::Dimension>
addDimensions(LaunchBuilder &launch, const Geometry &g, int64_t pixelBytes) {
  auto add = [&](int64_t size, int64_t out, int64_t kernel, int64_t stride,
                 int64_t dilation, int64_t pad, int64_t bytes) {
    return ProductKernel::Dimension{
        launch.addParam(size),     launch.addParam(stride),
        launch.addParam(pad),      launch.addParam(dilation * bytes),
        launch.addParam(bytes),    launch.addParam(dilation),
        MagicDivisor(launch, out), MagicDivisor(launch, kernel)};
  };
  std::vector<ProductKernel::Dimension> dimensions = {
      add(g.width, g.outWidth, g.kernelW, g.strideW, g.dilationW, g.padLeft,
          pixelBytes),
      add(g.height, g.outHeight, g.kernelH, g.strideH, g.dilationH, g.padTop,
          pixelBytes * g.width)};
  if (g.hasDepth())
    dimensions.push_back(add(g.depth, g.outDepth, g.kernelD, g.strideD,
                             g.dilationD, g.padFront,
                             pixelBytes * g.width * g.height));
  return dimensions;
}

/// The number of pixels that the blocks of a group, or of an image of a batch,
/// cover.
static int64_t countPixels(const Geometry &g) {
  return g.batched ? g.outPixels() : g.batch * g.outPixels();
}

int64_t gpuigemm::countBlocks(const TileFields &fields, const Geometry &g) {
  return divideCeil(g.outChannels, fields.blockM) *
         divideCeil(countPixels(g), fields.blockN) *
         (g.batched ? g.batch : g.groups);
}

/// The value of 8-bit padding, as the matrix instruction reads it.
static int64_t getFill(const ProductSpec &spec, const InputShape &input) {
  if (!spec.tile.getOp().isInteger())
    return 0;
  int64_t byte = (input.zeroPoint ^ (spec.isBiased() ? 0x80 : 0)) & 0xff;
  return static_cast<int32_t>(static_cast<uint32_t>(byte * 0x01010101));
}

ProductKernel::ProductKernel(LaunchBuilder &launch, const ProductSpec &spec,
                             const Geometry &g, const InputShape &input,
                             BufferSlot filter, int64_t filterSize,
                             BufferSlot table, int64_t tableColumns,
                             BufferSlot partialSums, BufferSlot counters,
                             int64_t splitCount, int64_t mostGroups)
    : spec(spec), inputBuffer(launch.addBuffer(input.slot)),
      filterBuffer(launch.addBuffer(filter)), tableColumns(tableColumns),
      inputBytes(launch.addParam(input.bytes)),
      filterBytes(launch.addParam(filterSize)),
      groupBytes(launch.addParam(input.groupBytes)),
      imageBytes(launch.addParam(input.pixelBytes *
                                 input.windows.value_or(g).pixels())),
      channelBytes(launch.addParam(input.channelBytes)),
      pixels(launch.addParam(countPixels(g))),
      channels(launch.addParam(g.outChannels)),
      allPixels(launch.addParam(g.batch * g.outPixels())),
      sumsPitch(launch.addParam(g.groups * getSumChannels(spec.tile, g))),
      sumsOfGroup(launch.addParam(getSumChannels(spec.tile, g))),
      fill(launch.addParam(getFill(spec, input))),
      steps(launch.addParam(Depth(spec.tile, g).steps)),
      stepsPerSplit(
          launch.addParam(divideCeil(Depth(spec.tile, g).steps, splitCount))),
      channelBlocks(launch,
                    divideCeil(g.outChannels, spec.tile.getFields().blockM)),
      pixelBlocks(launch,
                  divideCeil(countPixels(g), spec.tile.getFields().blockN)),
      splits(launch, splitCount),
      depthDivisor(launch, spec.merged ? Depth(spec.tile, g).perTap *
                                             spec.tile.getOp().elementBytes() /
                                             kChunkBytes
                                       : g.taps()),
      dimensions(
          addDimensions(launch, input.windows.value_or(g), input.pixelBytes)) {
  const TileFields &fields = spec.tile.getFields();
  if (spec.batched)
    tableBuffer = launch.addBuffer(table);
  if (spec.split)
    sumsBuffer = launch.addBuffer(partialSums);
  numTasks = countBlocks(fields, g) * splitCount;
  if (spec.sharesSteps) {
    int64_t steps = Depth(spec.tile, g).steps;
    StepShares shares(numTasks, steps, mostGroups);
    shared.emplace(launch, shares, steps, partialSums, counters);
    numTasks = shares.groups;
    return;
  }
  if (!spec.takesTurns)
    return;
  blocks = launch.addParam(numTasks);
  numTasks = std::min(numTasks, mostGroups);
  groups = launch.addParam(numTasks);
}

void ProductKernel::emit(KernelBuilder &b, const ResultAccess *result) const {
  ProductEmitter(static_cast<GpuKernelBuilder &>(b), *this, result).emit();
}
