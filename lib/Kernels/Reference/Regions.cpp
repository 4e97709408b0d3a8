//===- Regions.cpp - Reference pools and selections of regions ------------===//
//
// Part of Tarpon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The formulas are those of ONNX's operators RoiAlign and NonMaxSuppression.
//
//===----------------------------------------------------------------------===//

#include "Reference.h"

#include "mlir/Dialect/Math/IR/Math.h"

#include <array>

using namespace mlir;
using namespace tarpon;
using namespace tarpon::reference;
using Float = arith::CmpFPredicate;

static Value compare(KernelBuilder &b, Float predicate, Value x, Value y) {
  return arith::CmpFOp::create(b, predicate, x, y);
}

static Value toReal(KernelBuilder &b, ComputeKind kind, Value integer) {
  return arith::SIToFPOp::create(b, computeTypeOf(b, kind), integer);
}

//===----------------------------------------------------------------------===//
// Pools of regions
//===----------------------------------------------------------------------===//

namespace {

struct RoiAlignKernel {
  bool halfPixel, takesMax;
  ComputeKind kind;
  TensorAccess input, corners, images;
  OutputAccess output;
  ElementLoop loop;
  int64_t numImages, firstSize, firstCell, samples; ///< parameters
  int64_t scale;                                    ///< parameter, real

  void emit(KernelBuilder &b) const;
};

/// The sampled places of one cell in one dimension.
struct CellLine {
  Value size;  ///< of the image
  Value count; ///< of places
  Value start, length;
};

/// The two pixels around a place, and how far it lies behind the first.
struct PixelPair {
  Value isOutside, low, high, ratio;
};

/// Emits one element of the result.
struct RegionCell {
  KernelBuilder &b;
  const RoiAlignKernel &kernel;
  const BoundTensor &in;
  Value image, channel;

  Value real(double value) const {
    return b.cstLike(computeTypeOf(b, kernel.kind), value);
  }
  CellLine cut(Value begin, Value end, Value cell, int64_t dim) const;
  PixelPair locate(const CellLine &line, Value sample) const;
  std::array<Value, 4> weigh(const PixelPair &y, const PixelPair &x) const;
  Value pool(const CellLine &y, const CellLine &x) const;
};

} // namespace

/// Cuts a region from `begin` to `end` into cells, of which it returns one.
CellLine RegionCell::cut(Value begin, Value end, Value cell,
                         int64_t dim) const {
  Value extent = b.subF(end, begin);
  if (!kernel.halfPixel)
    extent = b.maxF(extent, real(1));
  Value cells = toReal(b, kernel.kind, b.getParam(kernel.firstCell + dim));
  Value length = b.divF(extent, cells);
  // As many places as the cell has pixels; some bound keeps a region that is
  // not a number from endless loops.
  constexpr double most = 1 << 16;
  Value pixels =
      b.minF(b.maxF(math::CeilOp::create(b, length), real(0)), real(most));
  Value given = b.getParam(kernel.samples);
  Value count =
      b.select(b.eq(given, b.cst(0)),
               arith::FPToSIOp::create(b, b.getI64Type(), pixels), given);
  Value start = b.addF(begin, b.mulF(toReal(b, kernel.kind, cell), length));
  return {b.getParam(kernel.firstSize + dim), count, start, length};
}

PixelPair RegionCell::locate(const CellLine &line, Value sample) const {
  Value middle = b.addF(toReal(b, kernel.kind, sample), real(0.5));
  Value step =
      b.divF(b.mulF(middle, line.length), toReal(b, kernel.kind, line.count));
  Value place = b.addF(line.start, step);
  Value size = toReal(b, kernel.kind, line.size), last = b.sub(line.size, 1);
  // NaN lies outside, too.
  Value isOutside = b.orI(compare(b, Float::ULT, place, real(-1)),
                          compare(b, Float::UGT, place, size));
  place = b.minF(b.maxF(place, real(0)), size);
  Value low = b.minS(arith::FPToSIOp::create(b, b.getI64Type(), place), last);
  place = b.minF(place, toReal(b, kernel.kind, last));
  return {isOutside, low, b.minS(b.add(low, 1), last),
          b.subF(place, toReal(b, kernel.kind, low))};
}

