//===- GpuModelBehaviour.h - Digests the static model of GPUs ---*- C++ -*-===//
//
// Part of Tarpon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TARPON_TEST_UNIT_VERSIONS_GPUMODELBEHAVIOUR_H
#define TARPON_TEST_UNIT_VERSIONS_GPUMODELBEHAVIOUR_H

#include "KernelBehaviour.h"

namespace tarpon::test {

/// A digest of the times that the static model gives to fixed kernels on all
/// GPUs.
Digests digestGpuModel();

} // namespace tarpon::test

#endif // TARPON_TEST_UNIT_VERSIONS_GPUMODELBEHAVIOUR_H
