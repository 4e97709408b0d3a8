//===- Interleave.cpp - Interleaves phases to a result --------------------===//
//
// Part of Tarpon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Place (h, w) of the result is place (h / strideH, w / strideW) of phase
// (h % strideH, w % strideW). With channels last, places are runs of numbers
// and copied as such; in nchw, rows of phases are interleaved.
//
//===----------------------------------------------------------------------===//

#include "Phases.h"

#include "Common/ChannelsLast.h"

#include <cstring>

using namespace mlir;
using namespace tarpon;

namespace {

/// The phases in an emitted kernel.
struct PhaseTable {
  /// The entries of a phase, 8 bytes each.
  enum Entry : int64_t { Bytes, Depth, Height, Width, NumEntries };

  int64_t workspace, table;          ///< buffers
  int64_t strideD, strideH, strideW; ///< parameters

  Value read(KernelBuilder &b, Value phase, Entry entry) const {
    Value index = b.add(b.mul(phase, NumEntries), b.cst(entry));
    return b.load(b.offset(b.getBuffer(table), b.mul(index, 8)), b.i64());
  }

  /// The first phase of row y of slice z of the result.
  Value firstOf(KernelBuilder &b, Value z, Value y) const {
    Value slice = b.mul(b.rem(z, b.getParam(strideD)), b.getParam(strideH));
    Value row = b.add(slice, b.rem(y, b.getParam(strideH)));
    return b.mul(row, b.getParam(strideW));
  }
};

/// One phase: its numbers, or zeros if it has none.
struct BoundPhase {
  Value base, exists, depth, height, width;

  BoundPhase(KernelBuilder &b, const PhaseTable &phases, Value phase) {
    Value bytes = phases.read(b, phase, PhaseTable::Bytes);
    depth = phases.read(b, phase, PhaseTable::Depth);
    height = phases.read(b, phase, PhaseTable::Height);
    width = phases.read(b, phase, PhaseTable::Width);
    exists = b.cmp(KernelBuilder::Pred::sge, bytes, b.cst(0));
    base = b.offset(b.getBuffer(phases.workspace), b.maxS(bytes, b.cst(0)));
  }

  /// The row of the phase that row y of slice z of the result is made from,
  /// counted over all rows of image or plane `image`.
  Value rowOf(KernelBuilder &b, const PhaseTable &phases, Value image, Value z,
              Value y) const {
    Value slice =
        b.add(b.mul(image, depth), b.div(z, b.getParam(phases.strideD)));
    return b.add(b.mul(slice, height), b.div(y, b.getParam(phases.strideH)));
  }

  /// `count` numbers from `element` on; zeros behind them.
  Value load(KernelBuilder &b, Value element, int64_t lanes,
             Value count) const {
    Value mask = b.firstLanes(b.select(exists, count, b.cst(0)), lanes);
    return b.maskedLoad(b.offset(base, b.mul(element, 4)), mask,
                        b.vec(b.f32(), lanes));
  }
};

/// Results with channels last.
struct PixelKernel {
  PhaseTable phases;
  ChannelsLastLoop loop;
  VectorOutput output;

  void emit(KernelBuilder &b) const;
};

/// Results in nchw.
struct PlaneKernel {
  PhaseTable phases;
  VectorOutput output;
  int64_t depthParam, heightParam, widthParam, channelsParam, rowsParam,
      rowsPerTaskParam;
  /// The number of phases among which the columns of a row alternate; 0 for any
  /// number.
  int64_t strideW;

  void emit(KernelBuilder &b) const;
  void emitRow(KernelBuilder &b, const VectorOutput::Bound &out,
               Value row) const;
};

} // namespace

