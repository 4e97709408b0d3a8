//===- Engine.cpp - The launches of a product -----------------------------===//
//
// Part of Tarpon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Engine.h"

#include "GPU/GpuInstructions.h"
#include "GPU/GpuOutput.h"
#include "Host/ImplicitGemm/FilterPlan.h"
#include "tarpon/Runtime/KernelABI.h"

#include "llvm/Support/MathExtras.h"

#include <cstring>

using namespace mlir;
using namespace tarpon;
using namespace tarpon::gpuigemm;
using llvm::divideCeil;

//===----------------------------------------------------------------------===//
// Applicability
//===----------------------------------------------------------------------===//

/// Addresses are byte offsets of 31 bits.
static constexpr int64_t kByteLimit = int64_t(1) << 31;

static bool areTensorsSmall(const Problem &problem, const Product &product) {
  for (const TensorDesc &operand : problem.operands)
    if (operand.numBytes() >= kByteLimit)
      return false;
  return problem.result.numBytes() < kByteLimit &&
         getInputPackBytes(product.packed, problem.operands[0].dtype,
                           product.images) < kByteLimit;
}

/// The size of the packed filters.
static int64_t countPackedBytes(const Product &product, const Tile &tile) {
  return getPackedBytes(tile, product.geometry, product.filters.count);
}

static Tile getDefaultTile(const Problem &problem, const TargetInfo &target,
                           const Product &product) {
  TileFields fields =
      *TileFields::fromConfig(getDefaultConfig(problem, target, product));
  return *Tile::make(*target.gpu, problem.operands[0].dtype, fields);
}

/// The workspace for filters that are packed at run time: the largest for the
/// proposed tiles, without those that pad to more than twice as much as the
/// default tile. Small filters of many groups would need gigabytes.
static int64_t getMostPackedBytes(const Problem &problem,
                                  const TargetInfo &target,
                                  const Product &product) {
  int64_t usual =
      countPackedBytes(product, getDefaultTile(problem, target, product));
  int64_t most = usual;
  for (const TileFields &fields : proposeTiles(problem, target, product)) {
    std::optional<Tile> tile =
        Tile::make(*target.gpu, problem.operands[0].dtype, fields);
    int64_t bytes = tile ? countPackedBytes(product, *tile) : 0;
    if (bytes <= 2 * usual)
      most = std::max(most, bytes);
  }
  return most;
}

/// A single pixel is the same in nchw and nhwc: the operands of the epilogue
/// take the result's layout then.
static Problem unifyLayouts(Problem problem) {
  if (problem.result.spatialSize() != 1)
    return problem;
  for (size_t i = problem.rootOperands; i < problem.operands.size(); ++i)
    problem.operands[i].layout = problem.result.layout;
  return problem;
}

Applicability gpuigemm::isSupported(const Problem &original,
                                    const TargetInfo &target,
                                    const Product &product) {
  for (const TensorDesc &operand : original.operands)
    if (operand.layout.kind == Layout::Blocked)
      return Applicability::no("needs nchw or nhwc");
  Problem problem = unifyLayouts(original);
  if (!target.gpu)
    return Applicability::no("needs a GPU");
  if (problem.result.layout.kind == Layout::Blocked)
    return Applicability::no("needs nchw or nhwc");
  if (Applicability host = igemm::isSupported(problem, target, product.geometry,
                                              /*packsFilters=*/true);
      !host)
    return host;
  if (problem.operands[0].quantized && !problem.operands[1].constant)
    return Applicability::no("needs a constant filter of bytes");
  if (getWaveOpSizes(*target.gpu, problem.operands[0].dtype).empty())
    return Applicability::no("the target cannot multiply this dtype");
  if (!areTensorsSmall(problem, product))
    return Applicability::no("needs tensors below 2 GiB");
  if (countPackedBytes(product, getDefaultTile(problem, target, product)) >=
      kByteLimit)
    return Applicability::no("needs a filter below 2 GiB when it is packed");
  return Applicability::yes();
}

