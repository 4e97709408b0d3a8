//===- GpuConvertLayout.cpp - Converts nchw and nhwc through LDS ----------===//
//
// Part of Tarpon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Each image is a matrix of channels and pixels that is transposed. A workgroup
// reads a tile of it in the order of the source into LDS, as f32, and writes it
// in the order of the target, so that neighbouring lanes are neighbours in
// memory, and accesses are wide where lines consist of whole vectors: three
// channels are accessed one by one. The rows of the tile are one element longer
// in LDS: lanes that read single elements of a column find them in different
// banks, those that read vectors of them in a few. Few channels need no LDS:
// see FewChannels.h, for which tiles of one row stand.
//
//===----------------------------------------------------------------------===//

#include "ElementWork.h"
#include "FewChannels.h"
#include "GpuSolvers.h"
#include "OneFieldSolver.h"

#include "tarpon/Kernels/GPU/GpuKernelBuilder.h"

#include "mlir/Dialect/Vector/IR/VectorOps.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/Sequence.h"
#include "llvm/Support/MathExtras.h"

#include <algorithm>
#include <limits>

using namespace mlir;
using namespace tarpon;
using llvm::divideCeil;

namespace {

class GpuConvertLayout final : public OneFieldSolver {
public:
  StringRef id() const override { return "gpu-convert-layout-v1"; }
  Applicability isApplicable(const Problem &problem,
                             const TargetInfo &target) const override;
  double expectedFraction(const Problem &problem,
                          const TargetInfo &target) const override;
  SolutionPlan plan(const Problem &problem, const TargetInfo &target,
                    const PerfConfig &config) const override;

private:
  StringRef getField(const Problem & /*problem*/) const override {
    return "tile_rows";
  }
  std::vector<int64_t> getValues(const Problem &problem,
                                 const TargetInfo &target) const override;
  int64_t chooseValue(const Problem &problem,
                      const TargetInfo &target) const override;
};

/// The matrix of an image, as the source holds it.
struct Matrix {
  int64_t rows, columns;

  static Matrix of(const Problem &problem) {
    int64_t channels = problem.result.shape[1];
    int64_t pixels = problem.result.spatialSize();
    bool toNhwc = problem.result.layout.kind == Layout::NHWC;
    return toNhwc ? Matrix{channels, pixels} : Matrix{pixels, channels};
  }
};

/// The tile that a workgroup transposes; all tiles have equally many elements.
struct Tile {
  static constexpr int64_t kElements = 4096, kWorkgroup = 256;
  int64_t rows;

  int64_t getColumns() const { return kElements / rows; }
  /// Elements from one row to the next, in LDS.
  int64_t getPitch() const { return getColumns() + 1; }
  int64_t getLdsBytes() const { return rows * getPitch() * 4; }
  int64_t getRowTiles(const Matrix &matrix) const {
    return divideCeil(matrix.rows, rows);
  }
  int64_t getColumnTiles(const Matrix &matrix) const {
    return divideCeil(matrix.columns, getColumns());
  }
  /// The number of tiles that cover the matrix.
  int64_t getCount(const Matrix &matrix) const {
    return getRowTiles(matrix) * getColumnTiles(matrix);
  }
};

/// All integers except those of the tile and the vectors are indices of
/// parameters.
struct TransposeKernel {
  Tile tile;
  int64_t loadVector, storeVector;
  FlatTensor source, target;
  int64_t rows, columns;
  MagicDivisor rowTiles, columnTiles;

  void emit(KernelBuilder &b) const;
};

/// The place of a workgroup's tile.
struct TilePlace {
  Value image, row, column; ///< element offset of the image; first ones
  Value rows, columns;      ///< of the matrix
};

} // namespace

/// The place of the `index`-th vector that this lane accesses in a tile with
/// lines of this length: its line, and its first element in it.
static std::pair<Value, Value> getVectorPlace(KernelBuilder &b, int64_t index,
                                              int64_t line, int64_t vector) {
  Value number = b.add(b.getLane(), b.cst(index * Tile::kWorkgroup));
  int64_t perLine = line / vector;
  auto shift = static_cast<int64_t>(llvm::Log2_64(perLine));
  Value first = b.mul(b.andI(number, b.cst(perLine - 1)), vector);
  return {arith::ShRUIOp::create(b, number, b.cst(shift)), first};
}

static auto getVectors(int64_t vector) {
  return llvm::seq<int64_t>(Tile::kElements / Tile::kWorkgroup / vector);
}

static Value getLdsPointer(GpuKernelBuilder &b, const Tile &tile, Value row,
                           Value column) {
  Value element = b.add(b.mul(row, tile.getPitch()), column);
  return b.offset(b.getLds(), b.mul(element, 4));
}

