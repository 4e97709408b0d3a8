//===- ShuffleChannels.cpp - Interleaves the channels of groups -----------===//
//
// Part of Tarpon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// In nhwc each group of a pixel is read as a stream, and the streams are
// interleaved in registers. In nchw it is a transpose of whole planes.
//
//===----------------------------------------------------------------------===//

#include "Common/VectorAccess.h"
#include "CopyBytes.h"
#include "Host/Solvers.h"
#include "Interleave.h"

using namespace mlir;
using namespace tarpon;

namespace {

class ShuffleChannels final : public Solver {
public:
  StringRef id() const override { return "shuffle-channels-v1"; }
  Applicability isApplicable(const Problem &problem,
                             const TargetInfo &target) const override;
  double expectedFraction(const Problem & /*problem*/,
                          const TargetInfo & /*target*/) const override {
    return 0.5;
  }
  SolutionPlan plan(const Problem &problem, const TargetInfo &target,
                    const PerfConfig &config) const override;
};

struct ShuffleKernel {
  int64_t groups;
  FlatTensor input;
  VectorOutput output;
  int64_t pixels, pixelsPerTask, perGroup; ///< parameters

  void emit(KernelBuilder &b) const;
  void emitPixel(KernelBuilder &b, const BoundFlatTensor &in,
                 const VectorOutput::Bound &out, Value pixel) const;
};

} // namespace

/// The largest number of groups: the registers hold two vectors of each stream.
static constexpr int64_t kMostGroups = 6;

void ShuffleKernel::emitPixel(KernelBuilder &b, const BoundFlatTensor &in,
                              const VectorOutput::Bound &out,
                              Value pixel) const {
  int64_t lanes = b.lanes();
  Value count = b.getParam(perGroup);
  Value start = b.mul(pixel, b.mul(count, groups));
  forVectors(b, b.cst(0), count, lanes, [&](Value i, Value mask) {
    SmallVector<Value> streams;
    for (int64_t group = 0; group < groups; ++group) {
      Value offset = b.add(start, b.add(b.mul(count, group), i));
      streams.push_back(in.load(b, offset, lanes, mask));
    }
    for (int64_t part = 0; part < groups; ++part) {
      VectorPlace place;
      place.channel = b.add(b.mul(i, groups), part * lanes);
      place.offset = b.add(start, place.channel);
      place.lanesAreChannels = true;
      place.lanes = lanes;
      if (mask)
        place.mask =
            b.firstLanes(b.sub(b.mul(count, groups), place.channel), lanes);
      out.store(b, place, emitInterleaved(b, streams, part, lanes));
    }
  });
}

void ShuffleKernel::emit(KernelBuilder &b) const {
  BoundFlatTensor in = input.bind(b);
  VectorOutput::Bound out = output.bind(b);
  Value perTask = b.getParam(pixelsPerTask);
  Value first = b.mul(b.getBegin(), perTask);
  Value last = b.minS(b.mul(b.getEnd(), perTask), b.getParam(pixels));
  b.forLoop(first, last, b.cst(1),
            [&](Value pixel) { emitPixel(b, in, out, pixel); });
}

static bool isChannelsLast(const Problem &problem) {
  return problem.result.layout.kind == Layout::NHWC ||
         problem.result.spatialSize() == 1;
}

/// The same shuffle in nchw, as a transpose: images, groups, channels, pixels.
static Problem asTranspose(const Problem &problem) {
  const TensorDesc &input = problem.operands[0];
  int64_t groups = problem.integer("group");
  int64_t perGroup = input.shape[1] / groups;
  Problem transpose;
  transpose.op = OpKind::Transpose;
  transpose.operands = {input};
  transpose.operands[0].shape = {input.shape[0], groups, perGroup,
                                 input.spatialSize()};
  transpose.result = transpose.operands[0];
  std::swap(transpose.result.shape[1], transpose.result.shape[2]);
  transpose.attrs["permutation"] = {0, 2, 1, 3};
  return transpose;
}

Applicability ShuffleChannels::isApplicable(const Problem &problem,
                                            const TargetInfo &) const {
  if (problem.op != OpKind::ShuffleChannels)
    return Applicability::no("is not a shuffle of channels");
  const TensorDesc &input = problem.operands[0];
  if (!(input.layout == problem.result.layout) ||
      input.layout.kind == Layout::Blocked)
    return Applicability::no("needs operand and result both in nchw or nhwc");
  if (!isChannelsLast(problem)) {
    if (!problem.epilogue.empty() || !haveSameElements(input, problem.result))
      return Applicability::no("cannot change elements in nchw");
    return Applicability::yes();
  }
  if (problem.integer("group") > kMostGroups)
    return Applicability::no("needs at most 6 groups");
  if (!isVectorizable(input))
    return notVectorizable("the operand");
  return VectorOutput::check(problem);
}

SolutionPlan ShuffleChannels::plan(const Problem &problem,
                                   const TargetInfo &target,
                                   const PerfConfig & /*config*/) const {
  if (!isChannelsLast(problem)) {
    Problem transpose = asTranspose(problem);
    const Solver &solver = *getApplicableSolvers(transpose, target).front();
    return solver.plan(transpose, target,
                       solver.defaultConfig(transpose, target));
  }
  SolutionPlan plan;
  LaunchBuilder launch(plan);
  int64_t channels = problem.result.shape[1];
  int64_t pixels = problem.result.numElements() / channels;
  constexpr int64_t kElementsPerTask = 16384;
  int64_t perTask = std::max<int64_t>(1, kElementsPerTask / channels);
  ShuffleKernel kernel{
      .groups = problem.integer("group"),
      .input =
          FlatTensor(launch, {BufferSlot::Operand, 0}, problem.operands[0]),
      .output = VectorOutput(launch, problem),
      .pixels = launch.addParam(pixels),
      .pixelsPerTask = launch.addParam(perTask),
      .perGroup = launch.addParam(channels / problem.integer("group"))};
  std::string symbol =
      joinSymbol({"shuffle_channels", std::to_string(kernel.groups),
                  kernel.input.symbolPart(), kernel.output.symbolPart()});
  launch.finish(
      symbol, [kernel](KernelBuilder &b) { kernel.emit(b); },
      llvm::divideCeil(pixels, perTask));
  return plan;
}

const Solver &tarpon::getShuffleChannels() {
  static const ShuffleChannels solver;
  return solver;
}
