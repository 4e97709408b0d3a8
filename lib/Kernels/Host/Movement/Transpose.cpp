//===- Transpose.cpp - Vectorised permutation of dimensions ---------------===//
//
// Part of Tarpon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Dimensions that stay together count as one. If the innermost dimension stays
// innermost, rows of bytes are copied; otherwise matrices are transposed in
// registers.
//
//===----------------------------------------------------------------------===//

#include "CopyBytes.h"
#include "Host/Solvers.h"
#include "TransposeTiles.h"

#include <algorithm>

using namespace mlir;
using namespace tarpon;

namespace {

class Transpose final : public Solver {
public:
  StringRef id() const override { return "transpose-v1"; }
  Applicability isApplicable(const Problem &problem,
                             const TargetInfo &target) const override;
  double expectedFraction(const Problem & /*problem*/,
                          const TargetInfo & /*target*/) const override {
    return 0.4;
  }
  SolutionPlan plan(const Problem &problem, const TargetInfo &target,
                    const PerfConfig &config) const override;
};

/// A dimension of the result: its size, and element strides on both sides.
struct Dim {
  int64_t size, inStride, outStride;
};

} // namespace

/// The dimensions of the result, outermost first, without those of one element,
/// and with dimensions joined that are neighbours on both sides.
static SmallVector<Dim> getDims(const Problem &problem) {
  const std::vector<int64_t> &in = problem.operands[0].shape;
  std::vector<int64_t> strides(in.size(), 1);
  for (size_t dim = in.size(); dim-- > 1;)
    strides[dim - 1] = strides[dim] * in[dim];
  SmallVector<Dim> dims;
  for (int64_t dim : problem.ints("permutation")) {
    if (in[dim] == 1)
      continue;
    bool joins =
        !dims.empty() && dims.back().inStride == strides[dim] * in[dim];
    if (joins) {
      dims.back().size *= in[dim];
      dims.back().inStride = strides[dim];
    } else {
      dims.push_back({in[dim], strides[dim], 1});
    }
  }
  if (dims.empty())
    dims.push_back({1, 1, 1});
  for (size_t dim = dims.size(); dim-- > 1;)
    dims[dim - 1].outStride = dims[dim].outStride * dims[dim].size;
  return dims;
}

Applicability Transpose::isApplicable(const Problem &problem,
                                      const TargetInfo & /*target*/) const {
  if (problem.op != OpKind::Transpose)
    return Applicability::no("is not a transposition");
  const TensorDesc &input = problem.operands[0];
  if (input.layout.kind != Layout::NCHW ||
      problem.result.layout.kind != Layout::NCHW)
    return Applicability::no("needs row-major tensors");
  if (!problem.epilogue.empty() || !haveSameElements(input, problem.result))
    return Applicability::no("changes elements");
  if (runtime::dtypeBytes(input.dtype) == 8 &&
      getDims(problem).back().inStride != 1)
    return Applicability::no("moves the innermost dimension of 64-bit "
                             "elements");
  return Applicability::yes();
}

//===----------------------------------------------------------------------===//
// Places of outer dimensions
//===----------------------------------------------------------------------===//

namespace {
/// The dimensions that a loop over units covers, as parameters.
class OuterDims {
public:
  OuterDims(LaunchBuilder &launch, ArrayRef<Dim> dims)
      : count(static_cast<int64_t>(dims.size())) {
    std::vector<int64_t> fields;
    for (const Dim &dim : dims)
      fields.insert(fields.end(), {dim.size, dim.inStride, dim.outStride});
    first = launch.addParams(fields);
  }

  int64_t size() const { return count; }

  /// The element offsets in the input and in the result of the `index`-th
  /// place.
  std::pair<Value, Value> offsets(KernelBuilder &b, Value index) const {
    Value in = b.cst(0), out = b.cst(0);
    for (int64_t dim = count - 1; dim >= 0; --dim) {
      Value size = b.getParam(first + 3 * dim);
      Value place = dim > 0 ? b.rem(index, size) : index;
      index = b.div(index, size);
      in = b.add(in, b.mul(place, b.getParam(first + 3 * dim + 1)));
      out = b.add(out, b.mul(place, b.getParam(first + 3 * dim + 2)));
    }
    return {in, out};
  }

private:
  int64_t count, first;
};
} // namespace

static int64_t countPlaces(ArrayRef<Dim> dims) {
  int64_t places = 1;
  for (const Dim &dim : dims)
    places *= dim.size;
  return places;
}

static constexpr int64_t kElementsPerTask = 16384;

//===----------------------------------------------------------------------===//
// Rows
//===----------------------------------------------------------------------===//

