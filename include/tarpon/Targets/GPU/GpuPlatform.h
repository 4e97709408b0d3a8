//===- GpuPlatform.h - One vendor's GPUs as targets -------------*- C++ -*-===//
//-*-===//
//
// Part of Tarpon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TARPON_TARGETS_GPU_GPUPLATFORM_H
#define TARPON_TARGETS_GPU_GPUPLATFORM_H

#include "tarpon/Targets/GPU/GpuBackend.h"
#include "tarpon/Targets/GPU/GpuList.h"
#include "tarpon/Targets/Target.h"

#include <memory>

namespace tarpon {

struct GpuPlatform {
  GpuVendor vendor;
  /// The architecture of its packages.
  llvm::StringRef arch;
  /// The beginning of its chips' names: "gfx".
  llvm::StringRef prefix;
  /// TargetOptions::device of its driver: "hip".
  llvm::StringRef driver;

  std::unique_ptr<KernelBackend> (*makeBackend)(const GpuTarget &gpu,
                                                GpuCodeForm form);
  /// The target of a GPU of this machine; an error if there is no such one.
  runtime::Result<std::string> (*findDevice)(const GpuRequest &request);
  /// Opens that GPU.
  runtime::Result<std::unique_ptr<runtime::Device>> (*openDevice)(
      const GpuRequest &request);
  std::unique_ptr<runtime::Device> (*makeEmulatedDevice)(const GpuTarget &gpu);
};

/// The target of kernels in that form for the GPU. The platform lives forever.
std::shared_ptr<const Target> makeGpuTarget(const GpuPlatform &platform,
                                            const GpuTarget &gpu,
                                            GpuCodeForm form);

/// Registers the family of the platform's targets, with their solvers.
void registerGpuPlatform(const GpuPlatform &platform);

} // namespace tarpon

#endif // TARPON_TARGETS_GPU_GPUPLATFORM_H
