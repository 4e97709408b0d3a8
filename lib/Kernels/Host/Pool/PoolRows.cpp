//===- PoolRows.cpp - Pooling of rows, in vectors of pixels ---------------===//
//
// Part of Tarpon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Maximum and average pools over nchw tensors, row by row of the result. The
// rows under a window are first combined into one line in scratch memory, which
// includes the padding, so that later steps need no masks. Then the cells of
// the line are combined at every place, and the places at multiples of the
// stride are kept: that takes one permutation per vector of the result instead
// of one per cell. A maximum of 8-bit integers that keeps its scale never
// leaves 8 bits.
//
//===----------------------------------------------------------------------===//

#include "Host/Solvers.h"
#include "Pool.h"

#include <algorithm>

using namespace mlir;
using namespace tarpon;

namespace {

class PoolRows final : public Solver {
public:
  StringRef id() const override { return "pool-rows-v1"; }
  Applicability isApplicable(const Problem &problem,
                             const TargetInfo &target) const override;
  double expectedFraction(const Problem & /*problem*/,
                          const TargetInfo & /*target*/) const override {
    return 0.5;
  }
  SolutionPlan plan(const Problem &problem, const TargetInfo &target,
                    const PerfConfig &config) const override;
};

/// The largest stride that is a permutation of vectors, and the largest kernel
/// that is unrolled.
constexpr int64_t kMaxPermuted = 4, kMaxUnrolled = 3;
constexpr double kOperationsPerTask = 65536;

struct PoolRowsKernel {
  PoolReduction reduction;
  bool countsPadding;
  /// Sizes in the last dimension; 0 for run-time parameters, like the kernel's
  /// sizes.
  int64_t stride, unrolledHeight, unrolledWidth;
  FlatTensor input;
  VectorOutput output;
  Window window;
  int64_t counts; ///< buffer: what means are divided by along a row
  // Indices of parameters: of one, or of the first of several.
  int64_t inStrides, outDims, channels, inPlane, rows, rowsPerTask, lineSize,
      places, padLeft, dilation;

  struct Row;
  int64_t last() const { return window.rank() - 1; }
  int64_t lanes(KernelBuilder &b) const {
    return reduction.isInteger ? b.getTarget().vectorBits / 8 : b.lanes();
  }
  Value linePointer(KernelBuilder &b, Value place) const {
    return b.offset(b.getScratch(), b.mul(place, reduction.isInteger ? 1 : 4));
  }

  std::string symbolPart() const;
  void emit(KernelBuilder &b) const;
  void emitRow(KernelBuilder &b, const Row &row) const;
  void emitNeutralLine(KernelBuilder &b) const;
  void emitLine(KernelBuilder &b, const Row &row) const;
  void emitWholeLine(KernelBuilder &b, const Row &row) const;
  Value emitLoad(KernelBuilder &b, const Row &row, Value offset,
                 Value mask) const;
  Value emitCells(KernelBuilder &b, Value start, Type type) const;
  Value emitPlaces(KernelBuilder &b, Value x) const;
  Value emitMean(KernelBuilder &b, const Row &row, Value x, Value sum) const;
  void emitResult(KernelBuilder &b, const Row &row, Value x, Value value,
                  Value mask) const;
};

/// One row of the result.
struct PoolRowsKernel::Row {
  const BoundFlatTensor &in;
  const VectorOutput::Bound &out;
  Value inputStart, outputStart, width, channel;
  SmallVector<Value> outer; ///< spatial indices but the last
  SmallVector<WindowRange> ranges;
};

} // namespace

//===----------------------------------------------------------------------===//
// The line
//===----------------------------------------------------------------------===//

void PoolRowsKernel::emitNeutralLine(KernelBuilder &b) const {
  int64_t step = lanes(b);
  Value neutral = reduction.identity(b, step);
  b.forLoop(b.cst(0), b.getParam(lineSize), b.cst(step),
            [&](Value i) { b.store(neutral, linePointer(b, i)); });
}

Value PoolRowsKernel::emitLoad(KernelBuilder &b, const Row &row, Value offset,
                               Value mask) const {
  return reduction.load(b, row.in, offset, lanes(b), mask);
}

/// Combines the input under the window's rows to the line.
void PoolRowsKernel::emitLine(KernelBuilder &b, const Row &row) const {
  int64_t step = lanes(b);
  Value first = b.getParam(padLeft);
  forVectors(b, b.cst(0), window.input(b, last()), step, [&](Value x, Value m) {
    auto cell = [&](ArrayRef<Value>, ArrayRef<Value> place, ValueRange soFar) {
      Value start = b.add(row.inputStart, x);
      for (int64_t dim = 0; dim < last(); ++dim)
        start = b.add(start, b.mul(place[dim], b.getParam(inStrides + dim)));
      Value value = emitLoad(b, row, start, m);
      return SmallVector<Value>{reduction.combine(b, value, soFar.front())};
    };
    Value value =
        forWindow(b, row.ranges, reduction.identity(b, step), cell).front();
    Value pointer = linePointer(b, b.add(first, x));
    m ? b.maskedStore(value, pointer, m) : b.store(value, pointer);
  });
}

