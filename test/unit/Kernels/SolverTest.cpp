//===- SolverTest.cpp - Runs solvers on problems --------------------------===//
//
// Part of Tarpon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "SolverTest.h"

#include "AmxEmulation.h"

#include "tarpon/Problem/ElementwiseOps.h"
#include "tarpon/Problem/OpRules.h"
#include "tarpon/Problem/Recurrent.h"
#include "tarpon/Runtime/Executor.h"
#include "tarpon/Targets/AMDGPU/AmdGpuBackend.h"
#include "tarpon/Targets/AMDGPU/EmulatedDevice.h"
#include "tarpon/Targets/GPU/EmittedGpuKernel.h"
#include "tarpon/Targets/GPU/Emulator/EmulatedDevice.h"
#include "tarpon/Targets/Host/HostTarget.h"
#include "tarpon/Targets/NVIDIA/EmulatedDevice.h"
#include "tarpon/Targets/NVIDIA/NvidiaGpuBackend.h"
#include "tarpon/Targets/NVIDIA/Ptx.h"
#include "tarpon/Targets/Package/PackageBuilder.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/ErrorHandling.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/MathExtras.h"

#include <cmath>
#include <cstring>
#include <random>

using namespace tarpon;
using namespace tarpon::test;
using runtime::AlignedBuffer;
using runtime::Error;
using runtime::Result;
using runtime::Status;

//===----------------------------------------------------------------------===//
// Elements
//===----------------------------------------------------------------------===//

/// The element strides of each dimension, and for dimension 1 of a blocked
/// layout that of a block. Written apart from lib/Kernels, to check it.
static int64_t getOffset(const TensorDesc &desc,
                         const std::vector<int64_t> &index) {
  int64_t rank = desc.rank(), offset = 0;
  auto descend = [&](int64_t place, int64_t size) {
    offset = offset * size + place;
  };
  if (rank < 2 || desc.layout.kind == Layout::NCHW) {
    for (int64_t d = 0; d < rank; ++d)
      descend(index[d], desc.shape[d]);
    return offset;
  }
  int64_t block = desc.layout.block;
  bool blocked = desc.layout.kind == Layout::Blocked;
  descend(index[0], desc.shape[0]);
  if (blocked)
    descend(index[1] / block, llvm::divideCeil(desc.shape[1], block));
  for (int64_t d = 2; d < rank; ++d)
    descend(index[d], desc.shape[d]);
  if (blocked)
    descend(index[1] % block, block);
  else
    descend(index[1], desc.pitch ? desc.pitch : desc.shape[1]);
  return offset;
}

/// Returns true if nothing was written between the pixels of a slice.
static bool isUntouchedBetween(const TensorDesc &desc, const char *bytes) {
  int64_t size = runtime::dtypeBytes(desc.dtype);
  for (int64_t i = 0; desc.pitch && i < desc.numBytes(); ++i)
    if (i / size % desc.pitch >= desc.shape[1] &&
        static_cast<uint8_t>(bytes[i]) != 0xff)
      return false;
  return true;
}

std::vector<int64_t> test::getElementOffsets(const TensorDesc &desc) {
  std::vector<int64_t> offsets, index(desc.rank(), 0);
  for (int64_t i = 0, e = desc.numElements(); i < e; ++i) {
    offsets.push_back(getOffset(desc, index));
    for (int64_t d = desc.rank() - 1; d >= 0 && ++index[d] == desc.shape[d];
         --d)
      index[d] = 0;
  }
  return offsets;
}

/// The scale of the `i`-th logical element.
static double getScale(const TensorDesc &desc, int64_t i) {
  if (desc.scales.size() <= 1)
    return desc.scales.empty() ? 1 : desc.scales.front();
  int64_t behind = 1;
  for (int64_t d = desc.quantAxis + 1; d < desc.rank(); ++d)
    behind *= desc.shape[d];
  return desc.scales[i / behind % desc.shape[desc.quantAxis]];
}

std::vector<double> test::readElements(const TensorDesc &desc,
                                       const char *bytes) {
  std::vector<double> elements;
  int64_t size = runtime::dtypeBytes(desc.dtype);
  for (auto [i, offset] : llvm::enumerate(getElementOffsets(desc))) {
    double stored = runtime::loadAsDouble(desc.dtype, bytes + offset * size);
    if (desc.quantized)
      stored = (stored - desc.zeroPoint) * getScale(desc, i);
    elements.push_back(stored);
  }
  return elements;
}

