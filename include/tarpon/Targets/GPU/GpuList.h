//===- GpuList.h - The GPUs that a vendor's library finds -------*- C++ -*-===//
//
// Part of Tarpon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A context costs time and some hundred MiB of a GPU's memory, and others may
// use the other GPUs of a machine: the GPU is chosen by what its driver tells,
// and it alone is opened.
//
//===----------------------------------------------------------------------===//

#ifndef TARPON_TARGETS_GPU_GPULIST_H
#define TARPON_TARGETS_GPU_GPULIST_H

#include "tarpon/Runtime/Device.h"

#include <memory>
#include <string>

namespace tarpon {

/// Says which GPU to open.
struct GpuRequest {
  /// The target that it has to run ("gfx942:cu=304"), whose chip counts alone;
  /// "" for any.
  std::string target;
  /// Its place among the GPUs of that chip.
  int index = 0;
};

/// The GPUs of this machine, of which there is at least one.
class GpuList {
public:
  virtual ~GpuList() = default;
  virtual int count() const = 0;
  /// The target of a GPU, which is not opened: "gfx942:cu=304".
  virtual runtime::Result<std::string> getTarget(int index) const = 0;
  virtual runtime::Result<std::unique_ptr<runtime::Device>>
  open(int index) const = 0;
};

/// The target of the GPU that was asked for, which is not opened. The error
/// says which GPUs there are.
runtime::Result<std::string> findGpu(const GpuList &gpus,
                                     const GpuRequest &request);

/// Opens that GPU, and no other one.
runtime::Result<std::unique_ptr<runtime::Device>>
openGpu(const GpuList &gpus, const GpuRequest &request);

} // namespace tarpon

#endif // TARPON_TARGETS_GPU_GPULIST_H