/// Does so for a window of `unrolledHeight` rows that all exist.
void PoolRowsKernel::emitWholeLine(KernelBuilder &b, const Row &row) const {
  Value first = b.getParam(padLeft), pitch = b.getParam(inStrides);
  const WindowRange &range = row.ranges.front();
  Value top = b.add(row.inputStart, b.mul(range.start, pitch));
  Value next = b.mul(range.dilation, pitch);
  forVectors(b, b.cst(0), window.input(b, last()), lanes(b),
             [&](Value x, Value m) {
               Value at = b.add(top, x), value = emitLoad(b, row, at, m);
               for (int64_t k = 1; k < unrolledHeight; ++k) {
                 at = b.add(at, next);
                 value = reduction.combine(b, emitLoad(b, row, at, m), value);
               }
               Value pointer = linePointer(b, b.add(first, x));
               m ? b.maskedStore(value, pointer, m) : b.store(value, pointer);
             });
}

//===----------------------------------------------------------------------===//
// Places of the result
//===----------------------------------------------------------------------===//

/// Combines the cells of the windows that start at places `start`, `start` + 1,
/// ... of the line, as many as `type` has lanes.
Value PoolRowsKernel::emitCells(KernelBuilder &b, Value start,
                                Type type) const {
  Value step = b.getParam(dilation);
  auto load = [&](Value place) { return b.load(linePointer(b, place), type); };
  Value soFar = load(start);
  if (unrolledWidth > 0) {
    for (int64_t k = 1; k < unrolledWidth; ++k) {
      start = b.add(start, step);
      soFar = reduction.combine(b, load(start), soFar);
    }
    return soFar;
  }
  auto addCell = [&](Value k, ValueRange values) {
    Value cell = load(b.add(start, b.mul(k, step)));
    return SmallVector<Value>{reduction.combine(b, cell, values.front())};
  };
  return b.forLoop(b.cst(1), window.kernel(b, last()), b.cst(1), soFar, addCell)
      .front();
}

/// Combines the windows of places x, x + 1, ... of the row.
Value PoolRowsKernel::emitPlaces(KernelBuilder &b, Value x) const {
  int64_t step = lanes(b);
  VectorType type = b.vec(reduction.elementType(b), step);
  if (stride == 0)
    return b.load(linePointer(b, b.add(b.getParam(places), x)), type);
  Value merged = emitCells(b, b.mul(x, stride), type);
  for (int64_t part = 1; part < stride; ++part) {
    Value start = b.add(b.mul(x, stride), part * step);
    Value cells = emitCells(b, start, type);
    // First, every place of part 0 that is kept moves to the front.
    SmallVector<int64_t> pattern;
    for (int64_t lane = 0; lane < step; ++lane) {
      int64_t from = lane * stride;
      bool isKept = from < part * step;
      int64_t kept = part == 1 ? from : lane;
      bool isMine = !isKept && from < (part + 1) * step;
      pattern.push_back(isKept   ? kept
                        : isMine ? step + from - part * step
                                 : lane);
    }
    merged = b.shuffle(merged, cells, pattern);
  }
  return merged;
}

/// Divides by the number of cells: times its reciprocal, and one Newton step on
/// the quotient, which takes a third of a division's time.
Value PoolRowsKernel::emitMean(KernelBuilder &b, const Row &row, Value x,
                               Value sum) const {
  int64_t step = b.lanes();
  Value outerInside = b.cst(1), outerCounted = b.cst(1);
  for (auto [dim, range] : llvm::enumerate(row.ranges)) {
    Value inside = Window::count(b, range);
    outerInside = b.mul(outerInside, inside);
    outerCounted =
        b.mul(outerCounted,
              countsPadding ? window.countWithPadding(b, dim, row.outer[dim])
                            : inside);
  }
  auto toReal = [&](Value count) -> Value {
    return arith::SIToFPOp::create(b, b.getF32Type(), count);
  };
  VectorType type = b.vec(b.getF32Type(), step);
  Value table = b.getBuffer(counts), size = b.mul(row.width, 4);
  auto load = [&](int64_t which) {
    Value start = b.offset(table, b.mul(size, which));
    return b.load(b.offset(start, b.mul(x, 4)), type);
  };
  Value outer = toReal(b.maxS(outerCounted, b.cst(1)));
  Value counted = b.mulF(b.broadcast(outer, step), load(0));
  Value inverse = b.mulF(b.broadcast(b.divF(b.cstF(1), outer), step), load(1));
  if (row.in.quantized) {
    Value zeros =
        b.broadcast(b.mulF(toReal(outerInside), row.in.zeroPoint), step);
    sum = b.mulF(b.subF(sum, b.mulF(zeros, load(2))),
                 b.broadcast(row.in.scale, step));
  }
  Value quotient = b.mulF(sum, inverse);
  Value minus = arith::NegFOp::create(b, quotient);
  Value rest = b.fma(minus, counted, sum);
  Value better = b.fma(rest, inverse, quotient);
  // An infinite sum has no remainder.
  Value isFinite =
      arith::CmpFOp::create(b, arith::CmpFPredicate::ORD, rest, rest);
  return b.select(isFinite, better, quotient);
}

