//===- DataPhases.cpp - Transposed convolution by forward solvers ---------===//
//
// Part of Tarpon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "DataPhases.h"

#include "Common/VectorAccess.h"
#include "Rewrite.h"

#include "llvm/ADT/STLExtras.h"

using namespace mlir;
using namespace tarpon;

/// Every phase is a launch and a filter.
static constexpr int64_t kMostPhases = 36;

/// The layout in which forward convolutions read the input.
static TensorDesc getReadInput(const TensorDesc &input, bool channelsLast) {
  return channelsLast && input.layout.kind == Layout::NCHW
             ? asChannelsLast(input, input.dtype)
             : input;
}

/// The scales of a group's channels, for every group.
static void repeatScales(TensorDesc &filter, int64_t groups) {
  if (filter.scales.size() <= 1)
    return;
  std::vector<float> scales;
  for (int64_t group = 0; group < groups; ++group)
    llvm::append_range(scales, filter.scales);
  filter.scales = std::move(scales);
  filter.quantAxis = 0;
}

static void setWindow(Problem &forward, const igemm::Geometry &g) {
  auto d = [](int64_t value) { return static_cast<double>(value); };
  // Pixels behind the last one that is read are no padding.
  auto end = [&](int64_t out, int64_t kernel, int64_t dilation, int64_t pad,
                 int64_t in) {
    int64_t read = out - 1 + (kernel - 1) * dilation + 1 - pad;
    return d(std::max<int64_t>(0, read - in));
  };
  double endD = end(g.outDepth, g.kernelD, g.dilationD, g.padFront, g.depth),
         endH = end(g.outHeight, g.kernelH, g.dilationH, g.padTop, g.height),
         endW = end(g.outWidth, g.kernelW, g.dilationW, g.padLeft, g.width);
  forward.attrs = {{"group", {d(g.groups)}}};
  // Three dimensions at most; the missing ones have size 1.
  int64_t missing = 5 - forward.result.rank();
  std::vector<double> dilations = {d(g.dilationD), d(g.dilationH),
                                   d(g.dilationW)},
                      begins = {d(g.padFront), d(g.padTop), d(g.padLeft)},
                      ends = {endD, endH, endW};
  std::vector<double> pads(begins.begin() + missing, begins.end());
  pads.insert(pads.end(), ends.begin() + missing, ends.end());
  forward.attrs["strides"] = std::vector<double>(3 - missing, 1);
  forward.attrs["dilations"] =
      std::vector<double>(dilations.begin() + missing, dilations.end());
  forward.attrs["pads"] = pads;
}

/// Phases are stored as f32, without the epilogue.
static void setPhaseResult(Problem &forward, const igemm::Geometry &g) {
  forward.operands.resize(forward.rootOperands);
  forward.epilogue.clear();
  TensorDesc &result = forward.result;
  result.dtype = DType::F32;
  result.quantized = false;
  result.scales.clear();
  result.zeroPoint = 0;
  result.shape.back() = g.outWidth;
  if (result.rank() >= 4)
    result.shape[result.rank() - 2] = g.outHeight;
  if (result.rank() >= 5)
    result.shape[2] = g.outDepth;
}

ForwardPhase DataPhasesSolver::getForward(const Problem &problem,
                                          const Phases &phases,
                                          int64_t phase) const {
  ForwardPhase forward = {problem, phases.getGeometry(phase)};
  const igemm::Geometry &g = forward.geometry;
  Problem &conv = forward.problem;
  conv.op = OpKind::Conv;
  conv.operands[0] = getReadInput(problem.operands[0], readsChannelsLast());
  TensorDesc &filter = conv.operands[1];
  filter.shape = {g.groups * g.outChannels, g.channels};
  if (conv.result.rank() >= 5)
    filter.shape.push_back(g.kernelD);
  if (conv.result.rank() >= 4)
    filter.shape.push_back(g.kernelH);
  filter.shape.push_back(g.kernelW);
  repeatScales(filter, g.groups);
  setWindow(conv, g);
  if (phases.count() > 1)
    setPhaseResult(conv, g);
  return forward;
}

ForwardPhase DataPhasesSolver::getLargest(const Problem &problem) const {
  Phases phases(problem);
  return getForward(problem, phases, phases.largest());
}

