//===- GpuGlobalPool.cpp - Global pools by groups of lanes ----------------===//
//
// Part of Tarpon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A plane of 112x112 has few results and many cells: a lane for each result
// would leave most of the GPU idle. In nhwc a workgroup has neighbouring
// channels of one image, its lanes share the pixels, and LDS adds them up as a
// tree; in nchw a wave or a workgroup folds a plane. The order depends on the
// problem and the config only.
//
//===----------------------------------------------------------------------===//

#include "GpuOutput.h"
#include "GpuSolvers.h"
#include "Host/Pool/Pool.h"
#include "ImageWork.h"
#include "OneFieldSolver.h"
#include "RowWork.h"
#include "tarpon/Kernels/GPU/GpuKernelBuilder.h"

#include "llvm/Support/MathExtras.h"

#include <algorithm>
#include <limits>

using namespace mlir;
using namespace tarpon;

namespace {

class GpuGlobalPool final : public OneFieldSolver {
public:
  StringRef id() const override { return "gpu-global-pool-v1"; }
  Applicability isApplicable(const Problem &problem,
                             const TargetInfo &target) const override;
  double expectedFraction(const Problem &problem,
                          const TargetInfo &target) const override;
  SolutionPlan plan(const Problem &problem, const TargetInfo &target,
                    const PerfConfig &config) const override;

private:
  StringRef getField(const Problem &problem) const override;
  std::vector<int64_t> getValues(const Problem &problem,
                                 const TargetInfo &target) const override;
  int64_t chooseValue(const Problem &problem,
                      const TargetInfo &target) const override;
};

/// The reduction of raw elements in f32, and its result.
struct Fold {
  PoolReduction reduction;

  Value getNeutral(KernelBuilder &b, Type type) const {
    return b.cstLike(
        type, reduction.isMax ? -std::numeric_limits<double>::infinity() : 0);
  }
  Value combine(KernelBuilder &b, Value soFar, Value value) const {
    return reduction.combine(b, value, soFar);
  }
  Value combineLanes(KernelBuilder &b, Value value) const {
    return reduction.isMax ? maxLanes(b, value) : sumLanes(b, value);
  }
  /// `count` is the number of elements (i64).
  Value finish(KernelBuilder &b, const BoundFlatTensor &in, Value value,
               Value count) const {
    return reduction.isMax ? in.dequantize(b, value)
                           : emitPoolMean(b, in, value, count, count);
  }
};

/// How the lanes of a workgroup share channels and pixels in nhwc.
struct PixelShares {
  int64_t vector;    ///< channels of a lane
  int64_t across;    ///< lanes with the same pixels
  int64_t workgroup; ///< lanes
  int64_t block;     ///< pixels of a lane that are loaded before one is needed

  PixelShares(const Problem &problem, int64_t workgroup);
  int64_t pixelLanes() const { return workgroup / across; }
  int64_t ldsBytes() const { return workgroup * vector * 4; }
  std::string symbolPart() const;
};

struct PixelsKernel {
  Fold fold;
  PixelShares shares;
  FlatTensor input;
  VectorOutput output;
  MagicDivisor groups;               ///< of channels, of an image
  int64_t pixels, vectors, channels; ///< parameters

  void emit(KernelBuilder &b) const;
  /// Folds the pixels of a lane, the first of which is `first`; `start` is the
  /// image's element in the lane's first channel.
  Value foldPixels(KernelBuilder &b, const BoundFlatTensor &in, Value start,
                   Value first) const;
  /// Folds the values of all lanes with the same channels. The first ones get
  /// the result.
  Value foldLanes(GpuKernelBuilder &b, Value value, Value pixelLane) const;
};

struct PlaneKernel {
  Fold fold;
  FlatTensor input;
  VectorOutput output;
  GpuRowWork work;
  MagicDivisor channels;
  int64_t pixels; ///< parameter

  void emit(KernelBuilder &b) const;
};

} // namespace

//===----------------------------------------------------------------------===//
// nhwc
//===----------------------------------------------------------------------===//

PixelShares::PixelShares(const Problem &problem, int64_t workgroup)
    : workgroup(workgroup) {
  constexpr int64_t kMostChannels = 8, kSector = 32, kMostLoads = 8;
  const TensorDesc &input = problem.operands[0];
  vector = std::min(kMostChannels, chooseGpuVector(problem, input.shape[1]));
  // Memory is read in sectors.
  int64_t wanted = kSector / (vector * runtime::dtypeBytes(input.dtype));
  int64_t vectors = input.shape[1] / vector;
  across = std::clamp<int64_t>(wanted, 1, llvm::bit_ceil<uint64_t>(vectors));
  int64_t each = llvm::divideCeil(input.spatialSize(), pixelLanes());
  block = std::min<int64_t>(kMostLoads, llvm::bit_ceil<uint64_t>(each));
}

std::string PixelShares::symbolPart() const {
  return ("nhwc" + Twine(vector) + "x" + Twine(across) + "u" + Twine(block))
             .str() +
         getWorkgroupPart(workgroup);
}