void PoolRowsKernel::emitResult(KernelBuilder &b, const Row &row, Value x,
                                Value value, Value mask) const {
  Value offset = b.add(row.outputStart, x);
  if (reduction.isInteger) {
    Value pointer = row.out.getResult().pointerTo(b, offset);
    mask ? b.maskedStore(value, pointer, mask) : b.store(value, pointer);
    return;
  }
  VectorPlace place;
  place.offset = offset;
  place.channel = row.channel;
  place.lanes = b.lanes();
  place.mask = mask;
  row.out.store(b, place,
                reduction.isMax ? row.in.dequantize(b, value)
                                : emitMean(b, row, x, value));
}

//===----------------------------------------------------------------------===//
// Rows
//===----------------------------------------------------------------------===//

void PoolRowsKernel::emitRow(KernelBuilder &b, const Row &row) const {
  if (unrolledHeight > 0) {
    const WindowRange &range = row.ranges.front();
    Value isWhole = b.andI(b.eq(range.begin, b.cst(0)),
                           b.eq(range.end, b.cst(unrolledHeight)));
    b.ifThenElse(
        isWhole, [&] { emitWholeLine(b, row); }, [&] { emitLine(b, row); });
  } else {
    emitLine(b, row);
  }
  if (stride == 0) {
    Value step = window.stride(b, last()), first = b.getParam(places);
    b.forLoop(row.width, [&](Value x) {
      Value value = emitCells(b, b.mul(x, step), reduction.elementType(b));
      b.store(value, linePointer(b, b.add(first, x)));
    });
  }
  forVectors(b, b.cst(0), row.width, lanes(b), [&](Value x, Value mask) {
    emitResult(b, row, x, emitPlaces(b, x), mask);
  });
}

void PoolRowsKernel::emit(KernelBuilder &b) const {
  BoundFlatTensor in = input.bind(b);
  VectorOutput::Bound out = output.bind(b);
  Value perTask = b.getParam(rowsPerTask);
  Value first = b.mul(b.getBegin(), perTask);
  Value end = b.minS(b.mul(b.getEnd(), perTask), b.getParam(rows));
  emitNeutralLine(b);
  b.forLoop(first, end, b.cst(1), [&](Value index) {
    Row row{in,
            out,
            Value(),
            Value(),
            b.getParam(outDims + last()),
            Value(),
            SmallVector<Value>(last()),
            {}};
    row.outputStart = b.mul(index, row.width);
    for (int64_t dim = last() - 1; dim >= 0; --dim) {
      Value size = b.getParam(outDims + dim);
      row.outer[dim] = b.rem(index, size);
      index = b.div(index, size);
    }
    row.channel = b.rem(index, b.getParam(channels));
    row.inputStart = b.mul(index, b.getParam(inPlane));
    for (int64_t dim = 0; dim < last(); ++dim)
      row.ranges.push_back(window.at(b, dim, row.outer[dim]));
    emitRow(b, row);
  });
}

//===----------------------------------------------------------------------===//
// Planning
//===----------------------------------------------------------------------===//

Applicability PoolRows::isApplicable(const Problem &problem,
                                     const TargetInfo & /*target*/) const {
  if (problem.op != OpKind::MaxPool && problem.op != OpKind::AvgPool)
    return Applicability::no("is not a pool with a window");
  if (!isVectorizable(problem.operands[0]))
    return notVectorizable("the operand");
  if (problem.operands[0].layout.kind != Layout::NCHW ||
      problem.result.layout.kind != Layout::NCHW)
    return Applicability::no("needs operand and result in nchw");
  return VectorOutput::check(problem);
}