/// Reads the tile into LDS. Places outside of the matrix are read from its
/// edge, so that all loads are issued before the first value is needed.
static void emitLoads(GpuKernelBuilder &b, const TransposeKernel &kernel,
                      const TilePlace &place) {
  BoundFlatTensor from = kernel.source.bind(b);
  int64_t vector = kernel.loadVector;
  Value lastRow = b.sub(place.rows, b.cst(1));
  Value lastColumn = b.sub(place.columns, b.cst(vector));
  auto getPlace = [&](int64_t i) {
    return getVectorPlace(b, i, kernel.tile.getColumns(), vector);
  };
  SmallVector<Value> loaded;
  for (int64_t i : getVectors(vector)) {
    auto [inRow, inColumn] = getPlace(i);
    Value row = b.minS(b.add(place.row, inRow), lastRow);
    Value column = b.minS(b.add(place.column, inColumn), lastColumn);
    Value offset = b.add(b.mul(row, place.columns), column);
    loaded.push_back(from.load(b, b.add(place.image, offset), vector));
  }
  for (int64_t i : getVectors(vector)) {
    auto [row, column] = getPlace(i);
    Value pointer = getLdsPointer(b, kernel.tile, row, column);
    for (int64_t lane = 0; lane < vector; ++lane) {
      Value element =
          vector == 1
              ? loaded[i]
              : vector::ExtractOp::create(b, loaded[i], lane).getResult();
      b.store(element, b.offset(pointer, lane * 4));
    }
  }
}

/// Loads the vector of a column of the tile that begins in this row.
static Value loadColumn(GpuKernelBuilder &b, const TransposeKernel &kernel,
                        Value row, Value column) {
  Value pointer = getLdsPointer(b, kernel.tile, row, column);
  SmallVector<Value> elements;
  for (int64_t lane = 0; lane < kernel.storeVector; ++lane)
    elements.push_back(b.load(
        b.offset(pointer, lane * kernel.tile.getPitch() * 4), b.getF32Type()));
  if (elements.size() == 1)
    return elements.front();
  Type type = b.vec(b.getF32Type(), kernel.storeVector);
  return vector::FromElementsOp::create(b, type, elements);
}

/// Writes the tile, column by column. LDS holds the whole tile, even outside of
/// the matrix, so that reading it needs no condition.
static void emitStores(GpuKernelBuilder &b, const TransposeKernel &kernel,
                       const TilePlace &place) {
  BoundFlatTensor to = kernel.target.bind(b);
  int64_t vector = kernel.storeVector;
  auto getPlace = [&](int64_t i) {
    return getVectorPlace(b, i, kernel.tile.rows, vector);
  };
  SmallVector<Value> loaded;
  for (int64_t i : getVectors(vector)) {
    auto [inColumn, inRow] = getPlace(i);
    loaded.push_back(loadColumn(b, kernel, inRow, inColumn));
  }
  for (int64_t i : getVectors(vector)) {
    auto [inColumn, inRow] = getPlace(i);
    Value row = b.add(place.row, inRow), column = b.add(place.column, inColumn);
    Value exists = b.andI(b.slt(row, place.rows), b.slt(column, place.columns));
    Value offset = b.add(b.mul(column, place.rows), row);
    b.ifThen(exists, [&, value = loaded[i]] {
      to.store(b, value, b.add(place.image, offset));
    });
  }
}

void TransposeKernel::emit(KernelBuilder &builder) const {
  auto &b = static_cast<GpuKernelBuilder &>(builder);
  auto [rest, columnTile] = columnTiles.bind(b).divRem(b, b.getBegin());
  auto [image, rowTile] = rowTiles.bind(b).divRem(b, rest);
  Value numRows = b.getParam(rows), numColumns = b.getParam(columns);
  TilePlace place{b.mul(image, b.mul(numRows, numColumns)),
                  b.mul(rowTile, tile.rows),
                  b.mul(columnTile, tile.getColumns()), numRows, numColumns};
  emitLoads(b, *this, place);
  b.barrier();
  emitStores(b, *this, place);
}

//===----------------------------------------------------------------------===//
// The solver
//===----------------------------------------------------------------------===//

/// The tiles from square to flat and tall ones; one of them suits few channels.
/// The square is the first.
static constexpr int64_t kTileRows[] = {64, 4, 16, 256, 1024};
/// The value of the field that stands for no tile.
static constexpr int64_t kInRegisters = 1;

/// Chooses the tile that leaves the fewest elements unused.
static Tile chooseTile(const Matrix &matrix) {
  return {*llvm::min_element(kTileRows, [&](int64_t a, int64_t b) {
    return Tile{a}.getCount(matrix) < Tile{b}.getCount(matrix);
  })};
}

