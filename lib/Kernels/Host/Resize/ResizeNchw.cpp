//===- ResizeNchw.cpp - Interpolation in vectors of pixels ----------------===//
//
// Part of Tarpon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// For each row of an nchw result, the contributing rows of the input are first
// summed into one line in scratch memory, from which its places are then
// gathered. Upsampling reads them from one vector by a permutation, and
// repeating each element needs no line at all.
//
//===----------------------------------------------------------------------===//

#include "Common/VectorAccess.h"
#include "Host/Solvers.h"
#include "ResizeTaps.h"

#include "mlir/Dialect/LLVMIR/LLVMDialect.h"

#include <algorithm>

using namespace mlir;
using namespace tarpon;

namespace {

class ResizeNchw final : public Solver {
public:
  StringRef id() const override { return "resize-nchw-v1"; }
  Applicability isApplicable(const Problem &problem,
                             const TargetInfo &target) const override;
  double expectedFraction(const Problem & /*problem*/,
                          const TargetInfo & /*target*/) const override {
    return 0.4;
  }
  SolutionPlan plan(const Problem &problem, const TargetInfo &target,
                    const PerfConfig &config) const override;
};

/// The way in which the places of a row are read from the line.
enum class Access : uint8_t { Identity, Repeat, Permute, Gather };

/// More repetitions are gathered.
constexpr int64_t kMaxRepeats = 4;
constexpr int64_t kElementsPerTask = 16384;

struct ResizeNchwKernel {
  Access access;
  int64_t repeats;
  FlatTensor input;
  VectorOutput output;
  std::vector<ResizeTable> tables; ///< of the spatial dimensions
  /// Indices of parameters: of one, or of the first of several.
  int64_t inDims, outDims, channels, rows, rowsPerTask;

  /// One row of the input, and its weight (null for 1).
  struct Tap {
    Value start, weight;
  };
  struct Row {
    const BoundFlatTensor &in;
    const VectorOutput::Bound &out;
    Value outputStart, channel;
    SmallVector<Tap> taps;
  };
  int64_t last() const { return static_cast<int64_t>(tables.size()) - 1; }
  void emit(KernelBuilder &b) const;
  void collectTaps(KernelBuilder &b, ArrayRef<Value> place, int64_t dim,
                   Value start, Value weight, SmallVectorImpl<Tap> &taps) const;
  Value emitSum(KernelBuilder &b, const Row &row, Value x, Value mask) const;
  Value emitPlaces(KernelBuilder &b, Value x, int64_t tap, Value mask) const;
  void emitStore(KernelBuilder &b, const Row &row, Value x, Value mask,
                 Value value) const;
  void emitRow(KernelBuilder &b, const Row &row) const;
  void emitRepeated(KernelBuilder &b, const Row &row) const;
};

} // namespace

//===----------------------------------------------------------------------===//
// Emission
//===----------------------------------------------------------------------===//

/// Appends the rows for all combinations of taps of the dimensions from `dim`
/// to the last but one.
void ResizeNchwKernel::collectTaps(KernelBuilder &b, ArrayRef<Value> place,
                                   int64_t dim, Value start, Value weight,
                                   SmallVectorImpl<Tap> &taps) const {
  Value size = b.getParam(inDims + dim);
  if (dim == last()) {
    taps.push_back({b.mul(start, size), weight});
    return;
  }
  const ResizeTable &table = tables[dim];
  for (int64_t tap = 0; tap < table.taps; ++tap) {
    Value index = table.index(b, place[dim], tap), both = weight;
    if (table.isWeighted()) {
      Value own = table.weight(b, place[dim], tap);
      both = weight ? b.mulF(weight, own) : own;
    }
    collectTaps(b, place, dim + 1, b.add(b.mul(start, size), index), both,
                taps);
  }
}

/// The sum of the input's rows from element `x` on.
Value ResizeNchwKernel::emitSum(KernelBuilder &b, const Row &row, Value x,
                                Value mask) const {
  int64_t lanes = b.lanes();
  Value sum;
  for (const Tap &tap : row.taps) {
    Value value = row.in.load(b, b.add(tap.start, x), lanes, mask);
    if (!tap.weight)
      return value;
    Value weight = b.broadcast(tap.weight, lanes);
    sum = sum ? b.fma(weight, value, sum) : b.mulF(weight, value);
  }
  return sum;
}

