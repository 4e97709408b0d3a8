//===- NormSpace.h - What a normalisation takes statistics of ---*- C++ -*-===//
//
// Part of Tarpon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TARPON_KERNELS_REFERENCE_NORMSPACE_H
#define TARPON_KERNELS_REFERENCE_NORMSPACE_H

#include "tarpon/Kernels/KernelBuilder.h"
#include "tarpon/Problem/Problem.h"

namespace tarpon::reference {

/// The elements of a tensor, indexed so that each group of elements with common
/// statistics is what one place in the kept dimensions leaves open.
struct NormSpace {
  std::vector<int64_t> sizes;
  std::vector<bool> kept;
  /// Dimension 1 is split in two: groups, and the channels of one.
  bool splitsChannels = false;

  int64_t getGroupSize() const;
  /// The sizes with 1 where a dimension is not kept.
  std::vector<int64_t> getGroups() const;
  /// "k01s": which dimensions are kept.
  std::string symbolPart() const;

  /// The logical indices of an element.
  llvm::SmallVector<mlir::Value>
  toPlace(KernelBuilder &b, llvm::ArrayRef<mlir::Value> indices,
          llvm::ArrayRef<mlir::Value> sizes) const;

  /// How a parameter or statistic is indexed: by places in `x` if it follows
  /// elements, else by places in this space.
  TensorDesc spread(const TensorDesc &desc, const TensorDesc &x,
                    bool followsElements) const;
};

NormSpace getNormSpace(const Problem &problem);

} // namespace tarpon::reference

#endif // TARPON_KERNELS_REFERENCE_NORMSPACE_H
