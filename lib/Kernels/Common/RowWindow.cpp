//===- RowWindow.cpp - Sliding windows in vectors of pixels ---------------===//
//
// Part of Tarpon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "RowWindow.h"

#include "Host/Pool/Pool.h"
#include "Host/Pool/PoolIndices.h"

#include <limits>

using namespace mlir;
using namespace tarpon;

//===----------------------------------------------------------------------===//
// Planning
//===----------------------------------------------------------------------===//

static constexpr double kOperationsPerTask = 65536;

RowWindow::RowWindow(LaunchBuilder &launch, const Problem &problem, WindowOp op,
                     ArrayRef<int64_t> kernel,
                     std::optional<ConstantPlan> weights,
                     std::vector<float> scales)
    : op(op), stride(problem.ints("strides").back()),
      input(launch, {BufferSlot::Operand, 0}, problem.operands[0]),
      output(launch, problem),
      window(launch, problem, kernel, problem.operands[0].spatial()) {
  ArrayRef<int64_t> inShape = problem.operands[0].spatial(),
                    outShape = problem.result.spatial();
  int64_t numDims = static_cast<int64_t>(inShape.size());
  std::vector<int64_t> strides(numDims, 1);
  for (int64_t dim = numDims - 1; dim > 0; --dim)
    strides[dim - 1] = strides[dim] * inShape[dim];
  int64_t numRows = problem.result.shape[0] * problem.result.shape[1];
  for (int64_t size : outShape.drop_back())
    numRows *= size;
  int64_t numCells = 1;
  for (int64_t size : kernel)
    numCells *= size;
  double rowCost = double(outShape.back()) * double(numCells);
  int64_t perTask = std::max<int64_t>(
      1, static_cast<int64_t>(kOperationsPerTask / std::max(1.0, rowCost)));
  InsideRange inside = getInsideRange(problem, kernel.back());

  if (op == WindowOp::MaxIndices) {
    indices.emplace(launch, BufferSlot{BufferSlot::Result, 1},
                    problem.getResult(1), ComputeKind::I64);
    pixelSteps = launch.addParams(getPixelSteps(problem));
  }
  if (weights)
    weightBuffer = launch.addConstant(std::move(*weights));
  if (!scales.empty())
    scaleBuffer = launch.addFloats(std::move(scales));
  inStrides = launch.addParams(strides);
  outDims = launch.addParams(outShape);
  channels = launch.addParam(problem.result.shape[1]);
  inPlane = launch.addParam(strides[0] * inShape[0]);
  rows = launch.addParam(numRows);
  rowsPerTask = launch.addParam(perTask);
  insideBegin = launch.addParam(inside.begin);
  insideEnd = launch.addParam(inside.end);
  cells = launch.addParam(numCells);
  numTasks = std::max<int64_t>(1, llvm::divideCeil(numRows, perTask));
}

Applicability RowWindow::check(const Problem &problem, int64_t mostStride) {
  if (problem.operands[0].layout.kind != Layout::NCHW ||
      problem.result.layout.kind != Layout::NCHW)
    return Applicability::no("needs operand and result in nchw");
  if (problem.ints("strides").back() > mostStride)
    return Applicability::no(("needs a stride of at most " + Twine(mostStride) +
                              " in the last dimension")
                                 .str());
  return Applicability::yes();
}

std::string RowWindow::symbolPart() const {
  return joinSymbol({("nchw" + Twine(window.rank()) + "d").str(),
                     ("s" + Twine(stride)).str(), input.symbolPart(),
                     output.symbolPart()});
}

//===----------------------------------------------------------------------===//
// Emission
//===----------------------------------------------------------------------===//

/// One row of the result.
struct RowWindow::Row {
  const BoundFlatTensor &in;
  const VectorOutput::Bound &out;
  Value inputStart, outputStart, width;
  Value plane, channel;
  SmallVector<Value> outer; ///< spatial indices but the last
  SmallVector<WindowRange> ranges;
};

