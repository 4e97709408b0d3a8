//===- SolverTest.h - Runs solvers on problems ------------------*- C++ -*-===//
//
// Part of Tarpon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TARPON_TEST_UNIT_KERNELS_SOLVERTEST_H
#define TARPON_TEST_UNIT_KERNELS_SOLVERTEST_H

#include "tarpon/Runtime/AlignedBuffer.h"
#include "tarpon/Runtime/Device.h"
#include "tarpon/Runtime/Result.h"
#include "tarpon/Solver/Solver.h"
#include "tarpon/Targets/Compiler/KernelCompiler.h"
#include "tarpon/Targets/Host/HostBackend.h"
#include "tarpon/Targets/Target.h"

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace tarpon::test {

/// The place of every logical element, in row-major order of the logical shape,
/// in the memory of `desc`.
std::vector<int64_t> getElementOffsets(const TensorDesc &desc);

/// The logical elements of a tensor in memory, in row-major order, dequantised.
std::vector<double> readElements(const TensorDesc &desc, const char *bytes);

/// Writes logical elements; padding channels become 0xff bytes (NaN in floats),
/// so that a solver which lets them leak into the result is seen.
void writeElements(const TensorDesc &desc, const std::vector<double> &elements,
                   char *bytes);

/// Seeded operands for a problem: positive where zero would be divided by.
std::vector<double> makeOperand(const Problem &problem, size_t index,
                                uint64_t seed);

/// Compiles and runs solutions for one CPU, one emulated GPU, or a device.
class SolverRunner {
public:
  /// `cpu` as for getHostTarget.
  static runtime::Result<std::unique_ptr<SolverRunner>> create(std::string cpu);
  /// For this machine as if it had AMX, whose instructions are emulated; null
  /// where it lacks vectors of 512 bits.
  static runtime::Result<std::unique_ptr<SolverRunner>> createEmulatingAmx();
  /// `gpu` as for parseGpuTarget. `edit` may plant a fault into the text of a
  /// kernel; `order` is the seed of the order of workgroups.
  static runtime::Result<std::unique_ptr<SolverRunner>>
  createEmulated(const std::string &gpu,
                 std::function<std::string(std::string)> edit = nullptr,
                 uint64_t order = 0);

  /// For a device that `gpu` is the target of. Compiled kernels are kept in
  /// `cache`, if there is one.
  static std::unique_ptr<SolverRunner>
  createOnDevice(const Target &gpu, std::unique_ptr<runtime::Device> device,
                 std::shared_ptr<KernelCache> cache);
  /// The same for one of NVIDIA's GPUs, with a fault that `edit` plants into
  /// the text of a kernel.
  static std::unique_ptr<SolverRunner>
  createPlanted(const Target &gpu, std::unique_ptr<runtime::Device> device,
                std::function<std::string(std::string)> edit);

  const TargetInfo &getTarget() const { return target; }
  /// Has every problem run that many times in a row on the same memory; the
  /// results are those of the last time.
  void setLaunches(int64_t count) { launches = count; }
  /// Leaves memory as the device gives it, so that a checker knows that nobody
  /// has written it.
  void leaveMemory() { poisonsMemory = false; }
  /// Makes all operands, constants too, by makeOperand, and replaces elements
  /// (of operand `index`) by what `change` returns.
  using OperandChange = std::function<double(size_t index, double element)>;
  void setOperandChange(OperandChange made) { change = std::move(made); }
  /// Returns false if the device runs nothing any more.
  bool isAlive() { return !device || device->synchronize(); }

  /// The logical elements of every result. `operands` holds those of operands
  /// that are not constant (entries of constants are ignored). Without
  /// operands, seeded ones are made. The result lies where the operand
  /// `overwritten` does, if that is told (on CPUs only).
  runtime::Result<std::vector<std::vector<double>>>
  run(const Problem &problem, const Solver &solver, const PerfConfig &config,
      const std::vector<std::vector<double>> &operands = {}, uint64_t seed = 1,
      std::optional<size_t> overwritten = std::nullopt);

private:
  explicit SolverRunner(const TargetInfo &target)
      : target(target), compiler(std::make_unique<KernelCompiler>(
                            target, nullptr, makeHostBackend(target))) {}

  std::vector<double> makeChanged(const Problem &problem, size_t index,
                                  uint64_t seed) const;
  runtime::Result<runtime::Package> build(const Problem &problem,
                                          const Solver &solver,
                                          const PerfConfig &config,
                                          uint64_t seed) const;
  runtime::Status execute(runtime::Package package, uint64_t seed,
                          llvm::ArrayRef<const void *> inputs,
                          llvm::ArrayRef<void *> outputs);

  TargetInfo target;
  std::unique_ptr<KernelCompiler> compiler;
  /// Null for a CPU.
  std::unique_ptr<runtime::Device> device;
  int64_t launches = 1;
  bool poisonsMemory = true;
  OperandChange change;
};

/// The tolerance of result `index` of correct solvers against the reference: in
/// units of the largest element for floats, one step of the scale for quantised
/// results. `storageUlps` is the number of roundings to the dtype of results.
double getTolerance(const Problem &problem, const std::vector<double> &expected,
                    int64_t index = 0, double storageUlps = 1);

/// "" if all elements of all results agree, else a sentence about the worst one
/// of the first result where one is wrong.
std::string compare(const Problem &problem,
                    const std::vector<std::vector<double>> &actual,
                    const std::vector<std::vector<double>> &expected,
                    double storageUlps = 1);

} // namespace tarpon::test

#endif // TARPON_TEST_UNIT_KERNELS_SOLVERTEST_H
