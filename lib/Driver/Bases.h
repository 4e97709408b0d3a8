//===- Bases.h - The base drivers -------------------------------*- C++ -*-===//
//
// Part of Tarpon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TARPON_LIB_DRIVER_BASES_H
#define TARPON_LIB_DRIVER_BASES_H

#include "Flags.h"

#include "tarpon/Driver/DriverLine.h"

namespace tarpon::driver {

using TaskList = std::vector<DriverTask>;

/// One base, for example "pool", which stands for "pool" and "poolfp16".
struct Base {
  llvm::StringLiteral name;
  llvm::ArrayRef<FlagSpec> flags;
  /// Makes the problems that the flags pose, for tensors of `dtype`.
  runtime::Result<TaskList> (*makeTasks)(const Flags &flags, DType dtype);
  /// True if there is a variant such as "convint8".
  bool hasInt8 = false;
};

extern const Base kConv, kFusion, kActivation, kBatchNorm, kGemm, kGroupNorm,
    kLayerNorm, kPool, kSoftmax;

/// The flags that all bases share, as items of a list: -F has other meanings
/// from base to base.
#define TARPON_DRIVER_COMMON_FLAGS                                             \
  {'i', "iter", "10"}, {'V', "verify", "1"}, {'t', "time", "0"}, {             \
    'w', "wall", "0", Use::Ignored                                             \
  }

/// Reads -n, -c, -H, -W and, if it is not 0, -D of a base as a shape.
runtime::Result<std::vector<int64_t>> readInputShape(const Flags &flags);

/// Parses "NCHW", "NCDHW", "NHWC" or "NDHWC" for tensors of that rank.
runtime::Result<Layout> readLayout(llvm::StringRef name, int64_t rank);

TensorDesc makeTensor(DType dtype, std::vector<int64_t> shape, Layout layout,
                      bool constant = false);

/// The elementwise step of MIOpen's activation `mode` (0 to 9) with its alpha,
/// beta and gamma, or none for the pass-through.
runtime::Result<std::vector<EpilogueStep>>
makeActivation(int64_t mode, double alpha, double beta, double gamma);

/// Refuses `-A` and `-B` other than alpha 1 and beta 0.
runtime::Status refuseScaling(const Flags &flags);

} // namespace tarpon::driver

#endif // TARPON_LIB_DRIVER_BASES_H
