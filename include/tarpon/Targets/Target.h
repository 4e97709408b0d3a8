//===- Target.h - A target that code is generated for -----------*- C++ -*-===//
//
// Part of Tarpon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A target ties together the description that solvers see, its solvers, and the
// backend that compiles their kernels. Targets come in families (all AMD GPUs
// are one), which TargetRegistry.h finds by name.
//
//===----------------------------------------------------------------------===//

#ifndef TARPON_TARGETS_TARGET_H
#define TARPON_TARGETS_TARGET_H

#include "tarpon/Runtime/Device.h"
#include "tarpon/Runtime/Precision.h"
#include "tarpon/Runtime/Result.h"
#include "tarpon/Solver/SolverRegistry.h"
#include "tarpon/Solver/TargetInfo.h"
#include "tarpon/Targets/KernelBackend.h"

#include "llvm/ADT/ArrayRef.h"

#include <functional>
#include <memory>
#include <optional>
#include <utility>

namespace tarpon {

/// The peak rates of a target's data sheet.
struct TargetPeaks {
  /// 10^9 multiplications and additions per second in that arithmetic.
  std::function<double(runtime::Precision)> gflops;
  /// The memory's bandwidth in 10^9 bytes per second.
  double gbps = 0;
};

/// Immutable, and therefore thread-safe.
class Target {
public:
  /// `traits` answers for the description, and lives forever.
  Target(TargetInfo description, const TargetTraits &traits)
      : info(std::move(description)) {
    info.traits = &traits;
  }
  Target(const Target &) = delete;
  Target &operator=(const Target &) = delete;
  virtual ~Target();

  /// The description that solvers see. It names the architecture of the
  /// target's packages.
  const TargetInfo &getInfo() const { return info; }

  /// Its solvers, in order of preference.
  llvm::ArrayRef<const Solver *> getSolvers() const {
    return tarpon::getSolvers(info);
  }

  /// Makes a backend that compiles the solvers' kernels.
  virtual std::unique_ptr<KernelBackend> makeBackend() const = 0;

  /// Opens the device of this machine that runs the target's packages; on the
  /// host with that many threads (0: one per core). An error says what this
  /// machine lacks.
  virtual runtime::Result<std::unique_ptr<runtime::Device>>
  openDevice(int64_t threads) const = 0;

  /// The peak rates; none if they have to be measured.
  virtual std::optional<TargetPeaks> getPeaks() const { return std::nullopt; }

private:
  TargetInfo info;
};

} // namespace tarpon

#endif // TARPON_TARGETS_TARGET_H
