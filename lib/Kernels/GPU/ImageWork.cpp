//===- ImageWork.cpp - Distributes the places of an image -----------------===//
//
// Part of Tarpon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "ImageWork.h"

#include "llvm/Support/MathExtras.h"

#include <algorithm>

using namespace mlir;
using namespace tarpon;

Applicability GpuImageWork::check(const Problem &problem) {
  const TensorDesc &input = problem.operands[0];
  bool hasLayout =
      input.layout == problem.result.layout &&
      (input.layout.kind == Layout::NCHW || input.layout.kind == Layout::NHWC);
  if (!hasLayout || input.rank() < 3)
    return Applicability::no("needs images in nchw or nhwc");
  return checkIndexable(problem);
}

/// Divisors must be positive, even for empty tensors.
static int64_t atLeastOne(int64_t size) { return std::max<int64_t>(1, size); }

GpuImageWork::GpuImageWork(LaunchBuilder &launch, const Problem &problem,
                           ArrayRef<int64_t> kernel, int64_t vector,
                           int64_t tile, int64_t workgroup)
    : isNhwc(problem.result.layout.kind == Layout::NHWC), vector(vector),
      tile(tile), workgroup(workgroup),
      channels(launch, atLeastOne(problem.result.shape[1] / vector)) {
  const TensorDesc &input = problem.operands[0], &result = problem.result;
  int64_t rank = static_cast<int64_t>(kernel.size());
  int64_t places = result.shape[0] * (result.shape[1] / vector);
  for (int64_t dim = 0; dim < rank; ++dim) {
    int64_t size = result.spatial()[dim];
    if (dim == rank - 1)
      size = llvm::divideCeil(size, tile);
    sizes.emplace_back(launch, atLeastOne(size));
    places *= size;
  }
  std::vector<int64_t> strides = problem.ints("strides"),
                       pads = problem.ints("pads"),
                       dilations = problem.ints("dilations");
  int64_t step = isNhwc ? input.pixelPitch() : 1;
  dims.resize(rank);
  for (int64_t dim = rank - 1; dim >= 0; --dim) {
    int64_t size = input.spatial()[dim];
    dims[dim] = {.kernel = launch.addParam(kernel[dim]),
                 .stride = launch.addParam(strides[dim]),
                 .pad = launch.addParam(pads[dim]),
                 .padEnd = launch.addParam(pads[rank + dim]),
                 .dilation = launch.addParam(dilations[dim]),
                 .input = launch.addParam(size),
                 .step = launch.addParam(step)};
    step *= size;
  }
  width = launch.addParam(result.shape.back());
  total = launch.addParam(places);
  numChannels = launch.addParam(result.shape[1]);
  channelStep = launch.addParam(isNhwc ? 1 : step);
  imageStep = launch.addParam(isNhwc ? step : step * input.shape[1]);
  numTasks = atLeastOne(llvm::divideCeil(places, workgroup));
}

std::string GpuImageWork::symbolPart() const {
  std::string part = isNhwc ? "nhwc" + std::to_string(vector) : "nchw";
  return part + "_" + std::to_string(spatialRank()) + "d";
}

void GpuImageWork::emit(KernelBuilder &b,
                        function_ref<void(const Place &)> body) const {
  Value index = b.add(b.mul(b.getBegin(), workgroup), b.getLane());
  b.ifThen(b.slt(index, b.getParam(total)), [&] {
    Place place;
    place.out.resize(spatialRank());
    auto split = [&](const MagicDivisor &divisor, Value &part) {
      std::tie(index, part) = divisor.bind(b).divRem(b, index);
    };
    Value channel;
    if (isNhwc)
      split(channels, channel);
    for (int64_t dim = spatialRank() - 1; dim >= 0; --dim)
      split(sizes[dim], place.out[dim]);
    if (!isNhwc)
      split(channels, channel);
    place.image = index;
    place.channel = b.mul(channel, vector);
    place.out.back() = b.mul(place.out.back(), tile);
    place.start = b.add(b.mul(place.image, b.getParam(imageStep)),
                        b.mul(place.channel, b.getParam(channelStep)));
    for (const DimParams &dim : dims)
      place.window.push_back({b.getParam(dim.kernel), b.getParam(dim.stride),
                              b.getParam(dim.pad), b.getParam(dim.padEnd),
                              b.getParam(dim.dilation), b.getParam(dim.input),
                              b.getParam(dim.step)});
    body(place);
  });
}

VectorPlace GpuImageWork::getOutput(KernelBuilder &b, const Place &place,
                                    Value x) const {
  Value count = b.getParam(numChannels), row = place.image;
  if (!isNhwc)
    row = b.add(b.mul(row, count), place.channel);
  for (int64_t dim = 0; dim + 1 < spatialRank(); ++dim)
    row = b.add(b.mul(row, sizes[dim].bind(b).getDivisor()), place.out[dim]);
  row = b.add(b.mul(row, getWidth(b)), x);
  VectorPlace output;
  output.lanes = vector;
  output.channel = place.channel;
  output.offset = row;
  if (!isNhwc)
    return output;
  output.pixel = row;
  output.element = place.channel;
  output.offset = b.add(b.mul(row, count), place.channel);
  output.lanesAreChannels = true;
  return output;
}