bool gpuigemm::hasPadding(const Geometry &g) {
  auto reaches = [](int64_t size, int64_t out, int64_t kernel, int64_t stride,
                    int64_t dilation, int64_t pad) {
    return pad != 0 || (out - 1) * stride + (kernel - 1) * dilation >= size;
  };
  return reaches(g.width, g.outWidth, g.kernelW, g.strideW, g.dilationW,
                 g.padLeft) ||
         reaches(g.height, g.outHeight, g.kernelH, g.strideH, g.dilationH,
                 g.padTop) ||
         reaches(g.depth, g.outDepth, g.kernelD, g.strideD, g.dilationD,
                 g.padFront);
}

bool gpuigemm::canBeCopied(const GpuTarget &gpu, DType dtype) {
  bool isBiased = dtype == DType::U8 && gpu.matrixUnit != MatrixUnit::MmaSync;
  return getMostStages(gpu) > 2 && !isBiased;
}

bool gpuigemm::canBeCopied(const GpuTarget &gpu, const TensorDesc &input,
                           const Product &product) {
  bool hasZeros = !input.quantized || input.zeroPoint == 0;
  return canBeCopied(gpu, input.dtype) && !product.producer &&
         (hasZeros || !hasPadding(product.geometry));
}

bool gpuigemm::areStagesCopied(const GpuTarget &gpu, const TensorDesc &input,
                               const Product &product, const Tile &tile) {
  return tile.getFields().stages > 1 && canBeCopied(gpu, input, product);
}

/// The most registers of a lane for the cells of a step that are under way. Of
/// windows of 5x5, which take 100, one in thirty kernels spilled on an H200.
static constexpr int64_t kMostCellRegisters = 72;

/// Returns "" if lanes have registers for the cells of their pixels, otherwise
/// the reason.
static std::string checkCells(const GpuTarget &gpu, const Product &product,
                              const Tile &tile) {
  int64_t window =
      Prologue::getWindow(*product.producer).taps() * (kChunkBytes / 4);
  int64_t cells = tile.loadsOfB() * window;
  // All waves of a workgroup are on one compute unit.
  int64_t unit = gpu.vectorRegisters * gpu.waveSize * gpu.simdsPerUnit;
  int64_t most = std::min(tile.mostRegisters(gpu), unit / tile.threads());
  // Compilers load the filter's cells early, too; a chunk's sums and one of its
  // cells are in f32.
  constexpr int64_t kReal = 16;
  if (cells > kMostCellRegisters ||
      tile.estimateRegisters() + cells + window + kReal > most)
    return "a lane has no registers for the windows of its pixels";
  return "";
}

/// If there are more sums than this, there are enough workgroups without
/// splits.
static constexpr int64_t kMostSumBytes = 16 << 20, kMostSplits = 16;

/// The bytes of the sums of one split, for every tile.
static int64_t getSumBytes(const Product &product) {
  constexpr int64_t kLongestRun = 16;
  const Geometry &g = product.geometry;
  return product.pixels() * g.groups *
         static_cast<int64_t>(llvm::alignTo(g.outChannels, kLongestRun)) * 4;
}

/// The workspace for parts of blocks: as many as all units of the largest GPUs
/// hold, and none if there are so many blocks that the last ones do not matter.
static int64_t getMostSharedBytes(const GpuTarget &gpu,
                                  const Product &product) {
  constexpr int64_t kMost = 40 << 20, kPartsOfResult = 64, kRounds = 16;
  int64_t bytes = getSumBytes(product);
  constexpr int64_t kBlockBytes = 128 * 128 * 4;
  if (bytes > kRounds * gpu.computeUnits * kBlockBytes)
    return 0;
  return std::min(kMost, kPartsOfResult * bytes);
}

StepShares gpuigemm::getShares(const GpuTarget &gpu, const Product &product,
                               const Tile &tile) {
  const TileFields &f = tile.getFields();
  const Geometry &g = product.geometry;
  return {countBlocks(f, g), Depth(tile, g).steps,
          f.groupsPerUnit * gpu.computeUnits};
}

/// Returns "" if workgroups can share the product's steps, otherwise the
/// reason.
static std::string checkShares(const GpuTarget &gpu, const Product &product,
                               const Tile &tile) {
  int64_t steps = Depth(tile, product.geometry).steps;
  if (countBlocks(tile.getFields(), product.geometry) * steps >= kByteLimit)
    return "has more than 2^31 steps";
  if (SharedSteps::getSumBytes(getShares(gpu, product, tile), tile) >
      getMostSharedBytes(gpu, product))
    return "has more parts of blocks than the workspace holds";
  return "";
}

