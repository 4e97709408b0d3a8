//===- Features.cpp - The features of a solution --------------------------===//
//
// Part of Tarpon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tarpon/Autotune/Learn/Features.h"

#include "ConvSizes.h"
#include "tarpon/Problem/Producer.h"

#include "llvm/ADT/STLExtras.h"

#include <algorithm>
#include <cassert>
#include <cmath>

using namespace tarpon;

/// The names of the features of a problem and of the machine, in the order of
/// fillProblem.
static constexpr llvm::StringLiteral kProblemNames[] = {
    "batch",         "groups",         "channels",      "out_channels",
    "height",        "width",          "out_height",    "out_width",
    "kernel_h",      "kernel_w",       "stride_h",      "stride_w",
    "dilation",      "padding",        "out_pixels",    "all_pixels",
    "depth",         "flops",          "input_bytes",   "filter_bytes",
    "result_bytes",  "intensity",      "channel_fill",  "out_channel_fill",
    "element_bytes", "is_quantized",   "is_input_nhwc", "is_result_nhwc",
    "is_slice",      "epilogue_steps", "residuals",     "lanes",
    "registers",     "l1_bytes",       "l2_bytes",      "l3_bytes",
    "has_vnni",      "has_bf16"};

static constexpr llvm::StringLiteral kSolverNames[] = {"expected_fraction",
                                                       "workspace_bytes"};

/// The field of configs that counts elements of a vector. Its feature counts
/// vectors, so that what was learned with vectors of 512 bits is of use with
/// others.
static constexpr llvm::StringLiteral kVectorField = "tile_n";

/// The names of a config's features behind its fields.
static constexpr llvm::StringLiteral kConfigNames[] = {
    "place",
    "tile_cells",
    "tile_ports",
    "row_fill",
    "pixel_fill",
    "all_pixel_fill",
    "tile2_fill",
    "tile4_fill",
    "channel_tiles",
    "out_channel_fill_of_tile",
    "pixel_tiles",
    "pixel_blocks",
    "panel_in_l1",
    "filter_in_l1",
    "block_in_l2",
    "taps_in_l2",
    "block_row_fill",
    "column_fill",
    "valid_column_fill"};

//===----------------------------------------------------------------------===//
// Sizes
//===----------------------------------------------------------------------===//

ConvSizes tarpon::getConvSizes(const Problem &problem) {
  const std::vector<int64_t> &input = problem.operands[0].shape,
                             &filter = problem.operands[1].shape,
                             &result = problem.result.shape;
  auto real = [](int64_t size) { return static_cast<double>(size); };
  ConvSizes sizes;
  sizes.batch = real(input[0]);
  sizes.groups = problem.number("group");
  sizes.channels = real(filter[1]);
  sizes.outChannels = real(filter[0]) / sizes.groups;
  sizes.height = real(input[2]);
  sizes.width = real(input[3]);
  sizes.outHeight = real(result[2]);
  sizes.outWidth = real(result[3]);
  sizes.kernelH = real(filter[2]);
  sizes.kernelW = real(filter[3]);
  return sizes;
}

std::optional<std::string> tarpon::getProblemKind(const Problem &problem) {
  if (problem.op != OpKind::Conv || hasProducer(problem) ||
      problem.rootOperands < 2 || problem.result.rank() != 4 ||
      !problem.operands[1].constant || problem.operands[0].numElements() == 0 ||
      problem.result.numElements() == 0)
    return std::nullopt;
  const TensorDesc &input = problem.operands[0];
  std::string dtype(runtime::dtypeName(input.dtype));
  return "conv2d " + dtype + (input.quantized ? "q " : " ") +
         input.layout.name();
}

/// The peak: two vectors of multiply-adds per cycle (each is two operations, as
/// in Problem::flops), with as many elements as the instructions take.
static double getFlopsPerCycle(const Problem &problem,
                               const TargetInfo &target) {
  const TensorDesc &input = problem.operands[0];
  double perLane = 1;
  if (input.quantized && target.hasVnni)
    perLane = 4;
  if (input.dtype == DType::BF16 && target.hasBf16)
    perLane = 2;
  return 4 * perLane * static_cast<double>(target.lanes() * target.threads);
}

double tarpon::getRooflineCycles(const Problem &problem,
                                 const TargetInfo &target) {
  // The bandwidth of the memory of a machine with a few cores; only its ratio
  // to the arithmetic matters, and the model learns its error.
  constexpr double kBytesPerCycle = 8;
  return std::max({problem.flops() / getFlopsPerCycle(problem, target),
                   problem.bytes() / kBytesPerCycle, 1.0});
}

//===----------------------------------------------------------------------===//
// Derived numbers
//===----------------------------------------------------------------------===//

static float log2Of(double size) {
  return static_cast<float>(std::log2(std::max(size, 1.0)));
}