Applicability DataPhasesSolver::isApplicable(const Problem &problem,
                                             const TargetInfo &target) const {
  if (problem.op != OpKind::ConvTranspose)
    return Applicability::no("needs a transposed convolution");
  if (problem.result.rank() > 5)
    return Applicability::no("needs one to three spatial dimensions");
  // The filter of a phase is picked from it at compile time.
  if (!problem.operands[1].constant)
    return Applicability::no("needs a constant filter");
  int64_t count = 1;
  for (int64_t stride : problem.ints("strides")) {
    if (stride > kMostPhases || count * stride > kMostPhases)
      return Applicability::no("needs strides of at most 36 phases");
    count *= stride;
  }
  if (count > 1)
    if (Applicability output = VectorOutput::check(problem); !output)
      return output;
  Phases phases(problem);
  if (!phases.hasTaps(phases.largest()))
    return Applicability::no("needs a tap that reaches a place of the result");
  for (int64_t phase = 0; phase < phases.count(); ++phase)
    if (phases.hasTaps(phase))
      if (Applicability forward =
              checkForward(getForward(problem, phases, phase), target);
          !forward)
        return forward;
  return Applicability::yes();
}

/// Assigns the place of each phase. The phases come first in the workspace.
std::vector<PhasePlace>
DataPhasesSolver::placePhases(Workspace &workspace, const Problem &problem,
                              const Phases &phases) const {
  std::vector<PhasePlace> places;
  for (int64_t phase = 0; phase < phases.count(); ++phase) {
    PhasePlace place = {-1, phases.depth(phase).places,
                        phases.height(phase).places,
                        phases.width(phase).places};
    if (phases.count() > 1 && phases.hasTaps(phase)) {
      ForwardPhase forward = getForward(problem, phases, phase);
      place.bytes = workspace.reserve(forward.problem.result.numBytes()).index;
    }
    places.push_back(place);
  }
  return places;
}

int64_t DataPhasesSolver::workspaceSize(const Problem &problem,
                                        const TargetInfo &target) const {
  Workspace workspace;
  placePhases(workspace, problem, Phases(problem));
  const TensorDesc &input = problem.operands[0];
  rewrite(nullptr, workspace, target, input, {BufferSlot::Operand, 0},
          getReadInput(input, readsChannelsLast()));
  return workspace.size();
}

double DataPhasesSolver::expectedFraction(const Problem &problem,
                                          const TargetInfo &target) const {
  // The phases are written, read, and written once more as the result.
  constexpr double kInterleaving = 0.8;
  return forwardFraction(getLargest(problem), target) *
         (Phases(problem).count() == 1 ? 1 : kInterleaving);
}

/// Appends the launches of a phase, with its constants, and with its slots of
/// input and result as slots of the whole problem.
void DataPhasesSolver::appendPhase(SolutionPlan &plan, const Problem &problem,
                                   const Phases &phases, int64_t phase,
                                   const TargetInfo &target,
                                   const PerfConfig &config, BufferSlot input,
                                   BufferSlot result) const {
  SolutionPlan part =
      planForward(getForward(problem, phases, phase), target, config);
  assert(part.workspaceBytes == 0 && "forward solvers read the input in place");
  auto firstConstant = static_cast<int64_t>(plan.constants.size());
  int64_t elementBytes = runtime::dtypeBytes(problem.operands[1].dtype);
  for (ConstantPlan &constant : part.constants)
    plan.constants.push_back({[=, make = std::move(constant.make)](
                                  const ConstantOperands &operands) {
      std::vector<char> filter =
          phases.makeFilter(phase, operands[1], elementBytes);
      ConstantOperands ofPhase = operands;
      ofPhase[1] = filter;
      return make(ofPhase);
    }});
  for (LaunchPlan &launch : part.launches) {
    for (BufferSlot &slot : launch.buffers) {
      if (slot.kind == BufferSlot::Constant)
        slot.index += firstConstant;
      else if (slot.kind == BufferSlot::Result)
        slot = result;
      else if (slot.kind == BufferSlot::Operand && slot.index == 0)
        slot = input;
    }
    plan.launches.push_back(std::move(launch));
  }
}

SolutionPlan DataPhasesSolver::plan(const Problem &problem,
                                    const TargetInfo &target,
                                    const PerfConfig &config) const {
  Phases phases(problem);
  SolutionPlan plan;
  Workspace workspace;
  std::vector<PhasePlace> places = placePhases(workspace, problem, phases);
  const TensorDesc &input = problem.operands[0];
  BufferSlot source =
      rewrite(&plan, workspace, target, input, {BufferSlot::Operand, 0},
              getReadInput(input, readsChannelsLast()));
  for (int64_t phase = 0; phase < phases.count(); ++phase) {
    BufferSlot result = {BufferSlot::Result, 0};
    if (phases.count() > 1)
      result = {BufferSlot::Workspace, places[phase].bytes};
    if (phases.hasTaps(phase))
      appendPhase(plan, problem, phases, phase, target, config, source, result);
  }
  if (phases.count() > 1)
    appendInterleaving(plan, problem, phases, places);
  plan.workspaceBytes = workspace.size();
  return plan;
}