/// first, first + step, ... as i32, which holds any place in a row.
Value RowWindow::emitLanePlaces(KernelBuilder &b, Value first,
                                int64_t step) const {
  SmallVector<int32_t> steps;
  for (int64_t lane = 0; lane < b.lanes(); ++lane)
    steps.push_back(static_cast<int32_t>(lane * step));
  VectorType type = b.vec(b.getI32Type(), b.lanes());
  Value offsets = arith::ConstantOp::create(
      b, DenseElementsAttr::get(type, ArrayRef<int32_t>(steps)));
  Value narrowed = arith::TruncIOp::create(b, b.getI32Type(), first);
  return b.add(b.broadcast(narrowed, b.lanes()), offsets);
}

/// The lanes of `places` that are at least 0 and below `limit`.
static Value emitInBounds(KernelBuilder &b, Value places, Value limit) {
  Value narrowed = arith::TruncIOp::create(b, b.getI32Type(), limit);
  return b.ult(places, b.broadcast(narrowed, b.lanes()));
}

/// Loads the input at first, first + stride, ... of the row that starts at
/// `start`. Lanes outside of the input get the neutral element.
Value RowWindow::emitLoad(KernelBuilder &b, const Row &row, Value start,
                          Value first, bool isInside) const {
  int64_t lanes = b.lanes(), last = window.rank() - 1;
  bool isMax = op == WindowOp::Max || op == WindowOp::MaxIndices;
  double neutral = isMax ? -std::numeric_limits<double>::infinity() : 0;
  SmallVector<Value> parts;
  for (int64_t part = 0; part < stride; ++part) {
    Value place = b.add(first, part * lanes);
    Value mask;
    if (!isInside)
      mask =
          emitInBounds(b, emitLanePlaces(b, place, 1), window.input(b, last));
    Value raw = row.in.loadRaw(b, b.add(start, place), lanes, mask);
    if (op == WindowOp::WeightedSum && row.in.quantized)
      raw = b.subF(raw, b.broadcast(row.in.zeroPoint, lanes));
    if (mask)
      raw = b.select(mask, raw, b.cstLike(raw.getType(), neutral));
    parts.push_back(raw);
  }
  return emitKept(b, parts);
}

/// Keeps every n-th lane of n vectors.
Value RowWindow::emitKept(KernelBuilder &b, ArrayRef<Value> parts) const {
  int64_t lanes = b.lanes(), taken = lanes;
  Value kept = parts[0];
  for (size_t part = 1; part < parts.size(); ++part) {
    // The lanes of the first vector move to the front when those of the second
    // are added.
    SmallVector<int64_t> pattern;
    int64_t end = taken + lanes;
    for (int64_t lane = 0; lane < lanes; ++lane) {
      int64_t from = lane * stride;
      if (from < taken)
        pattern.push_back(part == 1 ? from : lane);
      else
        pattern.push_back(from < end ? lanes + from - taken : lane);
    }
    kept = b.shuffle(kept, parts[part], pattern);
    taken = end;
  }
  return kept;
}

/// The start of the input's row at `place`, whose last index is ignored.
Value RowWindow::emitRowStart(KernelBuilder &b, const Row &row,
                              ArrayRef<Value> place) const {
  Value start = row.inputStart;
  for (int64_t dim = 0; dim < window.rank() - 1; ++dim)
    start = b.add(start, b.mul(place[dim], b.getParam(inStrides + dim)));
  return start;
}

/// The maxima of the windows at places x, x + 1, ... of a row, and the pixels
/// in which they lie.
SmallVector<Value> RowWindow::emitMaxima(KernelBuilder &b, const Row &row,
                                         Value x, bool isInside) const {
  int64_t lanes = b.lanes(), last = window.rank() - 1;
  SmallVector<WindowRange> ranges(row.ranges);
  ranges.push_back(window.inside(b, last, x));
  Value step = emitNarrow(b, b.mul(b.getParam(pixelSteps + last), stride));
  Value zero = emitNarrow(b, b.cst(0));
  Value distances = emitProgression(b, zero, step, lanes);
  auto cell = [&](ArrayRef<Value>, ArrayRef<Value> place, ValueRange soFar) {
    Value number = b.cst(0);
    for (auto [dim, index] : llvm::enumerate(place))
      number = b.add(number, b.mul(index, b.getParam(pixelSteps + dim)));
    Value pixels = b.add(b.broadcast(emitNarrow(b, number), lanes), distances);
    Value start = emitRowStart(b, row, place);
    return emitMaximum(b, soFar, emitLoad(b, row, start, place[last], isInside),
                       pixels);
  };
  return forWindow(b, ranges, getNoMaximum(b, lanes), cell);
}