/// The number of lanes with the tile that needs the most.
static int64_t getMostLanes(const Problem &problem) {
  Matrix matrix = Matrix::of(problem);
  int64_t tiles = 0;
  for (int64_t rows : kTileRows)
    tiles = std::max(tiles, Tile{rows}.getCount(matrix));
  return problem.result.shape[0] * tiles * Tile::kWorkgroup;
}

Applicability
GpuConvertLayout::isApplicable(const Problem &problem,
                               const TargetInfo & /*target*/) const {
  if (problem.op != OpKind::Convert)
    return Applicability::no("is not a conversion");
  const TensorDesc &from = problem.operands[0], &to = problem.result;
  auto isBetween = [&](Layout::Kind one, Layout::Kind other) {
    return from.layout.kind == one && to.layout.kind == other;
  };
  if (!isBetween(Layout::NCHW, Layout::NHWC) &&
      !isBetween(Layout::NHWC, Layout::NCHW))
    return Applicability::no("is not between nchw and nhwc");
  if (from.shape != to.shape || to.rank() < 3)
    return Applicability::no("operand and result need one shape, with pixels");
  if (!problem.epilogue.empty())
    return Applicability::no("has an epilogue");
  if (!isVectorizable(from))
    return notVectorizable("the operand");
  if (Applicability answer = checkIndexable(problem); !answer)
    return answer;
  if (getMostLanes(problem) > std::numeric_limits<uint32_t>::max())
    return Applicability::no("has too many small images for one launch");
  return VectorOutput::check(problem);
}

/// The expected share of the bandwidth, reduced by the unused part of tiles.
double GpuConvertLayout::expectedFraction(const Problem &problem,
                                          const TargetInfo & /*target*/) const {
  if (hasFewChannels(problem))
    return 0.6;
  Matrix matrix = Matrix::of(problem);
  int64_t covered = chooseTile(matrix).getCount(matrix) * Tile::kElements;
  return 0.6 * static_cast<double>(matrix.rows * matrix.columns) /
         static_cast<double>(covered);
}

std::vector<int64_t>
GpuConvertLayout::getValues(const Problem &problem,
                            const TargetInfo & /*target*/) const {
  std::vector<int64_t> values(std::begin(kTileRows), std::end(kTileRows));
  if (hasFewChannels(problem))
    values.push_back(kInRegisters);
  return values;
}

int64_t GpuConvertLayout::chooseValue(const Problem &problem,
                                      const TargetInfo & /*target*/) const {
  return hasFewChannels(problem) ? kInRegisters
                                 : chooseTile(Matrix::of(problem)).rows;
}

/// The widest vector of at most 16 bytes that divides a line of the matrix.
static int64_t chooseVector(const TensorDesc &desc, int64_t line,
                            int64_t tileLine) {
  constexpr int64_t kBytes = 16;
  int64_t vector = std::min(kBytes / runtime::dtypeBytes(desc.dtype), tileLine);
  while (line % vector != 0)
    vector /= 2;
  return vector;
}

SolutionPlan GpuConvertLayout::plan(const Problem &problem,
                                    const TargetInfo & /*target*/,
                                    const PerfConfig &config) const {
  SolutionPlan plan;
  if (getValue(problem, config) == kInRegisters) {
    planFewChannels(plan, problem);
    return plan;
  }
  LaunchBuilder launch(plan);
  const TensorDesc &from = problem.operands[0], &to = problem.result;
  Matrix matrix = Matrix::of(problem);
  Tile tile{getValue(problem, config)};
  TransposeKernel kernel{
      .tile = tile,
      .loadVector = chooseVector(from, matrix.columns, tile.getColumns()),
      .storeVector = chooseVector(to, matrix.rows, tile.rows),
      .source = FlatTensor(launch, {BufferSlot::Operand, 0}, from),
      .target = FlatTensor(launch, {BufferSlot::Result, 0}, to),
      .rows = launch.addParam(matrix.rows),
      .columns = launch.addParam(matrix.columns),
      .rowTiles = MagicDivisor(launch, tile.getRowTiles(matrix)),
      .columnTiles = MagicDivisor(launch, tile.getColumnTiles(matrix))};
  std::string symbol = joinSymbol(
      {("convert_layout" + Twine(tile.rows) + "_" + Twine(kernel.loadVector) +
        "x" + Twine(kernel.storeVector))
           .str(),
       kernel.source.symbolPart(), "to", kernel.target.symbolPart()});
  finishGpuLaunch(
      plan, launch, symbol, [kernel](KernelBuilder &b) { kernel.emit(b); },
      to.shape[0] * tile.getCount(matrix), Tile::kWorkgroup,
      tile.getLdsBytes());
  return plan;
}

const Solver &tarpon::getGpuConvertLayout() {
  static const GpuConvertLayout solver;
  return solver;
}
