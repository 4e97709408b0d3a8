//===- GpuDepthwise.cpp - Depthwise convolution, taps in registers --------===//
//
// Part of Tarpon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A lane computes a few neighbouring pixels of one vector of channels (one
// channel in nchw). For each row of the filter it holds the row's taps and its
// pixels' input columns in registers, so that each is loaded once. The width of
// the filter, its stride and dilation are known at compile time; all other
// sizes are arguments.
//
//===----------------------------------------------------------------------===//

#include "ByteNumbers.h"
#include "GpuOutput.h"
#include "GpuSolvers.h"
#include "Host/Depthwise/Depthwise.h"
#include "ImageWork.h"
#include "tarpon/Solver/GpuTarget.h"

#include "mlir/Dialect/Vector/IR/VectorOps.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/MathExtras.h"

#include <map>
#include <set>

using namespace mlir;
using namespace tarpon;

namespace {

class GpuDepthwise final : public Solver {
public:
  StringRef id() const override { return "gpu-depthwise-v1"; }
  Applicability isApplicable(const Problem &problem,
                             const TargetInfo &target) const override;
  bool knowsSlices() const override { return true; }
  PerfConfig defaultConfig(const Problem &problem,
                           const TargetInfo &target) const override;
  std::vector<PerfConfig> configs(const Problem &problem,
                                  const TargetInfo &target) const override;
  bool isValidConfig(const Problem &problem, const TargetInfo &target,
                     const PerfConfig &config) const override;
  double expectedFraction(const Problem & /*problem*/,
                          const TargetInfo & /*target*/) const override {
    return 0.5;
  }
  SolutionPlan plan(const Problem &problem, const TargetInfo &target,
                    const PerfConfig &config) const override;
};

/// The last dimension of the filter.
struct FilterRow {
  int64_t cells, stride, dilation;

  static FilterRow of(const Problem &problem) {
    return {problem.operands[1].shape.back(), problem.ints("strides").back(),
            problem.ints("dilations").back()};
  }
  /// The input columns of `tile` pixels, relative to the first one's first.
  std::vector<int64_t> getColumns(int64_t tile) const;
  std::string symbolPart() const {
    return ("k" + Twine(cells) + "s" + Twine(stride) + "d" + Twine(dilation))
        .str();
  }
};

struct GpuDepthwiseKernel {
  FilterRow row;
  int64_t tile;
  bool quantized;
  FlatTensor input;
  VectorOutput output;
  GpuImageWork work;
  int64_t filterBuffer, scaleBuffer, channelStride;
  int64_t fill; ///< a parameter: four bytes of the zero point

  void emit(KernelBuilder &b) const;
  void emitPlace(KernelBuilder &b, const BoundFlatTensor &in,
                 const GpuOutput &out, const GpuImageWork::Place &place) const;
  /// The places of a row of cells in the filter and in the input.
  struct Cells {
    Value filterRow, offset, isInside;
  };
  SmallVector<Value> foldRows(KernelBuilder &b, const BoundFlatTensor &in,
                              const GpuImageWork::Place &place, size_t dim,
                              const Cells &cells, ValueRange sums) const;
  SmallVector<Value> addRow(KernelBuilder &b, const BoundFlatTensor &in,
                            const GpuImageWork::Place &place,
                            const Cells &cells, ValueRange sums) const;
  /// A column of the input, 0 outside of it: bytes as they are stored.
  Value loadColumn(KernelBuilder &b, const BoundFlatTensor &in,
                   const GpuImageWork::Place &place, const Cells &cells,
                   int64_t column) const;
  /// A loaded column minus the zero point.
  Value decode(KernelBuilder &b, const BoundFlatTensor &in, Value column) const;
};

} // namespace

std::vector<int64_t> FilterRow::getColumns(int64_t tile) const {
  std::set<int64_t> columns;
  for (int64_t i = 0; i < tile; ++i)
    for (int64_t k = 0; k < cells; ++k)
      columns.insert(i * stride + k * dilation);
  return {columns.begin(), columns.end()};
}

Value GpuDepthwiseKernel::loadColumn(KernelBuilder &b,
                                     const BoundFlatTensor &in,
                                     const GpuImageWork::Place &place,
                                     const Cells &cells, int64_t column) const {
  int64_t lanes = work.getVector();
  const GpuWindowDim &window = place.window.back();
  Value x =
      b.add(b.sub(b.mul(place.out.back(), row.stride), window.pad), column);
  Value isColumn = b.ult(x, window.input);
  // An existing place is read in any case.
  Value read = b.select(isColumn, x, b.cst(0));
  Value isInside = b.andI(cells.isInside, isColumn);
  Value at = b.add(cells.offset, b.mul(read, window.step));
  if (!quantized)
    return b.select(isInside, in.loadRaw(b, at, lanes),
                    b.broadcast(b.cstF(0), lanes));
  VectorType type = b.vec(b.getI8Type(), lanes);
  Value loaded = b.load(in.pointerTo(b, at), type);
  Value word =
      arith::TruncIOp::create(b, Type(b.getI32Type()), b.getParam(fill));
  Value zeros;
  if (lanes % 4 == 0)
    zeros = b.bitcast(b.broadcast(word, lanes / 4), type);
  else
    zeros = vector::BroadcastOp::create(
        b, type, arith::TruncIOp::create(b, Type(b.getI8Type()), word));
  return b.select(isInside, loaded, zeros);
}

