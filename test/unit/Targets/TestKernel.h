//===- TestKernel.h - Builds, loads and calls kernels of tests --*- C++ -*-===//
//
// Part of Tarpon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TARPON_TEST_UNIT_TARGETS_TESTKERNEL_H
#define TARPON_TEST_UNIT_TARGETS_TESTKERNEL_H

#include "tarpon/Kernels/Common/KernelBuilder.h"
#include "tarpon/Runtime/KernelABI.h"
#include "tarpon/Solver/Solver.h"
#include "tarpon/Targets/Compiler/KernelCompiler.h"

#include <functional>
#include <string>
#include <vector>

namespace tarpon::test {

/// A shared object that was loaded from a temporary file.
class LoadedLibrary {
public:
  explicit LoadedLibrary(const std::vector<char> &bytes);
  ~LoadedLibrary();
  LoadedLibrary(const LoadedLibrary &) = delete;
  LoadedLibrary &operator=(const LoadedLibrary &) = delete;

  /// Null when the library could not be loaded or lacks the symbol.
  runtime::KernelFn find(const std::string &symbol) const;
  const std::string &getError() const { return error; }

private:
  void *handle = nullptr;
  std::string error;
};

/// Compiles, links, loads and calls one kernel; test failures say what went
/// wrong.
void runKernel(const TargetInfo &target,
               std::function<void(KernelBuilder &)> emit,
               const std::vector<void *> &buffers,
               const std::vector<int64_t> &params = {}, int64_t begin = 0,
               int64_t end = 1);

/// This machine's target restricted to `cpu`; a test failure if there is none.
TargetInfo getTarget(const std::string &cpu);

} // namespace tarpon::test

#endif // TARPON_TEST_UNIT_TARGETS_TESTKERNEL_H