/// Returns "" if the product can use that tile, otherwise the reason.
static std::string checkTile(const Problem &problem, const TargetInfo &target,
                             const Product &product, const Tile &tile) {
  const TileFields &f = tile.getFields();
  int64_t splits = f.wholeSplits();
  bool needsCopies =
      tile.getFields().stages > 2 || tile.getOp().kind == WaveOp::Kind::Wgmma;
  if (needsCopies && !canBeCopied(*target.gpu, problem.operands[0], product))
    return "a third stage needs an input that is copied as it is";
  if (f.groupsPerUnit > 0 && !f.sharesSteps() &&
      (f.stages < 2 || !canBeCopied(*target.gpu, problem.operands[0], product)))
    return "turns need stages of an input that is copied as it is";
  CopyForm copies =
      getGpuInstructions(target.gpu->vendor).getCopyForm(*target.gpu);
  if (copies.inRow && tile.rowsPerLoad(copies.bytes) % 8 != 0 &&
      areStagesCopied(*target.gpu, problem.operands[0], product, tile))
    return "the lanes must copy whole groups of eight rows";
  if (product.producer)
    if (std::string why = checkCells(*target.gpu, product, tile); !why.empty())
      return why;
  if (splits > getMaxSplits(product))
    return "split_k is at most " + std::to_string(getMaxSplits(product)) +
           " for this many results";
  // More splits than steps would only rename fewer splits.
  int64_t steps = Depth(tile, product.geometry).steps;
  if (f.sharesSteps())
    if (std::string why = checkShares(*target.gpu, product, tile); !why.empty())
      return why;
  if (splits > steps)
    return "split_k is at most " + std::to_string(steps) +
           ", which is how many steps there are";
  int64_t bytes = countPackedBytes(product, tile);
  if (bytes >= kByteLimit)
    return "the filter must stay below 2 GiB when it is packed";
  if (!problem.operands[1].constant &&
      bytes > getMostPackedBytes(problem, target, product))
    return "the block pads the filter beyond its workspace";
  return "";
}

std::optional<Tile> gpuigemm::getTile(const Problem &problem,
                                      const TargetInfo &target,
                                      const Product &product,
                                      const PerfConfig &config,
                                      std::string *reason) {
  std::string why;
  std::optional<Tile> tile;
  if (std::optional<TileFields> fields = TileFields::fromConfig(config, &why))
    tile = Tile::make(*target.gpu, problem.operands[0].dtype, *fields, &why);
  if (tile)
    why = checkTile(problem, target, product, *tile);
  if (reason)
    *reason = why;
  return why.empty() ? tile : std::nullopt;
}

//===----------------------------------------------------------------------===//
// Workspace
//===----------------------------------------------------------------------===//

int64_t gpuigemm::getMaxSplits(const Product &product) {
  return std::clamp<int64_t>(kMostSumBytes / getSumBytes(product), 1,
                             kMostSplits);
}

static int64_t reserve(int64_t &workspace, int64_t bytes) {
  auto at =
      static_cast<int64_t>(llvm::alignTo(workspace, runtime::kBufferAlignment));
  workspace = at + bytes;
  return at;
}

int64_t gpuigemm::getWorkspaceSize(const Problem &problem,
                                   const TargetInfo &target,
                                   const Product &product) {
  int64_t bytes = 0;
  if (!product.readsInput)
    reserve(bytes, getInputPackBytes(product.packed, problem.operands[0].dtype,
                                     product.images));
  if (!problem.operands[1].constant)
    reserve(bytes, getMostPackedBytes(problem, target, product));
  int64_t splits = getMaxSplits(product);
  int64_t sums = splits > 1 ? splits * getSumBytes(product) : 0;
  if (target.gpu)
    sums = std::max(sums, getMostSharedBytes(*target.gpu, product));
  if (sums > 0)
    reserve(bytes, sums);
  return bytes;
}

