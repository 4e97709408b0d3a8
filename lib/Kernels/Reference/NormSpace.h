//===- NormSpace.h - The groups of a normalisation --------------*- C++ -*-===//
//
// Part of Tarpon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TARPON_KERNELS_REFERENCE_NORMSPACE_H
#define TARPON_KERNELS_REFERENCE_NORMSPACE_H

#include "tarpon/Kernels/Common/KernelBuilder.h"
#include "tarpon/Problem/Problem.h"

namespace tarpon::reference {

/// The elements of a tensor, indexed such that each place in the kept
/// dimensions selects a group of elements with common statistics.
struct NormSpace {
  std::vector<int64_t> sizes;
  std::vector<bool> kept;
  /// True if dimension 1 is split in two: groups, and the channels of one.
  bool splitsChannels = false;

  int64_t getGroupSize() const;
  /// The sizes, with 1 for dimensions that are not kept.
  std::vector<int64_t> getGroups() const;
  /// The kept dimensions: "k01s".
  std::string symbolPart() const;

  /// The logical indices of an element.
  llvm::SmallVector<mlir::Value>
  toPlace(KernelBuilder &b, llvm::ArrayRef<mlir::Value> indices,
          llvm::ArrayRef<mlir::Value> sizes) const;

  /// The indexing of a parameter or statistic: by places in `x` if it follows
  /// elements, otherwise by places in this space.
  TensorDesc spread(const TensorDesc &desc, const TensorDesc &x,
                    bool followsElements) const;
};

NormSpace getNormSpace(const Problem &problem);

} // namespace tarpon::reference

#endif // TARPON_KERNELS_REFERENCE_NORMSPACE_H
