//===- SizedPackage.h - Packages of several sizes ---------------*- C++ -*-===//
//
// Part of Tarpon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A package may have dimensions whose sizes each run chooses, such as the
// batch. It holds a program for each choice of them, encoded, so that thousands
// take little memory and no time until one is asked for. All programs share the
// package's kernels and constants.
//
//===----------------------------------------------------------------------===//

#ifndef TARPON_RUNTIME_SIZEDPACKAGE_H
#define TARPON_RUNTIME_SIZEDPACKAGE_H

#include "tarpon/Runtime/Package.h"
#include "tarpon/Runtime/Result.h"

#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <vector>

namespace tarpon::runtime {

/// Adds the program for certain sizes, one per dimension of the package. Its
/// tensors have the names and types of the package's own, and its launches'
/// symbols are added to the package's. Sizes have to be added in ascending
/// order, the last one varying fastest.
void addProgram(Package &package, std::vector<int64_t> sizes,
                const Program &program);

/// Checks that the package is for sizes, one per dimension. An error names the
/// dimension whose size it is not for.
Status checkSizes(const Package &package, std::span<const int64_t> sizes);

/// Decodes and validates the program for certain sizes, one per dimension, of a
/// package whose constants have so many bytes; they may have been taken out of
/// it. An error names the dimension whose size the package is not for.
Result<Program> readProgram(const Package &package,
                            std::span<const int64_t> sizes,
                            int64_t constantBytes);

/// Returns the sizes of the dimensions in inputs of these shapes, which are
/// otherwise not compared with those of the program. An error names the
/// dimension whose size the package is not for.
Result<std::vector<int64_t>>
findSizes(const Package &package,
          std::span<const std::vector<int64_t>> inputShapes);

/// Returns the sizes, by the names of the dimensions; those that are not named
/// are the lowest. An error names the unknown name, or the size that is out of
/// range.
Result<std::vector<int64_t>>
nameSizes(const Package &package, const std::map<std::string, int64_t> &sizes);

/// Makes a package for certain sizes alone; one without dimensions stays as it
/// is.
Result<Package> takeProgram(Package package, std::span<const int64_t> sizes);

/// "batch from 1 to 16 and seq from 1 to 512".
std::string describeDimensions(const Package &package);

} // namespace tarpon::runtime

#endif // TARPON_RUNTIME_SIZEDPACKAGE_H