/// The maximum or sum of the windows at places x, x + 1, ... of a row.
Value RowWindow::emitCells(KernelBuilder &b, const Row &row, Value x,
                           bool isInside) const {
  int64_t last = window.rank() - 1;
  WindowRange width = window.inside(b, last, x);
  Value weights, firstWeight;
  if (op == WindowOp::WeightedSum) {
    weights = b.getBuffer(weightBuffer);
    firstWeight = b.mul(row.channel, b.getParam(cells));
  }
  VectorType type = b.vec(b.getF32Type(), b.lanes());
  bool isMax = op == WindowOp::Max;
  Value neutral =
      b.cstLike(type, isMax ? -std::numeric_limits<double>::infinity() : 0);
  SmallVector<WindowRange> ranges(row.ranges);
  ranges.push_back(width);
  auto cell = [&](ArrayRef<Value> k, ArrayRef<Value> place, ValueRange soFar) {
    Value start = emitRowStart(b, row, place);
    Value value = emitLoad(b, row, start, place[last], isInside);
    if (isMax)
      return SmallVector<Value>{b.maxF(value, soFar.front())};
    if (op != WindowOp::WeightedSum)
      return SmallVector<Value>{b.addF(soFar.front(), value)};
    Value index = b.cst(0);
    for (int64_t dim = 0; dim <= last; ++dim)
      index = b.add(b.mul(index, window.kernel(b, dim)), k[dim]);
    Value at = b.mul(b.add(firstWeight, index), 4);
    Value weight = b.load(b.offset(weights, at), b.getF32Type());
    return SmallVector<Value>{
        b.fma(value, b.broadcast(weight, b.lanes()), soFar.front())};
  };
  return forWindow(b, ranges, neutral, cell).front();
}

/// The number of cells of each lane's window that lie in the input, or with
/// `withPadding` also in its padding, along the last dimension; as f32.
Value RowWindow::emitWidthCount(KernelBuilder &b, Value x, bool withPadding,
                                bool isInside) const {
  int64_t lanes = b.lanes(), last = window.rank() - 1;
  Value kernel = window.kernel(b, last);
  if (isInside) {
    Value count = arith::SIToFPOp::create(b, b.getF32Type(), kernel);
    return b.broadcast(count, lanes);
  }
  WindowRange range = window.inside(b, last, x);
  Value limit = window.input(b, last);
  if (withPadding)
    limit = b.add(limit, window.padEnd(b, last));
  VectorType type = b.vec(b.getF32Type(), lanes);
  Value zero = b.cstLike(type, 0), one = b.cstLike(type, 1);
  auto addCell = [&](Value k, ValueRange soFar) {
    Value first = b.add(range.start, b.mul(k, range.dilation));
    Value places = emitLanePlaces(b, first, stride);
    // No window extends in front of the explicit padding.
    Value narrowed = arith::TruncIOp::create(b, b.getI32Type(), limit);
    Value counts = withPadding ? b.slt(places, b.broadcast(narrowed, lanes))
                               : emitInBounds(b, places, limit);
    return SmallVector<Value>{
        b.addF(soFar.front(), b.select(counts, one, zero))};
  };
  return b.forLoop(b.cst(0), kernel, b.cst(1), zero, addCell).front();
}