void PixelKernel::emit(KernelBuilder &b) const {
  VectorOutput::Bound out = output.bind(b);
  int64_t lanes = loop.fittingLanes(b.lanes());
  Value strideW = b.getParam(phases.strideW), zero = b.cst(0);
  loop.emit(b, [&](const ChannelsLastRow &row) {
    size_t outer = row.outer.size();
    Value z = outer >= 2 ? row.outer[outer - 2] : zero;
    Value y = outer >= 1 ? row.outer[outer - 1] : zero;
    Value firstPhase = phases.firstOf(b, z, y);
    b.forLoop(strideW, [&](Value w) {
      BoundPhase phase(b, phases, b.add(firstPhase, w));
      Value rows = b.mul(phase.depth, phase.height);
      Value image = b.mul(row.inputStart, b.mul(rows, phase.width));
      Value pixels = b.mul(phase.rowOf(b, phases, zero, z, y), phase.width);
      b.forLoop(phase.width, [&](Value i) {
        Value x = b.add(b.mul(i, strideW), w);
        Value pixel = b.mul(b.add(pixels, i), loop.pixelSize(b));
        Value element = b.add(image, pixel);
        b.forLoop(row.begin, row.end, b.cst(lanes), [&](Value c) {
          Value count = b.sub(row.end, c);
          Value value = phase.load(b, b.add(element, c), lanes, count);
          out.store(
              b,
              loop.outputPlace(b, row, x, c, lanes, b.firstLanes(count, lanes)),
              value);
        });
      });
    });
  });
}

void PlaneKernel::emit(KernelBuilder &b) const {
  VectorOutput::Bound out = output.bind(b);
  Value perTask = b.getParam(rowsPerTaskParam);
  b.forTasks([&](Value task) {
    Value first = b.mul(task, perTask);
    Value last = b.minS(b.add(first, perTask), b.getParam(rowsParam));
    b.forLoop(first, last, b.cst(1), [&](Value row) { emitRow(b, out, row); });
  });
}

void PlaneKernel::emitRow(KernelBuilder &b, const VectorOutput::Bound &out,
                          Value row) const {
  Value width = b.getParam(widthParam), start = b.mul(row, width);
  Value height = b.getParam(heightParam), depth = b.getParam(depthParam);
  Value y = b.rem(row, height), slice = b.div(row, height);
  Value z = b.rem(slice, depth), plane = b.div(slice, depth);
  Value channel = b.rem(plane, b.getParam(channelsParam));
  Value first = phases.firstOf(b, z, y);
  auto phaseRow = [&](const BoundPhase &phase) {
    return b.mul(phase.rowOf(b, phases, plane, z, y), phase.width);
  };
  auto store = [&](Value x, int64_t lanes, Value mask, Value value) {
    VectorPlace place;
    place.offset = b.add(start, x);
    place.channel = channel;
    place.lanes = lanes;
    place.mask = mask;
    out.store(b, place, value);
  };
  if (strideW == 0) {
    Value stride = b.getParam(phases.strideW);
    b.forLoop(stride, [&](Value w) {
      BoundPhase phase(b, phases, b.add(first, w));
      Value from = phaseRow(phase), zero = b.cstF(0);
      b.forLoop(phase.width, [&](Value i) {
        Value at = b.offset(phase.base, b.mul(b.add(from, i), 4));
        Value value = b.select(phase.exists, b.load(at, b.f32()), zero);
        store(b.add(b.mul(i, stride), w), 1, Value(), value);
      });
    });
    return;
  }
  int64_t lanes = b.lanes();
  SmallVector<BoundPhase> bound;
  for (int64_t w = 0; w < strideW; ++w)
    bound.emplace_back(b, phases, b.add(first, w));
  b.forLoop(b.cst(0), bound[0].width, b.cst(lanes), [&](Value i) {
    SmallVector<Value> values;
    for (const BoundPhase &phase : bound)
      values.push_back(phase.load(b, b.add(phaseRow(phase), i), lanes,
                                  b.sub(phase.width, i)));
    Value x = b.mul(i, strideW);
    if (strideW == 2) {
      SmallVector<int64_t> low, high;
      for (int64_t lane = 0; lane < lanes; ++lane) {
        int64_t other = lane % 2 * lanes;
        low.push_back(lane / 2 + other);
        high.push_back(lanes / 2 + lane / 2 + other);
      }
      values = {b.shuffle(values[0], values[1], low),
                b.shuffle(values[0], values[1], high)};
    }
    for (auto [v, value] : llvm::enumerate(values)) {
      Value at = b.add(x, static_cast<int64_t>(v) * lanes);
      store(at, lanes, b.firstLanes(b.sub(width, at), lanes), value);
    }
  });
}

