//===- ResNet50.h - The layers of ResNet-50 as problems ---------*- C++ -*-===//
//
// Part of Tarpon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// He et al., "Deep Residual Learning for Image Recognition", CVPR 2016, table
// 1, with the epilogues that Tarpon's passes fuse.
//
//===----------------------------------------------------------------------===//

#ifndef TARPON_TEST_UNIT_KERNELS_RESNET50_H
#define TARPON_TEST_UNIT_KERNELS_RESNET50_H

#include "llvm/Support/FormatVariadic.h"

#include <cstdint>
#include <string>
#include <vector>

namespace tarpon::test {

struct ConvLayer {
  int64_t channels, outChannels, kernel, stride, size;
  const char *epilogue;
};

inline constexpr const char *kBias = "add(2)", *kBiasRelu = "add(2) | relu",
                            *kResidual = "add(2) | add(3) | relu",
                            *kSwapped = "add(2) | add(3,swapped) | relu";

inline std::vector<ConvLayer> getResNet50() {
  std::vector<ConvLayer> layers = {{3, 64, 7, 2, 224, kBiasRelu}};
  int64_t channels = 64, size = 56;
  for (int64_t stage = 0; stage < 4; ++stage) {
    int64_t width = 64 << stage, wide = 4 * width;
    for (int64_t block = 0; block < 2; ++block) {
      int64_t stride = stage > 0 && block == 0 ? 2 : 1;
      layers.push_back({channels, width, 1, 1, size, kBiasRelu});
      layers.push_back({width, width, 3, stride, size, kBiasRelu});
      if (block == 0)
        layers.push_back(
            {channels, wide, 1, stride, size, stage == 0 ? kBias : kSwapped});
      size /= stride;
      layers.push_back({width, wide, 1, 1, size,
                        block == 0 && stage > 0 ? kBias : kResidual});
      channels = wide;
    }
  }
  return layers;
}

/// `layout` is "" or ":nhwc".
inline std::string getKey(const ConvLayer &l, int64_t batch, const char *layout,
                          const char *dtype) {
  int64_t out = l.size / l.stride, pad = l.kernel / 2;
  std::string result = llvm::formatv("{0}x{1}x{2}x{2}x{3}{4}", batch,
                                     l.outChannels, out, dtype, layout);
  std::string residual;
  if (std::string(l.epilogue).find("add(3") != std::string::npos)
    residual = ", " + result;
  return llvm::formatv(
      "conv({0}x{1}x{2}x{2}x{10}{3}, {4}x{1}x{5}x{5}x{10}:const; "
      "1x{4}x1x1x{10}:const{6})->{7} {{dilations=1,1 group=1 "
      "pads={8},{8},{8},{8} strides={9},{9}} | {11}",
      batch, l.channels, l.size, layout, l.outChannels, l.kernel, residual,
      result, pad, l.stride, dtype, l.epilogue);
}

/// The problems of its convolutions and of its classifier.
inline std::vector<std::string>
getResNet50Keys(int64_t batch, const char *layout, const char *dtype) {
  std::vector<std::string> keys;
  for (const ConvLayer &layer : getResNet50())
    keys.push_back(getKey(layer, batch, layout, dtype));
  keys.push_back(llvm::formatv("matmul({0}x2048x{1}, 1000x2048x{1}:const; "
                               "1000x{1})->{0}x1000x{1} "
                               "{{transpose_lhs=0 transpose_rhs=1} | add(2)",
                               batch, dtype));
  return keys;
}

} // namespace tarpon::test

#endif // TARPON_TEST_UNIT_KERNELS_RESNET50_H
