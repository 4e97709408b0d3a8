//===- SizedPackage.cpp - Packages of several sizes -------------*- C++ -*-===//
//
// Part of Tarpon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tarpon/Runtime/SizedPackage.h"

#include "PackageValidation.h"
#include "ProgramBytes.h"

#include <algorithm>
#include <cassert>

namespace tarpon::runtime {

std::string describeDimensions(const Package &package) {
  std::string text;
  for (const Dimension &dimension : package.dimensions) {
    if (!text.empty())
      text += " and ";
    text += dimension.name + " from " + std::to_string(dimension.low) + " to " +
            std::to_string(dimension.high);
  }
  return text;
}

/// "the package of model 'bert' is for seq from 1 to 512, not 600".
static Error refuseSize(const Package &package, const Dimension &dimension,
                        int64_t size) {
  return {"the package of model '" + package.modelName + "' is for " +
          dimension.name + " from " + std::to_string(dimension.low) + " to " +
          std::to_string(dimension.high) + ", not " + std::to_string(size)};
}

Status checkSizes(const Package &package, std::span<const int64_t> sizes) {
  for (size_t i = 0; i < package.dimensions.size(); ++i) {
    const Dimension &dimension = package.dimensions[i];
    if (sizes[i] < dimension.low || sizes[i] > dimension.high)
      return refuseSize(package, dimension, sizes[i]);
  }
  return success();
}

//===----------------------------------------------------------------------===//
// Programs
//===----------------------------------------------------------------------===//

void addProgram(Package &package, std::vector<int64_t> sizes,
                const Program &program) {
  auto offset = static_cast<int64_t>(package.programs.size());
  appendProgram(program, package.symbols, package.programs);
  int64_t bytes = static_cast<int64_t>(package.programs.size()) - offset;
  package.programRanges.push_back(
      {std::move(sizes), offset, bytes, program.arenaBytes});
}

/// Programs lie in the order of their sizes, the last of which varies fastest.
static size_t findProgram(const Package &package,
                          std::span<const int64_t> sizes) {
  int64_t index = 0;
  for (size_t i = 0; i < sizes.size(); ++i) {
    const Dimension &dimension = package.dimensions[i];
    index =
        index * (dimension.high - dimension.low + 1) + sizes[i] - dimension.low;
  }
  return static_cast<size_t>(index);
}

Result<Program> readProgram(const Package &package,
                            std::span<const int64_t> sizes,
                            int64_t constantBytes) {
  assert(!sizes.empty() && sizes.size() == package.dimensions.size() &&
         "one for each dimension");
  if (Status status = checkSizes(package, sizes); !status)
    return status.error();
  const ProgramRange &range =
      package.programRanges[findProgram(package, sizes)];
  Result<Program> program = decodeProgram(
      package, std::span(package.programs).subspan(range.offset, range.bytes));
  Status status = program
                      ? validateSized(package, constantBytes, range, *program)
                      : Status(program.error());
  if (!status)
    return Error{"the package of model '" + package.modelName +
                 "' is damaged: " + status.message()};
  return program;
}

Result<Package> takeProgram(Package package, std::span<const int64_t> sizes) {
  if (sizes.empty())
    return package;
  Result<Program> program = readProgram(
      package, sizes, static_cast<int64_t>(package.constants.size()));
  if (!program)
    return program.error();
  static_cast<Program &>(package) = std::move(*program);
  package.dimensions.clear();
  package.symbols.clear();
  package.programRanges.clear();
  package.programs.clear();
  return package;
}

//===----------------------------------------------------------------------===//
// Sizes
//===----------------------------------------------------------------------===//

Result<std::vector<int64_t>>
findSizes(const Package &package,
          std::span<const std::vector<int64_t>> inputShapes) {
  assert(inputShapes.size() == package.inputs.size() && "one for each");
  std::vector<int64_t> sizes;
  for (const Dimension &dimension : package.dimensions) {
    auto [input, dim] = dimension.places.front();
    const std::vector<int64_t> &shape = inputShapes[input];
    sizes.push_back(static_cast<size_t>(dim) < shape.size() ? shape[dim]
                                                            : dimension.low);
  }
  if (Status status = checkSizes(package, sizes); !status)
    return status.error();
  return sizes;
}

Result<std::vector<int64_t>>
nameSizes(const Package &package, const std::map<std::string, int64_t> &sizes) {
  std::vector<int64_t> found;
  for (const Dimension &dimension : package.dimensions)
    found.push_back(dimension.low);
  for (const auto &[name, size] : sizes) {
    auto isNamed = [&name = name](const Dimension &dimension) {
      return dimension.name == name;
    };
    auto dimension = std::ranges::find_if(package.dimensions, isNamed);
    if (dimension == package.dimensions.end())
      return Error{"the package of model '" + package.modelName +
                   "' has no dimension '" + name + "'" +
                   (package.dimensions.empty()
                        ? ""
                        : "; it is for " + describeDimensions(package))};
    found[dimension - package.dimensions.begin()] = size;
  }
  if (Status status = checkSizes(package, found); !status)
    return status.error();
  return found;
}

} // namespace tarpon::runtime