static void storeElement(DType dtype, double value, char *element) {
  int64_t bytes = runtime::dtypeBytes(dtype);
  if (dtype == DType::F64) {
    std::memcpy(element, &value, sizeof(value));
  } else if (runtime::isFloat(dtype) || bytes < 4) {
    runtime::storeFromFloat(dtype, static_cast<float>(value), element);
  } else {
    uint64_t wide = dtype == DType::U64
                        ? static_cast<uint64_t>(value)
                        : static_cast<uint64_t>(static_cast<int64_t>(value));
    std::memcpy(element, &wide, bytes);
  }
}

void test::writeElements(const TensorDesc &desc,
                         const std::vector<double> &elements, char *bytes) {
  std::memset(bytes, 0xff, desc.numBytes());
  int64_t size = runtime::dtypeBytes(desc.dtype);
  for (auto [i, offset] : llvm::enumerate(getElementOffsets(desc))) {
    double value = elements[i];
    if (desc.quantized)
      value = std::nearbyint(value / getScale(desc, i)) + desc.zeroPoint;
    storeElement(desc.dtype, value, bytes + offset * size);
  }
}

static bool isDivisor(const Problem &problem, size_t index) {
  // The same goes for what has to be positive.
  std::optional<OpKind> forward = getForward(problem.op);
  bool isGradient = forward.has_value();
  if (index == size_t(isGradient) &&
      llvm::is_contained({OpKind::Log, OpKind::Sqrt, OpKind::Pow, OpKind::Power,
                          OpKind::Reciprocal},
                         forward.value_or(problem.op)))
    return true;
  if (static_cast<int>(index) < problem.rootOperands)
    return getOpRule(problem.op).positiveOperands >> index & 1;
  return llvm::any_of(problem.epilogue, [&](const EpilogueStep &step) {
    return step.operand == static_cast<int>(index) &&
           (getOpRule(step.op).positiveOperands >> 1 & 1);
  });
}

std::vector<double> test::makeOperand(const Problem &problem, size_t index,
                                      uint64_t seed) {
  const TensorDesc &desc = problem.operands[index];
  std::mt19937_64 random(seed * 1000 + index);
  std::uniform_real_distribution<double> uniform(-2, 2);
  bool isInteger = !desc.quantized && !runtime::isFloat(desc.dtype);
  std::vector<double> elements;
  for (int64_t i = 0, e = desc.numElements(); i < e; ++i) {
    double value = uniform(random);
    if (isDivisor(problem, index))
      value = std::fabs(value) + 0.5;
    if (isInteger)
      value = std::trunc(std::fabs(value) * 20) + isDivisor(problem, index);
    elements.push_back(desc.dtype == DType::Bool ? value > 20 : value);
  }
  return elements;
}

//===----------------------------------------------------------------------===//
// Running
//===----------------------------------------------------------------------===//

Result<std::unique_ptr<SolverRunner>> SolverRunner::create(std::string cpu) {
  Result<TargetInfo> target = getHostTarget(/*threads=*/2, cpu);
  if (!target)
    return target.error();
  return std::unique_ptr<SolverRunner>(new SolverRunner(*target));
}

Result<std::unique_ptr<SolverRunner>> SolverRunner::createEmulatingAmx() {
  Result<TargetInfo> target = getHostTarget(/*threads=*/2);
  if (!target)
    return target.error();
  if (target->vectorBits != 512)
    return std::unique_ptr<SolverRunner>();
  // Kernels with tiles have none of the narrower instructions.
  target->hasVnni = target->hasBf16 = true;
  target->hasAmxInt8 = target->hasAmxBf16 = true;
  // So little that sums are kept between blocks of a K of a few thousand.
  target->l2Bytes = 256 << 10;
  std::unique_ptr<SolverRunner> runner(new SolverRunner(*target));
  runner->compiler = std::make_unique<KernelCompiler>(
      *target, nullptr, makeAmxEmulation(makeHostBackend(*target)));
  return runner;
}

