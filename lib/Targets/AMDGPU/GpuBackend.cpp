//===- GpuBackend.cpp - Compiles kernels for AMD GPUs ---------------------===//
//
// Part of Tarpon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tarpon/Targets/AMDGPU/GpuBackend.h"

#include "GpuCodeDigest.h"
#include "tarpon/Runtime/KernelABI.h"
#include "tarpon/Targets/AMDGPU/GpuCompiler.h"
#include "tarpon/Targets/AMDGPU/Model/SolutionModel.h"

#include "llvm/Support/MathExtras.h"

using namespace tarpon;
using runtime::Error;
using runtime::Result;

namespace {

class GpuBackend final : public KernelBackend {
public:
  GpuBackend(const GpuTarget &gpu, GpuCodeForm form) : gpu(gpu), form(form) {}

  std::string describe() const override {
    return std::string("gpu code " TARPON_GPU_CODE_DIGEST " ") + gpu.chip +
           (form == GpuCodeForm::Ir ? " ir" : "");
  }

  Result<std::vector<char>> compile(const KernelSource &kernel) const override {
    if (form == GpuCodeForm::Ir) {
      Result<EmittedGpuKernel> emitted = EmittedGpuKernel::emit(kernel, gpu);
      if (!emitted)
        return emitted.error();
      std::string text = emitted->print();
      return std::vector<char>(text.begin(), text.end());
    }
    Result<CodeObject> object = compileGpuKernel(kernel, gpu);
    if (!object)
      return object.error();
    return std::move(object->bytes);
  }

  Result<LinkedKernels> link(const KernelObjects &objects) const override;

  runtime::KernelForm getKernelForm() const override {
    return runtime::KernelForm::CodeObjects;
  }

  std::string describeCostModel() const override { return getGpuModelName(); }

  Result<SolutionEstimate>
  estimate(const CompiledSolution &solution) const override;

  Result<KernelFigures> readFigures(const std::string &symbol,
                                    llvm::ArrayRef<char> object) const override;

  std::string printMlir(const KernelSource &kernel) const override {
    Result<EmittedGpuKernel> emitted = EmittedGpuKernel::emit(kernel, gpu);
    return emitted ? emitted->print() : "// " + emitted.message() + "\n";
  }

  Result<std::string> printAssembly(const KernelSource &kernel) const override {
    Result<EmittedGpuKernel> emitted = EmittedGpuKernel::emit(kernel, gpu);
    if (!emitted)
      return emitted.error();
    return printGpuAssembly(emitted->getModule(), gpu);
  }

private:
  /// The resources of the kernel in a code object.
  static Result<KernelResources> readResources(const std::string &symbol,
                                               llvm::ArrayRef<char> bytes);
  /// The lanes of a workgroup of the kernel in these bytes, of either form.
  Result<int64_t> getWorkgroup(const std::string &symbol,
                               llvm::ArrayRef<char> bytes) const;

  GpuTarget gpu;
  GpuCodeForm form;
};

} // namespace

Result<KernelResources> GpuBackend::readResources(const std::string &symbol,
                                                  llvm::ArrayRef<char> bytes) {
  Result<std::vector<KernelResources>> kernels = readKernelResources(bytes);
  if (!kernels)
    return kernels.error();
  for (KernelResources &kernel : *kernels)
    if (kernel.symbol == symbol)
      return std::move(kernel);
  return Error{"the code object of '" + symbol + "' has no such kernel"};
}

Result<int64_t> GpuBackend::getWorkgroup(const std::string &symbol,
                                         llvm::ArrayRef<char> bytes) const {
  if (form == GpuCodeForm::Ir)
    return EmittedGpuKernel::readWorkgroup(bytes);
  Result<KernelResources> kernel = readResources(symbol, bytes);
  if (!kernel)
    return kernel.error();
  return kernel->workgroup;
}

Result<KernelFigures>
GpuBackend::readFigures(const std::string &symbol,
                        llvm::ArrayRef<char> object) const {
  // The emulated device's kernels have no registers yet.
  if (form == GpuCodeForm::Ir)
    return KernelBackend::readFigures(symbol, object);
  Result<KernelResources> kernel = readResources(symbol, object);
  if (!kernel)
    return kernel.error();
  int64_t waves = gpu.getOccupancy(kernel->vectorRegisters, kernel->ldsBytes,
                                   kernel->workgroup);
  // Scalars may be spilled to vector registers.
  return KernelFigures{{{"lanes", kernel->workgroup},
                        {"VGPR", kernel->vectorRegisters},
                        {"SGPR", kernel->scalarRegisters},
                        {"LDS", kernel->ldsBytes},
                        {"waves", waves}},
                       kernel->vectorSpills > 0 || kernel->privateBytes > 0};
}

Result<LinkedKernels> GpuBackend::link(const KernelObjects &objects) const {
  LinkedKernels linked;
  for (const auto &[symbol, object] : objects) {
    Result<int64_t> workgroup = getWorkgroup(symbol, *object);
    if (!workgroup)
      return workgroup.error();
    linked.bytes.resize(
        llvm::alignTo(linked.bytes.size(), runtime::kBufferAlignment));
    linked.codeObjects.push_back(
        {symbol, static_cast<int64_t>(linked.bytes.size()),
         static_cast<int64_t>(object->size()), *workgroup});
    linked.bytes.insert(linked.bytes.end(), object->begin(), object->end());
  }
  return linked;
}

Result<SolutionEstimate>
GpuBackend::estimate(const CompiledSolution &solution) const {
  if (form == GpuCodeForm::CodeObject)
    return estimateGpuSolution(solution, gpu);
  // Kernels for the emulated device have no registers yet.
  CompiledSolution compiled = solution;
  for (auto &object : compiled.objects) {
    Result<EmittedGpuKernel> kernel = EmittedGpuKernel::parse(*object);
    if (!kernel)
      return kernel.error();
    Result<CodeObject> code = compileGpuKernel(*kernel, gpu);
    if (!code)
      return code.error();
    object = std::make_shared<const std::vector<char>>(std::move(code->bytes));
  }
  return estimateGpuSolution(compiled, gpu);
}

TargetInfo tarpon::makeGpuTargetInfo(const GpuTarget &gpu, GpuCodeForm form) {
  TargetInfo info = makeGpuTargetInfo(gpu);
  if (form == GpuCodeForm::Ir)
    info.arch = kGpuIrArch;
  return info;
}

std::unique_ptr<KernelBackend> tarpon::makeGpuBackend(const GpuTarget &gpu,
                                                      GpuCodeForm form) {
  return std::make_unique<GpuBackend>(gpu, form);
}
