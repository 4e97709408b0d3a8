//===- TargetInfo.cpp - The target as solvers see it ----------------------===//
//
// Part of Tarpon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tarpon/Solver/TargetInfo.h"

#include "tarpon/Solver/GpuTarget.h"

using namespace tarpon;

std::string TargetInfo::name() const {
  if (gpu)
    return gpu->name();
  return arch + "/" + cpu + "/" + std::to_string(vectorBits);
}
