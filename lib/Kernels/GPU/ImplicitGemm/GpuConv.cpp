//===- GpuConv.cpp - Convolution on the tiled engine ----------------------===//
//
// Part of Tarpon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Forward convolutions of one to three dimensions, with any stride, dilation,
// padding and groups. An input that is not nhwc, or whose channels are not
// whole chunks of 16 bytes, is rewritten first; the result is stored in its own
// layout.
//
//===----------------------------------------------------------------------===//

#include "Engine.h"

#include "GPU/GpuSolvers.h"
#include "Host/Conv/ConvGeometry.h"

using namespace mlir;
using namespace tarpon;
using namespace tarpon::gpuigemm;

namespace {

class GpuConv final : public EngineSolver {
public:
  StringRef id() const override { return "gpu-igemm-v1"; }

  Applicability isApplicable(const Problem &problem,
                             const TargetInfo &target) const override {
    if (problem.op != OpKind::Conv)
      return Applicability::no("needs a convolution");
    if (problem.result.rank() > 5)
      return Applicability::no("needs one to three spatial dimensions");
    return isSupported(problem, target, getProduct(problem, target));
  }

private:
  static void foldPixels(const Problem &problem, const TargetInfo &target,
                         Product &product);

protected:
  Product getProduct(const Problem &problem,
                     const TargetInfo &target) const override;
};

} // namespace

/// Returns true if pixels start at multiples of 16 bytes, and their channels
/// are whole chunks. The start of a slice is not known.
static bool canRead(const TensorDesc &input, const Geometry &g) {
  return (input.layout.kind == Layout::NHWC || g.pixels() == 1) &&
         input.pitch == 0 &&
         g.channels * runtime::dtypeBytes(input.dtype) % kChunkBytes == 0;
}

Product GpuConv::getProduct(const Problem &problem,
                            const TargetInfo &target) const {
  const TensorDesc &input = problem.operands[0];
  Product product;
  Geometry &g = product.geometry;
  g = getConvGeometry(problem);
  int64_t taps = g.taps(), channels = g.groups * g.channels;
  product.filters = {g.groups,
                     g.outChannels * g.channels * taps,
                     {g.channels * taps, taps, 1}};
  product.readsInput = canRead(input, g);
  product.packed = g;
  product.images = g.batch;
  bool planes = input.layout.kind == Layout::NCHW;
  product.inputStrides =
      planes ? InputStrides{channels * g.pixels(), 1, g.pixels()}
             : InputStrides{input.pixelPitch() * g.pixels(), input.pixelPitch(),
                            1};
  foldPixels(problem, target, product);
  return product;
}

/// Folds as many pixels as a chunk holds, if windows start at multiples of
/// that.
void GpuConv::foldPixels(const Problem &problem, const TargetInfo &target,
                         Product &product) {
  Geometry &g = product.geometry;
  constexpr int64_t kRoom = 4;
  int64_t chunk = kChunkBytes / runtime::dtypeBytes(problem.operands[0].dtype);
  int64_t pixels = chunk / kRoom;
  if (!target.gpu || !canBeCopied(*target.gpu, problem.operands[0], g) ||
      problem.operands[0].quantized || !problem.operands[1].constant ||
      g.groups != 1 || g.channels > kRoom || g.hasDepth() || pixels < 2 ||
      g.strideW != pixels || g.dilationW != 1 || g.kernelW == 1)
    return;
  int64_t shift = (pixels - g.padLeft % pixels) % pixels;
  PixelFold fold{pixels,  g.channels, kRoom,
                 g.width, g.kernelW,  (g.kernelW + shift + pixels - 1) / pixels,
                 shift};
  product.filters.fold = fold;
  product.readsInput = false;
  g.channels = chunk;
  g.width = (g.width + pixels - 1) / pixels;
  g.kernelW = fold.foldedW;
  g.strideW = 1;
  g.padLeft = (g.padLeft + shift) / pixels;
  product.packed = g;
}

const Solver &tarpon::getGpuConvImplicitGemm() {
  static const GpuConv solver;
  return solver;
}
