//===- ResizeNhwc.cpp - Interpolation in vectors of channels --------------===//
//
// Part of Tarpon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Works on nhwc and blocked tensors: a pixel of the result is a weighted sum of
// pixels of the input, or one of them.
//
//===----------------------------------------------------------------------===//

#include "Common/ChannelsLast.h"
#include "Host/Solvers.h"
#include "ResizeTaps.h"

using namespace mlir;
using namespace tarpon;

namespace {

class ResizeNhwc final : public Solver {
public:
  StringRef id() const override { return "resize-nhwc-v1"; }
  bool knowsSlices() const override { return true; }
  Applicability isApplicable(const Problem &problem,
                             const TargetInfo &target) const override;
  double expectedFraction(const Problem & /*problem*/,
                          const TargetInfo & /*target*/) const override {
    return 0.5;
  }
  SolutionPlan plan(const Problem &problem, const TargetInfo &target,
                    const PerfConfig &config) const override;
};

constexpr int64_t kUnroll = 4;

struct ResizeNhwcKernel {
  FlatTensor input;
  VectorOutput output;
  ChannelsLastLoop loop;
  std::vector<ResizeTable> tables; ///< of the spatial dimensions

  /// One pixel of the input: its first element, and its weight (null for 1).
  struct Tap {
    Value pixel, weight;
  };
  void emit(KernelBuilder &b) const;
  void collectTaps(KernelBuilder &b, const ChannelsLastRow &row,
                   ArrayRef<Value> place, SmallVectorImpl<Value> &source,
                   Value weight, SmallVectorImpl<Tap> &taps) const;
};

} // namespace

/// Appends all combinations of taps of the dimensions for which `source` has no
/// place yet.
void ResizeNhwcKernel::collectTaps(KernelBuilder &b, const ChannelsLastRow &row,
                                   ArrayRef<Value> place,
                                   SmallVectorImpl<Value> &source, Value weight,
                                   SmallVectorImpl<Tap> &taps) const {
  size_t dim = source.size();
  if (dim == tables.size()) {
    taps.push_back({loop.inputPixel(b, row, source), weight});
    return;
  }
  const ResizeTable &table = tables[dim];
  for (int64_t tap = 0; tap < table.taps; ++tap) {
    source.push_back(table.index(b, place[dim], tap));
    Value both = weight;
    if (table.isWeighted()) {
      Value own = table.weight(b, place[dim], tap);
      both = weight ? b.mulF(weight, own) : own;
    }
    collectTaps(b, row, place, source, both, taps);
    source.pop_back();
  }
}

void ResizeNhwcKernel::emit(KernelBuilder &b) const {
  BoundFlatTensor in = input.bind(b);
  VectorOutput::Bound out = output.bind(b);
  int64_t lanes = loop.fittingLanes(b.lanes());
  loop.emit(b, [&](const ChannelsLastRow &row) {
    b.forLoop(loop.outWidth(b), [&](Value x) {
      SmallVector<Value> place(row.outer), source;
      place.push_back(x);
      SmallVector<Tap> taps;
      collectTaps(b, row, place, source, Value(), taps);
      auto emitVector = [&](Value c, Value mask) {
        Value sum;
        for (const Tap &tap : taps) {
          Value value = in.load(b, b.add(tap.pixel, c), lanes, mask);
          if (!tap.weight)
            sum = value;
          else if (Value weight = b.broadcast(tap.weight, lanes); sum)
            sum = b.fma(weight, value, sum);
          else
            sum = b.mulF(weight, value);
        }
        out.store(b, loop.outputPlace(b, row, x, c, lanes, mask), sum);
      };
      forVectorGroups(b, row.begin, row.end, lanes, kUnroll,
                      [&](Value c, int64_t count, Value mask) {
                        for (int64_t i = 0; i < count; ++i)
                          emitVector(b.add(c, i * lanes), mask);
                      });
    });
  });
}

Applicability ResizeNhwc::isApplicable(const Problem &problem,
                                       const TargetInfo & /*target*/) const {
  if (problem.op != OpKind::Resize)
    return Applicability::no("is not a resize");
  const TensorDesc &input = problem.operands[0];
  if (input.rank() < 3 || input.rank() > 5)
    return Applicability::no("has no one to three spatial dimensions");
  if (!isVectorizable(input))
    return notVectorizable("the operand");
  if (Applicability answer = ChannelsLastLoop::check(problem); !answer)
    return answer;
  for (int64_t dim = 0; dim < input.rank(); ++dim) {
    ResizeTaps taps = getResizeTaps(problem, dim);
    if (taps.hasOutside)
      return Applicability::no("places lie outside of the input");
    if (dim < 2 && !taps.isIdentity())
      return Applicability::no("resizes batch or channels");
  }
  return VectorOutput::check(problem);
}

SolutionPlan ResizeNhwc::plan(const Problem &problem,
                              const TargetInfo & /*target*/,
                              const PerfConfig & /*config*/) const {
  SolutionPlan plan;
  LaunchBuilder launch(plan);
  std::vector<ResizeTable> tables;
  std::string dims;
  double cost = 1;
  for (int64_t dim = 2; dim < problem.result.rank(); ++dim) {
    tables.emplace_back(launch, getResizeTaps(problem, dim));
    dims += tables.back().symbolPart();
    cost *= static_cast<double>(tables.back().taps);
  }
  ResizeNhwcKernel kernel{.input = FlatTensor(launch, {BufferSlot::Operand, 0},
                                              problem.operands[0]),
                          .output = VectorOutput(launch, problem),
                          .loop = ChannelsLastLoop(launch, problem, cost),
                          .tables = std::move(tables)};
  std::string symbol =
      joinSymbol({"resize", dims, kernel.loop.symbolPart(),
                  kernel.input.symbolPart(), kernel.output.symbolPart()});
  int64_t tasks = kernel.loop.tasks();
  launch.finish(symbol, [kernel](KernelBuilder &b) { kernel.emit(b); }, tasks);
  return plan;
}

const Solver &tarpon::getResizeNhwc() {
  static const ResizeNhwc solver;
  return solver;
}