/// Pixels behind the last one read that one, and are replaced.
Value PixelsKernel::foldPixels(KernelBuilder &b, const BoundFlatTensor &in,
                               Value start, Value first) const {
  Value count = b.getParam(pixels), last = b.sub(count, b.cst(1));
  Type type = shares.vector == 1 ? Type(b.getF32Type())
                                 : b.vec(b.getF32Type(), shares.vector);
  Value neutral = fold.getNeutral(b, type);
  int64_t step = shares.pixelLanes();
  auto addBlock = [&](Value from, ValueRange soFar) {
    SmallVector<Value> loaded, exist;
    for (int64_t i = 0; i < shares.block; ++i) {
      Value pixel = b.add(from, b.cst(i * step));
      exist.push_back(b.slt(pixel, count));
      Value offset = b.mul(b.minS(pixel, last), b.getParam(channels));
      loaded.push_back(in.loadRaw(b, b.add(start, offset), shares.vector));
    }
    Value value = soFar.front();
    for (auto [each, exists] : llvm::zip(loaded, exist))
      value = fold.combine(b, value, b.select(exists, each, neutral));
    return SmallVector<Value>{value};
  };
  return b
      .forLoop(first, count, b.cst(shares.block * step), {neutral}, addBlock)
      .front();
}

Value PixelsKernel::foldLanes(GpuKernelBuilder &b, Value value,
                              Value pixelLane) const {
  int64_t bytes = shares.vector * 4;
  Value slot = b.offset(b.getLds(), b.mul(b.getLane(), bytes));
  b.store(value, slot);
  for (int64_t half = shares.pixelLanes() / 2; half > 0; half /= 2) {
    b.barrier();
    value = b.ifThenElse(
                 b.slt(pixelLane, b.cst(half)), {value.getType()},
                 [&]() -> SmallVector<Value> {
                   Value other =
                       b.load(b.offset(slot, half * shares.across * bytes),
                              value.getType());
                   Value both = fold.combine(b, value, other);
                   b.store(both, slot);
                   return {both};
                 },
                 [&]() -> SmallVector<Value> { return {value}; })
                .front();
  }
  return value;
}

void PixelsKernel::emit(KernelBuilder &b) const {
  BoundFlatTensor in = input.bind(b);
  GpuOutput out(b, output);
  auto [image, group] = groups.bind(b).divRem(b, b.getBegin());
  Value lane = b.getLane(), count = b.getParam(channels);
  Value pixelLane = arith::ShRUIOp::create(
      b, lane, b.cst(llvm::Log2_64(static_cast<uint64_t>(shares.across))));
  Value index = b.add(b.mul(group, shares.across),
                      b.andI(lane, b.cst(shares.across - 1)));
  Value exists = b.slt(index, b.getParam(vectors));
  // Lanes without channels read others.
  Value channel =
      b.mul(b.minS(index, b.sub(b.getParam(vectors), b.cst(1))), shares.vector);
  Value start = b.add(b.mul(b.mul(image, b.getParam(pixels)), count), channel);
  Value value = foldPixels(b, in, start, pixelLane);
  value = foldLanes(static_cast<GpuKernelBuilder &>(b), value, pixelLane);
  b.ifThen(b.andI(exists, b.eq(pixelLane, b.cst(0))), [&] {
    VectorPlace place;
    place.lanes = shares.vector;
    place.lanesAreChannels = true;
    place.channel = place.element = channel;
    place.pixel = image;
    place.offset = b.add(b.mul(image, count), channel);
    out.store(b, place, fold.finish(b, in, value, b.getParam(pixels)));
  });
}

//===----------------------------------------------------------------------===//
// nchw
//===----------------------------------------------------------------------===//

void PlaneKernel::emit(KernelBuilder &b) const {
  using Values = GpuRowWork::Values;
  BoundFlatTensor in = input.bind(b);
  GpuOutput out(b, output);
  work.emit(b, [&](Value plane) {
    Value count = b.getParam(pixels), start = b.mul(plane, count);
    Values folded = work.fold(b, count, {fold.getNeutral(b, b.getF32Type())},
                              [&](Value i, int64_t lanes, ValueRange soFar) {
                                Value x = in.loadRaw(b, b.add(start, i), lanes);
                                return Values{fold.combine(
                                    b, soFar.front(), fold.combineLanes(b, x))};
                              });
    folded = work.combine(b, folded, [&](ValueRange left, ValueRange right) {
      return Values{fold.combine(b, left.front(), right.front())};
    });
    Value value = fold.finish(b, in, folded.front(), count);
    work.once(b, [&] {
      VectorPlace place;
      place.offset = plane;
      place.channel = channels.bind(b).divRem(b, plane).second;
      out.store(b, place, value);
    });
  });
}

//===----------------------------------------------------------------------===//
// The solver
//===----------------------------------------------------------------------===//

static bool sharesPixels(const Problem &problem) {
  return problem.operands[0].layout.kind == Layout::NHWC;
}

static Fold getFold(const Problem &problem) {
  return {PoolReduction::of(asWindowedPool(problem))};
}