Value GpuDepthwiseKernel::decode(KernelBuilder &b, const BoundFlatTensor &in,
                                 Value column) const {
  if (!quantized)
    return column;
  Value number = emitDecodeBytes(static_cast<GpuKernelBuilder &>(b), column,
                                 in.dtype == DType::I8, b.cstF(1),
                                 b.subF(b.cstF(0), in.zeroPoint));
  return work.getVector() > 1
             ? number
             : Value(vector::ExtractOp::create(b, number, int64_t(0)));
}

SmallVector<Value> GpuDepthwiseKernel::addRow(KernelBuilder &b,
                                              const BoundFlatTensor &in,
                                              const GpuImageWork::Place &place,
                                              const Cells &cells,
                                              ValueRange sums) const {
  int64_t lanes = work.getVector();
  Value stride = b.getParam(channelStride), filter = b.getBuffer(filterBuffer);
  Type type = lanes == 1 ? Type(b.getF32Type()) : b.vec(b.getF32Type(), lanes);
  std::map<int64_t, Value> columns;
  for (int64_t column : row.getColumns(tile))
    columns[column] = loadColumn(b, in, place, cells, column);
  SmallVector<Value> taps, next(sums);
  for (int64_t k = 0; k < row.cells; ++k) {
    Value cell = b.add(b.mul(cells.filterRow, row.cells), k);
    Value at = b.add(b.mul(cell, stride), place.channel);
    taps.push_back(b.load(b.offset(filter, b.mul(at, 4)), type));
  }
  // A column is used up before the next one is decoded.
  for (auto [column, loaded] : columns) {
    Value number = decode(b, in, loaded);
    for (int64_t i = 0; i < tile; ++i)
      for (int64_t k = 0; k < row.cells; ++k)
        if (i * row.stride + k * row.dilation == column)
          next[i] = b.fma(number, taps[k], next[i]);
  }
  return next;
}

SmallVector<Value>
GpuDepthwiseKernel::foldRows(KernelBuilder &b, const BoundFlatTensor &in,
                             const GpuImageWork::Place &place, size_t dim,
                             const Cells &cells, ValueRange sums) const {
  if (dim + 1 == place.window.size())
    return addRow(b, in, place, cells, sums);
  const GpuWindowDim &window = place.window[dim];
  Value first = b.sub(b.mul(place.out[dim], window.stride), window.pad);
  return b.forLoop(b.cst(0), window.kernel, b.cst(1), sums,
                   [&](Value k, ValueRange inner) {
                     Value at = b.add(first, b.mul(k, window.dilation));
                     Value isInside = b.ult(at, window.input);
                     Value read = b.select(isInside, at, b.cst(0));
                     Cells next{b.add(b.mul(cells.filterRow, window.kernel), k),
                                b.add(cells.offset, b.mul(read, window.step)),
                                b.andI(cells.isInside, isInside)};
                     return foldRows(b, in, place, dim + 1, next, inner);
                   });
}

void GpuDepthwiseKernel::emitPlace(KernelBuilder &b, const BoundFlatTensor &in,
                                   const GpuOutput &out,
                                   const GpuImageWork::Place &place) const {
  int64_t lanes = work.getVector();
  Value yes = arith::ConstantOp::create(b, b.getBoolAttr(true));
  SmallVector<Value> start(tile, b.broadcast(b.cstF(0), lanes));
  SmallVector<Value> sums =
      foldRows(b, in, place, 0, {b.cst(0), place.start, yes}, start);
  for (int64_t i = 0; i < tile; ++i) {
    Value x = b.add(place.out.back(), i);
    b.ifThen(b.slt(x, work.getWidth(b)), [&] {
      Value sum = sums[i];
      if (quantized) {
        Value at = b.offset(b.getBuffer(scaleBuffer), b.mul(place.channel, 4));
        sum = b.mulF(sum, b.load(at, sum.getType()));
      }
      out.store(b, work.getOutput(b, place, x), sum);
    });
  }
}

void GpuDepthwiseKernel::emit(KernelBuilder &b) const {
  BoundFlatTensor in = input.bind(b);
  GpuOutput out(b, output);
  work.emit(b, [&](const GpuImageWork::Place &place) {
    emitPlace(b, in, out, place);
  });
}

//===----------------------------------------------------------------------===//
// The solver
//===----------------------------------------------------------------------===//

/// The number of f32 values that a lane may hold: half of the registers that
/// two waves per SIMD leave it.
static constexpr int64_t kMaxHeld = 96;
static constexpr int64_t kTiles[] = {1, 2, 4, 8};
static constexpr int64_t kMaxCells = 9;

/// The values of one channel that a lane holds.
static int64_t countHeld(const Problem &problem, int64_t tile) {
  FilterRow row = FilterRow::of(problem);
  auto columns = static_cast<int64_t>(row.getColumns(tile).size());
  // Four bytes are a register until they are decoded, one column at a time.
  if (problem.operands[0].quantized)
    columns = 1 + llvm::divideCeil(columns, 4);
  return columns + row.cells + tile;
}

