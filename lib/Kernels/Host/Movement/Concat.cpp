//===- Concat.cpp - Vectorised concatenation ------------------------------===//
//
// Part of Tarpon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// One launch per operand. Without an epilogue, and if all elements are stored
// alike, rows of bytes are copied, in any layout and along any dimension.
// Otherwise channels are concatenated in vectors of f32.
//
//===----------------------------------------------------------------------===//

#include "Common/VectorAccess.h"
#include "CopyBytes.h"
#include "Host/Solvers.h"

#include "llvm/ADT/STLExtras.h"

#include <algorithm>

using namespace mlir;
using namespace tarpon;

namespace {
class Concat final : public Solver {
public:
  StringRef id() const override { return "concat-v1"; }
  Applicability isApplicable(const Problem &problem,
                             const TargetInfo &target) const override;
  bool knowsSlices() const override { return true; }
  double expectedFraction(const Problem & /*problem*/,
                          const TargetInfo & /*target*/) const override {
    return 0.6;
  }
  SolutionPlan plan(const Problem &problem, const TargetInfo &target,
                    const PerfConfig &config) const override;
};
} // namespace

static ArrayRef<TensorDesc> getParts(const Problem &problem) {
  return ArrayRef(problem.operands).take_front(problem.rootOperands);
}

static bool isByteCopy(const Problem &problem) {
  return problem.epilogue.empty() &&
         llvm::all_of(getParts(problem), [&](const TensorDesc &part) {
           return haveSameElements(part, problem.result);
         });
}

Applicability Concat::isApplicable(const Problem &problem,
                                   const TargetInfo & /*target*/) const {
  if (problem.op != OpKind::Concat)
    return Applicability::no("is not a concatenation");
  const Layout &layout = problem.result.layout;
  int64_t axis = problem.integer("axis");
  for (const TensorDesc &part : getParts(problem)) {
    if (!(part.layout == layout))
      return Applicability::no("operands and result differ in layout");
    bool isBlocked = layout.kind == Layout::Blocked;
    if (isBlocked && axis == 1 && part.shape[1] % layout.block != 0)
      return Applicability::no("channels are not in multiples of the block");
  }
  if (problem.hasSlices() && axis != 1)
    return Applicability::no("slices need to be joined along channels");
  if (isByteCopy(problem))
    return Applicability::yes();
  if (problem.hasSlices())
    return Applicability::no("slices need to be copied as they are");
  if (axis != 1 || layout.kind == Layout::Blocked)
    return Applicability::no("an epilogue, or operands stored in different "
                             "types, need channels in nchw or nhwc");
  for (const TensorDesc &part : getParts(problem))
    if (!isVectorizable(part))
      return notVectorizable("an operand");
  return VectorOutput::check(problem);
}

//===----------------------------------------------------------------------===//
// Bytes
//===----------------------------------------------------------------------===//

/// The sizes of a tensor in memory order, and the index of the one that counts
/// `axis` (blocks of channels if there are any).
static std::pair<std::vector<int64_t>, size_t>
getMemoryShape(const TensorDesc &desc, int64_t axis) {
  std::vector<int64_t> sizes = desc.shape;
  if (desc.layout.kind == Layout::Blocked) {
    sizes[1] = llvm::divideCeil(sizes[1], desc.layout.block);
    sizes.push_back(desc.layout.block);
    return {sizes, axis};
  }
  if (desc.layout.kind == Layout::NCHW || axis == 0)
    return {sizes, axis};
  std::rotate(sizes.begin() + 1, sizes.begin() + 2, sizes.end());
  return {sizes, axis == 1 ? sizes.size() - 1 : axis - 1};
}

/// The bytes of all elements of a tensor with one index in front of `axis`.
static int64_t getRowBytes(const TensorDesc &desc, int64_t axis) {
  auto [sizes, place] = getMemoryShape(desc, axis);
  int64_t bytes = runtime::dtypeBytes(desc.dtype);
  for (size_t dim = place; dim < sizes.size(); ++dim)
    bytes *= sizes[dim];
  return bytes;
}

