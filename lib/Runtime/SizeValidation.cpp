//===- SizeValidation.cpp - Validates packages of several sizes -*- C++ -*-===//
//
// Part of Tarpon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "PackageValidation.h"

#include <algorithm>
#include <set>

namespace tarpon::runtime {

/// The most programs of a package: each takes bytes in the file.
static constexpr int64_t kMaxPrograms = int64_t(1) << 20;

static Status validatePlace(const Package &package, const Dimension &dimension,
                            const Dimension::Place &place) {
  auto isOf = [](int64_t index, size_t count) {
    return index >= 0 && static_cast<uint64_t>(index) < count;
  };
  if (!isOf(place.input, package.inputs.size()) ||
      !isOf(place.dim, package.inputs[place.input].shape.size()))
    return Error{"dimension '" + dimension.name + "' is dimension " +
                 std::to_string(place.dim) + " of input " +
                 std::to_string(place.input) + ", which is not there"};
  int64_t size = package.inputs[place.input].shape[place.dim];
  if (size != dimension.low)
    return Error{"dimension '" + dimension.name + "' begins with " +
                 std::to_string(dimension.low) + ", but input '" +
                 package.inputs[place.input].name + "' with " +
                 std::to_string(size)};
  return success();
}

static Status validateDimension(const Package &package,
                                const Dimension &dimension) {
  if (dimension.low < 0 || dimension.high < dimension.low ||
      dimension.high - dimension.low >= kMaxPrograms)
    return Error{"dimension '" + dimension.name + "' goes from " +
                 std::to_string(dimension.low) + " to " +
                 std::to_string(dimension.high)};
  if (dimension.places.empty())
    return Error{"dimension '" + dimension.name + "' is of no input"};
  for (const Dimension::Place &place : dimension.places)
    if (Status status = validatePlace(package, dimension, place); !status)
      return status;
  return success();
}

/// The sizes of program `index`, of which the last dimension's vary fastest.
static std::vector<int64_t> getSizes(const Package &package, size_t index) {
  std::vector<int64_t> sizes(package.dimensions.size());
  auto rest = static_cast<int64_t>(index);
  for (size_t i = sizes.size(); i-- > 0;) {
    const Dimension &dimension = package.dimensions[i];
    int64_t count = dimension.high - dimension.low + 1;
    sizes[i] = dimension.low + rest % count;
    rest /= count;
  }
  return sizes;
}

static Status validateRange(const Package &package, size_t index) {
  const ProgramRange &range = package.programRanges[index];
  std::string who = "program " + std::to_string(index);
  auto size = static_cast<int64_t>(package.programs.size());
  if (range.offset < 0 || range.offset > size || range.bytes < 0 ||
      range.bytes > size - range.offset)
    return Error{who + " is not among the programs"};
  if (range.arenaBytes < 0 || range.arenaBytes > kMaxBytes)
    return Error{who + " has an arena of " + std::to_string(range.arenaBytes) +
                 " bytes"};
  if (range.sizes != getSizes(package, index))
    return Error{who + " is not for the sizes of its place"};
  return success();
}

static Status validateRanges(const Package &package) {
  int64_t count = package.dimensions.empty() ? 0 : 1;
  for (const Dimension &dimension : package.dimensions) {
    count *= dimension.high - dimension.low + 1;
    if (count > kMaxPrograms)
      return Error{"its dimensions have more sizes than there are programs"};
  }
  if (static_cast<uint64_t>(count) != package.programRanges.size())
    return Error{"it has " + std::to_string(package.programRanges.size()) +
                 " programs for " + std::to_string(count) + " sizes"};
  for (size_t i = 0; i < package.programRanges.size(); ++i)
    if (Status status = validateRange(package, i); !status)
      return status;
  return success();
}

static Status validateSymbols(const Package &package) {
  for (const std::string &symbol : package.symbols) {
    if (symbol.empty() || symbol.find('\0') != std::string::npos)
      return Error{"it has a kernel symbol that is no name"};
    auto isOf = [&](const CodeObjectRange &object) {
      return object.symbol == symbol;
    };
    if (package.getKernelForm() == KernelForm::CodeObjects &&
        std::ranges::none_of(package.codeObjects, isOf))
      return Error{"it has the kernel symbol '" + symbol +
                   "' without a code object"};
  }
  return success();
}

Status validateDimensions(const Package &package) {
  std::set<std::string> names;
  for (const Dimension &dimension : package.dimensions) {
    if (dimension.name.empty() || !names.insert(dimension.name).second)
      return Error{"it has several dimensions called '" + dimension.name +
                   "', or one without a name"};
    if (Status status = validateDimension(package, dimension); !status)
      return status;
  }
  if (Status status = validateRanges(package); !status)
    return status;
  return validateSymbols(package);
}

//===----------------------------------------------------------------------===//
// Decoded programs
//===----------------------------------------------------------------------===//

Status validateSized(const Package &package, int64_t constantBytes,
                     const ProgramRange &range, const Program &program) {
  if (program.arenaBytes != range.arenaBytes)
    return Error{"a program needs an arena of " +
                 std::to_string(program.arenaBytes) + " bytes, where " +
                 std::to_string(range.arenaBytes) + " were announced"};
  for (size_t i = 0; i < program.inputs.size(); ++i)
    if (program.inputs[i].shape.size() != package.inputs[i].shape.size())
      return Error{"input '" + package.inputs[i].name +
                   "' has another rank in a program"};
  for (size_t i = 0; i < package.dimensions.size(); ++i)
    for (auto [input, dim] : package.dimensions[i].places)
      if (program.inputs[input].shape[dim] != range.sizes[i])
        return Error{"a program is not for the sizes of its place"};
  return validateProgram(package, constantBytes, program);
}

} // namespace tarpon::runtime