/// The vector for a tile; 0 if not even single channels fit.
static int64_t chooseVector(const Problem &problem, int64_t tile) {
  int64_t held = countHeld(problem, tile);
  bool isNhwc = problem.result.layout.kind == Layout::NHWC;
  int64_t vector =
      isNhwc ? chooseGpuVector(problem, problem.result.shape[1]) : 1;
  while (vector > 0 && vector * held > kMaxHeld)
    vector /= 2;
  return vector;
}

Applicability GpuDepthwise::isApplicable(const Problem &problem,
                                         const TargetInfo & /*target*/) const {
  if (Applicability answer = checkDepthwise(problem); !answer)
    return answer;
  if (problem.operands[1].shape.back() > kMaxCells)
    return Applicability::no("needs a filter of at most 9 cells in a row");
  return GpuImageWork::check(problem);
}

/// A few pixels share taps and columns; in nchw that would keep neighbouring
/// lanes from reading neighbouring elements.
PerfConfig GpuDepthwise::defaultConfig(const Problem &problem,
                                       const TargetInfo &target) const {
  bool isNhwc = problem.result.layout.kind == Layout::NHWC;
  int64_t tile = isNhwc && problem.result.shape.back() >= 4 ? 4 : 1;
  // ptxas takes almost twice as many registers, and 128 leave room for four
  // waves on a SIMD. Wide vectors are worth more than large tiles.
  constexpr int64_t kFewHeld = 72;
  bool isWide =
      chooseVector(problem, 2) > chooseVector(problem, tile) ||
      chooseVector(problem, tile) * countHeld(problem, tile) > kFewHeld;
  if (target.gpu->vendor == GpuVendor::NVIDIA && tile > 2 && isWide)
    tile = 2;
  return {{"tile_w", tile}, {"workgroup", getWorkgroups(*target.gpu).front()}};
}

std::vector<PerfConfig> GpuDepthwise::configs(const Problem &problem,
                                              const TargetInfo &target) const {
  std::vector<PerfConfig> all = {defaultConfig(problem, target)};
  for (int64_t tile : kTiles)
    for (int64_t workgroup : getWorkgroups(*target.gpu)) {
      PerfConfig config = {{"tile_w", tile}, {"workgroup", workgroup}};
      if (config != all.front() && isValidConfig(problem, target, config))
        all.push_back(config);
    }
  return all;
}

bool GpuDepthwise::isValidConfig(const Problem &problem,
                                 const TargetInfo &target,
                                 const PerfConfig &config) const {
  return config.getFields().size() == 2 && config.has("tile_w") &&
         config.has("workgroup") &&
         llvm::is_contained(kTiles, config.get("tile_w")) &&
         llvm::is_contained(getWorkgroups(*target.gpu),
                            config.get("workgroup")) &&
         chooseVector(problem, config.get("tile_w")) > 0;
}

/// Four bytes of the zero point.
static int64_t getFill(const TensorDesc &input) {
  auto byte = static_cast<uint8_t>(input.zeroPoint);
  return static_cast<int32_t>(uint32_t(byte) * 0x01010101u);
}

SolutionPlan GpuDepthwise::plan(const Problem &original,
                                const TargetInfo & /*target*/,
                                const PerfConfig &config) const {
  Problem problem = dropSaturatedSteps(original);
  const TensorDesc &input = problem.operands[0], &filter = problem.operands[1];
  int64_t tile = config.get("tile_w"), workgroup = config.get("workgroup");
  int64_t numChannels = filter.shape[0];
  SolutionPlan plan;
  LaunchBuilder launch(plan);
  GpuDepthwiseKernel kernel{
      .row = FilterRow::of(problem),
      .tile = tile,
      .quantized = input.quantized,
      .input = FlatTensor(launch, {BufferSlot::Operand, 0}, input),
      .output = VectorOutput(launch, problem),
      .work = GpuImageWork(launch, problem, filter.spatial(),
                           chooseVector(problem, tile), tile, workgroup),
      .filterBuffer =
          launch.addConstant(packDepthwiseFilter(problem, numChannels)),
      .scaleBuffer =
          input.quantized
              ? launch.addFloats(getDepthwiseScales(problem, numChannels))
              : 0,
      .channelStride = launch.addParam(numChannels),
      .fill = input.quantized ? launch.addParam(getFill(input)) : 0};
  std::string symbol =
      joinSymbol({"depthwise_conv", kernel.row.symbolPart(),
                  kernel.work.symbolPart(), kernel.input.symbolPart(),
                  kernel.output.symbolPart(), ("w" + Twine(tile)).str()});
  int64_t tasks = kernel.work.tasks();
  finishGpuLaunch(
      plan, launch, symbol, [kernel](KernelBuilder &b) { kernel.emit(b); },
      tasks, workgroup);
  return plan;
}

const Solver &tarpon::getGpuDepthwise() {
  static const GpuDepthwise solver;
  return solver;
}