namespace {

/// Kernels for the emulated device, or for one of NVIDIA's GPUs, changed.
class EditedBackend final : public KernelBackend {
public:
  EditedBackend(std::unique_ptr<KernelBackend> inner,
                std::function<std::string(std::string)> edit,
                const GpuTarget *device = nullptr)
      : inner(std::move(inner)), edit(std::move(edit)), device(device) {}

  std::string describe() const override { return inner->describe(); }
  Result<std::vector<char>> compile(const KernelSource &kernel) const override {
    std::string text = edit(inner->printMlir(kernel));
    if (device)
      return compileForDriver(text);
    return std::vector<char>(text.begin(), text.end());
  }
  Result<LinkedKernels> link(const KernelObjects &objects) const override {
    return inner->link(objects);
  }
  runtime::KernelForm getKernelForm() const override {
    return inner->getKernelForm();
  }
  std::string printMlir(const KernelSource &kernel) const override {
    return edit(inner->printMlir(kernel));
  }
  Result<std::string> printAssembly(const KernelSource &kernel) const override {
    return inner->printAssembly(kernel);
  }

private:
  /// The PTX of a kernel's text, which the driver assembles.
  Result<std::vector<char>> compileForDriver(const std::string &text) const {
    auto kernel = EmittedGpuKernel::parse({text.data(), text.size()});
    if (!kernel)
      return kernel.error();
    auto ptx = compileToPtx(kernel->getModule(), *device);
    if (!ptx)
      return ptx.error();
    std::vector<char> bytes(ptx->begin(), ptx->end());
    bytes.push_back('\0');
    return bytes;
  }

  std::unique_ptr<KernelBackend> inner;
  std::function<std::string(std::string)> edit;
  const GpuTarget *device; ///< null if it is emulated
};

} // namespace

Result<std::unique_ptr<SolverRunner>>
SolverRunner::createEmulated(const std::string &gpu,
                             std::function<std::string(std::string)> edit,
                             uint64_t order) {
  Result<GpuTarget> known = parseGpuTarget(gpu);
  if (!known)
    return known.error();
  TargetInfo target = makeGpuTargetInfo(*known, GpuCodeForm::Ir);
  std::unique_ptr<SolverRunner> runner(new SolverRunner(target));
  bool isAmd = known->vendor == GpuVendor::AMD;
  auto makeBackend = isAmd ? makeAmdGpuBackend : makeNvidiaGpuBackend;
  std::unique_ptr<KernelBackend> backend = makeBackend(*known, GpuCodeForm::Ir);
  if (edit)
    backend =
        std::make_unique<EditedBackend>(std::move(backend), std::move(edit));
  runner->compiler =
      std::make_unique<KernelCompiler>(target, nullptr, std::move(backend));
  EmulatedDeviceOptions options;
  options.seed = order;
  runner->device = isAmd ? makeEmulatedDevice(*known, options)
                         : makeEmulatedNvidiaDevice(*known, options);
  return runner;
}

std::unique_ptr<SolverRunner>
SolverRunner::createOnDevice(const Target &gpu,
                             std::unique_ptr<runtime::Device> device,
                             std::shared_ptr<KernelCache> cache) {
  std::unique_ptr<SolverRunner> runner(new SolverRunner(gpu.getInfo()));
  runner->compiler = std::make_unique<KernelCompiler>(
      gpu.getInfo(), std::move(cache), gpu.makeBackend());
  runner->device = std::move(device);
  return runner;
}

std::unique_ptr<SolverRunner>
SolverRunner::createPlanted(const Target &gpu,
                            std::unique_ptr<runtime::Device> device,
                            std::function<std::string(std::string)> edit) {
  std::unique_ptr<SolverRunner> runner(new SolverRunner(gpu.getInfo()));
  runner->compiler = std::make_unique<KernelCompiler>(
      gpu.getInfo(), nullptr,
      std::make_unique<EditedBackend>(gpu.makeBackend(), std::move(edit),
                                      gpu.getInfo().gpu));
  runner->device = std::move(device);
  return runner;
}