//===----------------------------------------------------------------------===//
// The launch
//===----------------------------------------------------------------------===//

static PhaseTable addPhases(LaunchBuilder &launch, const Phases &phases,
                            ArrayRef<PhasePlace> places) {
  std::vector<int64_t> entries;
  for (const PhasePlace &place : places)
    entries.insert(entries.end(),
                   {place.bytes, place.depth, place.height, place.width});
  auto make = [entries](const ConstantOperands &) {
    std::vector<char> bytes(entries.size() * sizeof(int64_t));
    std::memcpy(bytes.data(), entries.data(), bytes.size());
    return bytes;
  };
  PhaseTable table;
  table.workspace = launch.addBuffer({BufferSlot::Workspace, 0});
  table.table = launch.addConstant({make});
  table.strideD = launch.addParam(phases.strideD);
  table.strideH = launch.addParam(phases.strideH);
  table.strideW = launch.addParam(phases.strideW);
  return table;
}

static void appendPlanes(SolutionPlan &plan, const Problem &problem,
                         const Phases &phases, ArrayRef<PhasePlace> places) {
  LaunchBuilder launch(plan);
  const TensorDesc &result = problem.result;
  int64_t rank = result.rank(), width = result.shape.back();
  int64_t height = rank >= 4 ? result.shape[rank - 2] : 1;
  int64_t depth = rank >= 5 ? result.shape[2] : 1;
  int64_t rows = result.shape[0] * result.shape[1] * depth * height;
  constexpr int64_t kElementsPerTask = 16384;
  int64_t perTask = std::clamp<int64_t>(kElementsPerTask / width, 1, rows);
  PlaneKernel kernel{.phases = addPhases(launch, phases, places),
                     .output = VectorOutput(launch, problem),
                     .depthParam = launch.addParam(depth),
                     .heightParam = launch.addParam(height),
                     .widthParam = launch.addParam(width),
                     .channelsParam = launch.addParam(result.shape[1]),
                     .rowsParam = launch.addParam(rows),
                     .rowsPerTaskParam = launch.addParam(perTask),
                     .strideW = phases.strideW <= 2 ? phases.strideW : 0};
  std::string symbol =
      joinSymbol({"interleave_planes", std::to_string(kernel.strideW),
                  kernel.output.symbolPart()});
  launch.finish(
      symbol, [kernel](KernelBuilder &b) { kernel.emit(b); },
      llvm::divideCeil(rows, perTask));
}

static void appendPixels(SolutionPlan &plan, const Problem &problem,
                         const Phases &phases, ArrayRef<PhasePlace> places) {
  LaunchBuilder launch(plan);
  // One place per image, with the channels of the result, so that the start of
  // an image is its index times the size of a pixel, from which each phase
  // computes its own.
  Problem images = problem;
  TensorDesc &image = images.operands[0];
  image.shape = problem.result.shape;
  image.pitch = 0;
  std::fill(image.shape.begin() + 2, image.shape.end(), 1);
  PixelKernel kernel{.phases = addPhases(launch, phases, places),
                     .loop = ChannelsLastLoop(launch, images, 2),
                     .output = VectorOutput(launch, problem)};
  std::string symbol =
      joinSymbol({"interleave_pixels", kernel.loop.symbolPart(),
                  kernel.output.symbolPart()});
  int64_t tasks = kernel.loop.tasks();
  launch.finish(symbol, [kernel](KernelBuilder &b) { kernel.emit(b); }, tasks);
}

void tarpon::appendInterleaving(SolutionPlan &plan, const Problem &problem,
                                const Phases &phases,
                                ArrayRef<PhasePlace> places) {
  if (problem.result.layout.kind == Layout::NCHW)
    appendPlanes(plan, problem, phases, places);
  else
    appendPixels(plan, problem, phases, places);
}