//===----------------------------------------------------------------------===//
// Constants
//===----------------------------------------------------------------------===//

template <typename T>
static std::vector<char> toBytes(const std::vector<T> &values) {
  std::vector<char> bytes(values.size() * sizeof(T));
  std::memcpy(bytes.data(), values.data(), bytes.size());
  return bytes;
}

static BufferSlot addConstant(SolutionPlan &plan, ConstantPlan constant) {
  plan.constants.push_back(std::move(constant));
  return {BufferSlot::Constant,
          static_cast<int64_t>(plan.constants.size()) - 1};
}

/// The scale of each channel's i32 sum: input scale times filter scale.
static std::vector<char> makeScales(const Tile &tile, const Geometry &g,
                                    const TensorDesc &input,
                                    const TensorDesc &filter) {
  int64_t padded = getPaddedChannels(tile, g);
  std::vector<float> scales(g.groups * padded);
  for (int64_t c = 0; c < g.groups * g.outChannels; ++c)
    scales[c / g.outChannels * padded + c % g.outChannels] =
        input.scales[0] * filter.scales[filter.scales.size() > 1 ? c : 0];
  return toBytes(scales);
}

/// The contribution of the zero point to a sum, for each filter. Where bytes
/// are multiplied as signed numbers, those of u8, and their zero point, are so
/// minus 128.
static std::vector<char> makeStarts(const Tile &tile, const Geometry &g,
                                    const FilterStack &stack,
                                    const TensorDesc &input,
                                    ArrayRef<char> bytes) {
  int64_t padded = getPaddedChannels(tile, g);
  bool isBiased = input.dtype == DType::U8 && !tile.getOp().unsignedB;
  int64_t zeroPoint = input.zeroPoint - (isBiased ? 128 : 0);
  const FilterStrides &strides = stack.strides;
  std::vector<int32_t> starts(stack.count * padded);
  for (int64_t filter = 0; filter < stack.count; ++filter) {
    const auto *weights = reinterpret_cast<const int8_t *>(bytes.data()) +
                          filter * stack.elements;
    for (int64_t channel = 0; channel < g.outChannels; ++channel) {
      int64_t sum = 0;
      for (int64_t tap = 0; tap < stack.countTaps(g); ++tap)
        for (int64_t c = 0; c < stack.countChannels(g); ++c)
          sum += weights[channel * strides.outChannel + c * strides.channel +
                         tap * strides.tap];
      starts[filter * padded + channel] =
          static_cast<int32_t>(-zeroPoint * sum);
    }
  }
  return toBytes(starts);
}

static ChannelTables addTables(SolutionPlan &plan, const Problem &problem,
                               const Product &product, const Tile &tile) {
  const Geometry &g = product.geometry;
  const FilterStack &filters = product.filters;
  TensorDesc input = problem.operands[0], filter = problem.operands[1];
  BufferSlot scales = addConstant(plan, {[=](const ConstantOperands &) {
                                    return makeScales(tile, g, input, filter);
                                  }});
  BufferSlot starts =
      addConstant(plan, {[=](const ConstantOperands &operands) {
                    return makeStarts(tile, g, filters, input, operands[1]);
                  }});
  return {scales, starts};
}

//===----------------------------------------------------------------------===//
// Operands
//===----------------------------------------------------------------------===//

static InputShape planInput(SolutionPlan &plan, const Problem &problem,
                            const Product &product) {
  const TensorDesc &desc = problem.operands[0];
  const Geometry &g = product.geometry;
  InputShape input;
  input.slot = {BufferSlot::Operand, 0};
  input.bytes = desc.numBytes();
  input.channelBytes = static_cast<int64_t>(
      llvm::alignTo(g.channels * runtime::dtypeBytes(desc.dtype), kChunkBytes));
  input.groupBytes = input.channelBytes;
  input.pixelBytes = g.groups * input.groupBytes;
  input.zeroPoint = desc.quantized ? desc.zeroPoint : 0;
  if (product.producer) {
    input.bytes = product.producer->operands[0].numBytes();
    input.windows = Prologue::getWindow(*product.producer);
  }
  if (product.readsInput)
    return input;
  input.bytes = getInputPackBytes(product.packed, desc.dtype, product.images);
  input.slot = {BufferSlot::Workspace,
                reserve(plan.workspaceBytes, input.bytes)};
  planInputPack(plan, product.packed, desc.dtype, product.inputStrides,
                product.images, input.slot.index, product.filters.fold);
  return input;
}

