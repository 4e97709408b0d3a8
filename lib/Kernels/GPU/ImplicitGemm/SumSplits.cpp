//===- SumSplits.cpp - Adds up the sums of several workgroups -------------===//
//
// Part of Tarpon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A lane adds up one run of neighbouring channels of a pixel, in the order of
// the splits, so that results are deterministic.
//
//===----------------------------------------------------------------------===//

#include "Packing.h"

#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace tarpon;
using namespace tarpon::gpuigemm;
using llvm::divideCeil;

namespace {

class SumKernel {
public:
  SumKernel(LaunchBuilder &launch, const Geometry &g, const Tile &tile,
            BufferSlot sums, int64_t splits);
  void emit(KernelBuilder &b, const ResultAccess &result) const;
  int64_t runs() const { return numRuns; }

private:
  Value addSplits(KernelBuilder &b, Value index, const ResultSpec &spec) const;

  int64_t buffer, count, splits;
  MagicDivisor runsPerGroup, groups, rows;
  int64_t numRuns;
};

} // namespace

SumKernel::SumKernel(LaunchBuilder &launch, const Geometry &g, const Tile &tile,
                     BufferSlot sums, int64_t splitCount)
    : buffer(launch.addBuffer(sums)),
      count(launch.addParam(g.batch * g.outPixels() * g.groups *
                            getSumChannels(tile, g) / tile.run())),
      splits(launch.addParam(splitCount)),
      runsPerGroup(launch, getSumChannels(tile, g) / tile.run()),
      groups(launch, g.groups), rows(launch, g.outPixels()),
      numRuns(g.batch * g.outPixels() * g.groups * getSumChannels(tile, g) /
              tile.run()) {}

Value SumKernel::addSplits(KernelBuilder &b, Value index,
                           const ResultSpec &spec) const {
  Ints ints(b);
  Type element = spec.integerSums ? Type(b.getI32Type()) : b.f32();
  VectorType type = b.vec(element, spec.run);
  Value base = b.getBuffer(buffer), runs = ints.param(count);
  auto load = [&](Value split) {
    Value at = b.add(b.mul(split, runs), index);
    return b.load(b.offset(base, ints.widen(ints.mul(at, 4 * spec.run))), type);
  };
  Value first = load(ints.cst(0));
  return b.forLoop(ints.cst(1), ints.param(splits), ints.cst(1), first,
                   [&](Value split, ValueRange sum) {
                     Value next = load(split);
                     next = spec.integerSums ? b.add(sum[0], next)
                                             : b.addF(sum[0], next);
                     return SmallVector<Value>{next};
                   })[0];
}

void SumKernel::emit(KernelBuilder &builder, const ResultAccess &result) const {
  auto &b = static_cast<GpuKernelBuilder &>(builder);
  Ints ints(b);
  const ResultSpec &spec = result.getSpec();
  Value index = b.add(ints.mul(ints.from(b.getBegin()), b.getLaneCount()),
                      ints.from(b.getLane()));
  b.ifThen(b.slt(index, ints.param(count)), [&] {
    Value sum = addSplits(b, index, spec);
    auto [rest, run] = runsPerGroup.bind(b).divRem(b, index);
    auto [pixel, group] = groups.bind(b).divRem(b, rest);
    auto [image, row] = rows.bind(b).divRem(b, pixel);
    ResultAccess::Bound bound = result.bind(b);
    Value first = ints.mul(run, spec.run);
    ResultAccess::Bound::Channels channels =
        bound.getChannels(group, first, image);
    ResultAccess::Bound::Pixel place = bound.getPixel(pixel, group, image, row);
    Value yes = arith::ConstantOp::create(b, b.getBoolAttr(true));
    bound.store(place, channels, bound.load(place, first), sum, yes);
  });
}

static constexpr int64_t kLanes = 256;

void gpuigemm::planSums(SolutionPlan &plan, const Problem &problem,
                        const ResultSpec &spec, const Geometry &g,
                        const Tile &tile, const ChannelTables &tables,
                        BufferSlot batchTable, BufferSlot sums,
                        int64_t splits) {
  LaunchBuilder launch(plan);
  SumKernel kernel(launch, g, tile, sums, splits);
  ResultAccess result(launch, problem, spec, g, tables,
                      getPaddedChannels(tile, g), batchTable);
  launch.finish(
      "gpu_igemm_sum_" + result.symbol(),
      [=](KernelBuilder &b) { kernel.emit(b, result); },
      divideCeil(kernel.runs(), kLanes));
  plan.launches.back().kernel.workgroup = kLanes;
}
