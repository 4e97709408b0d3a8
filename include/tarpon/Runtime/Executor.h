//===- Executor.h - Runs a package on a device ------------------*- C++ -*-===//
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

class Device;

struct ExecutorOptions {
  /// The number of threads of the host device that `create` makes if it is
  /// given none; see HostDeviceOptions.
  int threads = 0;
  bool reverseTasks = false;
  /// The caller promises that kBufferTailPadding bytes behind every input and
  /// output can be read, as HostTensor does; then aligned pointers are never
  /// staged on the host.
  bool paddedBuffers = false;
  /// Fills the arena, and the scratch of the host device that `create` makes,
  /// with 0xff bytes (NaN in every float format) at first, so that reads of
  /// unwritten memory are noticed.
  bool poisonMemory = false;
  /// The arena is the caller's, who passes it to each run; see
  /// Package::arenaBytes for its size. Only for devices that work on the host's
  /// memory.
  bool callerArena = false;
};

/// A package loaded and ready to run, with its constants on a device. One run
/// at a time per device; executors on several devices are independent. On the
/// host a run allocates nothing.
class Executor {
public:
  /// Creates an executor on `device`, which must outlive the executor and its
  /// replicas. Refuses a package that the device cannot run. Candidates of the
  /// package are not loaded.
  static Result<std::unique_ptr<Executor>>
  create(Package package, Device &device, ExecutorOptions options = {});
  /// Creates an executor on the host, with threads and scratch of its own.
  static Result<std::unique_ptr<Executor>> create(Package package,
                                                  ExecutorOptions options = {});

  /// Makes a second executor with constants, arena and staging of its own, but
  /// with this one's kernels and device: of an executor and its replicas only
  /// one may run at a time. Inputs that lie on a device are copied there, so
  /// that the replica of an executor that has run can be enqueued. For
  /// measuring on rotating buffers.
  Result<std::unique_ptr<Executor>> replicate() const;

  /// Makes an executor for certain sizes of the dimensions of the package that
  /// this one was created of, which has some, and one size for each. It
  /// runs on this one's device, kernels, constants and arena: of all of them
  /// only one may run at a time. They may be destroyed in any order. An error
  /// names the dimension whose size the package is not for. On the host, the
  /// first run whose data has to be copied allocates memory for it.
  Result<std::unique_ptr<Executor>>
  makeFor(std::span<const int64_t> sizes) const;
  ~Executor();

  /// The package without its constants, which live in the executor. Of one that
  /// makeFor() has made, the program and the model's name.
  const Package &package() const;
  Device &device() const;

  /// The bytes of the constants, as kernels read them.
  int64_t constantBytes() const;

  /// Evicts the constants from the host's caches, so that the next run reads
  /// them from memory, like a model whose weights fit into no cache.
  void flushConstants() const;

  /// The number of bytes that a run works on: constants, arena, inputs and
  /// outputs.
  int64_t workingSetBytes() const;

  /// Fills the arena, and the outputs that lie on the device, with 0xff bytes:
  /// a GPU's memory keeps its old contents, which may be the right results.
  Status poison();

  /// Runs the model. `inputs` and `outputs` hold one pointer per model input
  /// and output, to numBytes() bytes of the host's memory each. Data is copied
  /// where kernels cannot work on it in place: all of it on a GPU, with zeros
  /// between the rows of outputs that are slices; on the host, data at
  /// misaligned pointers, and data behind which the kernels must not read (see
  /// paddedBuffers). `arena`, with ExecutorOptions::callerArena only, is
  /// aligned to kBufferAlignment and readable for kBufferTailPadding bytes
  /// behind its end. The caller's memory is not accessed after this returns,
  /// even with an error. Runs on the host do not fail.
  Status run(std::span<const void *const> inputs,
             std::span<void *const> outputs, void *arena = nullptr);

  /// Queues a run on the buffers of the last run, without waiting. Copied
  /// outputs stay on the device.
  Status enqueue();

  /// The same launch by launch, so that a graph can be captured of several
  /// executors' runs.
  Status launchAll();

  /// Measures the milliseconds that the device takes for `enqueue`.
  Result<double> timeRun();

  /// Like `run`, but adds the time that the device took for each layer to
  /// `layerNanoseconds` (one slot per layer). The vector is resized if its size
  /// differs.
  Status runProfiled(std::span<const void *const> inputs,
                     std::span<void *const> outputs,
                     std::vector<int64_t> &layerNanoseconds);

private:
  Executor();
  struct State;
  std::unique_ptr<State> state;
};

} // namespace tarpon::runtime

#endif // TARPON_RUNTIME_EXECUTOR_H