/// The elements of the line for tap `tap` of places x, x + 1, ...
Value ResizeNchwKernel::emitPlaces(KernelBuilder &b, Value x, int64_t tap,
                                   Value mask) const {
  const ResizeTable &table = tables.back();
  int64_t lanes = b.lanes();
  VectorType type = b.vec(b.getF32Type(), lanes);
  Value indices = table.indices(b, x, tap);
  if (access == Access::Permute) {
    Value first = table.index(b, x, 0);
    Value line = b.load(b.offset(b.getScratch(), b.mul(first, 4)), type);
    Value narrowed = arith::TruncIOp::create(b, b.getI32Type(), first);
    Value lanesFrom = b.sub(indices, b.broadcast(narrowed, lanes));
    return LLVM::CallIntrinsicOp::create(
               b, type,
               b.getStringAttr(lanes == 16 ? "llvm.x86.avx512.permvar.sf.512"
                                           : "llvm.x86.avx2.permps"),
               ValueRange{line, lanesFrom})
        .getResult(0);
  }
  Type pointers = VectorType::get({lanes}, b.ptr());
  Value places =
      LLVM::GEPOp::create(b, pointers, b.getF32Type(), b.getScratch(),
                          ArrayRef<LLVM::GEPArg>{indices});
  // For other lanes the table holds no index.
  if (!mask)
    mask = b.cstLike(b.vec(b.getI1Type(), lanes), 1);
  return LLVM::masked_gather::create(b, type, places, mask,
                                     ValueRange{b.cstLike(type, 0)},
                                     /*alignment=*/4u);
}

void ResizeNchwKernel::emitStore(KernelBuilder &b, const Row &row, Value x,
                                 Value mask, Value value) const {
  VectorPlace place;
  place.offset = b.add(row.outputStart, x);
  place.channel = row.channel;
  place.lanes = b.lanes();
  place.mask = mask;
  row.out.store(b, place, value);
}

/// Repeats each element of the row `repeats` times.
void ResizeNchwKernel::emitRepeated(KernelBuilder &b, const Row &row) const {
  int64_t lanes = b.lanes();
  Value width = b.getParam(inDims + last());
  auto emitParts = [&](Value x, Value mask, bool isTail) {
    Value elements = emitSum(b, row, x, mask);
    for (int64_t part = 0; part < repeats; ++part) {
      SmallVector<int64_t> pattern;
      for (int64_t lane = 0; lane < lanes; ++lane)
        pattern.push_back((part * lanes + lane) / repeats);
      Value target = b.add(b.mul(x, repeats), part * lanes), exists;
      if (isTail)
        exists = b.firstLanes(b.sub(b.mul(width, repeats), target), lanes);
      emitStore(b, row, target, exists, b.shuffle(elements, elements, pattern));
    }
  };
  Value whole = b.mul(b.div(width, lanes), lanes);
  b.forLoop(b.cst(0), whole, b.cst(lanes),
            [&](Value x) { emitParts(x, Value(), /*isTail=*/false); });
  b.ifThen(b.slt(whole, width), [&] {
    Value mask = b.firstLanes(b.sub(width, whole), lanes);
    emitParts(whole, mask, /*isTail=*/true);
  });
}

void ResizeNchwKernel::emitRow(KernelBuilder &b, const Row &row) const {
  if (access == Access::Repeat)
    return emitRepeated(b, row);
  Value inWidth = b.getParam(inDims + last());
  Value outWidth = b.getParam(outDims + last());
  if (access == Access::Identity) {
    forVectors(b, b.cst(0), outWidth, b.lanes(), [&](Value x, Value mask) {
      emitStore(b, row, x, mask, emitSum(b, row, x, mask));
    });
    return;
  }
  forVectors(b, b.cst(0), inWidth, b.lanes(), [&](Value x, Value mask) {
    Value pointer = b.offset(b.getScratch(), b.mul(x, 4));
    Value sum = emitSum(b, row, x, mask);
    mask ? b.maskedStore(sum, pointer, mask) : b.store(sum, pointer);
  });
  const ResizeTable &table = tables.back();
  forVectors(b, b.cst(0), outWidth, b.lanes(), [&](Value x, Value mask) {
    Value sum;
    for (int64_t tap = 0; tap < table.taps; ++tap) {
      Value value = emitPlaces(b, x, tap, mask);
      if (table.isWeighted()) {
        Value weights = table.weights(b, x, tap);
        value = sum ? b.fma(weights, value, sum) : b.mulF(weights, value);
      }
      sum = value;
    }
    emitStore(b, row, x, mask, sum);
  });
}

