//===- Executor.h - Runs a package on the host -------------------*- C++
//-*-===//
//
// Part of Tarpon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TARPON_RUNTIME_EXECUTOR_H
#define TARPON_RUNTIME_EXECUTOR_H

#include "tarpon/Runtime/Package.h"
#include "tarpon/Runtime/Result.h"

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

namespace tarpon::runtime {

struct ExecutorOptions {
  /// Threads, the caller included; 0 means one per core that this process may
  /// use.
  int threads = 0;
};

/// A package loaded and ready to run. One run at a time per executor; several
/// executors are independent. A run allocates nothing.
class Executor {
public:
  /// Loads the kernels with dlopen from an anonymous file, allocates the arena
  /// and the per-thread scratch. Refuses a package whose CPU features this
  /// machine lacks.
  static Result<std::unique_ptr<Executor>> create(Package package,
                                                  ExecutorOptions options = {});
  ~Executor();

  /// The package without its constants and kernels, which live in the executor.
  const Package &package() const;
  int threads() const;

  /// Runs the model. `inputs` and `outputs` hold one pointer per model input
  /// and output, to numBytes() bytes each. Misaligned input or output pointers
  /// are allowed (they go through an aligned staging buffer).
  void run(std::span<const void *const> inputs, std::span<void *const> outputs);

  /// The same, adding to `layerNanoseconds` (one slot per layer) the time that
  /// each layer took.
  void runProfiled(std::span<const void *const> inputs,
                   std::span<void *const> outputs,
                   std::vector<int64_t> &layerNanoseconds);

private:
  Executor();
  struct State;
  std::unique_ptr<State> state;
};

/// Whether the CPU this runs on has the feature of that LLVM name.
bool hostHasFeature(const std::string &feature);

} // namespace tarpon::runtime

#endif // TARPON_RUNTIME_EXECUTOR_H
