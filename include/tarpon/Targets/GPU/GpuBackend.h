//===- GpuBackend.h - The part of backends that GPUs share ------*- C++ -*-===//
//
// Part of Tarpon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TARPON_TARGETS_GPU_GPUBACKEND_H
#define TARPON_TARGETS_GPU_GPUBACKEND_H

#include "tarpon/Solver/GpuTarget.h"
#include "tarpon/Targets/GPU/EmittedGpuKernel.h"
#include "tarpon/Targets/GPU/KernelResources.h"
#include "tarpon/Targets/KernelBackend.h"

namespace tarpon {

/// The form of the kernels in a package.
enum class GpuCodeForm : uint8_t {
  CodeObject, ///< for the vendor's driver
  Ir          ///< MLIR bytes, for the emulated device
};

/// The architecture (TargetInfo::arch) of what the emulated device runs for
/// GPUs of `arch`: "amdgcn-ir".
std::string getIrArch(llvm::StringRef arch);

/// The description for solvers of a GPU whose kernels have that form.
TargetInfo makeGpuTargetInfo(const GpuTarget &gpu, GpuCodeForm form);

/// A vendor compiles emitted kernels, and reads what it has compiled.
class GpuBackend : public KernelBackend {
public:
  GpuBackend(const GpuTarget &gpu, GpuCodeForm form) : gpu(gpu), form(form) {}

  std::string describe() const override;
  runtime::Result<std::vector<char>>
  compile(const KernelSource &kernel) const override;
  runtime::Result<LinkedKernels>
  link(const KernelObjects &objects) const override;
  runtime::KernelForm getKernelForm() const override {
    return runtime::KernelForm::CodeObjects;
  }
  runtime::Result<SolutionEstimate>
  estimate(const CompiledSolution &solution) const override;
  runtime::Result<KernelFigures>
  readFigures(const std::string &symbol,
              llvm::ArrayRef<char> object) const override;
  std::string printMlir(const KernelSource &kernel) const override;
  runtime::Result<std::string>
  printAssembly(const KernelSource &kernel) const override;

protected:
  const GpuTarget &getGpu() const { return gpu; }

  /// Describes the vendor's compiler.
  virtual std::string describeCompiler() const = 0;
  /// Compiles for the driver. A kernel that spills registers to memory, or that
  /// needs more resources than the GPU has, is an error.
  virtual runtime::Result<std::vector<char>>
  compileCode(EmittedGpuKernel &kernel) const = 0;
  virtual runtime::Result<std::string>
  printCode(EmittedGpuKernel &kernel) const = 0;
  /// Reads what `compileCode` returned.
  virtual runtime::Result<KernelResources>
  readResources(const std::string &symbol, llvm::ArrayRef<char> code) const = 0;
  /// Returns true if launches must ask for the kernel's LDS.
  virtual bool hasDynamicLds() const { return false; }
  /// The registers among KernelFigures::values.
  virtual std::vector<std::pair<std::string, int64_t>>
  listRegisters(const KernelResources &kernel) const = 0;
  /// Estimates a solution whose objects are what `compileCode` returned.
  virtual runtime::Result<SolutionEstimate>
  estimateCode(const CompiledSolution &solution) const {
    return KernelBackend::estimate(solution);
  }

private:
  /// The place of a kernel of either form, but for its bytes.
  runtime::Result<runtime::CodeObjectRange>
  describeKernel(const std::string &symbol, llvm::ArrayRef<char> bytes) const;

  GpuTarget gpu;
  GpuCodeForm form;
};

} // namespace tarpon

#endif // TARPON_TARGETS_GPU_GPUBACKEND_H