/// Runs the package on memory that nobody has written.
Status SolverRunner::execute(runtime::Package package, uint64_t seed,
                             llvm::ArrayRef<const void *> inputs,
                             llvm::ArrayRef<void *> outputs) {
  runtime::ExecutorOptions options;
  options.threads = 2;
  options.paddedBuffers = true;
  options.poisonMemory = poisonsMemory;
  // Tasks may run in any order, in the one that they least expect too; but then
  // one by one, where they mostly come in longer ranges.
  options.reverseTasks = seed % 2 == 0;
  Result<std::unique_ptr<runtime::Executor>> executor =
      device ? runtime::Executor::create(std::move(package), *device, options)
             : runtime::Executor::create(std::move(package), options);
  if (!executor)
    return executor.error();
  for (int64_t i = 1; i < launches; ++i)
    if (Status status = (*executor)->run({inputs.data(), inputs.size()},
                                         {outputs.data(), outputs.size()});
        !status)
      return status;
  return (*executor)->run({inputs.data(), inputs.size()},
                          {outputs.data(), outputs.size()});
}

/// Poisoned memory for every result.
static Result<std::vector<AlignedBuffer>> makeResults(const Problem &problem) {
  std::vector<AlignedBuffer> buffers;
  for (int64_t i = 0; i < problem.numResults(); ++i) {
    Result<AlignedBuffer> buffer =
        AlignedBuffer::allocate(problem.getResult(i).numBytes());
    if (!buffer)
      return buffer.error();
    buffer->fill(0xff);
    buffers.push_back(std::move(*buffer));
  }
  return buffers;
}

/// The elements of all results, if nothing was written behind one.
static Result<std::vector<std::vector<double>>>
readResults(const Problem &problem, const std::vector<AlignedBuffer> &buffers) {
  std::vector<std::vector<double>> results;
  for (auto [index, buffer] : llvm::enumerate(buffers)) {
    const char *behind = buffer.data() + buffer.size();
    for (int64_t i = 0; i < 64; ++i)
      if (static_cast<uint8_t>(behind[i]) != 0xff)
        return Error{
            llvm::formatv("byte {0} behind result {1} was written", i, index)};
    const TensorDesc &desc = problem.getResult(static_cast<int64_t>(index));
    if (!isUntouchedBetween(desc, buffer.data()))
      return Error{llvm::formatv(
          "bytes between the pixels of result {0} were written", index)};
    results.push_back(readElements(desc, buffer.data()));
  }
  return results;
}

std::vector<double> SolverRunner::makeChanged(const Problem &problem,
                                              size_t index,
                                              uint64_t seed) const {
  std::vector<double> elements = makeOperand(problem, index, seed);
  if (change)
    for (double &element : elements)
      element = change(index, element);
  return elements;
}

Result<runtime::Package> SolverRunner::build(const Problem &problem,
                                             const Solver &solver,
                                             const PerfConfig &config,
                                             uint64_t seed) const {
  if (!change)
    return buildProblemPackage(problem, solver, config, *compiler, seed);
  std::vector<std::vector<char>> constants;
  for (auto [index, desc] : llvm::enumerate(problem.operands)) {
    std::vector<char> &bytes = constants.emplace_back();
    if (!desc.constant)
      continue;
    bytes.resize(desc.numBytes());
    writeElements(desc, makeChanged(problem, index, seed), bytes.data());
  }
  return buildProblemPackage(
      problem, solver, config, *compiler,
      ConstantOperands(constants.begin(), constants.end()));
}

Result<std::vector<std::vector<double>>>
SolverRunner::run(const Problem &problem, const Solver &solver,
                  const PerfConfig &config,
                  const std::vector<std::vector<double>> &operands,
                  uint64_t seed, std::optional<size_t> overwritten) {
  Result<runtime::Package> package = build(problem, solver, config, seed);
  if (!package)
    return package.error();
  Result<std::vector<AlignedBuffer>> results = makeResults(problem);
  if (!results)
    return results.error();
  std::vector<AlignedBuffer> buffers;
  std::vector<const void *> inputs;
  for (auto [index, desc] : llvm::enumerate(problem.operands)) {
    if (desc.constant)
      continue;
    Result<AlignedBuffer> buffer = AlignedBuffer::allocate(desc.numBytes());
    if (!buffer)
      return buffer.error();
    buffer->fill(0xff);
    writeElements(desc,
                  operands.empty() ? makeChanged(problem, index, seed)
                                   : operands[index],
                  buffer->data());
    if (overwritten == index)
      std::memcpy(results->front().data(), buffer->data(), desc.numBytes());
    inputs.push_back(overwritten == index ? results->front().data()
                                          : buffer->data());
    buffers.push_back(std::move(*buffer));
  }
  std::vector<void *> outputs;
  for (AlignedBuffer &buffer : *results)
    outputs.push_back(buffer.data());
  if (Status status = execute(std::move(*package), seed, inputs, outputs);
      !status)
    return status.error();
  return readResults(problem, *results);
}