static void planRows(const Problem &problem, ArrayRef<Dim> dims,
                     LaunchBuilder &launch) {
  ArrayRef<Dim> outer = dims.drop_back();
  int64_t elementBytes = runtime::dtypeBytes(problem.result.dtype);
  int64_t rows = countPlaces(outer), rowSize = dims.back().size;
  int64_t perTask = std::max<int64_t>(1, kElementsPerTask / rowSize);
  OuterDims places(launch, outer);
  launch.addOperand(0);
  launch.addResult();
  int64_t first =
      launch.addParams({rows, perTask, rowSize * elementBytes, elementBytes});
  auto emit = [=](KernelBuilder &b) {
    Value from = b.getBuffer(0), to = b.getBuffer(1);
    Value step = b.getParam(first + 1), bytes = b.getParam(first + 2);
    Value elementSize = b.getParam(first + 3);
    Value begin = b.mul(b.getBegin(), step);
    Value end = b.minS(b.mul(b.getEnd(), step), b.getParam(first));
    b.forLoop(begin, end, b.cst(1), [&](Value row) {
      auto [in, out] = places.offsets(b, row);
      emitCopyBytes(b, b.offset(to, b.mul(out, elementSize)),
                    b.offset(from, b.mul(in, elementSize)), bytes);
    });
  };
  launch.finish(joinSymbol({"transpose_rows", std::to_string(places.size())}),
                emit, llvm::divideCeil(rows, perTask));
}

//===----------------------------------------------------------------------===//
// Matrices
//===----------------------------------------------------------------------===//

/// A type of the same size that passes through f32 unchanged.
static TensorDesc withTransportType(TensorDesc desc) {
  desc.quantized = false;
  switch (runtime::dtypeBytes(desc.dtype)) {
  case 1:
    desc.dtype = DType::U8;
    return desc;
  case 2:
    desc.dtype = DType::U16;
    return desc;
  default:
    desc.dtype = DType::F32;
    return desc;
  }
}

namespace {
/// Rows are the result's innermost dimension, columns the input's.
struct MatrixKernel {
  FlatTensor source, target;
  OuterDims places;
  int64_t rows, columns, sourceStride, targetStride; ///< parameters
  int64_t chunk, chunks, units, unitsPerTask;        ///< parameters

  void emit(KernelBuilder &b) const;
};
} // namespace

void MatrixKernel::emit(KernelBuilder &b) const {
  BoundFlatTensor from = source.bind(b), to = target.bind(b);
  Value step = b.getParam(unitsPerTask), numChunks = b.getParam(chunks);
  Value begin = b.mul(b.getBegin(), step);
  Value end = b.minS(b.mul(b.getEnd(), step), b.getParam(units));
  b.forLoop(begin, end, b.cst(1), [&](Value unit) {
    Value chunkSize = b.getParam(chunk);
    Value first = b.mul(b.rem(unit, numChunks), chunkSize);
    Value last = b.minS(b.add(first, chunkSize), b.getParam(rows));
    auto [in, out] = places.offsets(b, b.div(unit, numChunks));
    TransposedMatrix matrix{
        from, to, in, b.getParam(sourceStride), out, b.getParam(targetStride)};
    emitTranspose(b, matrix, first, last, b.cst(0), b.getParam(columns));
  });
}

static void planMatrices(const Problem &problem, SmallVector<Dim> dims,
                         LaunchBuilder &launch) {
  Dim rows = dims.pop_back_val();
  auto *columns =
      llvm::find_if(dims, [](const Dim &dim) { return dim.inStride == 1; });
  Dim column = *columns;
  dims.erase(columns);
  constexpr int64_t kChunk = 64;
  int64_t chunks = llvm::divideCeil(rows.size, kChunk);
  int64_t units = countPlaces(dims) * chunks;
  int64_t perTask = std::max<int64_t>(
      1, kElementsPerTask / (std::min(kChunk, rows.size) * column.size));
  MatrixKernel kernel{.source =
                          FlatTensor(launch, {BufferSlot::Operand, 0},
                                     withTransportType(problem.operands[0])),
                      .target = FlatTensor(launch, {BufferSlot::Result, 0},
                                           withTransportType(problem.result)),
                      .places = OuterDims(launch, dims),
                      .rows = launch.addParam(rows.size),
                      .columns = launch.addParam(column.size),
                      .sourceStride = launch.addParam(rows.inStride),
                      .targetStride = launch.addParam(column.outStride),
                      .chunk = launch.addParam(kChunk),
                      .chunks = launch.addParam(chunks),
                      .units = launch.addParam(units),
                      .unitsPerTask = launch.addParam(perTask)};
  std::string symbol =
      joinSymbol({"transpose_matrices", kernel.source.symbolPart(),
                  std::to_string(kernel.places.size())});
  launch.finish(
      symbol, [kernel](KernelBuilder &b) { kernel.emit(b); },
      llvm::divideCeil(units, perTask));
}

SolutionPlan Transpose::plan(const Problem &problem,
                             const TargetInfo & /*target*/,
                             const PerfConfig & /*config*/) const {
  SolutionPlan plan;
  LaunchBuilder launch(plan);
  SmallVector<Dim> dims = getDims(problem);
  if (dims.size() == 1) {
    RowCopy copy;
    copy.rowBytes = problem.result.numBytes();
    planRowCopy(launch, {BufferSlot::Operand, 0}, {BufferSlot::Result, 0},
                copy);
  } else if (dims.back().inStride == 1) {
    planRows(problem, dims, launch);
  } else {
    planMatrices(problem, dims, launch);
  }
  return plan;
}

const Solver &tarpon::getTranspose() {
  static const Transpose solver;
  return solver;
}
