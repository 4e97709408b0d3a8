//===- GpuWinogradF2x3.cpp - F(2 x 2, 3 x 3) on GPUs ----------------------===//
//
// Part of Tarpon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// 16 products for 4 outputs, 2.25 times fewer than direct; Winograd.h has the
// steps. V and M, which go through memory, are 4 times the input, and 4 times
// the result in f32: it pays where products dominate the time, like those of
// f32 with many channels.
//
// The error of f32 is that of the host's F(2 x 2) (../../Conv/Winograd/
// Transform.h). That of f16 comes from storing V and U in it, and does not
// depend on the channels: a rounded number is off by 0.75 * 2^-12 of the
// typical one, a product of two by 1.1 * 2^-12, and the output transform makes
// 5 / 3 of it, so that a sum is off by 4.5e-4 of the typical sum. The worst of
// many sums is then off by less than one more unit in the last place of the
// largest, but by several of a small one. Therefore checkHalfPrecision
// restricts f16 problems.
//
//===----------------------------------------------------------------------===//

#include "Common/VectorAccess.h"
#include "GPU/ElementWork.h"
#include "GPU/GpuSolvers.h"
#include "Winograd.h"
#include "tarpon/Kernels/GPU/GpuProductWork.h"
#include "tarpon/Runtime/KernelABI.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace tarpon;
using namespace tarpon::gpuwinograd;

static const Transform &getTransform() {
  static const Transform transform({1});
  return transform;
}

namespace {

class GpuWinogradF2x3 final : public Solver {
public:
  StringRef id() const override { return "gpu-winograd-f2x3-v1"; }
  Applicability isApplicable(const Problem &problem,
                             const TargetInfo &target) const override;
  bool knowsSlices() const override { return true; }
  int64_t workspaceSize(const Problem &problem,
                        const TargetInfo &target) const override;
  PerfConfig defaultConfig(const Problem &problem,
                           const TargetInfo &target) const override;
  std::vector<PerfConfig> configs(const Problem &problem,
                                  const TargetInfo &target) const override;
  bool isValidConfig(const Problem &problem, const TargetInfo &target,
                     const PerfConfig &config) const override;
  std::string explainConfig(const Problem &problem, const TargetInfo &target,
                            const PerfConfig &config) const override;
  double expectedFraction(const Problem &problem,
                          const TargetInfo &target) const override;
  SolutionPlan plan(const Problem &problem, const TargetInfo &target,
                    const PerfConfig &config) const override;
};

/// The places of V and M in the workspace, and the space of the products.
struct Workspace {
  explicit Workspace(const Problem &products)
      : transformed(0), products(align(products.operands[0].numBytes())),
        rest(align(this->products + products.result.numBytes())) {}

  int64_t transformed, products, rest;

private:
  static int64_t align(int64_t bytes) {
    return static_cast<int64_t>(
        llvm::alignTo(bytes, runtime::kBufferAlignment));
  }
};

} // namespace

//===----------------------------------------------------------------------===//
// Applicability
//===----------------------------------------------------------------------===//

static bool areAll(ArrayRef<int64_t> values, int64_t wanted) {
  return llvm::all_of(values, [&](int64_t value) { return value == wanted; });
}

static bool isImage(const TensorDesc &desc) {
  return desc.layout.kind == Layout::NCHW || desc.layout.kind == Layout::NHWC;
}

/// Returns true for steps whose results are as large as their inputs, so that
/// errors stay small relative to them.
static bool isLinear(const EpilogueStep &step) {
  constexpr OpKind kLinear[] = {OpKind::Abs,  OpKind::Add, OpKind::LeakyRelu,
                                OpKind::Mul,  OpKind::Neg, OpKind::PRelu,
                                OpKind::Relu, OpKind::Sub};
  return llvm::is_contained(kLinear, step.op) ||
         (step.op == OpKind::Div && !isSwapped(step));
}

/// Returns true for steps that are such for positive numbers.
static bool isLinearAboveZero(OpKind op) {
  constexpr OpKind kLinear[] = {
      OpKind::Celu,     OpKind::Elu,       OpKind::Gelu,
      OpKind::GeluTanh, OpKind::HardSwish, OpKind::Mish,
      OpKind::Selu,     OpKind::Softplus,  OpKind::Swish};
  return llvm::is_contained(kLinear, op);
}