//===----------------------------------------------------------------------===//
// Comparing
//===----------------------------------------------------------------------===//

static double largestMagnitude(const std::vector<double> &elements) {
  double largest = 0;
  for (double element : elements)
    if (std::isfinite(element))
      largest = std::max(largest, std::fabs(element));
  return largest;
}

double test::getTolerance(const Problem &problem,
                          const std::vector<double> &expected, int64_t index,
                          double storageUlps) {
  const TensorDesc &result = problem.getResult(index);
  if (result.quantized)
    return 1.001 * *llvm::max_element(result.scales);
  double largest = largestMagnitude(expected);
  // Sums in another order, polynomials for exp, factors folded beforehand.
  double reduction = 1;
  if (problem.op == OpKind::Conv || problem.op == OpKind::ConvTranspose ||
      problem.op == OpKind::ConvBackwardWeights || problem.op == OpKind::MatMul)
    reduction = std::max(1.0, problem.flops() / 2 /
                                  std::max<double>(1, expected.size()));
  for (const TensorDesc &operand : problem.operands)
    reduction = std::max(reduction, static_cast<double>(operand.numElements()) /
                                        std::max<double>(1, expected.size()));
  // All elements of a row are scaled with sums over it.
  if (problem.op == OpKind::LayerNorm) {
    double row = 1;
    for (int64_t dim = problem.integer("axis");
         dim < problem.operands[0].rank(); ++dim)
      row *= static_cast<double>(problem.operands[0].shape[dim]);
    reduction = std::max(reduction, row);
  }
  // Errors of one step go into the next.
  if (getRecurrentCell(problem.op))
    reduction = static_cast<double>(problem.operands[1].shape[2] *
                                    problem.operands[0].shape[0]);
  double computed = 2e-6 * (1 + std::sqrt(reduction));
  if (!runtime::isFloat(result.dtype))
    return 0;
  bool isSmall = runtime::dtypeBytes(result.dtype) < 4;
  double rounding =
      isSmall ? storageUlps * runtime::dtypeEpsilon(result.dtype) : 0;
  return largest * (rounding + computed) + 1e-6;
}

static std::string compareOne(const std::vector<double> &actual,
                              const std::vector<double> &expected,
                              double tolerance) {
  double worst = -1;
  size_t worstIndex = 0, wrong = 0;
  for (size_t i = 0; i < expected.size(); ++i) {
    bool bothNaN = std::isnan(actual[i]) && std::isnan(expected[i]);
    if (bothNaN || actual[i] == expected[i])
      continue;
    double error = std::fabs(actual[i] - expected[i]);
    if (!(error <= tolerance))
      ++wrong;
    if (!(error <= worst)) {
      worst = error;
      worstIndex = i;
    }
  }
  if (wrong == 0)
    return "";
  return llvm::formatv("{0} of {1} elements are wrong; element {2} is {3} "
                       "instead of {4}, the tolerance {5}",
                       wrong, expected.size(), worstIndex, actual[worstIndex],
                       expected[worstIndex], tolerance);
}

std::string test::compare(const Problem &problem,
                          const std::vector<std::vector<double>> &actual,
                          const std::vector<std::vector<double>> &expected,
                          double storageUlps) {
  for (size_t i = 0; i < expected.size(); ++i) {
    double tolerance = getTolerance(problem, expected[i],
                                    static_cast<int64_t>(i), storageUlps);
    std::string text = compareOne(actual[i], expected[i], tolerance);
    if (!text.empty())
      return llvm::formatv("result {0}: {1}", i, text);
  }
  return "";
}
