//===- GpuBackend.cpp - The part of backends that GPUs share --------------===//
//
// Part of Tarpon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tarpon/Targets/GPU/GpuBackend.h"

#include "tarpon/Runtime/KernelABI.h"

#include "llvm/Support/MathExtras.h"

using namespace tarpon;
using runtime::CodeObjectRange;
using runtime::Error;
using runtime::Result;

std::string tarpon::getIrArch(llvm::StringRef arch) {
  return arch.str() + "-ir";
}

TargetInfo tarpon::makeGpuTargetInfo(const GpuTarget &gpu, GpuCodeForm form) {
  TargetInfo info = makeGpuTargetInfo(gpu);
  if (form == GpuCodeForm::Ir)
    info.arch = getIrArch(info.arch);
  return info;
}

std::string GpuBackend::describe() const {
  return describeCompiler() + " " + gpu.chip +
         (form == GpuCodeForm::Ir ? " ir" : "");
}

//===----------------------------------------------------------------------===//
// Compilation
//===----------------------------------------------------------------------===//

Result<std::vector<char>>
GpuBackend::compile(const KernelSource &kernel) const {
  Result<EmittedGpuKernel> emitted = EmittedGpuKernel::emit(kernel, gpu);
  if (!emitted)
    return emitted.error();
  if (form == GpuCodeForm::CodeObject)
    return compileCode(*emitted);
  std::string text = emitted->print();
  return std::vector<char>(text.begin(), text.end());
}

std::string GpuBackend::printMlir(const KernelSource &kernel) const {
  Result<EmittedGpuKernel> emitted = EmittedGpuKernel::emit(kernel, gpu);
  return emitted ? emitted->print() : "// " + emitted.message() + "\n";
}

Result<std::string>
GpuBackend::printAssembly(const KernelSource &kernel) const {
  Result<EmittedGpuKernel> emitted = EmittedGpuKernel::emit(kernel, gpu);
  if (!emitted)
    return emitted.error();
  return printCode(*emitted);
}

Result<CodeObjectRange>
GpuBackend::describeKernel(const std::string &symbol,
                           llvm::ArrayRef<char> bytes) const {
  CodeObjectRange range;
  range.symbol = symbol;
  range.bytes = static_cast<int64_t>(bytes.size());
  if (form == GpuCodeForm::Ir) {
    Result<int64_t> workgroup = EmittedGpuKernel::readWorkgroup(bytes);
    if (!workgroup)
      return workgroup.error();
    range.workgroup = *workgroup;
    return range;
  }
  Result<KernelResources> kernel = readResources(symbol, bytes);
  if (!kernel)
    return kernel.error();
  range.workgroup = kernel->workgroup;
  if (hasDynamicLds())
    range.ldsBytes = kernel->ldsBytes;
  return range;
}

Result<LinkedKernels> GpuBackend::link(const KernelObjects &objects) const {
  LinkedKernels linked;
  for (const auto &[symbol, object] : objects) {
    Result<CodeObjectRange> range = describeKernel(symbol, *object);
    if (!range)
      return range.error();
    linked.bytes.resize(
        llvm::alignTo(linked.bytes.size(), runtime::kBufferAlignment));
    range->offset = static_cast<int64_t>(linked.bytes.size());
    linked.codeObjects.push_back(*range);
    linked.bytes.insert(linked.bytes.end(), object->begin(), object->end());
  }
  return linked;
}

//===----------------------------------------------------------------------===//
// Figures
//===----------------------------------------------------------------------===//

Result<KernelFigures>
GpuBackend::readFigures(const std::string &symbol,
                        llvm::ArrayRef<char> object) const {
  // The emulated device's kernels have no registers yet.
  if (form == GpuCodeForm::Ir)
    return KernelBackend::readFigures(symbol, object);
  Result<KernelResources> kernel = readResources(symbol, object);
  if (!kernel)
    return kernel.error();
  KernelFigures figures;
  figures.values = {{"lanes", kernel->workgroup}};
  for (const auto &registers : listRegisters(*kernel))
    figures.values.push_back(registers);
  figures.values.push_back({"LDS", kernel->ldsBytes});
  figures.values.push_back(
      {"waves", gpu.getOccupancy(kernel->vectorRegisters, kernel->ldsBytes,
                                 kernel->workgroup)});
  // Scalars may be spilled to vector registers.
  figures.spills = kernel->vectorSpills > 0 || kernel->privateBytes > 0;
  return figures;
}

Result<SolutionEstimate>
GpuBackend::estimate(const CompiledSolution &solution) const {
  if (form == GpuCodeForm::CodeObject)
    return estimateCode(solution);
  // Kernels for the emulated device have no registers yet.
  CompiledSolution compiled = solution;
  for (auto &object : compiled.objects) {
    Result<EmittedGpuKernel> kernel = EmittedGpuKernel::parse(*object);
    if (!kernel)
      return kernel.error();
    Result<std::vector<char>> code = compileCode(*kernel);
    if (!code)
      return code.error();
    object = std::make_shared<const std::vector<char>>(std::move(*code));
  }
  return estimateCode(compiled);
}