Applicability GpuGlobalPool::isApplicable(const Problem &problem,
                                          const TargetInfo &target) const {
  if (problem.op != OpKind::GlobalMaxPool &&
      problem.op != OpKind::GlobalAvgPool)
    return Applicability::no("is not a global pool");
  if (getFold(problem).reduction.isInteger)
    return Applicability::no("is a maximum of bytes that stay bytes");
  if (!isVectorizable(problem.operands[0]))
    return notVectorizable("the operand");
  if (Applicability answer = GpuImageWork::check(problem); !answer)
    return answer;
  if (Applicability answer = checkIndexable(problem); !answer)
    return answer;
  // The default is one of them.
  if (getValues(problem, target).empty())
    return Applicability::no("needs LDS for a workgroup");
  return VectorOutput::check(problem);
}

/// A lane for each result is as fast where windows are small.
double GpuGlobalPool::expectedFraction(const Problem &problem,
                                       const TargetInfo & /*target*/) const {
  constexpr int64_t kSmallWindow = 16;
  bool isSmall = problem.operands[0].spatialSize() <= kSmallWindow;
  return isSmall ? 0.4 : 0.6;
}

StringRef GpuGlobalPool::getField(const Problem &problem) const {
  return sharesPixels(problem) ? "workgroup" : "lanes";
}

std::vector<int64_t> GpuGlobalPool::getValues(const Problem &problem,
                                              const TargetInfo &target) const {
  if (!sharesPixels(problem))
    return GpuRowWork::getLaneChoices(target);
  std::vector<int64_t> values;
  for (int64_t lanes : {64, 128, 256, 512, 1024})
    if (lanes <= target.gpu->maxWorkgroup &&
        PixelShares(problem, lanes).ldsBytes() <= target.gpu->ldsBytes)
      values.push_back(lanes);
  return values;
}

/// A lane's few pixels are under way at once.
int64_t GpuGlobalPool::chooseValue(const Problem &problem,
                                   const TargetInfo &target) const {
  constexpr int64_t kPixelsOfLane = 8;
  const TensorDesc &input = problem.operands[0];
  if (!sharesPixels(problem))
    return GpuRowWork::chooseLanes(
        target, input.spatialSize(),
        chooseRowVector(problem, input.spatialSize(), target));
  std::vector<int64_t> values = getValues(problem, target);
  int64_t lanes = PixelShares(problem, values.front()).across *
                  llvm::divideCeil(input.spatialSize(), kPixelsOfLane);
  auto found = llvm::lower_bound(values, lanes);
  return found == values.end() ? values.back() : *found;
}

static void planPixels(const Problem &problem, int64_t workgroup,
                       SolutionPlan &plan) {
  const TensorDesc &input = problem.operands[0];
  LaunchBuilder launch(plan);
  PixelShares shares(problem, workgroup);
  int64_t vectors = input.shape[1] / shares.vector;
  int64_t groups = llvm::divideCeil(vectors, shares.across);
  PixelsKernel kernel{.fold = getFold(problem),
                      .shares = shares,
                      .input =
                          FlatTensor(launch, {BufferSlot::Operand, 0}, input),
                      .output = VectorOutput(launch, problem),
                      .groups = MagicDivisor(launch, groups),
                      .pixels = launch.addParam(input.spatialSize()),
                      .vectors = launch.addParam(vectors),
                      .channels = launch.addParam(input.shape[1])};
  finishGpuLaunch(
      plan, launch,
      joinSymbol({getOpName(problem.op), shares.symbolPart(),
                  kernel.input.symbolPart(), kernel.output.symbolPart()}),
      [kernel](KernelBuilder &b) { kernel.emit(b); }, input.shape[0] * groups,
      workgroup, shares.ldsBytes());
}

static void planPlanes(const Problem &problem, const TargetInfo &target,
                       int64_t lanes, SolutionPlan &plan) {
  const TensorDesc &input = problem.operands[0];
  LaunchBuilder launch(plan);
  PlaneKernel kernel{
      .fold = getFold(problem),
      .input = FlatTensor(launch, {BufferSlot::Operand, 0}, input),
      .output = VectorOutput(launch, problem),
      .work = GpuRowWork(launch, target, input.shape[0] * input.shape[1], lanes,
                         chooseRowVector(problem, input.spatialSize(), target)),
      .channels = MagicDivisor(launch, input.shape[1]),
      .pixels = launch.addParam(input.spatialSize())};
  finishGpuLaunch(
      plan, launch,
      joinSymbol({getOpName(problem.op), kernel.work.symbolPart(),
                  kernel.input.symbolPart(), kernel.output.symbolPart()}),
      [kernel](KernelBuilder &b) { kernel.emit(b); }, kernel.work.tasks(),
      kernel.work.getWorkgroup(), kernel.work.getLdsBytes(1));
}

SolutionPlan GpuGlobalPool::plan(const Problem &problem,
                                 const TargetInfo &target,
                                 const PerfConfig &config) const {
  SolutionPlan plan;
  int64_t value = getValue(problem, config);
  if (sharesPixels(problem))
    planPixels(problem, value, plan);
  else
    planPlanes(problem, target, value, plan);
  return plan;
}

const Solver &tarpon::getGpuGlobalPool() {
  static const GpuGlobalPool solver;
  return solver;
}