static void planBytes(const Problem &problem, SolutionPlan &plan) {
  int64_t axis = problem.integer("axis");
  RowCopy copy;
  int64_t elementBytes = runtime::dtypeBytes(problem.result.dtype);
  TensorDesc dense = problem.result;
  dense.pitch = 0;
  copy.rows = dense.numBytes() / getRowBytes(dense, axis);
  auto getStride = [&](const TensorDesc &desc) {
    return desc.pitch ? desc.pitch * elementBytes : getRowBytes(desc, axis);
  };
  copy.targetStride = getStride(problem.result);
  for (auto [index, part] : llvm::enumerate(getParts(problem))) {
    LaunchBuilder launch(plan);
    copy.rowBytes = getRowBytes(part, axis);
    copy.sourceStride = getStride(part);
    planRowCopy(launch, {BufferSlot::Operand, static_cast<int64_t>(index)},
                {BufferSlot::Result, 0}, copy);
    copy.targetStart += copy.rowBytes;
  }
}

//===----------------------------------------------------------------------===//
// Vectors
//===----------------------------------------------------------------------===//

namespace {
/// Copies channels of one operand to channels of the result.
struct ConcatKernel {
  bool channelsLast;
  FlatTensor input;
  VectorOutput output;
  VectorLoop loop;
  int64_t channels, others, first, pixels; ///< parameters

  void emit(KernelBuilder &b) const;
};
} // namespace

void ConcatKernel::emit(KernelBuilder &b) const {
  BoundFlatTensor in = input.bind(b);
  VectorOutput::Bound out = output.bind(b);
  Value firstChannel = b.getParam(first), other = b.getParam(others);
  loop.emit(b, [&](const VectorPlace &place, Value row) {
    Value value = in.load(b, place.offset, place.lanes, place.mask);
    // These are the channels of other operands in front of this place.
    Value skipped = firstChannel;
    if (channelsLast)
      skipped = b.add(skipped, b.mul(row, other));
    else
      skipped =
          b.mul(b.add(skipped, b.mul(b.div(row, b.getParam(channels)), other)),
                b.getParam(pixels));
    VectorPlace target = place;
    target.offset = b.add(place.offset, skipped);
    target.channel = b.add(place.channel, firstChannel);
    out.store(b, target, value);
  });
}

static void planVectors(const Problem &problem, SolutionPlan &plan) {
  int64_t first = 0, pixels = problem.result.spatialSize();
  for (auto [index, part] : llvm::enumerate(getParts(problem))) {
    LaunchBuilder launch(plan);
    int64_t channels = part.shape[1];
    BufferSlot slot{BufferSlot::Operand, static_cast<int64_t>(index)};
    ConcatKernel kernel{
        .channelsLast =
            part.layout.kind == Layout::NHWC || part.spatialSize() == 1,
        .input = FlatTensor(launch, slot, part),
        .output = VectorOutput(launch, problem),
        .loop = VectorLoop(launch, part, /*needsChannels=*/true),
        .channels = launch.addParam(channels),
        .others = launch.addParam(problem.result.shape[1] - channels),
        .first = launch.addParam(first),
        .pixels = launch.addParam(pixels)};
    std::string symbol =
        joinSymbol({"concat", kernel.loop.symbolPart(),
                    kernel.input.symbolPart(), kernel.output.symbolPart()});
    int64_t tasks = kernel.loop.tasks();
    launch.finish(
        symbol, [kernel](KernelBuilder &b) { kernel.emit(b); }, tasks);
    first += channels;
  }
}

SolutionPlan Concat::plan(const Problem &problem, const TargetInfo & /*target*/,
                          const PerfConfig & /*config*/) const {
  SolutionPlan plan;
  if (isByteCopy(problem))
    planBytes(problem, plan);
  else
    planVectors(problem, plan);
  return plan;
}

const Solver &tarpon::getConcat() {
  static const Concat solver;
  return solver;
}
