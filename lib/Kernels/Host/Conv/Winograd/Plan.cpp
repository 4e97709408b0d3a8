//===- Plan.cpp - The answers of Winograd solvers -------------------------===//
//
// Part of Tarpon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Host/Conv/ConvGeometry.h"
#include "Winograd.h"

#include "llvm/ADT/STLExtras.h"

using namespace mlir;
using namespace tarpon;
using namespace tarpon::winograd;

//===----------------------------------------------------------------------===//
// The kernel
//===----------------------------------------------------------------------===//

static bool areAll(ArrayRef<int64_t> values, int64_t wanted) {
  return llvm::all_of(values, [&](int64_t value) { return value == wanted; });
}

/// The number of pixels of a row that are stored at a time.
static int64_t getStoredPixels(const Problem &problem,
                               const Transform &transform) {
  bool isNchw = problem.result.layout.kind == Layout::NCHW;
  return isNchw ? kRowPixels : transform.outTile();
}

KernelSpec::KernelSpec(const Problem &problem, const TargetInfo &target,
                       const PerfConfig &config, const Transform &transform)
    : transform(transform),
      input{problem.operands[0].dtype, problem.operands[0].layout, false},
      product{transform.points(), config.get("tile_m"), config.get("tile_n"),
              chooseArith(problem.operands[0])},
      output(makeOutputSpec(problem, target, getConvGeometry(problem),
                            getStoredPixels(problem, transform))) {
  input.alignedChannels =
      problem.operands[1].shape[1] % product.lineChannels() == 0;
  // Sums of integers become numbers before they are transformed back.
  output.arith = product.arith;
  dilated = !areAll(problem.ints("dilations"), 1);
}

std::string KernelSpec::symbol() const {
  std::string text = "winograd_f" + std::to_string(transform.outTile()) + "_m" +
                     std::to_string(product.tileM) + "n" +
                     std::to_string(product.tileN) +
                     (input.alignedChannels ? "_lines" : "_pieces") +
                     (dilated ? "_dilated" : "");
  // The spec of the stored row names dtypes, layouts and the epilogue.
  return text + "_" + output.symbol();
}

//===----------------------------------------------------------------------===//
// Applicability
//===----------------------------------------------------------------------===//

Applicability WinogradSolver::checkInput(const Problem &problem,
                                         const TargetInfo &target) const {
  const TensorDesc &input = problem.operands[0];
  if (!isInteger)
    return input.dtype == DType::F32 && !input.quantized
               ? Applicability::yes()
               : Applicability::no("needs an f32 input: the transforms amplify "
                                   "rounding errors");
  if (!input.quantized)
    return Applicability::no("needs a quantised input");
  if (input.layout.kind != Layout::NHWC)
    return Applicability::no("needs an input in nhwc");
  int64_t channels = problem.operands[1].shape[1];
  if (channels == 0)
    return Applicability::no("needs channels");
  // Without AVX-512, bytes cannot be read under a mask.
  constexpr int64_t kLine = 2 * igemm::kLineUnits;
  if (target.vectorBits < 512 && channels % kLine != 0)
    return Applicability::no("needs whole lines of channels");
  return Applicability::yes();
}

Applicability WinogradSolver::isApplicable(const Problem &problem,
                                           const TargetInfo &target) const {
  if (problem.op != OpKind::Conv)
    return Applicability::no("needs a convolution");
  if (problem.result.rank() != 4)
    return Applicability::no("needs two spatial dimensions");
  const TensorDesc &input = problem.operands[0], &filter = problem.operands[1];
  if (filter.shape[2] != 3 || filter.shape[3] != 3)
    return Applicability::no("needs a 3x3 filter");
  if (!areAll(problem.ints("strides"), 1))
    return Applicability::no("needs strides of 1");
  // Pixels of one residue are no neighbours, and in nchw squares of neighbours
  // are transposed.
  if (!areAll(problem.ints("dilations"), 1) &&
      (input.layout.kind == Layout::NCHW ||
       problem.result.layout.kind == Layout::NCHW))
    return Applicability::no("needs dilations of 1 in nchw");
  if (Applicability dtype = checkInput(problem, target); !dtype)
    return dtype;
  if (filter.shape[1] > maxChannels)
    return Applicability::no("has too many channels for its error bound");
  if (!hasWholeVectors(input.layout, target))
    return Applicability::no("needs channel blocks of whole vectors");
  return igemm::isSupported(problem, target, getConvGeometry(problem));
}

