//===- Executor.h - Runs a package on the host ------------------*- C++ -*-===//
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
#include <string>
#include <string_view>
#include <vector>

namespace tarpon::runtime {

class Executor;

struct ExecutorOptions {
  /// Threads, the caller included; 0 means one per core that this process may
  /// use.
  int threads = 0;
  /// The caller promises that kBufferTailPadding bytes behind every input and
  /// output can be read, as HostTensor does; then aligned pointers are never
  /// staged.
  bool paddedBuffers = false;
  /// Fills the arena and the scratch with 0xff bytes (NaN in every float
  /// format) at first, so that a kernel that reads what nobody wrote is seen.
  bool poisonMemory = false;
  /// Takes the threads of this executor instead of starting some, whatever
  /// `threads` says: of the two only one may run at a time.
  const Executor *threadsOf = nullptr;
  /// The arena is the caller's, who gives it to each run; see
  /// Package::arenaBytes for its size.
  bool callerArena = false;
  /// Runs the tasks of each launch one by one from the last to the first, on
  /// the calling thread: a kernel whose result depends on the order is seen.
  bool reverseTasks = false;
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

  /// A second executor with constants, arena and staging of its own, but with
  /// this one's kernels, threads and scratch: of this executor and its replicas
  /// only one may run at a time. For measuring on rotating buffers.
  Result<std::unique_ptr<Executor>> replicate() const;
  ~Executor();

  /// The package without its constants and kernels, which live in the executor.
  const Package &package() const;
  int threads() const;

  /// Takes the constants out of the caches, so that the next run reads them
  /// from memory, as a model does whose weights no cache holds.
  void flushConstants() const;

  /// The bytes that a run works on: constants, arena, inputs and outputs.
  int64_t workingSetBytes() const;

  /// Runs the model. `inputs` and `outputs` hold one pointer per model input
  /// and output, to numBytes() bytes each. Misaligned input or output pointers
  /// are allowed (they go through an aligned staging buffer), and so are those
  /// behind which the kernels must not read (see paddedBuffers).
  /// `arena`, with ExecutorOptions::callerArena only, is aligned to
  /// kBufferAlignment and readable for kBufferTailPadding bytes behind its end.
  void run(std::span<const void *const> inputs, std::span<void *const> outputs,
           void *arena = nullptr);

  /// The same, adding to `layerNanoseconds` (one slot per layer) the time that
  /// each layer took. The vector is resized if its size is another.
  void runProfiled(std::span<const void *const> inputs,
                   std::span<void *const> outputs,
                   std::vector<int64_t> &layerNanoseconds);

private:
  Executor();
  struct State;
  std::unique_ptr<State> state;
};

/// The architecture this was built for, as in Package::arch: "x86-64",
/// "aarch64".
std::string_view hostArch();

/// Whether the CPU this runs on has the feature of that LLVM name
/// ("avx512f"), and the operating system supports its use. An unknown name is a
/// feature it does not have.
bool hostHasFeature(const std::string &feature);

} // namespace tarpon::runtime

#endif // TARPON_RUNTIME_EXECUTOR_H
