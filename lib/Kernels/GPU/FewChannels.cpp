//===- FewChannels.cpp - Converts layouts of few channels -----------------===//
//
// Part of Tarpon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "FewChannels.h"

#include "ElementWork.h"
#include "GpuOutput.h"

#include "mlir/Dialect/Vector/IR/VectorOps.h"

#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace tarpon;

static constexpr int64_t kPixels = 4, kMostChannels = 4, kLanes = 256;

bool tarpon::hasFewChannels(const Problem &problem) {
  const TensorDesc &desc = problem.result;
  return desc.shape[1] <= kMostChannels && desc.spatialSize() % kPixels == 0;
}

namespace {

class FewChannelsKernel {
public:
  FewChannelsKernel(LaunchBuilder &launch, const Problem &problem);
  void emit(KernelBuilder &b) const;
  std::string symbolPart() const;
  int64_t lanes() const { return numLanes; }

private:
  /// The first element of vector `index` of a lane's pixels, which are the
  /// channels of nchw, or follow each other in nhwc.
  Value getOffset(KernelBuilder &b, Value image, Value quad, int64_t index,
                  bool isNhwc) const;

  bool toNhwc;
  int64_t channels;
  FlatTensor source, target;
  MagicDivisor quads;
  int64_t pixels, count; ///< parameters
  int64_t numLanes;
};

} // namespace

FewChannelsKernel::FewChannelsKernel(LaunchBuilder &launch,
                                     const Problem &problem)
    : toNhwc(problem.result.layout.kind == Layout::NHWC),
      channels(problem.result.shape[1]),
      source(launch, {BufferSlot::Operand, 0}, problem.operands[0]),
      target(launch, {BufferSlot::Result, 0}, problem.result),
      quads(launch, problem.result.spatialSize() / kPixels),
      pixels(launch.addParam(problem.result.spatialSize())),
      count(launch.addParam(problem.result.shape[0] *
                            problem.result.spatialSize() / kPixels)),
      numLanes(problem.result.shape[0] * problem.result.spatialSize() /
               kPixels) {}

std::string FewChannelsKernel::symbolPart() const {
  return joinSymbol({"convert_layout_c" + std::to_string(channels),
                     source.symbolPart(), "to", target.symbolPart(),
                     toNhwc ? "nhwc" : "nchw"});
}

Value FewChannelsKernel::getOffset(KernelBuilder &b, Value image, Value quad,
                                   int64_t index, bool isNhwc) const {
  Value size = b.getParam(pixels);
  Value offset = b.mul(image, b.mul(size, channels));
  if (isNhwc)
    return b.add(
        offset, b.add(b.mul(quad, kPixels * channels), b.cst(index * kPixels)));
  return b.add(offset, b.add(b.mul(size, index), b.mul(quad, kPixels)));
}

void FewChannelsKernel::emit(KernelBuilder &b) const {
  Value index = b.add(b.mul(b.getBegin(), kLanes), b.getLane());
  b.ifThen(b.slt(index, b.getParam(count)), [&] {
    BoundFlatTensor from = source.bind(b);
    GpuTensorStore to(b, target.bind(b));
    auto [image, quad] = quads.bind(b).divRem(b, index);
    SmallVector<Value> loaded;
    for (int64_t i = 0; i < channels; ++i)
      loaded.push_back(
          from.load(b, getOffset(b, image, quad, i, !toNhwc), kPixels));
    for (int64_t i = 0; i < channels; ++i) {
      SmallVector<Value> elements;
      for (int64_t j = 0; j < kPixels; ++j) {
        // Element j of vector i of the target, counted in its order.
        int64_t place = i * kPixels + j;
        int64_t channel = toNhwc ? place % channels : i;
        int64_t pixel = toNhwc ? place / channels : j;
        int64_t read =
            toNhwc ? channel * kPixels + pixel : pixel * channels + channel;
        elements.push_back(vector::ExtractOp::create(b, loaded[read / kPixels],
                                                     read % kPixels));
      }
      Value values = vector::FromElementsOp::create(
          b, b.vec(b.getF32Type(), kPixels), elements);
      to.store(b, values, getOffset(b, image, quad, i, toNhwc));
    }
  });
}

void tarpon::planFewChannels(SolutionPlan &plan, const Problem &problem) {
  LaunchBuilder launch(plan);
  FewChannelsKernel kernel(launch, problem);
  finishGpuLaunch(
      plan, launch, kernel.symbolPart(),
      [kernel](KernelBuilder &b) { kernel.emit(b); },
      llvm::divideCeil(kernel.lanes(), kLanes), kLanes);
}
