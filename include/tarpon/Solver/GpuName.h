//===- GpuName.h - The names of GPUs ----------------------------*- C++ -*-===//
//
// Part of Tarpon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A GPU is named by its chip and, behind colons, what products of that chip
// differ in: "cu=132" is the number of compute units. NVIDIA sells equally many
// of them with several memories, so that its GPUs have "bw=4800", too: the
// bandwidth of the memory in GB per second. Records of two names never mix.
//
// "tf32" is no property of a GPU but a permission of its user: products of f32
// may round their factors to TF32. Drivers never tell it.
//
//===----------------------------------------------------------------------===//

#ifndef TARPON_SOLVER_GPUNAME_H
#define TARPON_SOLVER_GPUNAME_H

#include "llvm/ADT/StringRef.h"

#include <string>

namespace tarpon {

inline constexpr llvm::StringLiteral kTf32Permission = "tf32";

/// Returns the name with the features that it lacks, which are those of
/// `other`. It stays as it is if `other` is of another chip, or contradicts it.
std::string completeGpuName(llvm::StringRef name, llvm::StringRef other);

/// Returns the name by which GpuTarget::name calls the GPU that a driver calls
/// this: drivers tell clocks, from which the bandwidth in a data sheet differs
/// by some percent. A name that cannot be parsed stays as it is.
std::string normaliseGpuName(const std::string &name);

/// Returns the name of the same GPU with the permission that `request` has, if
/// it has it.
std::string takePermissions(const std::string &name, llvm::StringRef request);

} // namespace tarpon

#endif // TARPON_SOLVER_GPUNAME_H