void ResizeNchwKernel::emit(KernelBuilder &b) const {
  BoundFlatTensor in = input.bind(b);
  VectorOutput::Bound out = output.bind(b);
  Value perTask = b.getParam(rowsPerTask);
  Value first = b.mul(b.getBegin(), perTask);
  Value end = b.minS(b.mul(b.getEnd(), perTask), b.getParam(rows));
  b.forLoop(first, end, b.cst(1), [&](Value index) {
    Row row{in, out, b.mul(index, b.getParam(outDims + last())), Value(), {}};
    SmallVector<Value> place(last());
    for (int64_t dim = last() - 1; dim >= 0; --dim) {
      Value size = b.getParam(outDims + dim);
      place[dim] = b.rem(index, size);
      index = b.div(index, size);
    }
    row.channel = b.rem(index, b.getParam(channels));
    collectTaps(b, place, 0, index, Value(), row.taps);
    emitRow(b, row);
  });
}

//===----------------------------------------------------------------------===//
// Planning
//===----------------------------------------------------------------------===//

Applicability ResizeNchw::isApplicable(const Problem &problem,
                                       const TargetInfo & /*target*/) const {
  if (problem.op != OpKind::Resize)
    return Applicability::no("is not a resize");
  const TensorDesc &input = problem.operands[0];
  if (input.rank() < 3 || input.rank() > 5)
    return Applicability::no("has no one to three spatial dimensions");
  if (input.layout.kind != Layout::NCHW ||
      problem.result.layout.kind != Layout::NCHW)
    return Applicability::no("needs operand and result in nchw");
  if (!isVectorizable(input))
    return notVectorizable("the operand");
  for (int64_t dim = 0; dim < input.rank(); ++dim) {
    ResizeTaps taps = getResizeTaps(problem, dim);
    if (taps.hasOutside)
      return Applicability::no("places lie outside of the input");
    if (dim < 2 && !taps.isIdentity())
      return Applicability::no("resizes batch or channels");
  }
  return VectorOutput::check(problem);
}

/// Repeating is exact only if nothing is weighted, and uses the whole line: a
/// result may end earlier.
static Access chooseAccess(const ResizeTaps &taps, int64_t inWidth,
                           const TargetInfo &target) {
  if (taps.isIdentity())
    return Access::Identity;
  if (int64_t repeats = taps.repeats();
      repeats > 1 && repeats <= kMaxRepeats && taps.places == repeats * inWidth)
    return Access::Repeat;
  bool hasPermute = target.vectorBits >= 256 && target.hasFma;
  return hasPermute && taps.fitsVector(target.lanes()) ? Access::Permute
                                                       : Access::Gather;
}

SolutionPlan ResizeNchw::plan(const Problem &problem, const TargetInfo &target,
                              const PerfConfig & /*config*/) const {
  const TensorDesc &in = problem.operands[0], &result = problem.result;
  SolutionPlan plan;
  LaunchBuilder launch(plan);
  ResizeTaps width = getResizeTaps(problem, result.rank() - 1);
  Access access = chooseAccess(width, in.shape.back(), target);
  std::vector<ResizeTable> tables;
  std::string dims;
  for (int64_t dim = 2; dim < result.rank(); ++dim) {
    tables.emplace_back(launch, getResizeTaps(problem, dim));
    dims += tables.back().symbolPart();
  }
  int64_t rows = result.numElements() / result.shape.back();
  int64_t longest = std::max(in.shape.back(), result.shape.back());
  int64_t perTask = std::max<int64_t>(1, kElementsPerTask / longest);
  ResizeNchwKernel kernel{
      .access = access,
      .repeats = access == Access::Repeat ? width.repeats() : 0,
      .input = FlatTensor(launch, {BufferSlot::Operand, 0}, in),
      .output = VectorOutput(launch, problem),
      .tables = std::move(tables),
      .inDims = launch.addParams(in.spatial()),
      .outDims = launch.addParams(result.spatial()),
      .channels = launch.addParam(result.shape[1]),
      .rows = launch.addParam(rows),
      .rowsPerTask = launch.addParam(perTask)};
  static constexpr StringLiteral kNames[] = {"whole", "repeat", "permute",
                                             "gather"};
  std::string symbol =
      joinSymbol({"resize_nchw", dims, kNames[static_cast<size_t>(access)],
                  kernel.repeats ? std::to_string(kernel.repeats) : "",
                  kernel.input.symbolPart(), kernel.output.symbolPart()});
  // The scratch holds the line, and the elements that vectors read behind it.
  int64_t scratch = 4 * (llvm::alignTo(in.shape.back(), 16) + 16);
  launch.finish(
      symbol, [kernel](KernelBuilder &b) { kernel.emit(b); },
      llvm::divideCeil(rows, perTask), scratch);
  return plan;
}

const Solver &tarpon::getResizeNchw() {
  static const ResizeNchw solver;
  return solver;
}