static BufferSlot planFilter(SolutionPlan &plan, const Problem &problem,
                             const Product &product, const Tile &tile) {
  const Geometry &g = product.geometry;
  const FilterStack &filters = product.filters;
  if (problem.operands[1].constant)
    return addConstant(plan, {[=](const ConstantOperands &operands) {
                         return packFilters(tile, g, filters, operands[1]);
                       }});
  int64_t at =
      reserve(plan.workspaceBytes, getPackedBytes(tile, g, filters.count));
  planFilterPack(plan, tile, g, filters, problem.operands[1].dtype, at);
  return {BufferSlot::Workspace, at};
}

//===----------------------------------------------------------------------===//
// The launches
//===----------------------------------------------------------------------===//

namespace {

/// Plans the last launches: the product, and the sum of its splits.
class ProductPlanner {
public:
  ProductPlanner(SolutionPlan &plan, const Problem &original,
                 const GpuTarget &gpu, const Product &product, const Tile &tile)
      : plan(plan), problem(original), gpu(gpu), product(product), tile(tile),
        g(product.geometry), result(problem, g, tile, gpu) {}

  void run();

private:
  void planOne(const ProductSpec &spec, const InputShape &input,
               BufferSlot filter, int64_t splits);
  /// Reserves places for sums that several workgroups add to.
  void planPartialSums(const ProductSpec &spec, int64_t splits);
  BufferSlot addTable(int64_t imageBytes);
  bool loadsEarly() const;

  SolutionPlan &plan;
  Problem problem;
  const GpuTarget &gpu;
  const Product &product;
  const Tile &tile;
  const Geometry &g;
  ResultSpec result;
  ChannelTables tables{};
  BufferSlot table{}, sums{BufferSlot::Workspace, 0}, counters{};
};

} // namespace

/// Adds a batch's table; see countTableColumns.
BufferSlot ProductPlanner::addTable(int64_t imageBytes) {
  int64_t columns = countTableColumns(result.operands), column = 2;
  std::vector<int32_t> rows(columns * g.batch);
  for (int64_t image = 0; image < g.batch; ++image) {
    int32_t *row = rows.data() + image * columns;
    row[0] = static_cast<int32_t>(product.batch->inputs[image] * imageBytes);
    row[1] = static_cast<int32_t>(product.batch->filters[image]);
  }
  for (const OperandAccess &operand : result.operands) {
    if (!igemm::isInTable(operand.kind))
      continue;
    auto [starts, stride] = igemm::getImageStarts(
        problem.operands[operand.operand], problem.result);
    for (int64_t image = 0; image < g.batch; ++image) {
      rows[image * columns + column] = static_cast<int32_t>(starts[image]);
      rows[image * columns + column + 1] = static_cast<int32_t>(stride);
    }
    column += 2;
  }
  return addConstant(
      plan, {[rows](const ConstantOperands &) { return toBytes(rows); }});
}

/// Returns true if pixels have operands of their own that fit a few registers
/// beside the sums of a warpgroup.
bool ProductPlanner::loadsEarly() const {
  constexpr int64_t kMostBytes = 64;
  const TileFields &f = tile.getFields();
  int64_t sums = f.waveM * f.waveN / tile.getOp().waveSize, bytes = 0;
  for (const OperandAccess &operand : result.operands)
    if (operand.kind == igemm::AccessKind::Tensor)
      bytes += sums * runtime::dtypeBytes(operand.dtype);
  return tile.getOp().kind == WaveOp::Kind::Wgmma && !result.planes &&
         !result.channelTail && bytes > 0 && bytes <= kMostBytes;
}

