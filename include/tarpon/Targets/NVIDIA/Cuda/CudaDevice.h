//===- CudaDevice.h - NVIDIA GPUs through the CUDA driver -------*- C++ -*-===//
//
// Part of Tarpon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// libcuda comes with NVIDIA's kernel driver, and is loaded when the first
// device is asked for. No toolkit is needed to build this or to run it.
//
//===----------------------------------------------------------------------===//

#ifndef TARPON_TARGETS_NVIDIA_CUDA_CUDADEVICE_H
#define TARPON_TARGETS_NVIDIA_CUDA_CUDADEVICE_H

#include "tarpon/Targets/GPU/GpuList.h"

#include <functional>
#include <memory>
#include <string>
#include <vector>

namespace tarpon {

struct CudaOptions {
  /// The chips that Tarpon has descriptions of (getGpuChips). A GPU of compute
  /// capability 9.0 is the one of "sm_90" and perhaps a letter; "sm_90" if
  /// there is none.
  std::vector<std::string> chips;
  /// The path of the library; "" for $TARPON_CUDA_LIBRARY, else libcuda.so.1.
  std::string library;
  /// Changes the name that follows from what the driver tells,
  /// "sm_90a:cu=132:bw=4917", to the one that records have (normaliseGpuName).
  std::function<std::string(const std::string &name)> normalise = nullptr;
};

/// Opens a GPU that the CUDA driver has. The error tells a missing library from
/// a missing GPU, and says what can be done without one.
runtime::Result<std::unique_ptr<runtime::Device>>
openCudaDevice(const GpuRequest &request, const CudaOptions &options);

/// The target of that GPU, which is not opened.
runtime::Result<std::string> findCudaDevice(const GpuRequest &request,
                                            const CudaOptions &options);

} // namespace tarpon

#endif // TARPON_TARGETS_NVIDIA_CUDA_CUDADEVICE_H
