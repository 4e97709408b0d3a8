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

/// The pixels of a side that become one: along both sides together as many as a
/// chunk holds with their room, or one, which pads the channels to a chunk.
/// Returns none if the image is better left as it is.
static std::optional<PixelFold> chooseFold(const TensorDesc &input,
                                           const Geometry &g) {
  constexpr int64_t kRoom = 4;
  int64_t chunk = kChunkBytes / runtime::dtypeBytes(input.dtype);
  int64_t pixels = chunk / kRoom;
  PixelFold fold{{1, g.height, g.padTop, g.kernelH},
                 {1, g.width, g.padLeft, g.kernelW},
                 g.channels,
                 chunk,
                 input.quantized ? input.zeroPoint : 0};
  bool fits = g.channels <= kRoom && g.kernelW > 1 && g.strideW > 1 &&
              pixels % g.strideW == 0;
  int64_t rows = fits ? pixels / g.strideW : 1;
  if (fits && (rows == 1 || rows == g.strideH)) {
    fold.rows.pixels = rows;
    fold.columns.pixels = g.strideW;
    fold.room = kRoom;
    return fold;
  }
  // Copies fill in zeros only.
  if (fold.fill != 0 && hasPadding(g) && g.channels <= chunk)
    return fold;
  return std::nullopt;
}

void GpuConv::foldPixels(const Problem &problem, const TargetInfo &target,
                         Product &product) {
  const TensorDesc &input = problem.operands[0];
  Geometry &g = product.geometry;
  if (!target.gpu || !canBeCopied(*target.gpu, input.dtype) ||
      !problem.operands[1].constant || g.groups != 1 || g.hasDepth() ||
      g.dilationW != 1 || g.dilationH != 1 || product.readsInput)
    return;
  std::optional<PixelFold> fold = chooseFold(input, g);
  if (!fold)
    return;
  product.filters.fold = fold;
  auto change = [](const PixelFold::Side &side, int64_t out, int64_t &size,
                   int64_t &kernel, int64_t &stride, int64_t &pad) {
    kernel = side.folded();
    stride /= side.pixels;
    size = (out - 1) * stride + kernel;
    pad = 0;
  };
  change(fold->rows, g.outHeight, g.height, g.kernelH, g.strideH, g.padTop);
  change(fold->columns, g.outWidth, g.width, g.kernelW, g.strideW, g.padLeft);
  g.channels = kChunkBytes / runtime::dtypeBytes(input.dtype);
  product.packed = g;
}

const Solver &tarpon::getGpuConvImplicitGemm() {
  static const GpuConv solver;
  return solver;
}