/// The four pixels around a place, times their weights.
std::array<Value, 4> RegionCell::weigh(const PixelPair &y,
                                       const PixelPair &x) const {
  Value isOutside = b.orI(y.isOutside, x.isOutside);
  auto weightOf = [&](const PixelPair &pair, bool isHigh) {
    return isHigh ? pair.ratio : b.subF(real(1), pair.ratio);
  };
  auto term = [&](bool isDown, bool isRight) {
    Value value = in.load(
        b, {image, channel, isDown ? y.high : y.low, isRight ? x.high : x.low});
    Value vertical = weightOf(y, isDown), horizontal = weightOf(x, isRight);
    return b.select(isOutside, real(0),
                    b.mulF(b.mulF(vertical, horizontal), value));
  };
  return {term(false, false), term(false, true), term(true, false),
          term(true, true)};
}

Value RegionCell::pool(const CellLine &y, const CellLine &x) const {
  auto inner = [&](Value row, ValueRange soFar) {
    PixelPair vertical = locate(y, row);
    return b.forLoop(
        b.cst(0), x.count, b.cst(1), soFar,
        [&](Value column, ValueRange carried) -> SmallVector<Value> {
          auto terms = weigh(vertical, locate(x, column));
          auto fold = [&](function_ref<Value(Value, Value)> join) {
            return join(join(join(terms[0], terms[1]), terms[2]), terms[3]);
          };
          if (!kernel.takesMax)
            return {b.addF(carried[0], fold([&](Value lhs, Value rhs) {
                             return b.addF(lhs, rhs);
                           }))};
          Value largest =
              fold([&](Value lhs, Value rhs) { return b.maxOrNaN(lhs, rhs); });
          Value isFirst = b.eq(b.add(row, column), b.cst(0));
          return {b.select(isFirst, largest, b.maxOrNaN(carried[0], largest))};
        });
  };
  Value result = b.forLoop(b.cst(0), y.count, b.cst(1), real(0), inner).front();
  if (kernel.takesMax)
    return result;
  Value count = b.maxS(b.mul(y.count, x.count), b.cst(1));
  return b.divF(result, toReal(b, kernel.kind, count));
}

void RoiAlignKernel::emit(KernelBuilder &b) const {
  BoundTensor in = input.bind(b), given = corners.bind(b),
              which = images.bind(b);
  OutputAccess::Bound out = output.bind(b);
  Value last = b.sub(b.getParam(numImages), 1);
  loop.emit(b, [&](ArrayRef<Value> place) {
    Value image = b.minS(b.maxS(which.load(b, place[0]), b.cst(0)), last);
    RegionCell cell{b, *this, in, image, place[1]};
    auto corner = [&](int64_t index) {
      Value stated = given.load(b, {place[0], b.cst(index)});
      return b.subF(b.mulF(stated, getReal(b, kind, scale)),
                    cell.real(halfPixel ? 0.5 : 0));
    };
    CellLine x = cell.cut(corner(0), corner(2), place[3], 1),
             y = cell.cut(corner(1), corner(3), place[2], 0);
    out.store(b, place, cell.pool(y, x));
  });
}

SolutionPlan reference::planRoiAlign(const Problem &problem) {
  SolutionPlan plan;
  LaunchBuilder launch(plan);
  const TensorDesc &input = problem.operands[0];
  ComputeKind kind = computeKindOf(problem);
  RoiAlignKernel kernel{
      .halfPixel = problem.integer("half_pixel") != 0,
      .takesMax = problem.integer("takes_max") != 0,
      .kind = kind,
      .input = accessOperand(launch, problem, 0, input.shape),
      .corners = accessOperand(launch, problem, 1, problem.operands[1].shape),
      .images =
          TensorAccess(launch, {BufferSlot::Operand, 2}, problem.operands[2],
                       problem.operands[2].shape, ComputeKind::I64),
      .output = OutputAccess(launch, problem),
      .loop = ElementLoop(launch, problem.result.shape, 200),
      .numImages = launch.addParam(input.shape[0]),
      .firstSize = launch.addParams(input.spatial()),
      .firstCell = launch.addParams(problem.ints("sizes")),
      .samples = launch.addParam(problem.integer("samples")),
      .scale = addReal(launch, kind, problem.number("scale"))};
  std::string symbol =
      joinSymbol({"ref_roi_align", kernel.halfPixel ? "half" : "whole",
                  kernel.takesMax ? "max" : "mean", kernel.input.symbolPart(),
                  kernel.corners.symbolPart(), kernel.output.symbolPart()});
  int64_t tasks = kernel.loop.tasks();
  launch.finish(symbol, [kernel](KernelBuilder &b) { kernel.emit(b); }, tasks);
  return plan;
}

