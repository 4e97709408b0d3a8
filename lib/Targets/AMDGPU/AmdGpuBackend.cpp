//===- AmdGpuBackend.cpp - Compiles kernels for AMD GPUs ------------------===//
//
// Part of Tarpon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tarpon/Targets/AMDGPU/AmdGpuBackend.h"

#include "GpuCodeDigest.h"
#include "tarpon/Targets/AMDGPU/GpuCompiler.h"
#include "tarpon/Targets/AMDGPU/Model/AmdAssembly.h"
#include "tarpon/Targets/GPU/Model/SolutionModel.h"

using namespace tarpon;
using runtime::Error;
using runtime::Result;

namespace {

class AmdGpuBackend final : public GpuBackend {
public:
  using GpuBackend::GpuBackend;

  std::string describeCostModel() const override { return getGpuModelName(); }

protected:
  std::string describeCompiler() const override {
    return "gpu code " TARPON_GPU_CODE_DIGEST;
  }

  Result<std::vector<char>>
  compileCode(EmittedGpuKernel &kernel) const override {
    Result<CodeObject> object = compileGpuKernel(kernel, getGpu());
    if (!object)
      return object.error();
    return std::move(object->bytes);
  }

  Result<std::string> printCode(EmittedGpuKernel &kernel) const override {
    return printGpuAssembly(kernel.getModule(), getGpu());
  }

  Result<KernelResources>
  readResources(const std::string &symbol,
                llvm::ArrayRef<char> code) const override;

  std::vector<std::pair<std::string, int64_t>>
  listRegisters(const KernelResources &kernel) const override {
    return {{"VGPR", kernel.vectorRegisters}, {"SGPR", kernel.scalarRegisters}};
  }

  Result<SolutionEstimate>
  estimateCode(const CompiledSolution &solution) const override {
    auto profile = [this](const LaunchPlan &launch, llvm::ArrayRef<char> code) {
      return profileKernel(code, launch.kernel.symbol, getGpu());
    };
    return estimateGpuSolution(solution, profile, getGpu());
  }
};

} // namespace

Result<KernelResources>
AmdGpuBackend::readResources(const std::string &symbol,
                             llvm::ArrayRef<char> code) const {
  Result<std::vector<KernelResources>> kernels = readKernelResources(code);
  if (!kernels)
    return kernels.error();
  for (KernelResources &kernel : *kernels)
    if (kernel.symbol == symbol)
      return std::move(kernel);
  return Error{"the code object of '" + symbol + "' has no such kernel"};
}

std::unique_ptr<KernelBackend> tarpon::makeAmdGpuBackend(const GpuTarget &gpu,
                                                         GpuCodeForm form) {
  return std::make_unique<AmdGpuBackend>(gpu, form);
}
