//===- ConvImplicitGemm.cpp - Convolution as an implicit GEMM -------------===//
//
// Part of Tarpon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// 1-D, 2-D and 3-D forward convolution with any stride, dilation, padding and
// groups, in every layout. An nchw input is first rewritten as nhwc into the
// workspace; the result is written in its own layout directly.
//
//===----------------------------------------------------------------------===//

#include "Common/SubSolution.h"
#include "ConvGeometry.h"
#include "Host/Solvers.h"
#include "tarpon/Runtime/KernelABI.h"

#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace tarpon;

igemm::Geometry tarpon::getConvGeometry(const Problem &problem) {
  const std::vector<int64_t> &input = problem.operands[0].shape;
  const std::vector<int64_t> &filter = problem.operands[1].shape;
  const std::vector<int64_t> &result = problem.result.shape;
  std::vector<int64_t> strides = problem.ints("strides"),
                       dilations = problem.ints("dilations"),
                       pads = problem.ints("pads");
  igemm::Geometry g;
  g.batch = input[0];
  g.inputPitch = problem.operands[0].pitch;
  g.resultPitch = problem.result.pitch;
  g.groups = problem.integer("group");
  g.channels = filter[1];
  g.outChannels = filter[0] / g.groups;
  // The innermost dimension comes last; a 1-D convolution is one row.
  size_t dims = strides.size(), last = dims - 1;
  g.width = input.back();
  g.outWidth = result.back();
  g.kernelW = filter.back();
  g.strideW = strides[last];
  g.dilationW = dilations[last];
  g.padLeft = pads[last];
  if (dims >= 2) {
    g.height = input[dims];
    g.outHeight = result[dims];
    g.kernelH = filter[dims];
    g.strideH = strides[last - 1];
    g.dilationH = dilations[last - 1];
    g.padTop = pads[last - 1];
  }
  if (dims >= 3) {
    g.depth = input[2];
    g.outDepth = result[2];
    g.kernelD = filter[2];
    g.strideD = strides[0];
    g.dilationD = dilations[0];
    g.padFront = pads[0];
  }
  return g;
}

/// The layout in which the engine reads the input.
static Layout getEngineLayout(const Problem &problem) {
  const Layout &layout = problem.operands[0].layout;
  return layout.kind == Layout::Blocked ? layout : Layout{Layout::NHWC, 1};
}

/// The conversion of an nchw input to nhwc, or none if they are the same.
static std::optional<Problem> getRepacking(const Problem &problem) {
  const TensorDesc &input = problem.operands[0];
  if (input.layout.kind != Layout::NCHW || input.spatialSize() == 1)
    return std::nullopt;
  Problem convert;
  convert.op = OpKind::Convert;
  convert.operands = {input};
  convert.operands[0].constant = false;
  convert.result = convert.operands[0];
  convert.result.layout = {Layout::NHWC, 1};
  return convert;
}

namespace {
class ConvImplicitGemm final : public igemm::EngineSolver {
public:
  StringRef id() const override { return "conv-igemm-v1"; }

  bool knowsSlices() const override { return true; }

  Applicability isApplicable(const Problem &problem,
                             const TargetInfo &target) const override {
    if (problem.op != OpKind::Conv)
      return Applicability::no("needs a convolution");
    if (problem.result.rank() > 5)
      return Applicability::no("needs one to three spatial dimensions");
    igemm::Geometry geometry = getConvGeometry(problem);
    if (problem.operands[0].pitch && geometry.taps() > 1)
      return Applicability::no("reads slices in windows of one pixel only");
    return igemm::isSupported(problem, target, geometry, /*packsFilters=*/true);
  }

  int64_t workspaceSize(const Problem &problem,
                        const TargetInfo &target) const override {
    int64_t bytes = igemm::filterWorkspace(
        problem, target, getConvGeometry(problem), getEngineLayout(problem));
    if (std::optional<Problem> repacking = getRepacking(problem))
      bytes += repacking->result.numBytes();
    return bytes;
  }

  SolutionPlan plan(const Problem &problem, const TargetInfo &target,
                    const PerfConfig &config) const override;

protected:
  igemm::Geometry getGeometry(const Problem &problem) const override {
    return getConvGeometry(problem);
  }
};
} // namespace

SolutionPlan ConvImplicitGemm::plan(const Problem &problem,
                                    const TargetInfo &target,
                                    const PerfConfig &config) const {
  igemm::Geometry geometry = getConvGeometry(problem);
  int64_t taps = geometry.taps();
  igemm::FilterStrides strides = {geometry.channels * taps, taps, 1};
  SolutionPlan plan = igemm::plan(problem, target, config, geometry, strides,
                                  getEngineLayout(problem));

  std::optional<Problem> repacking = getRepacking(problem);
  if (!repacking)
    return plan;
  BufferSlot repacked = {BufferSlot::Workspace,
                         static_cast<int64_t>(llvm::alignTo(
                             plan.workspaceBytes, runtime::kBufferAlignment))};
  LaunchPlan product = std::move(plan.launches.back());
  plan.launches.pop_back();
  appendSolution(plan, *repacking, target, BufferSlot{BufferSlot::Operand, 0},
                 repacked);
  product.buffers.front() = repacked;
  plan.launches.push_back(std::move(product));
  plan.workspaceBytes = repacked.index + repacking->result.numBytes();
  return plan;
}

const Solver &tarpon::getConvImplicitGemm() {
  static const ConvImplicitGemm solver;
  return solver;
}