/// Returns true if the epilogue's results are no smaller than its sums.
static bool keepsMagnitude(ArrayRef<EpilogueStep> epilogue) {
  bool hasBothSigns = true;
  for (const EpilogueStep &step : epilogue) {
    if (!isLinear(step) && !(hasBothSigns && isLinearAboveZero(step.op)))
      return false;
    hasBothSigns &= isBinaryOp(step.op) && step.op != OpKind::PRelu;
  }
  return true;
}

/// Errors are bounded relative to the largest of the sums.
static Applicability checkHalfPrecision(const Problem &problem) {
  constexpr int64_t kLeastResults = 256;
  if (problem.result.dtype != DType::F16 && problem.result.dtype != DType::BF16)
    return Applicability::no("needs an f16 or bf16 result for an f16 input: "
                             "others would show the rounding of transformed "
                             "tiles");
  if (problem.result.numElements() < kLeastResults)
    return Applicability::no("needs 256 results for an f16 input: errors are "
                             "relative to the largest of many");
  if (!keepsMagnitude(problem.epilogue))
    return Applicability::no("needs an epilogue, for an f16 input, that keeps "
                             "the magnitude of sums, which errors are relative "
                             "to");
  return Applicability::yes();
}

static Applicability checkWindow(const Problem &problem) {
  const TensorDesc &filter = problem.operands[1];
  if (problem.op != OpKind::Conv)
    return Applicability::no("needs a convolution");
  if (problem.result.rank() != 4)
    return Applicability::no("needs two spatial dimensions");
  if (filter.shape[2] != 3 || filter.shape[3] != 3)
    return Applicability::no("needs a 3x3 filter");
  if (!areAll(problem.ints("strides"), 1) ||
      !areAll(problem.ints("dilations"), 1))
    return Applicability::no("needs strides and dilations of 1");
  if (problem.integer("group") != 1)
    return Applicability::no("needs one group");
  return Applicability::yes();
}

static Applicability checkOperands(const Problem &problem) {
  const TensorDesc &input = problem.operands[0], &filter = problem.operands[1];
  if (!isImage(input) || !isImage(problem.result))
    return Applicability::no("needs nchw or nhwc");
  if (!filter.constant)
    return Applicability::no("needs a constant filter");
  bool isFloat = input.dtype == DType::F16 || input.dtype == DType::F32;
  if (!isFloat || input.quantized)
    return Applicability::no("needs an f16 or f32 input: the transforms "
                             "amplify rounding errors");
  if (filter.dtype != input.dtype || filter.quantized)
    return Applicability::no("needs a filter of the input's dtype");
  return VectorOutput::check(problem);
}

Applicability GpuWinogradF2x3::isApplicable(const Problem &problem,
                                            const TargetInfo &target) const {
  if (Applicability window = checkWindow(problem); !window)
    return window;
  if (Applicability operands = checkOperands(problem); !operands)
    return operands;
  if (problem.operands[0].dtype == DType::F16)
    if (Applicability errors = checkHalfPrecision(problem); !errors)
      return errors;
  // The products would be the engine's, in TF32.
  if (problem.operands[0].dtype == DType::F32 && target.gpu &&
      target.gpu->allowsTf32)
    return Applicability::no("needs a target without TF32 for an f32 input: "
                             "results would show the rounding of transformed "
                             "tiles");
  if (Applicability indices = checkIndexable(problem); !indices)
    return indices;
  return getGpuGemm().isApplicable(getProducts(problem, getTransform()),
                                   target);
}

//===----------------------------------------------------------------------===//
// Configs
//===----------------------------------------------------------------------===//

/// The config is that of the products, and this field, whose only value is 2:
/// it tells readers of the config which products are meant.
static constexpr StringRef kOutTile = "out_tile";

static PerfConfig addTile(PerfConfig config) {
  config.set(kOutTile, getTransform().outTile());
  return config;
}

static PerfConfig dropTile(const PerfConfig &config) {
  PerfConfig rest;
  for (const auto &[name, value] : config.getFields())
    if (name != kOutTile)
      rest.set(name, value);
  return rest;
}