/// The logarithm of a ratio, which may be below 1.
static float log2OfRatio(double ratio) {
  return static_cast<float>(std::log2(std::max(ratio, 1e-9)));
}

static double roundUp(double size, double step) {
  return std::ceil(size / step) * step;
}

/// The share of `size` elements in pieces of `step` that is no padding.
static float fill(double size, double step) {
  return static_cast<float>(size / roundUp(size, step));
}

/// The same share if the last piece may be halved.
static float fillWithHalves(double size, double step) {
  double rest = std::fmod(size, step), half = std::floor(step / 2);
  double last = rest == 0 ? 0 : step >= 4 && rest <= half ? half : step;
  return static_cast<float>(size / (size - rest + last));
}

//===----------------------------------------------------------------------===//
// The machine
//===----------------------------------------------------------------------===//

/// Fills the features from "lanes" to "has_bf16". They are what tells one CPU
/// from another in a model of several.
static float *fillMachine(const TargetInfo &target, float *next) {
  for (int64_t size : {target.lanes(), target.vectorRegisters, target.l1Bytes,
                       target.l2Bytes, target.l3Bytes})
    *next++ = log2Of(static_cast<double>(size));
  *next++ = target.hasVnni ? 1 : 0;
  *next++ = target.hasBf16 ? 1 : 0;
  return next;
}

//===----------------------------------------------------------------------===//
// The space
//===----------------------------------------------------------------------===//

FeatureSpace::FeatureSpace(std::vector<std::string> solverIds,
                           std::vector<std::string> fieldNames)
    : solvers(std::move(solverIds)), fields(std::move(fieldNames)) {
  assert(llvm::is_sorted(solvers) && llvm::is_sorted(fields) &&
         "look-ups search by bisection");
  for (llvm::StringRef name : kProblemNames)
    names.push_back(name.str());
  firstSolverColumn = names.size();
  for (llvm::StringRef name : kSolverNames)
    names.push_back(name.str());
  for (const std::string &solver : solvers)
    names.push_back("is " + solver);
  firstConfigColumn = names.size();
  for (const std::string &field : fields)
    names.push_back("config " + field);
  for (llvm::StringRef name : kConfigNames)
    names.push_back(name.str());
}

bool FeatureSpace::knowsSolver(llvm::StringRef id) const {
  return std::binary_search(solvers.begin(), solvers.end(), id);
}

bool FeatureSpace::knowsFields(const PerfConfig &config) const {
  return llvm::all_of(config.getFields(), [this](const auto &field) {
    return std::binary_search(fields.begin(), fields.end(), field.first);
  });
}

void FeatureSpace::fillProblem(const Problem &problem, const TargetInfo &target,
                               llvm::MutableArrayRef<float> row) const {
  assert(row.size() >= firstSolverColumn && "the row is too short");
  ConvSizes s = getConvSizes(problem);
  const TensorDesc &input = problem.operands[0], &result = problem.result;
  std::vector<int64_t> strides = problem.ints("strides"),
                       dilations = problem.ints("dilations"),
                       pads = problem.ints("pads");
  auto bytes = [](const TensorDesc &desc) {
    return static_cast<double>(desc.numElements() *
                               runtime::dtypeBytes(desc.dtype));
  };
  double flops = problem.flops();
  auto residuals = llvm::count_if(problem.operands, [&](const TensorDesc &d) {
    return &d > &problem.operands[problem.rootOperands - 1] &&
           d.shape == result.shape;
  });
  auto lanes = static_cast<double>(target.lanes());
  float *next = row.data();
  for (double size :
       {s.batch, s.groups, s.channels, s.outChannels, s.height, s.width,
        s.outHeight, s.outWidth, s.kernelH, s.kernelW, double(strides[0]),
        double(strides[1]), double(std::max(dilations[0], dilations[1]))})
    *next++ = log2Of(size);
  *next++ = static_cast<float>(pads[0] + pads[1] + pads[2] + pads[3]);
  for (double size :
       {s.outPixels(), s.batch * s.outPixels(), s.depth(), flops, bytes(input),
        bytes(problem.operands[1]), bytes(result), flops / problem.bytes()})
    *next++ = log2Of(size);
  *next++ = fill(s.channels, lanes);
  *next++ = fill(s.outChannels, lanes);
  *next++ = log2Of(static_cast<double>(runtime::dtypeBytes(input.dtype)));
  *next++ = input.quantized ? 1 : 0;
  *next++ = input.layout.kind == Layout::NHWC ? 1 : 0;
  *next++ = result.layout.kind == Layout::NHWC ? 1 : 0;
  *next++ = problem.hasSlices() ? 1 : 0;
  *next++ = static_cast<float>(problem.epilogue.size());
  *next++ = static_cast<float>(residuals);
  [[maybe_unused]] float *end = fillMachine(target, next);
  assert(end == row.data() + firstSolverColumn && "names and numbers differ");
}

