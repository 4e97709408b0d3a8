//===- Interleave.cpp - Puts phases into a result -------------------------===//
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

#include "../ChannelsLast.h"

#include <cstring>

using namespace mlir;
using namespace tarpon;

namespace {

/// The phases inside of an emitted kernel.
struct PhaseTable {
  /// The entries of a phase, 8 bytes each.
  enum Entry : int64_t { Bytes, Height, Width, NumEntries };

  int64_t workspace, table, strideW; ///< buffers and a parameter

  Value read(KernelBuilder &b, Value phase, Entry entry) const {
    Value index = b.add(b.mul(phase, NumEntries), b.cst(entry));
    return b.load(b.offset(b.getBuffer(table), b.mul(index, 8)), b.i64());
  }
};

/// One phase: numbers and zeros for those without.
struct BoundPhase {
  Value base, exists, height, width;

  BoundPhase(KernelBuilder &b, const PhaseTable &phases, Value phase) {
    Value bytes = phases.read(b, phase, PhaseTable::Bytes);
    height = phases.read(b, phase, PhaseTable::Height);
    width = phases.read(b, phase, PhaseTable::Width);
    exists = b.cmp(KernelBuilder::Pred::sge, bytes, b.cst(0));
    base = b.offset(b.getBuffer(phases.workspace), b.maxS(bytes, b.cst(0)));
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
  int64_t strideHParam;
  bool hasRows; ///< two spatial dimensions

  void emit(KernelBuilder &b) const;
};

/// Results in nchw.
struct PlaneKernel {
  PhaseTable phases;
  VectorOutput output;
  int64_t strideHParam, heightParam, widthParam, channelsParam, rowsParam,
      rowsPerTaskParam;
  /// Columns of a row alternate between so many phases; 0 for any number.
  int64_t strideW;

  void emit(KernelBuilder &b) const;
  void emitRow(KernelBuilder &b, const VectorOutput::Bound &out, Value row,
               Value channel, Value first, Value inPhase, Value plane) const;
};

} // namespace

void PixelKernel::emit(KernelBuilder &b) const {
  VectorOutput::Bound out = output.bind(b);
  int64_t lanes = loop.fittingLanes(b.lanes());
  Value strideW = b.getParam(phases.strideW), zero = b.cst(0);
  loop.emit(b, [&](const ChannelsLastRow &row) {
    Value y = hasRows ? row.outer.front() : zero;
    Value strideH = b.getParam(strideHParam);
    Value inPhase = b.div(y, strideH);
    Value firstPhase = b.mul(b.rem(y, strideH), strideW);
    b.forLoop(strideW, [&](Value w) {
      BoundPhase phase(b, phases, b.add(firstPhase, w));
      Value image = b.mul(row.inputStart, b.mul(phase.height, phase.width));
      Value pixels = b.mul(inPhase, phase.width);
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
  Value height = b.getParam(heightParam), channels = b.getParam(channelsParam);
  Value strideH = b.getParam(strideHParam),
        perTask = b.getParam(rowsPerTaskParam);
  b.forTasks([&](Value task) {
    Value first = b.mul(task, perTask);
    Value last = b.minS(b.add(first, perTask), b.getParam(rowsParam));
    b.forLoop(first, last, b.cst(1), [&](Value row) {
      Value y = b.rem(row, height), plane = b.div(row, height);
      Value firstPhase = b.mul(b.rem(y, strideH), b.getParam(phases.strideW));
      emitRow(b, out, row, b.rem(plane, channels), firstPhase,
              b.div(y, strideH), plane);
    });
  });
}

/// Row `inPhase` of plane `plane` of the phases from `first` on becomes row
/// `row` of the result.
void PlaneKernel::emitRow(KernelBuilder &b, const VectorOutput::Bound &out,
                          Value row, Value channel, Value first, Value inPhase,
                          Value plane) const {
  Value width = b.getParam(widthParam), start = b.mul(row, width);
  auto phaseRow = [&](const BoundPhase &phase) {
    Value rows = b.add(b.mul(plane, phase.height), inPhase);
    return b.mul(rows, phase.width);
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
    entries.insert(entries.end(), {place.bytes, place.height, place.width});
  auto make = [entries](const ConstantOperands &) {
    std::vector<char> bytes(entries.size() * sizeof(int64_t));
    std::memcpy(bytes.data(), entries.data(), bytes.size());
    return bytes;
  };
  PhaseTable table;
  table.workspace = launch.addBuffer({BufferSlot::Workspace, 0});
  table.table = launch.addConstant({make});
  table.strideW = launch.addParam(phases.strideW);
  return table;
}

static void appendPlanes(SolutionPlan &plan, const Problem &problem,
                         const Phases &phases, ArrayRef<PhasePlace> places) {
  LaunchBuilder launch(plan);
  const TensorDesc &result = problem.result;
  bool hasRows = result.rank() == 4;
  int64_t width = result.shape.back(), height = hasRows ? result.shape[2] : 1;
  int64_t rows = result.shape[0] * result.shape[1] * height;
  constexpr int64_t kElementsPerTask = 16384;
  int64_t perTask = std::clamp<int64_t>(kElementsPerTask / width, 1, rows);
  PlaneKernel kernel{.phases = addPhases(launch, phases, places),
                     .output = VectorOutput(launch, problem),
                     .strideHParam = launch.addParam(phases.strideH),
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
  // an image is its index times the size of a pixel, of which the phases make
  // their own.
  Problem images = problem;
  TensorDesc &image = images.operands[0];
  image.shape = problem.result.shape;
  image.pitch = 0;
  std::fill(image.shape.begin() + 2, image.shape.end(), 1);
  PixelKernel kernel{.phases = addPhases(launch, phases, places),
                     .loop = ChannelsLastLoop(launch, images, 2),
                     .output = VectorOutput(launch, problem),
                     .strideHParam = launch.addParam(phases.strideH),
                     .hasRows = problem.result.rank() == 4};
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
