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

/// One base: "pool", of which "pool" and "poolfp16" are made.
struct Base {
  llvm::StringLiteral name;
  llvm::ArrayRef<FlagSpec> flags;
  /// The problems that the flags pose, for tensors of `dtype`.
  runtime::Result<TaskList> (*makeTasks)(const Flags &flags, DType dtype);
  /// "convint8" exists.
  bool hasInt8 = false;
};

extern const Base kConv, kFusion, kActivation, kBatchNorm, kGemm, kGroupNorm,
    kLayerNorm, kPool, kSoftmax;

/// The flags that all of them share, as items of a list: -F has other meanings
/// from base to base.
#define TARPON_DRIVER_COMMON_FLAGS                                             \
  {'i', "iter", "10"}, {'V', "verify", "1"}, {'t', "time", "0"}, {             \
    'w', "wall", "0", Use::Ignored                                             \
  }

/// -n, -c, -H, -W and, where it is not 0, -D of a base as a shape.
runtime::Result<std::vector<int64_t>> readInputShape(const Flags &flags);

/// "NCHW", "NCDHW", "NHWC" or "NDHWC" for tensors of that rank.
runtime::Result<Layout> readLayout(llvm::StringRef name, int64_t rank);

TensorDesc makeTensor(DType dtype, std::vector<int64_t> shape, Layout layout,
                      bool constant = false);

/// The elementwise step of MIOpen's activation `mode` (0 to 9) with its alpha,
/// beta and gamma, or none for the pass-through.
runtime::Result<std::vector<EpilogueStep>>
makeActivation(int64_t mode, double alpha, double beta, double gamma);

/// `-A`, `-B`: alpha 1 and beta 0 are all that is done.
runtime::Status refuseScaling(const Flags &flags);

} // namespace tarpon::driver

#endif // TARPON_LIB_DRIVER_BASES_H