void FeatureSpace::fillSolver(const Problem &problem, const TargetInfo &target,
                              const Solver &solver, double fraction,
                              llvm::MutableArrayRef<float> row) const {
  assert(row.size() >= firstConfigColumn && "the row is too short");
  float *next = row.data() + firstSolverColumn;
  *next++ = log2OfRatio(fraction);
  *next++ = log2Of(static_cast<double>(solver.workspaceSize(problem, target)));
  for (const std::string &id : solvers)
    *next++ = solver.id() == id ? 1 : 0;
}

namespace {
/// The fields of a config that divide the work, 0 for those that it lacks.
struct Cuts {
  double tileM = 0, tileN = 0, blockM = 0, blockRows = 0, tileW = 0;

  explicit Cuts(const PerfConfig &config) {
    for (const auto &[name, value] : config.getFields())
      for (auto [known, cut] :
           {std::pair<llvm::StringRef, double *>{"tile_m", &tileM},
            {"tile_n", &tileN},
            {"block_m", &blockM},
            {"block_rows", &blockRows},
            {"tile_w", &tileW}})
        if (name == known)
          *cut = static_cast<double>(std::max<int64_t>(value, 1));
  }
};
} // namespace

/// Fills the features of register tiles and their panels: kConfigNames from
/// "tile_cells" to "taps_in_l2".
static float *fillTiles(const ConvSizes &s, const Cuts &cut, double bytes,
                        const TargetInfo &target, float *next) {
  auto lanes = static_cast<double>(target.lanes());
  auto l1 = static_cast<double>(target.l1Bytes),
       l2 = static_cast<double>(target.l2Bytes);
  double pixels = s.outPixels(), all = s.batch * pixels;
  auto tilesOf = [&](double size) {
    return s.batch * std::ceil(s.outHeight / size) *
           std::ceil(s.outWidth / size);
  };
  double vectors = cut.tileN / lanes, cells = cut.tileM * vectors;
  double pixelTiles = std::ceil(all / cut.tileM);
  double block = std::max(cut.blockM, 1.0);
  *next++ = static_cast<float>(cells);
  *next++ = static_cast<float>(cells / (cut.tileM + vectors));
  *next++ = fillWithHalves(s.outWidth, cut.tileM);
  *next++ = fillWithHalves(pixels, cut.tileM);
  *next++ = fillWithHalves(all, cut.tileM);
  *next++ = fill(tilesOf(2), cut.tileM);
  *next++ = fill(tilesOf(4), cut.tileM);
  *next++ = log2Of(std::ceil(s.outChannels / cut.tileN));
  *next++ = fill(s.outChannels, cut.tileN);
  *next++ = log2Of(pixelTiles);
  *next++ = log2Of(std::ceil(pixelTiles / block));
  *next++ = log2OfRatio(s.depth() * cut.tileM * bytes / l1);
  *next++ = log2OfRatio(s.depth() * cut.tileN * bytes / l1);
  *next++ = log2OfRatio(s.channels * cut.tileM * block * bytes / l2);
  *next++ = log2OfRatio(s.depth() * cut.tileM * block * bytes / l2);
  return next;
}

void FeatureSpace::fillConfig(const Problem &problem, const TargetInfo &target,
                              const PerfConfig &config, size_t place,
                              llvm::MutableArrayRef<float> row) const {
  assert(row.size() == names.size() && "the row has another length");
  std::fill(row.begin() + firstConfigColumn, row.end(), 0.0F);
  float *next = row.data() + firstConfigColumn;
  auto lanes = static_cast<double>(target.lanes());
  // Both lists are sorted by name.
  auto field = config.getFields().begin(), end = config.getFields().end();
  for (const std::string &name : fields) {
    while (field != end && field->first < name)
      ++field;
    if (field != end && field->first == name)
      *next = log2Of(static_cast<double>(field->second) /
                     (name == kVectorField ? lanes : 1));
    ++next;
  }
  *next++ = static_cast<float>(place);
  ConvSizes s = getConvSizes(problem);
  Cuts cut(config);
  double bytes =
      static_cast<double>(runtime::dtypeBytes(problem.operands[0].dtype));
  constexpr int kTileNames = 15;
  if (cut.tileM > 0 && cut.tileN > 0)
    fillTiles(s, cut, bytes, target, next);
  next += kTileNames;
  if (cut.blockRows > 0)
    *next = fill(s.outHeight, cut.blockRows);
  ++next;
  if (cut.tileW > 0) {
    next[0] = fill(s.outWidth, cut.tileW);
    // A tile of a transform yields fewer columns than it has.
    next[1] = fill(s.outWidth, std::max(cut.tileW - s.kernelW + 1, 1.0));
  }
  assert(next + 2 == row.data() + row.size() && "names and numbers differ");
}