Value RowWindow::emitMean(KernelBuilder &b, const Row &row, Value x, Value sum,
                          bool isInside) const {
  bool padded = op == WindowOp::PaddedMean;
  Value outerInside = b.cst(1), outerCounted = b.cst(1);
  for (auto [dim, range] : llvm::enumerate(row.ranges)) {
    Value inside = Window::count(b, range);
    outerInside = b.mul(outerInside, inside);
    outerCounted = b.mul(
        outerCounted,
        padded ? window.countWithPadding(b, dim, row.outer[dim]) : inside);
  }
  auto times = [&](Value outer, Value width) {
    Value real = arith::SIToFPOp::create(b, b.getF32Type(), outer);
    return b.mulF(b.broadcast(real, b.lanes()), width);
  };
  Value inside =
      times(outerInside, emitWidthCount(b, x, /*withPadding=*/false, isInside));
  Value divisor =
      padded ? times(outerCounted, emitWidthCount(b, x, true, isInside))
             : inside;
  return emitPoolMean(b, row.in, sum, inside, divisor);
}

void RowWindow::emitVector(KernelBuilder &b, const Row &row, Value x,
                           bool isInside) const {
  SmallVector<Value> maxima;
  if (op == WindowOp::MaxIndices)
    maxima = emitMaxima(b, row, x, isInside);
  Value value = maxima.empty() ? emitCells(b, row, x, isInside) : maxima[0];
  switch (op) {
  case WindowOp::Max:
  case WindowOp::MaxIndices:
    value = row.in.dequantize(b, value);
    break;
  case WindowOp::Mean:
  case WindowOp::PaddedMean:
    value = emitMean(b, row, x, value, isInside);
    break;
  case WindowOp::WeightedSum:
    if (scaleBuffer >= 0) {
      Value at = b.offset(b.getBuffer(scaleBuffer), b.mul(row.channel, 4));
      value = b.mulF(value, b.broadcast(b.load(at, b.getF32Type()), b.lanes()));
    }
    break;
  }
  VectorPlace place;
  place.offset = b.add(row.outputStart, x);
  place.channel = row.channel;
  place.lanes = b.lanes();
  if (!isInside)
    place.mask = b.firstLanes(b.sub(row.width, x), b.lanes());
  row.out.store(b, place, value);
  if (maxima.empty())
    return;
  Value plane = b.broadcast(row.inputStart, b.lanes());
  indices->bind(b).store(b, emitPixelIndices(b, maxima[1], plane), place.offset,
                         place.mask);
}

void RowWindow::emitRow(KernelBuilder &b, const Row &row) const {
  Value first = b.getParam(insideBegin), last = b.getParam(insideEnd);
  b.forLoop(b.cst(0), row.width, b.cst(b.lanes()), [&](Value x) {
    Value isInside =
        b.andI(b.cmp(KernelBuilder::Pred::sge, x, first),
               b.cmp(KernelBuilder::Pred::sle, b.add(x, b.lanes()), last));
    b.ifThenElse(
        isInside, [&] { emitVector(b, row, x, true); },
        [&] { emitVector(b, row, x, false); });
  });
}

void RowWindow::emit(KernelBuilder &b) const {
  BoundFlatTensor in = input.bind(b);
  VectorOutput::Bound out = output.bind(b);
  int64_t last = window.rank() - 1;
  Value perTask = b.getParam(rowsPerTask);
  Value first = b.mul(b.getBegin(), perTask);
  Value end = b.minS(b.mul(b.getEnd(), perTask), b.getParam(rows));
  b.forLoop(first, end, b.cst(1), [&](Value index) {
    Row row{in,
            out,
            Value(),
            Value(),
            b.getParam(outDims + last),
            Value(),
            Value(),
            SmallVector<Value>(last),
            {}};
    row.outputStart = b.mul(index, row.width);
    for (int64_t dim = last - 1; dim >= 0; --dim) {
      Value size = b.getParam(outDims + dim);
      row.outer[dim] = b.rem(index, size);
      index = b.div(index, size);
    }
    row.plane = index;
    row.channel = b.rem(index, b.getParam(channels));
    row.inputStart = b.mul(index, b.getParam(inPlane));
    for (int64_t dim = 0; dim < last; ++dim)
      row.ranges.push_back(window.at(b, dim, row.outer[dim]));
    emitRow(b, row);
  });
}
