//===- GpuNaive.cpp - A lane per element, for everything ------------------===//
//
// Part of Tarpon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The host's reference kernels, whose loops over the elements of the result are
// spread over the lanes of a workgroup. This solver takes everything that no
// better one does, in all directions.
//
//===----------------------------------------------------------------------===//

#include "GpuSolvers.h"
#include "tarpon/Kernels/GPU/GpuKernelBuilder.h"

#include "llvm/ADT/STLExtras.h"

#include <limits>

using namespace mlir;
using namespace tarpon;

namespace {

class GpuNaive final : public Solver {
public:
  StringRef id() const override { return "gpu-naive-v1"; }

  Applicability isApplicable(const Problem &problem,
                             const TargetInfo &target) const override {
    if (Applicability known =
            getReferenceSolver().isApplicable(problem, target);
        !known)
      return known;
    for (const TensorDesc &operand : problem.operands)
      if (!isIndexable(operand))
        return Applicability::no("needs indices of more than 31 bits");
    for (int64_t i = 0; i < problem.numResults(); ++i)
      if (!isIndexable(problem.getResult(i)))
        return Applicability::no("needs indices of more than 31 bits");
    SolutionPlan plan = getReferenceSolver().plan(problem, target, {});
    for (const LaunchPlan &launch : plan.launches) {
      // A workgroup's tasks have no memory of their own except LDS.
      if (launch.scratchBytes > 0)
        return Applicability::no("needs scratch memory for a task");
      if (!llvm::all_of(launch.params, fitsParam))
        return Applicability::no("needs a parameter of 64 bits");
    }
    return Applicability::yes();
  }

  bool knowsSlices() const override { return true; }
  bool knowsProducers() const override { return true; }

  int64_t workspaceSize(const Problem &problem,
                        const TargetInfo &target) const override {
    return getReferenceSolver().workspaceSize(problem, target);
  }

  double expectedFraction(const Problem & /*problem*/,
                          const TargetInfo & /*target*/) const override {
    return 0.01;
  }

  SolutionPlan plan(const Problem &problem, const TargetInfo &target,
                    const PerfConfig & /*config*/) const override {
    SolutionPlan plan = getReferenceSolver().plan(problem, target, {});
    for (LaunchPlan &launch : plan.launches) {
      KernelSource &kernel = launch.kernel;
      kernel.symbol = "gpu_" + kernel.symbol;
      kernel.workgroup = kWorkgroup;
      kernel.emit = [emit = std::move(kernel.emit)](KernelBuilder &b) {
        static_cast<GpuKernelBuilder &>(b).shareTasks(kGroupsPerTask);
        emit(b);
      };
      launch.tasks *= kGroupsPerTask;
    }
    return plan;
  }

private:
  /// A lane accesses at most one task's lanes behind the last element.
  static bool isIndexable(const TensorDesc &desc) {
    return desc.numElements() <
           std::numeric_limits<int32_t>::max() - kWorkgroup * kGroupsPerTask;
  }

  /// Returns true for an i32 or the bits of an f32.
  static bool fitsParam(int64_t param) {
    return param >= std::numeric_limits<int32_t>::min() &&
           param <= std::numeric_limits<uint32_t>::max();
  }

  static constexpr int64_t kWorkgroup = 256;
  /// The reference's loops make at most 256 tasks, as many as a host can use.
  /// The largest GPU holds 304 x 8 workgroups of 256 lanes at a time: 4096 keep
  /// it busy, and 16 workgroups cost nothing if there is one task.
  static constexpr int64_t kGroupsPerTask = 16;
};

} // namespace

const Solver &tarpon::getGpuNaive() {
  static const GpuNaive solver;
  return solver;
}
