//===- SolutionModel.cpp - Models the launches of a solution --------------===//
//
// Part of Tarpon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tarpon/Targets/GPU/Model/SolutionModel.h"

#include "tarpon/Kernels/GPU/GpuProductWork.h"
#include "tarpon/Problem/Producer.h"
#include "tarpon/Solver/BehaviourVersion.h"

#include "llvm/ADT/STLExtras.h"

#include <algorithm>
#include <set>

using namespace tarpon;
using runtime::Error;
using runtime::Result;

std::string tarpon::getGpuModelName() {
  return kGpuModel.str() + "-" + std::to_string(getBehaviourVersion(kGpuModel));
}

/// The bytes of a place in the workspace, which reaches to the next one that a
/// launch names.
static double getWorkspaceBytes(const SolutionPlan &plan, int64_t begin) {
  int64_t end = plan.workspaceBytes;
  for (const LaunchPlan &launch : plan.launches)
    for (const BufferSlot &slot : launch.buffers)
      if (slot.kind == BufferSlot::Workspace && slot.index > begin)
        end = std::min(end, slot.index);
  return static_cast<double>(std::max<int64_t>(0, end - begin));
}

static bool sharesSteps(const PerfConfig &config) {
  return config.has("split_k") && config.get("split_k") == 0;
}

/// Returns true if the slot holds the sums of parts of blocks, which lie behind
/// all else. They are read while a cache still has them.
static bool isPartOfBlocks(const LaunchPlan &launch, const BufferSlot &slot) {
  return llvm::none_of(launch.buffers, [&](const BufferSlot &other) {
    return other.kind == BufferSlot::Workspace && other.index > slot.index;
  });
}

/// The bytes of the launch's distinct buffers. The inputs of constants are
/// taken to be as large as the constants.
static double getBytes(const CompiledSolution &solution,
                       const LaunchPlan &launch,
                       const GpuProductWork &product) {
  double constants =
      static_cast<double>(std::max<size_t>(1, solution.plan.constants.size()));
  std::set<std::pair<int, int64_t>> seen;
  double bytes = 0;
  for (const BufferSlot &slot : launch.buffers) {
    if (!seen.insert({slot.kind, slot.index}).second)
      continue;
    switch (slot.kind) {
    case BufferSlot::Operand:
      bytes +=
          static_cast<double>(solution.problem.operands[slot.index].numBytes());
      break;
    case BufferSlot::Result:
      bytes += static_cast<double>(
          solution.problem.getResult(slot.index).numBytes());
      break;
    case BufferSlot::Workspace:
      if (!sharesSteps(solution.config) || !isPartOfBlocks(launch, slot))
        bytes += getWorkspaceBytes(solution.plan, slot.index);
      break;
    case BufferSlot::Constant:
      bytes += product.constantBytes / constants;
      break;
    }
  }
  return bytes;
}

/// The dtype whose peak counts.
static DType getDtype(const Problem &problem) {
  DType dtype = problem.operands.empty() ? problem.result.dtype
                                         : problem.operands.front().dtype;
  return dtype == DType::U8 ? DType::I8 : dtype;
}

/// The results of a convolution's blocks of channels and pixels; none of other
/// problems.
static double countTiledResults(const Problem &problem,
                                const PerfConfig &config) {
  if (hasProducer(problem))
    return countTiledResults(getConsumer(problem), config);
  if (problem.op != OpKind::Conv || !config.has("block_m"))
    return 0;
  auto group = problem.attrs.find("group");
  int64_t groups = group == problem.attrs.end()
                       ? 1
                       : static_cast<int64_t>(group->second.front());
  int64_t channels = problem.result.shape[1] / groups;
  int64_t pixels = problem.result.numElements() / problem.result.shape[1];
  auto align = [&](int64_t value, const char *field) {
    return static_cast<double>(
        llvm::alignTo(value, static_cast<uint64_t>(config.get(field))));
  };
  return static_cast<double>(groups) * align(channels, "block_m") *
         align(pixels, "block_n");
}

/// Finds the launch that does the floating-point work.
static size_t findMainLaunch(const CompiledSolution &solution,
                             llvm::ArrayRef<KernelProfile> profiles) {
  auto getFlops = [&](size_t index) {
    const KernelProfile &profile = profiles[index];
    return profile.loop.flops *
           static_cast<double>(profile.resources.workgroup *
                               solution.plan.launches[index].tasks);
  };
  size_t main = 0;
  for (size_t i = 1; i < profiles.size(); ++i)
    if (getFlops(i) > getFlops(main))
      main = i;
  return main;
}

Result<SolutionEstimate>
tarpon::estimateGpuSolution(const CompiledSolution &solution,
                            ProfileLaunch profileLaunch, const GpuTarget &gpu) {
  std::vector<KernelProfile> profiles;
  for (auto [launch, object] :
       llvm::zip_equal(solution.plan.launches, solution.objects)) {
    Result<KernelProfile> profile = profileLaunch(launch, *object);
    if (!profile)
      return profile.error();
    profiles.push_back(std::move(*profile));
  }
  const Problem &problem = solution.problem;
  GpuProductWork product = getGpuProductWork(problem, solution.config);
  size_t main = findMainLaunch(solution, profiles);
  SolutionEstimate total;
  for (auto [index, launch] : llvm::enumerate(solution.plan.launches)) {
    LaunchWork work;
    work.workgroups = std::max<int64_t>(1, launch.tasks);
    work.flops = index == main ? product.flops : 0;
    work.results = product.results;
    // Another algorithm multiplies other matrices.
    if (!solution.config.has("out_tile"))
      work.tiledResults = countTiledResults(solution.problem, solution.config);
    work.bytes = getBytes(solution, launch, product);
    work.dtype = getDtype(problem);
    // The solver's expected fraction does not apply to launches that pack or
    // sum up.
    work.expectedFraction = index == main ? solution.expectedFraction : 1;
    work.sharesSteps = index == main && sharesSteps(solution.config);
    if (solution.config.has("split_k"))
      work.splitK = std::max<int64_t>(1, solution.config.get("split_k"));
    work.takesTurns = index == main && solution.config.has("groups_per_unit") &&
                      solution.config.get("groups_per_unit") > 0;
    LaunchEstimate estimate = estimateLaunch(profiles[index], work, gpu);
    total.milliseconds += estimate.milliseconds;
    total.report += printEstimate(profiles[index], work, estimate, gpu);
  }
  return total;
}
