//===- NvidiaGpuBackend.cpp - Compiles kernels for NVIDIA GPUs ------------===//
//
// Part of Tarpon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tarpon/Targets/NVIDIA/NvidiaGpuBackend.h"

#include "GpuCodeDigest.h"
#include "tarpon/Runtime/Package.h"
#include "tarpon/Targets/Compiler/LaunchKernel.h"
#include "tarpon/Targets/GPU/Model/SolutionModel.h"
#include "tarpon/Targets/NVIDIA/Cubin.h"
#include "tarpon/Targets/NVIDIA/Model/PtxInstructions.h"
#include "tarpon/Targets/NVIDIA/Ptx.h"
#include "tarpon/Targets/NVIDIA/PtxAssembler.h"

using namespace tarpon;
using runtime::Error;
using runtime::Result;
using runtime::Status;

namespace {

class NvidiaGpuBackend final : public GpuBackend {
public:
  NvidiaGpuBackend(const GpuTarget &gpu, GpuCodeForm form)
      : GpuBackend(gpu, form), assembler(PtxAssembler::find()) {}

  std::string describeCostModel() const override { return getGpuModelName(); }

protected:
  std::string describeCompiler() const override {
    std::string version = assembler && *assembler ? (*assembler)->getVersion()
                                                  : std::string("ptx");
    return "gpu code " TARPON_GPU_CODE_DIGEST " " + version;
  }

  Result<std::vector<char>>
  compileCode(EmittedGpuKernel &kernel) const override;

  Result<std::string> printCode(EmittedGpuKernel &kernel) const override {
    return compileToPtx(kernel.getModule(), getGpu());
  }

  Result<KernelResources>
  readResources(const std::string & /*symbol*/,
                llvm::ArrayRef<char> code) const override {
    return runtime::isElf(code) ? readCubinResources(code)
                                : readPtxResources({code.data(), code.size()});
  }

  bool hasDynamicLds() const override { return true; }

  std::vector<std::pair<std::string, int64_t>>
  listRegisters(const KernelResources &kernel) const override {
    return {{"registers", kernel.vectorRegisters}};
  }

  Result<SolutionEstimate>
  estimateCode(const CompiledSolution &solution) const override {
    auto profile = [this](const LaunchPlan &launch, llvm::ArrayRef<char> code) {
      return profileLaunch(launch, code);
    };
    return estimateGpuSolution(solution, profile, getGpu());
  }

private:
  struct AssembledKernel {
    std::vector<char> cubin;
    KernelResources resources;
  };
  Result<AssembledKernel> assemble(llvm::StringRef ptx,
                                   llvm::StringRef name) const;
  Result<KernelProfile> profileLaunch(const LaunchPlan &launch,
                                      llvm::ArrayRef<char> code) const;

  /// None if there is no assembler, or an error.
  Result<std::optional<PtxAssembler>> assembler;
};

} // namespace

/// Packages keep PTX with the NUL that the driver needs at its end.
static std::vector<char> makePtxBytes(const std::string &ptx) {
  std::vector<char> bytes(ptx.begin(), ptx.end());
  bytes.push_back('\0');
  return bytes;
}

Result<NvidiaGpuBackend::AssembledKernel>
NvidiaGpuBackend::assemble(llvm::StringRef ptx, llvm::StringRef name) const {
  Result<std::vector<char>> cubin =
      (*assembler)->assemble(ptx, getGpu().chip, name);
  if (!cubin)
    return cubin.error();
  Result<KernelResources> resources = readCubinResources(*cubin);
  if (!resources)
    return resources.error();
  return AssembledKernel{std::move(*cubin), *resources};
}

Result<std::vector<char>>
NvidiaGpuBackend::compileCode(EmittedGpuKernel &kernel) const {
  if (!assembler)
    return assembler.error();
  Result<std::string> ptx = compileToPtx(kernel.getModule(), getGpu());
  if (!ptx)
    return ptx.error();
  if (!*assembler)
    return makePtxBytes(*ptx);
  llvm::StringRef name = kernel.getModule().getName();
  Result<AssembledKernel> assembled = assemble(*ptx, name);
  if (!assembled)
    return assembled.error();
  // Waves that hide each other's latencies are worth less than registers.
  if (assembled->resources.privateBytes > 0 && liftRegisterLimit(*ptx))
    assembled = assemble(*ptx, name);
  if (!assembled)
    return assembled.error();
  if (Status status = checkResources(assembled->resources, getGpu()); !status)
    return status.error();
  return std::move(assembled->cubin);
}

/// A cubin does not have its PTX, so that the kernel is emitted once more.
Result<KernelProfile>
NvidiaGpuBackend::profileLaunch(const LaunchPlan &launch,
                                llvm::ArrayRef<char> code) const {
  Result<KernelResources> resources = readResources(launch.kernel.symbol, code);
  if (!resources)
    return resources.error();
  if (!runtime::isElf(code))
    return profilePtx({code.data(), code.size()}, *resources, getGpu());
  Result<std::string> ptx = printAssembly(getKernelSource(launch));
  if (!ptx)
    return ptx.error();
  return profilePtx(*ptx, *resources, getGpu());
}

std::unique_ptr<KernelBackend>
tarpon::makeNvidiaGpuBackend(const GpuTarget &gpu, GpuCodeForm form) {
  return std::make_unique<NvidiaGpuBackend>(gpu, form);
}
