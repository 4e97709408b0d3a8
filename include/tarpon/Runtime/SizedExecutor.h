//===- SizedExecutor.h - Runs a package of several sizes --------*- C++ -*-===//
//
// Part of Tarpon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The executors of one package, each of which runs inputs of certain sizes. One
// is made when its sizes are first asked for, and kept. Not thread safe.
//
//===----------------------------------------------------------------------===//

#ifndef TARPON_RUNTIME_SIZEDEXECUTOR_H
#define TARPON_RUNTIME_SIZEDEXECUTOR_H

#include "tarpon/Runtime/Executor.h"

#include <cstdint>
#include <map>
#include <memory>
#include <span>
#include <vector>

namespace tarpon::runtime {

class SizedExecutor {
public:
  /// Takes the executor of a package, which is for the lowest sizes of its
  /// dimensions, if it has any.
  explicit SizedExecutor(std::unique_ptr<Executor> first);

  const Package &package() const { return first->package(); }
  Device &device() const { return first->device(); }

  /// The executor for sizes, one per dimension of the package, which lives as
  /// long as this. Only one of them may run at a time.
  Result<Executor *> at(std::span<const int64_t> sizes);

private:
  std::unique_ptr<Executor> first;
  std::vector<int64_t> lowest;
  std::map<std::vector<int64_t>, std::unique_ptr<Executor>> others;
};

} // namespace tarpon::runtime

#endif // TARPON_RUNTIME_SIZEDEXECUTOR_H