//===----------------------------------------------------------------------===//
// Selection of boxes
//===----------------------------------------------------------------------===//

namespace {

/// One task selects all boxes, since those of a class lie behind those of the
/// class before.
struct SuppressionKernel {
  bool hasLeast, isCenterPoint;
  ComputeKind kind;
  TensorAccess boxes, scores, order, result, count;
  ElementLoop loop;                               ///< over one element
  int64_t images, classes, numBoxes, limit, rows; ///< parameters
  int64_t mostOverlap, leastScore;                ///< parameters, real

  void emit(KernelBuilder &b) const;
};

struct Box {
  Value left, right, top, bottom;
};

/// Selects the boxes of one class of an image.
struct ClassSelection {
  KernelBuilder &b;
  const SuppressionKernel &kernel;
  const BoundTensor &boxes, &scores, &order, &result;
  Value image, number;

  Box load(Value box) const;
  Value overlap(const Box &box, const Box &other) const;
  Value overlapsSelected(Value box, Value first, Value end) const;
  Value select(Value box, Value first, Value end) const;
  Value run(Value first) const;
};

} // namespace

Box ClassSelection::load(Value box) const {
  std::array<Value, 4> given;
  for (int64_t i = 0; i < 4; ++i)
    given[i] = boxes.load(b, {image, box, b.cst(i)});
  Value half = b.cstLike(given[0].getType(), 0.5);
  if (kernel.isCenterPoint) {
    Value width = b.mulF(given[2], half), height = b.mulF(given[3], half);
    return {b.subF(given[0], width), b.addF(given[0], width),
            b.subF(given[1], height), b.addF(given[1], height)};
  }
  return {b.minF(given[1], given[3]), b.maxF(given[1], given[3]),
          b.minF(given[0], given[2]), b.maxF(given[0], given[2])};
}

/// Returns true in code if two boxes overlap too much to be both selected.
Value ClassSelection::overlap(const Box &box, const Box &other) const {
  Value left = b.maxF(box.left, other.left),
        right = b.minF(box.right, other.right),
        top = b.maxF(box.top, other.top),
        bottom = b.minF(box.bottom, other.bottom);
  auto isLess = [&](Value x, Value y) { return compare(b, Float::OLT, x, y); };
  auto area = [&](Value left, Value right, Value top, Value bottom) {
    return b.mulF(b.subF(right, left), b.subF(bottom, top));
  };
  Value both = area(left, right, top, bottom),
        own = area(box.left, box.right, box.top, box.bottom),
        others = area(other.left, other.right, other.top, other.bottom);
  Value either = b.subF(b.addF(own, others), both);
  Value isOver =
      isLess(getReal(b, kernel.kind, kernel.mostOverlap), b.divF(both, either));
  isOver = b.andI(isOver, isLess(left, right));
  isOver = b.andI(isOver, isLess(top, bottom));
  Value zero = b.cstLike(both.getType(), 0);
  for (Value positive : {both, own, others, either})
    isOver = b.andI(isOver, isLess(zero, positive));
  return isOver;
}

/// Returns 1 in code if the box overlaps with one of the selected boxes from
/// row `first` of the result to row `end`.
Value ClassSelection::overlapsSelected(Value box, Value first,
                                       Value end) const {
  Type i64 = b.getI64Type();
  Box own = load(box);
  auto visit = [&](Value row, ValueRange found) {
    auto test = [&] {
      Value other = result.load(b, {row, b.cst(2)});
      Value isOver = overlap(own, load(other));
      return SmallVector<Value>{b.select(isOver, b.cst(1), b.cst(0))};
    };
    return b.ifThenElse(b.eq(found[0], b.cst(0)), i64, test,
                        [&] { return SmallVector<Value>{found[0]}; });
  };
  return b.forLoop(first, end, b.cst(1), b.cst(0), visit).front();
}

/// Selects the box, unless it overlaps. Returns the new end of the result.
Value ClassSelection::select(Value box, Value first, Value end) const {
  Value isFree = b.eq(overlapsSelected(box, first, end), b.cst(0));
  auto append = [&] {
    for (auto [column, value] :
         llvm::enumerate(std::array<Value, 3>{image, number, box}))
      result.store(b, {end, b.cst(static_cast<int64_t>(column))}, value);
    return SmallVector<Value>{b.add(end, 1)};
  };
  return b
      .ifThenElse(isFree, b.getI64Type(), append,
                  [&] { return SmallVector<Value>{end}; })
      .front();
}