void ProductPlanner::planOne(const ProductSpec &spec, const InputShape &input,
                             BufferSlot filter, int64_t splits) {
  LaunchBuilder launch(plan);
  ProductKernel kernel(launch, spec, g, input, filter,
                       getPackedBytes(tile, g, product.filters.count), table,
                       countTableColumns(result.operands), sums, counters,
                       splits,
                       tile.getFields().groupsPerUnit * gpu.computeUnits);
  if (product.producer)
    kernel.setPrologue(Prologue(launch, *product.producer,
                                static_cast<int64_t>(problem.operands.size())));
  std::string symbol = kernel.symbol();
  std::optional<ResultAccess> access;
  if (!spec.split) {
    access.emplace(launch, problem, result, g, tables,
                   getPaddedChannels(tile, g), table);
    symbol += "_" + access->symbol();
  }
  launch.finish(
      symbol,
      [=](KernelBuilder &b) { kernel.emit(b, access ? &*access : nullptr); },
      kernel.tasks());
  plan.launches.back().kernel.workgroup = tile.threads();
  plan.launches.back().kernel.ldsBytes = tile.ldsBytes();
}

void ProductPlanner::planPartialSums(const ProductSpec &spec, int64_t splits) {
  if (spec.split)
    sums.index = reserve(plan.workspaceBytes, splits * getSumBytes(product));
  if (!spec.sharesSteps)
    return;
  StepShares shares = getShares(gpu, product, tile);
  sums.index =
      reserve(plan.workspaceBytes, SharedSteps::getSumBytes(shares, tile));
  int64_t bytes = SharedSteps::getCounterBytes(shares, tile);
  counters = addConstant(plan, {[bytes](const ConstantOperands &) {
                           return std::vector<char>(bytes);
                         }});
}

/// LDS leaves the first-level cache at least 28 KiB, and usually twice as much.
static constexpr int64_t kMostSharedFilter = 48 << 10;

void ProductPlanner::run() {
  InputShape input = planInput(plan, problem, product);
  BufferSlot filter = planFilter(plan, problem, product, tile);
  if (problem.operands[0].quantized)
    tables = addTables(plan, problem, product, tile);
  if (g.batched)
    table = addTable(input.pixelBytes * g.pixels());

  Depth depth(tile, g);
  // Only splits with steps are launched.
  int64_t splits = std::min(tile.getFields().wholeSplits(), depth.steps);
  splits = divideCeil(depth.steps, divideCeil(depth.steps, splits));
  bool copies = areStagesCopied(gpu, problem.operands[0], product, tile);
  // On AMD's GPUs one kernel is for all windows, so that a network needs few.
  bool isTailored = copies && gpu.vendor == GpuVendor::NVIDIA;
  // A warpgroup's products leave LDS, which is the first-level cache, too
  // little time for both: on an H100, 3x3 convolutions of ResNet-50 take 3 to 8
  // % longer with pixels from that cache.
  bool isGroup = tile.getOp().kind == WaveOp::Kind::Wgmma;
  ProductSpec spec{tile,
                   problem.operands[0].dtype,
                   g.hasDepth(),
                   depth.merged,
                   g.batched,
                   /*split=*/splits > 1,
                   copies,
                   isTailored && g.taps() == 1 && !hasPadding(g),
                   isTailored && !hasPadding(g),
                   isTailored && g.isPointwise(),
                   isTailored && !isGroup && !depth.merged &&
                       g.taps() > g.strideW * g.strideH * g.strideD,
                   isTailored && getPackedBytes(tile, g, /*filters=*/1) <=
                                     kMostSharedFilter,
                   isTailored && g.outChannels % tile.getFields().blockM == 0,
                   /*takesTurns=*/tile.getFields().groupsPerUnit > 0,
                   tile.getFields().sharesSteps(),
                   /*loadsEarly=*/false};
  // A part of a block has no results.
  spec.loadsEarly = copies && !spec.split && !spec.sharesSteps && loadsEarly();
  planPartialSums(spec, splits);
  planOne(spec, input, filter, splits);
  if (spec.split)
    planSums(plan, problem, result, g, tile, tables, table, sums, splits);
}

SolutionPlan gpuigemm::planProduct(const Problem &problem,
                                   const TargetInfo &target,
                                   const Product &product, const Tile &tile) {
  SolutionPlan plan;
  ProductPlanner(plan, dropSaturatedSteps(unifyLayouts(problem)), *target.gpu,
                 product, tile)
      .run();
  return plan;
}
