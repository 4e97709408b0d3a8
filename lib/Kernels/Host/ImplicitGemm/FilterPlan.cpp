//===- FilterPlan.cpp - Packed filters, constant or not -------------------===//
//
// Part of Tarpon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A constant filter is packed at compile time; others are packed into the
// workspace by launches that precede the main one.
//
//===----------------------------------------------------------------------===//

#include "FilterPlan.h"

#include "Common/SubSolution.h"
#include "tarpon/Runtime/KernelABI.h"

#include "llvm/Support/MathExtras.h"

#include <algorithm>
#include <cassert>
#include <cstring>

using namespace mlir;
using namespace tarpon;
using namespace tarpon::igemm;
using llvm::divideCeil;

//===----------------------------------------------------------------------===//
// Packing the filter
//===----------------------------------------------------------------------===//

namespace {
/// Places filter elements in the packed order [group][channel tile][K][tileN].
class FilterPacker {
public:
  FilterPacker(const KernelSpec &spec, const Geometry &geometry)
      : spec(spec), g(geometry), shape(getPackedShape(spec, geometry)),
        perUnit(elementsPerUnit(spec.arith)),
        runTaps(shape.runElements / geometry.channels),
        runUnits(shape.unitsPerRun), units(shape.units),
        tiles(divideCeil(geometry.outChannels, spec.tileN)),
        elementBytes(runtime::dtypeBytes(spec.filterDtype)) {}

  int64_t totalBytes() const {
    return g.groups * tiles * units * spec.tileN * spec.filterUnitBytes();
  }

  std::vector<char> pack(const FilterStrides &strides, ArrayRef<char> filter) {
    std::vector<char> packed(totalBytes(), 0);
    for (int64_t group = 0; group < g.groups; ++group)
      for (int64_t tile = 0; tile < tiles; ++tile)
        packTile(group, tile, strides, filter, packed);
    return packed;
  }

private:
  void packTile(int64_t group, int64_t tile, const FilterStrides &strides,
                ArrayRef<char> filter, std::vector<char> &packed) const {
    int64_t first = tile * spec.tileN;
    int64_t columns = std::min(spec.tileN, g.outChannels - first);
    int64_t outChannel = group * g.outChannels + first;
    for (int64_t tap = 0; tap < g.taps(); ++tap)
      for (int64_t c = 0; c < g.channels; ++c) {
        int64_t inRun = tap % runTaps * g.channels + c;
        int64_t unit = tap / runTaps * runUnits + inRun / perUnit;
        int64_t line = (group * tiles + tile) * units + unit;
        int64_t to = line * spec.tileN * perUnit + inRun % perUnit;
        int64_t from = outChannel * strides.outChannel + c * strides.channel +
                       tap * strides.tap;
        copyColumns(packed.data() + to * elementBytes,
                    filter.data() + from * elementBytes, columns,
                    strides.outChannel);
      }
  }

  /// The sizes of elements are constants, so that no copy is a call: weights of
  /// a language model are a hundred million.
  void copyColumns(char *to, const char *from, int64_t columns,
                   int64_t stride) const {
    switch (elementBytes) {
    case 1:
      return copyElements<1>(to, from, columns, stride);
    case 2:
      return copyElements<2>(to, from, columns, stride);
    default:
      assert(elementBytes == 4 && "the engine multiplies narrow elements");
      return copyElements<4>(to, from, columns, stride);
    }
  }

  template <size_t Bytes>
  void copyElements(char *to, const char *from, int64_t columns,
                    int64_t stride) const {
    for (int64_t column = 0; column < columns; ++column)
      std::memcpy(to + column * perUnit * Bytes, from + column * stride * Bytes,
                  Bytes);
  }

  const KernelSpec &spec;
  const Geometry &g;
  PackedShape shape;
  int64_t perUnit, runTaps, runUnits, units, tiles, elementBytes;
};
} // namespace

std::vector<char> igemm::packFilter(const KernelSpec &spec,
                                    const Geometry &geometry,
                                    const FilterStrides &strides,
                                    ArrayRef<char> filter) {
  return FilterPacker(spec, geometry).pack(strides, filter);
}

