//===- GridSample.cpp - Reference sampling at run-time places -------------===//
//
// Part of Tarpon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The formulas are those of ONNX's operator GridSample: a coordinate outside of
// the image is moved into it first, if the padding asks for that, and then each
// of the pixels around it.
//
//===----------------------------------------------------------------------===//

#include "Reference.h"
#include "tarpon/IR/TarponDialect.h"

#include "mlir/Dialect/Math/IR/Math.h"

using namespace mlir;
using namespace tarpon;
using namespace tarpon::reference;

namespace {

/// A pixel of one dimension.
struct Tap {
  Value index;
  /// Null stands for true, and for 1.
  Value isInside, weight;
};

struct GridSampleKernel {
  SampleMode mode;
  SamplePadding padding;
  bool alignCorners;
  ComputeKind kind;
  int64_t dims;
  TensorAccess input, grid;
  OutputAccess output;
  ElementLoop loop;            ///< over images and places
  int64_t firstSize, channels; ///< parameters

  void emit(KernelBuilder &b) const;
};

/// One dimension of the images.
struct Line {
  KernelBuilder &b;
  const GridSampleKernel &kernel;
  Value size;        ///< i64
  Value first, last; ///< the coordinates between which nothing is reflected

  Line(KernelBuilder &b, const GridSampleKernel &kernel, Value size);
  Value real(double value) const {
    return b.cstLike(computeTypeOf(b, kernel.kind), value);
  }
  Value toReal(Value index) const {
    return arith::SIToFPOp::create(b, computeTypeOf(b, kernel.kind), index);
  }
  Value isLess(Value x, Value y) const {
    return arith::CmpFOp::create(b, arith::CmpFPredicate::OLT, x, y);
  }
  Value toIndex(Value x) const;
  Value reflect(Value x) const;
  Value moveInside(Value x) const;
  Tap makeTap(Value index, Value weight) const;
  SmallVector<Tap> locate(Value x) const;
};

} // namespace

Line::Line(KernelBuilder &b, const GridSampleKernel &kernel, Value size)
    : b(b), kernel(kernel), size(size) {
  double edge = kernel.alignCorners ? 0 : -0.5;
  first = real(edge);
  last = b.subF(b.subF(toReal(size), real(1)), first);
}

/// The integer of a whole number. Those far outside, and NaN, become others
/// that are outside.
Value Line::toIndex(Value x) const {
  constexpr double far = 16;
  Value high = b.addF(toReal(size), real(far));
  Value near = b.minF(b.maxF(x, real(-far)), high);
  return arith::FPToSIOp::create(b, b.getI64Type(), near);
}

/// Reflects a coordinate until it lies between first and last.
Value Line::reflect(Value x) const {
  Value range = b.subF(last, first), isBelow = isLess(x, first);
  Value distance = b.select(isBelow, b.subF(first, x), b.subF(x, last));
  Value times = math::FloorOp::create(b, b.divF(distance, range));
  Value rest = b.subF(distance, b.mulF(times, range));
  Value half = b.mulF(times, real(0.5));
  Value isEven = arith::CmpFOp::create(b, arith::CmpFPredicate::OEQ, half,
                                       math::FloorOp::create(b, half));
  Value reflected =
      b.select(b.eq(isBelow, isEven), b.addF(first, rest), b.subF(last, rest));
  // A single pixel has no distance to be reflected in.
  reflected = b.select(isLess(first, last), reflected, first);
  return b.select(b.orI(isBelow, isLess(last, x)), reflected, x);
}

/// Moves a coordinate into the image, if the padding is part of the image.
Value Line::moveInside(Value x) const {
  switch (kernel.padding) {
  case SamplePadding::Zeros:
    return x;
  case SamplePadding::Reflection:
    return reflect(x);
  case SamplePadding::Border:
    break;
  }
  Value end = b.subF(toReal(size), real(1));
  return b.select(isLess(x, first), real(0), b.select(isLess(last, x), end, x));
}

Tap Line::makeTap(Value index, Value weight) const {
  Tap tap{index, nullptr, weight};
  if (kernel.padding == SamplePadding::Zeros)
    tap.isInside = b.ult(index, size);
  if (kernel.padding == SamplePadding::Reflection)
    tap.index = toIndex(reflect(toReal(index)));
  tap.index = b.minS(b.maxS(tap.index, b.cst(0)), b.sub(size, 1));
  return tap;
}

/// The weights of the pixels around a place that lies `ratio` behind the second
/// (R. Keys, "Cubic convolution interpolation", 1981), with a = -0.75.
static SmallVector<Value> cubicWeights(const Line &line, Value ratio) {
  KernelBuilder &b = line.b;
  constexpr double a = -0.75;
  auto plus = [&](Value x, double y) { return b.addF(x, line.real(y)); };
  auto times = [&](Value x, double y) { return b.mulF(x, line.real(y)); };
  auto far = [&](Value d) {
    Value sum = b.mulF(plus(times(d, a), -5 * a), d);
    return plus(b.mulF(plus(sum, 8 * a), d), -4 * a);
  };
  auto near = [&](Value d) {
    Value sum = b.mulF(plus(times(d, a + 2), -(a + 3)), d);
    return plus(b.mulF(sum, d), 1);
  };
  Value other = b.subF(line.real(1), ratio);
  return {far(plus(ratio, 1)), near(ratio), near(other), far(plus(other, 1))};
}