static bool hasTile(const PerfConfig &config) {
  return config.has(kOutTile) &&
         config.get(kOutTile) == getTransform().outTile();
}

PerfConfig GpuWinogradF2x3::defaultConfig(const Problem &problem,
                                          const TargetInfo &target) const {
  return addTile(
      getGpuGemm().defaultConfig(getProducts(problem, getTransform()), target));
}

std::vector<PerfConfig>
GpuWinogradF2x3::configs(const Problem &problem,
                         const TargetInfo &target) const {
  std::vector<PerfConfig> configs =
      getGpuGemm().configs(getProducts(problem, getTransform()), target);
  for (PerfConfig &config : configs)
    config = addTile(std::move(config));
  return configs;
}

bool GpuWinogradF2x3::isValidConfig(const Problem &problem,
                                    const TargetInfo &target,
                                    const PerfConfig &config) const {
  return hasTile(config) &&
         getGpuGemm().isValidConfig(getProducts(problem, getTransform()),
                                    target, dropTile(config));
}

std::string GpuWinogradF2x3::explainConfig(const Problem &problem,
                                           const TargetInfo &target,
                                           const PerfConfig &config) const {
  if (!hasTile(config))
    return "out_tile must be 2";
  return getGpuGemm().explainConfig(getProducts(problem, getTransform()),
                                    target, dropTile(config));
}

GpuProductWork tarpon::getGpuProductWork(const Problem &problem,
                                         const PerfConfig &config) {
  const Problem &main = problem.op == OpKind::Conv && hasTile(config)
                            ? getProducts(problem, getTransform())
                            : problem;
  GpuProductWork work;
  work.flops = main.flops();
  work.results = static_cast<double>(main.result.numElements());
  for (const TensorDesc &operand : main.operands)
    if (operand.constant)
      work.constantBytes += static_cast<double>(operand.numBytes());
  return work;
}

/// The products count by the engine's own estimate, the transforms by the bytes
/// that they read and write, and two launches more than those of a direct
/// convolution.
double GpuWinogradF2x3::expectedFraction(const Problem &problem,
                                         const TargetInfo &target) const {
  // For a problem that is too small for the GPU: less than the least estimate
  // of the engine, but more than nothing.
  constexpr double kLeast = 0.015;
  constexpr double kBandwidth = 0.6, kLaunchesNs = 4000;
  const GpuTarget &gpu = *target.gpu;
  Problem products = getProducts(problem, getTransform());
  auto getNs = [&](const Problem &of) {
    return std::max(of.flops() / gpu.peakGflops(of.operands[0].dtype),
                    of.bytes() / gpu.memoryGbps);
  };
  double ns = getNs(products) / getGpuGemm().expectedFraction(products, target);
  double bytes = static_cast<double>(products.operands[0].numBytes() +
                                     products.result.numBytes());
  for (const TensorDesc &operand : problem.operands)
    bytes += operand.constant ? 0 : static_cast<double>(operand.numBytes());
  bytes += static_cast<double>(problem.result.numBytes());
  ns += bytes / (kBandwidth * gpu.memoryGbps) + kLaunchesNs;
  return std::max(kLeast, getNs(problem) / ns);
}

//===----------------------------------------------------------------------===//
// The launches
//===----------------------------------------------------------------------===//

int64_t GpuWinogradF2x3::workspaceSize(const Problem &problem,
                                       const TargetInfo &target) const {
  Problem products = getProducts(problem, getTransform());
  return Workspace(products).rest +
         getGpuGemm().workspaceSize(products, target);
}

SolutionPlan GpuWinogradF2x3::plan(const Problem &problem,
                                   const TargetInfo &target,
                                   const PerfConfig &config) const {
  const Transform &transform = getTransform();
  Workspace workspace(getProducts(problem, transform));
  SolutionPlan plan;
  planInputTransform(plan, problem, transform, workspace.transformed);
  plan.workspaceBytes = workspace.rest;
  planProducts(plan, problem, transform, getGpuGemm(), target, dropTile(config),
               workspace.transformed, workspace.products);
  planOutputTransform(plan, problem, transform, workspace.products);
  return plan;
}

const Solver &tarpon::getGpuWinogradF2x3() {
  static const GpuWinogradF2x3 solver;
  return solver;
}