/// The index of an output channel in the padded per-channel tables.
static int64_t paddedIndex(const KernelSpec &spec, const Geometry &g,
                           int64_t outChannel) {
  int64_t padded = llvm::alignTo(g.outChannels, spec.tileN);
  return outChannel / g.outChannels * padded + outChannel % g.outChannels;
}

/// The bytes of one padded per-channel table of 4-byte entries.
static int64_t channelTableBytes(const KernelSpec &spec, const Geometry &g) {
  return g.groups * llvm::alignTo(g.outChannels, spec.tileN) * 4;
}

/// The scale of each output channel's i32 sum: input scale times filter scale.
std::vector<char> igemm::makeScales(const KernelSpec &spec, const Geometry &g,
                                    const TensorDesc &input,
                                    const TensorDesc &filter) {
  std::vector<char> bytes(channelTableBytes(spec, g), 0);
  auto *table = reinterpret_cast<float *>(bytes.data());
  for (int64_t channel = 0; channel < g.groups * g.outChannels; ++channel)
    table[paddedIndex(spec, g, channel)] =
        input.scales[0] * filter.scales[filter.scales.size() > 1 ? channel : 0];
  return bytes;
}

/// The zero point in unsigned form: signed inputs are read with 128 added.
static int64_t unsignedZeroPoint(const TensorDesc &input) {
  return input.zeroPoint + (input.dtype == DType::I8 ? 128 : 0);
}

/// The initial sums: minus the zero point times the sum of the filter, so that
/// the result is the sum of (q - zp) * w.
static std::vector<char> makeStarts(const KernelSpec &spec, const Geometry &g,
                                    const FilterStrides &strides,
                                    int64_t zeroPoint, ArrayRef<char> filter) {
  std::vector<char> bytes(channelTableBytes(spec, g), 0);
  auto *table = reinterpret_cast<int32_t *>(bytes.data());
  const auto *weights = reinterpret_cast<const int8_t *>(filter.data());
  for (int64_t channel = 0; channel < g.groups * g.outChannels; ++channel) {
    int64_t sum = 0;
    for (int64_t tap = 0; tap < g.taps(); ++tap)
      for (int64_t c = 0; c < g.channels; ++c)
        sum += weights[channel * strides.outChannel + c * strides.channel +
                       tap * strides.tap];
    table[paddedIndex(spec, g, channel)] =
        static_cast<int32_t>(-zeroPoint * sum);
  }
  return bytes;
}

//===----------------------------------------------------------------------===//
// Filters and tables
//===----------------------------------------------------------------------===//

static int64_t packedBytes(const KernelSpec &spec, const Geometry &g) {
  return g.groups * llvm::alignTo(g.outChannels, spec.tileN) *
         getPackedShape(spec, g).units * spec.filterUnitBytes();
}

/// Packs each filter of a constant stack, one after the other.
static ConstantPlan
stackConstants(int64_t count, int64_t filterBytes,
               std::function<std::vector<char>(ArrayRef<char>)> make) {
  return {[=](const ConstantOperands &operands) {
    std::vector<char> all;
    for (int64_t i = 0; i < count; ++i) {
      std::vector<char> one =
          make(operands[1].slice(i * filterBytes, filterBytes));
      all.insert(all.end(), one.begin(), one.end());
    }
    return all;
  }};
}

std::pair<std::vector<int64_t>, int64_t>
igemm::getImageStarts(const TensorDesc &operand, const TensorDesc &result) {
  int64_t missing = result.rank() - operand.rank(), next = 1;
  std::vector<int64_t> strides(result.rank(), 0);
  for (int64_t dim = operand.rank() - 1; dim >= 0; --dim) {
    strides[missing + dim] = operand.shape[dim] == 1 ? 0 : next;
    next *= operand.shape[dim];
  }
  std::vector<int64_t> starts = {0};
  for (int64_t dim = 0; dim + 2 < result.rank(); ++dim) {
    std::vector<int64_t> inner;
    for (int64_t start : starts)
      for (int64_t i = 0; i < result.shape[dim]; ++i)
        inner.push_back(start + i * strides[dim]);
    starts = std::move(inner);
  }
  return {starts, strides[result.rank() - 2]};
}