//===----------------------------------------------------------------------===//
// Configs
//===----------------------------------------------------------------------===//

bool WinogradSolver::isValidConfig(const Problem &, const TargetInfo &target,
                                   const PerfConfig &config) const {
  return config.getFields().size() == 3 &&
         isValidBlock(target, config, getArith());
}

/// Each tile is a kernel to compile: without tuning, models use only a few.
PerfConfig WinogradSolver::defaultConfig(const Problem &problem,
                                         const TargetInfo &target) const {
  RankedConfigs ranked;
  appendDefaultTiles(target, getConvGeometry(problem),
                     getTileWork(transform, problem), {}, ranked);
  sortByCycles(ranked);
  return ranked.front().second;
}

std::vector<PerfConfig>
WinogradSolver::configs(const Problem &problem,
                        const TargetInfo &target) const {
  RankedConfigs ranked;
  appendTiles(target, getConvGeometry(problem), getTileWork(transform, problem),
              {}, ranked);
  sortByCycles(ranked);
  return chooseConfigs(ranked, defaultConfig(problem, target));
}

double WinogradSolver::expectedFraction(const Problem &problem,
                                        const TargetInfo &target) const {
  double cycles =
      estimateCycles(target, getTileWork(transform, problem),
                     getConvGeometry(problem), defaultConfig(problem, target));
  return getFraction(problem, target, cycles);
}

//===----------------------------------------------------------------------===//
// The launch
//===----------------------------------------------------------------------===//

static ConstantPlan planFilter(const KernelSpec &spec,
                               const igemm::Geometry &g) {
  return {[spec, g](const ConstantOperands &operands) {
    return packFilter(
        spec.product, g, operands[1],
        [&](ArrayRef<float> taps, MutableArrayRef<double> values) {
          spec.transform.transformFilter(taps, values);
        });
  }};
}

static ConstantPlan planIntegerFilter(const KernelSpec &spec,
                                      const Problem &problem,
                                      const igemm::Geometry &g) {
  std::vector<float> scales;
  for (float scale : problem.operands[1].scales)
    scales.push_back(scale * problem.operands[0].scales[0]);
  return {[spec, g, scales](const ConstantOperands &operands) {
    return packIntegerFilter(spec.product, g, operands[1], spec.transform,
                             scales);
  }};
}

SolutionPlan WinogradSolver::plan(const Problem &problem,
                                  const TargetInfo &target,
                                  const PerfConfig &config) const {
  KernelSpec spec(problem, target, config, transform);
  igemm::Geometry g = getConvGeometry(problem);
  LaunchPlan launch;
  launch.kernel = {spec.symbol(),
                   [spec](KernelBuilder &b) { emitKernel(b, spec); }};
  std::vector<int64_t> params =
      makeTileParams(problem.operands[0], g, getTileWork(transform, problem));
  launch.tasks =
      setTaskParams(params, spec.product, target, g, config.get("block_m"));
  launch.params = makeResultParams(problem, spec.output, g);
  llvm::append_range(launch.params, params);
  if (spec.dilated)
    llvm::append_range(launch.params, ArrayRef({g.dilationH, g.dilationW}));
  int64_t blockTiles = params[BlockTiles];
  launch.scratchBytes = kNoteBytes + ScratchLayout(transform).bytes() +
                        spec.product.panelBytes(blockTiles, params[Lines]) +
                        spec.product.productBytes(blockTiles);
  bindBuffers(launch, spec.output);
  SolutionPlan plan;
  plan.launches.push_back(std::move(launch));
  plan.constants.push_back(isInteger ? planIntegerFilter(spec, problem, g)
                                     : planFilter(spec, g));
  return plan;
}