/// For each place of a row: the number of cells by which a mean is divided, its
/// reciprocal, and the number of cells that lie in the input.
static std::vector<float> countCells(const Problem &problem,
                                     bool countsPadding) {
  std::vector<int64_t> pads = problem.ints("pads");
  size_t last = pads.size() / 2 - 1;
  int64_t kernel = problem.ints("kernel").back(), pad = pads[last];
  int64_t padEnd = pads.back(), stride = problem.ints("strides").back();
  int64_t step = problem.ints("dilations").back();
  int64_t width = problem.operands[0].shape.back();
  int64_t places = problem.result.shape.back();
  std::vector<float> table(3 * places);
  for (int64_t x = 0; x < places; ++x) {
    int64_t inside = 0, counted = 0;
    for (int64_t k = 0; k < kernel; ++k) {
      int64_t place = x * stride - pad + k * step;
      inside += place >= 0 && place < width;
      counted += place < width + padEnd;
    }
    // In ceil_mode a window may lie entirely outside.
    int64_t divisor = std::max<int64_t>(1, countsPadding ? counted : inside);
    table[x] = static_cast<float>(divisor);
    table[places + x] = 1 / static_cast<float>(divisor);
    table[2 * places + x] = static_cast<float>(inside);
  }
  return table;
}

std::string PoolRowsKernel::symbolPart() const {
  auto name = [](StringRef letter, int64_t number) {
    return (letter + (number ? Twine(number).str() : "n")).str();
  };
  return joinSymbol(
      {("rows" + Twine(window.rank()) + "d").str(),
       name("s", stride) + name("h", unrolledHeight) + name("w", unrolledWidth),
       input.symbolPart(), output.symbolPart()});
}

SolutionPlan PoolRows::plan(const Problem &problem, const TargetInfo &target,
                            const PerfConfig & /*config*/) const {
  const TensorDesc &in = problem.operands[0], &result = problem.result;
  std::vector<int64_t> kernelShape = problem.ints("kernel");
  int64_t numDims = static_cast<int64_t>(kernelShape.size());
  int64_t strideX = problem.ints("strides").back();
  int64_t dilationX = problem.ints("dilations").back();
  int64_t padX = problem.ints("pads")[numDims - 1];
  auto unrolled = [](int64_t size) { return size <= kMaxUnrolled ? size : 0; };

  SolutionPlan plan;
  LaunchBuilder launch(plan);
  PoolReduction reduction = PoolReduction::of(problem);
  bool countsPadding = !reduction.isMax && problem.integer("count_include_pad");
  std::vector<int64_t> strides(numDims, 1);
  for (int64_t dim = numDims - 1; dim > 0; --dim)
    strides[dim - 1] = strides[dim] * in.spatial()[dim];
  int64_t numRows = result.shape[0] * result.shape[1];
  for (int64_t size : result.spatial().drop_back())
    numRows *= size;
  double rowCost = double(in.shape.back()) * (1 + getPoolCost(problem));
  int64_t perTask =
      std::max<int64_t>(1, static_cast<int64_t>(kOperationsPerTask / rowCost));

  // The line holds whole vectors of places, including the last one's windows.
  int64_t lanes = target.vectorBits / (reduction.isInteger ? 8 : 32);
  int64_t outWidth = llvm::alignTo(result.shape.back(), lanes);
  int64_t line =
      std::max(outWidth * strideX + (kernelShape.back() - 1) * dilationX,
               padX + in.shape.back());
  line = llvm::alignTo(line + lanes, lanes);
  int64_t scratch = (line + outWidth) * (reduction.isInteger ? 1 : 4);

  PoolRowsKernel kernel{
      .reduction = reduction,
      .countsPadding = countsPadding,
      .stride = strideX <= kMaxPermuted ? strideX : 0,
      .unrolledHeight = numDims == 2 ? unrolled(kernelShape.front()) : 0,
      .unrolledWidth = unrolled(kernelShape.back()),
      .input = FlatTensor(launch, {BufferSlot::Operand, 0}, in),
      .output = VectorOutput(launch, problem),
      .window = Window(launch, problem, kernelShape, in.spatial()),
      .counts = reduction.isMax
                    ? -1
                    : launch.addFloats(countCells(problem, countsPadding)),
      .inStrides = launch.addParams(strides),
      .outDims = launch.addParams(result.spatial()),
      .channels = launch.addParam(result.shape[1]),
      .inPlane = launch.addParam(strides[0] * in.spatial()[0]),
      .rows = launch.addParam(numRows),
      .rowsPerTask = launch.addParam(perTask),
      .lineSize = launch.addParam(line),
      .places = launch.addParam(line),
      .padLeft = launch.addParam(padX),
      .dilation = launch.addParam(dilationX)};
  std::string symbol =
      joinSymbol({getOpName(problem.op), countsPadding ? "padded" : "",
                  reduction.isInteger ? "exact" : "", kernel.symbolPart()});
  launch.finish(
      symbol, [kernel](KernelBuilder &b) { kernel.emit(b); },
      std::max<int64_t>(1, llvm::divideCeil(numRows, perTask)), scratch);
  return plan;
}

const Solver &tarpon::getPoolRows() {
  static const PoolRows solver;
  return solver;
}