ConstantPlan igemm::makeConstant(std::vector<int64_t> numbers) {
  return {[numbers = std::move(numbers)](const ConstantOperands &) {
    std::vector<char> bytes(numbers.size() * sizeof(int64_t));
    std::memcpy(bytes.data(), numbers.data(), bytes.size());
    return bytes;
  }};
}

/// See KernelSpec::tableColumns.
ConstantPlan igemm::makeTable(const Problem &problem, const KernelSpec &spec,
                              const Geometry &g, const Batch &batch) {
  int64_t columns = spec.tableColumns(), column = 2;
  std::vector<int64_t> table(columns * g.batch);
  int64_t inputBytes =
      g.width * g.channels * runtime::dtypeBytes(spec.inputDtype);
  for (int64_t image = 0; image < g.batch; ++image) {
    table[image * columns] = batch.inputs[image] * inputBytes;
    table[image * columns + 1] = batch.filters[image];
  }
  for (const OperandAccess &access : spec.operands) {
    if (!isInTable(access.kind))
      continue;
    auto [starts, stride] =
        getImageStarts(problem.operands[access.operand], problem.result);
    for (int64_t image = 0; image < g.batch; ++image) {
      table[image * columns + column] = starts[image];
      table[image * columns + column + 1] = stride;
    }
    column += 2;
  }
  return makeConstant(std::move(table));
}

/// Rewrites a filter whose taps and elements of one input channel are
/// contiguous such that taps are outermost, unless there is only one of either.
static std::optional<Problem> getTapRepacking(const Problem &problem,
                                              const Geometry &g) {
  if (problem.op != OpKind::Conv || g.taps() == 1 || g.channels == 1)
    return std::nullopt;
  const TensorDesc &filter = problem.operands[1];
  Problem transpose;
  transpose.op = OpKind::Transpose;
  transpose.operands = {filter};
  transpose.operands[0].shape = {filter.shape[0], g.channels, g.taps()};
  transpose.operands[0].constant = false;
  // Bytes are moved, whatever their dtype.
  transpose.operands[0].quantized = false;
  transpose.result = transpose.operands[0];
  std::swap(transpose.result.shape[1], transpose.result.shape[2]);
  transpose.attrs["permutation"] = {0, 2, 1};
  return transpose;
}

int64_t igemm::filterWorkspace(const Problem &problem, const TargetInfo &target,
                               const Geometry &g, Layout inputLayout,
                               int64_t filters) {
  if (problem.operands[1].constant)
    return 0;
  // The widest tile that fits the registers, with one row.
  int64_t widest = (target.vectorRegisters - 1) / 2 * target.lanes();
  PerfConfig config{{"tile_m", 1}, {"tile_n", target.lanes()}, {"block_m", 1}};
  KernelSpec spec(problem, target, config, g, inputLayout);
  int64_t channels = g.groups * (g.outChannels + widest);
  int64_t bytes = filters * channels *
                  (getPackedShape(spec, g).units * spec.filterUnitBytes() +
                   (spec.arith == Arith::I8Dot ? 4 : 0));
  if (std::optional<Problem> repacking = getTapRepacking(problem, g))
    bytes += repacking->result.numBytes();
  return bytes + 3 * runtime::kBufferAlignment;
}

PackedFilter igemm::addConstantFilter(SolutionPlan &plan,
                                      const Problem &problem,
                                      const KernelSpec &spec, const Geometry &g,
                                      const FilterStrides &strides,
                                      int64_t filters, ConstantPlan panels) {
  TensorDesc input = problem.operands[0];
  auto add = [&](ConstantPlan constant) -> BufferSlot {
    plan.constants.push_back(std::move(constant));
    return {BufferSlot::Constant,
            static_cast<int64_t>(plan.constants.size()) - 1};
  };
  PackedFilter packed{};
  packed.panels = add(std::move(panels));
  if (spec.arith == Arith::I8Dot)
    packed.starts =
        add(stackConstants(filters, problem.operands[1].numBytes() / filters,
                           [=](ArrayRef<char> bytes) {
                             return makeStarts(spec, g, strides,
                                               unsignedZeroPoint(input), bytes);
                           }));
  return packed;
}

