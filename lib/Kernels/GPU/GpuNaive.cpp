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
#include "tarpon/Problem/ComputeKind.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/MathExtras.h"

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
      SmallVector<int64_t> wide;
      if (computeKindOf(problem) != ComputeKind::F32)
        wide = splitWideParams(launch);
      kernel.symbol = "gpu_" + kernel.symbol;
      for (int64_t index : wide)
        kernel.symbol += (Twine("_wide") + Twine(index)).str();
      kernel.workgroup = kWorkgroup;
      kernel.emit = [emit = std::move(kernel.emit), wide](KernelBuilder &b) {
        auto &builder = static_cast<GpuKernelBuilder &>(b);
        builder.shareTasks(kGroupsPerTask);
        builder.setWideParams(wide);
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

  /// Keeps the lower halves of parameters that no i32 holds, and appends their
  /// upper halves. Returns their indices. Those of problems in f32 are the bits
  /// of negative floats.
  static SmallVector<int64_t> splitWideParams(LaunchPlan &launch) {
    SmallVector<int64_t> wide;
    for (auto [index, param] : llvm::enumerate(launch.params))
      if (!llvm::isInt<32>(param))
        wide.push_back(static_cast<int64_t>(index));
    for (int64_t index : wide) {
      int64_t param = launch.params[index];
      launch.params[index] = static_cast<int32_t>(param);
      launch.params.push_back(param >> 32);
    }
    return wide;
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