/// The pixels around a coordinate.
SmallVector<Tap> Line::locate(Value x) const {
  if (kernel.mode == SampleMode::Nearest) {
    Value nearest = moveInside(math::RoundEvenOp::create(b, x));
    return {makeTap(toIndex(nearest), nullptr)};
  }
  x = moveInside(x);
  Value before = math::FloorOp::create(b, x), index = toIndex(before);
  Value ratio = b.subF(x, before);
  SmallVector<Value> weights = {b.subF(real(1), ratio), ratio};
  if (kernel.mode == SampleMode::Cubic) {
    weights = cubicWeights(*this, ratio);
    index = b.sub(index, 1);
  }
  SmallVector<Tap> taps;
  for (auto [i, weight] : llvm::enumerate(weights))
    taps.push_back(makeTap(b.add(index, static_cast<int64_t>(i)), weight));
  return taps;
}

/// The product of two optional factors.
static Value combine(Value lhs, Value rhs, function_ref<Value()> both) {
  return lhs && rhs ? both() : lhs ? lhs : rhs;
}

/// A pixel of the image: an index for each dimension.
namespace {
struct Pixel {
  SmallVector<Value> indices;
  Value isInside, weight;
};
} // namespace

/// All combinations of a pixel of each dimension.
static SmallVector<Pixel> combineTaps(KernelBuilder &b,
                                      ArrayRef<SmallVector<Tap>> lines) {
  SmallVector<Pixel> pixels = {Pixel()};
  for (const SmallVector<Tap> &line : lines) {
    SmallVector<Pixel> next;
    for (const Pixel &pixel : pixels)
      for (const Tap &tap : line) {
        Pixel &more = next.emplace_back(pixel);
        more.indices.push_back(tap.index);
        more.isInside = combine(pixel.isInside, tap.isInside, [&] {
          return b.andI(pixel.isInside, tap.isInside);
        });
        more.weight = combine(pixel.weight, tap.weight,
                              [&] { return b.mulF(pixel.weight, tap.weight); });
      }
    pixels = std::move(next);
  }
  return pixels;
}

void GridSampleKernel::emit(KernelBuilder &b) const {
  BoundTensor in = input.bind(b), where = grid.bind(b);
  OutputAccess::Bound out = output.bind(b);
  Value zero = b.cstLike(computeTypeOf(b, kind), 0);
  loop.emit(b, [&](ArrayRef<Value> place) {
    SmallVector<Value> at = {place[0]};
    llvm::append_range(at, place.drop_front(2));
    at.push_back(nullptr);
    SmallVector<SmallVector<Tap>> lines;
    for (int64_t dim = 0; dim < dims; ++dim) {
      at.back() = b.cst(dims - 1 - dim);
      Line line(b, *this, b.getParam(firstSize + dim));
      lines.push_back(line.locate(where.load(b, at)));
    }
    SmallVector<Pixel> pixels = combineTaps(b, lines);
    b.forLoop(b.getParam(channels), [&](Value channel) {
      Value sum;
      for (const Pixel &pixel : pixels) {
        SmallVector<Value> source = {place[0], channel};
        llvm::append_range(source, pixel.indices);
        Value term = in.load(b, source);
        if (pixel.weight)
          term = b.mulF(pixel.weight, term);
        if (pixel.isInside)
          term = b.select(pixel.isInside, term, zero);
        sum = sum ? b.addF(sum, term) : term;
      }
      SmallVector<Value> target(place);
      target[1] = channel;
      out.store(b, target, sum);
    });
  });
}

SolutionPlan reference::planGridSample(const Problem &problem) {
  SolutionPlan plan;
  LaunchBuilder launch(plan);
  const TensorDesc &input = problem.operands[0], &grid = problem.operands[1];
  std::vector<int64_t> places = problem.result.shape;
  places[1] = 1;
  GridSampleKernel kernel{
      .mode = static_cast<SampleMode>(problem.integer("mode")),
      .padding = static_cast<SamplePadding>(problem.integer("padding")),
      .alignCorners = problem.integer("align_corners") != 0,
      .kind = computeKindOf(problem),
      .dims = input.rank() - 2,
      .input = accessOperand(launch, problem, 0, input.shape),
      .grid = accessOperand(launch, problem, 1, grid.shape),
      .output = OutputAccess(launch, problem),
      .loop = ElementLoop(launch, places,
                          100 + 20.0 * static_cast<double>(input.shape[1])),
      .firstSize = launch.addParams(input.spatial()),
      .channels = launch.addParam(input.shape[1])};
  std::string symbol = joinSymbol(
      {"ref_grid_sample", stringifySampleMode(kernel.mode),
       stringifySamplePadding(kernel.padding),
       kernel.alignCorners ? "corners" : "edges", kernel.input.symbolPart(),
       kernel.grid.symbolPart(), kernel.output.symbolPart()});
  int64_t tasks = kernel.loop.tasks();
  launch.finish(symbol, [kernel](KernelBuilder &b) { kernel.emit(b); }, tasks);
  return plan;
}
