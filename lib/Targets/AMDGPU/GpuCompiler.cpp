//===- GpuCompiler.cpp - Compiles launches to code objects ----------------===//
//
// Part of Tarpon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tarpon/Targets/AMDGPU/GpuCompiler.h"

using namespace tarpon;
using runtime::Error;
using runtime::Result;
using runtime::Status;

Result<CodeObject> tarpon::compileGpuKernel(const KernelSource &source,
                                            const GpuTarget &gpu) {
  Result<EmittedGpuKernel> emitted = EmittedGpuKernel::emit(source, gpu);
  if (!emitted)
    return emitted.error();
  return compileGpuKernel(*emitted, gpu);
}

Result<CodeObject> tarpon::compileGpuKernel(EmittedGpuKernel &emitted,
                                            const GpuTarget &gpu) {
  Result<CodeObject> object = compileCodeObject(emitted.getModule(), gpu);
  if (!object)
    return object.error();
  for (const KernelResources &kernel : object->kernels)
    if (Status status = checkResources(kernel, gpu); !status)
      return status.error();
  return object;
}