/// Names all that the packed bytes of filters depend on beside their own.
static std::string describePacking(const KernelSpec &spec, const Geometry &g,
                                   const FilterStrides &strides,
                                   int64_t filters) {
  PackedShape shape = getPackedShape(spec, g);
  std::string text = "igemm";
  for (int64_t number :
       {static_cast<int64_t>(spec.arith),
        static_cast<int64_t>(spec.filterDtype), spec.tileN, g.groups,
        g.channels, g.outChannels, g.taps(), shape.runs, shape.runElements,
        shape.unitsPerRun, shape.units, strides.outChannel, strides.channel,
        strides.tap, filters})
    text += " " + std::to_string(number);
  return text;
}

static PackedFilter packConstant(SolutionPlan &plan, const Problem &problem,
                                 const KernelSpec &spec, const Geometry &g,
                                 const FilterStrides &strides,
                                 int64_t filters) {
  ConstantPlan panels =
      stackConstants(filters, problem.operands[1].numBytes() / filters,
                     [=](ArrayRef<char> bytes) {
                       return packFilter(spec, g, strides, bytes);
                     });
  panels.key = describePacking(spec, g, strides, filters);
  return addConstantFilter(plan, problem, spec, g, strides, filters,
                           std::move(panels));
}

/// Reserves bytes of the workspace.
static int64_t reserve(SolutionPlan &plan, int64_t bytes) {
  auto at = static_cast<int64_t>(
      llvm::alignTo(plan.workspaceBytes, runtime::kBufferAlignment));
  plan.workspaceBytes = at + bytes;
  return at;
}

static PackedFilter packAtRunTime(SolutionPlan &plan, const Problem &problem,
                                  const TargetInfo &target,
                                  const KernelSpec &spec, const Geometry &g,
                                  const FilterStrides &strides,
                                  int64_t filters) {
  const TensorDesc &filter = problem.operands[1];
  PackedShape shape = getPackedShape(spec, g);
  FilterSource source = {{BufferSlot::Operand, 1},
                         filter.dtype,
                         filters,
                         filter.numElements() / filters,
                         strides.outChannel,
                         strides.tap,
                         strides.channel};
  if (g.channels == 1) {
    // The taps are the run, or the runs, of a filter.
    source.element = spec.mergedRows ? strides.tap : 1;
    source.run = strides.tap * shape.runElements;
  }
  if (std::optional<Problem> repacking = getTapRepacking(problem, g)) {
    source.slot = {BufferSlot::Workspace,
                   reserve(plan, repacking->result.numBytes())};
    appendSolution(plan, *repacking, target, BufferSlot{BufferSlot::Operand, 1},
                   source.slot);
    source.run = shape.runElements;
    source.element = 1;
  }
  PackedFilter packed{};
  packed.panels = {BufferSlot::Workspace,
                   reserve(plan, filters * packedBytes(spec, g))};
  if (spec.arith == Arith::I8Dot)
    packed.starts = {BufferSlot::Workspace,
                     reserve(plan, filters * channelTableBytes(spec, g))};
  planFilterPack(plan, spec, g, shape, source, packed.panels.index,
                 packed.starts.index, unsignedZeroPoint(problem.operands[0]));
  return packed;
}

PackedFilter igemm::planFilter(SolutionPlan &plan, const Problem &problem,
                               const TargetInfo &target, const KernelSpec &spec,
                               const Geometry &g, const FilterStrides &strides,
                               int64_t filters) {
  if (problem.operands[1].constant)
    return packConstant(plan, problem, spec, g, strides, filters);
  return packAtRunTime(plan, problem, target, spec, g, strides, filters);
}
