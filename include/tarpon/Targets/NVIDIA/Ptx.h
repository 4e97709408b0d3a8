//===- Ptx.h - Compiles GPU modules to PTX ----------------------*- C++ -*-===//
//
// Part of Tarpon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// PTX by LLVM's NVPTX backend, in process and without CUDA's toolkit or its
// device library: mathematical functions that would need it are an error.
//
//===----------------------------------------------------------------------===//

#ifndef TARPON_TARGETS_NVIDIA_PTX_H
#define TARPON_TARGETS_NVIDIA_PTX_H

#include "tarpon/Runtime/Result.h"
#include "tarpon/Solver/GpuTarget.h"
#include "tarpon/Targets/GPU/KernelResources.h"

#include "mlir/Dialect/GPU/IR/GPUDialect.h"

#include <string>

namespace tarpon {

/// Registers the dialects of kernels, with the interfaces that translate them
/// to LLVM.
void registerNvidiaKernelDialects(mlir::DialectRegistry &registry);

/// Compiles every kernel of the module, which is not changed. The error names
/// the kernel module and says what is wrong with it. LDS is dynamic shared
/// memory, which launches ask for.
runtime::Result<std::string> compileToPtx(mlir::gpu::GPUModuleOp module,
                                          const GpuTarget &target);

/// Returns the PTX with an integer instruction before each store of only the
/// lowest bits of a float, which ptxas would convert to an integer instead.
std::string narrowStoredFloats(llvm::StringRef ptx);

/// Has ptxas give the kernel as many registers as one workgroup on a
/// multiprocessor may have. Returns false if it does so already.
bool liftRegisterLimit(std::string &ptx);

/// Reads what PTX says of the kernel: its workgroup and bytes of LDS. Only
/// assembled code knows its registers.
runtime::Result<KernelResources> readPtxResources(llvm::StringRef ptx);

} // namespace tarpon

#endif // TARPON_TARGETS_NVIDIA_PTX_H
