//===- SizedExecutor.cpp - Runs a package of several sizes ------*- C++ -*-===//
//
// Part of Tarpon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tarpon/Runtime/SizedExecutor.h"

#include <cassert>

namespace tarpon::runtime {

SizedExecutor::SizedExecutor(std::unique_ptr<Executor> first)
    : first(std::move(first)) {
  for (const Dimension &dimension : package().dimensions)
    lowest.push_back(dimension.low);
}

Result<Executor *> SizedExecutor::at(std::span<const int64_t> sizes) {
  assert(sizes.size() == lowest.size() && "one per dimension");
  std::vector<int64_t> key(sizes.begin(), sizes.end());
  if (key == lowest)
    return first.get();
  if (auto known = others.find(key); known != others.end())
    return known->second.get();
  Result<std::unique_ptr<Executor>> made = first->makeFor(sizes);
  if (!made)
    return made.error();
  return (others[std::move(key)] = std::move(*made)).get();
}

} // namespace tarpon::runtime