Value ClassSelection::run(Value first) const {
  Value numBoxes = b.getParam(kernel.numBoxes),
        limit = b.getParam(kernel.limit);
  auto visit = [&](Value place, ValueRange carried) {
    Value end = carried.front();
    // A box that does not exist is the last.
    Value box = b.minS(b.maxS(order.load(b, {image, number, place}), b.cst(0)),
                       b.sub(numBoxes, 1));
    Value isWanted = b.slt(b.sub(end, first), limit);
    if (kernel.hasLeast)
      isWanted = b.andI(
          isWanted, compare(b, Float::OGT, scores.load(b, {image, number, box}),
                            getReal(b, kernel.kind, kernel.leastScore)));
    return b.ifThenElse(
        isWanted, b.getI64Type(),
        [&] { return SmallVector<Value>{select(box, first, end)}; },
        [&] { return SmallVector<Value>{end}; });
  };
  return b.forLoop(b.cst(0), numBoxes, b.cst(1), first, visit).front();
}

void SuppressionKernel::emit(KernelBuilder &b) const {
  BoundTensor box = boxes.bind(b), score = scores.bind(b),
              sorted = order.bind(b), selected = result.bind(b),
              total = count.bind(b);
  loop.emit(b, [&](ArrayRef<Value> only) {
    b.forLoop(b.getParam(rows), [&](Value row) {
      for (int64_t column = 0; column < 3; ++column)
        selected.store(b, {row, b.cst(column)}, b.cst(-1));
    });
    auto visitClass = [&](Value image) {
      return [&, image](Value number, ValueRange end) {
        ClassSelection selection{b,      *this,    box,   score,
                                 sorted, selected, image, number};
        return SmallVector<Value>{selection.run(end.front())};
      };
    };
    Value end = b.forLoop(b.cst(0), b.getParam(images), b.cst(1), b.cst(0),
                          [&](Value image, ValueRange end) {
                            return b.forLoop(b.cst(0), b.getParam(classes),
                                             b.cst(1), end, visitClass(image));
                          })
                    .front();
    total.store(b, only, end);
  });
}

SolutionPlan reference::planNonMaxSuppression(const Problem &problem) {
  SolutionPlan plan;
  LaunchBuilder launch(plan);
  const TensorDesc &scores = problem.operands[1];
  ComputeKind kind = computeKindOf(problem);
  auto accessI64 = [&](BufferSlot slot, const TensorDesc &desc) {
    return TensorAccess(launch, slot, desc, desc.shape, ComputeKind::I64);
  };
  int64_t numBoxes = scores.shape[2];
  SuppressionKernel kernel{
      .hasLeast = problem.integer("has_least") != 0,
      .isCenterPoint = problem.integer("center_point") != 0,
      .kind = kind,
      .boxes = accessOperand(launch, problem, 0, problem.operands[0].shape),
      .scores = accessOperand(launch, problem, 1, scores.shape),
      .order = accessI64({BufferSlot::Operand, 2}, problem.operands[2]),
      .result = accessI64({BufferSlot::Result, 0}, problem.result),
      .count = accessI64({BufferSlot::Result, 1}, problem.getResult(1)),
      .loop = ElementLoop(launch, {1}, 1),
      .images = launch.addParam(scores.shape[0]),
      .classes = launch.addParam(scores.shape[1]),
      .numBoxes = launch.addParam(numBoxes),
      .limit = launch.addParam(std::min(problem.integer("limit"), numBoxes)),
      .rows = launch.addParam(problem.result.shape[0]),
      .mostOverlap = addReal(launch, kind, problem.number("most_overlap")),
      .leastScore = addReal(launch, kind, problem.number("least_score"))};
  std::string symbol = joinSymbol(
      {"ref_non_max_suppression", kernel.hasLeast ? "least" : "any",
       kernel.isCenterPoint ? "center" : "corners", kernel.boxes.symbolPart(),
       kernel.scores.symbolPart(), kernel.result.symbolPart()});
  int64_t tasks = kernel.loop.tasks();
  launch.finish(symbol, [kernel](KernelBuilder &b) { kernel.emit(b); }, tasks);
  return plan;
}
