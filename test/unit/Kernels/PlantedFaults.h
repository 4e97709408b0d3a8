//===- PlantedFaults.h - Faults that checkers must find ---------*- C++ -*-===//
//
// Part of Tarpon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A fault of each kind that compute-sanitizer knows, planted into a kernel of
// the tiled engine for sm_90a. The emulated device finds them, too.
//
//===----------------------------------------------------------------------===//

#ifndef TARPON_TEST_UNIT_KERNELS_PLANTEDFAULTS_H
#define TARPON_TEST_UNIT_KERNELS_PLANTEDFAULTS_H

#include "SolverTest.h"

#include "llvm/ADT/ArrayRef.h"

namespace tarpon::test {

struct PlantedFault {
  const char *name;
  /// The fields of the default config that are others.
  std::vector<std::pair<const char *, int64_t>> change;
  /// Plants the fault into the text of a kernel.
  std::string (*edit)(std::string text);
};

/// The faults, and "none".
llvm::ArrayRef<PlantedFault> getPlantedFaults();

/// Runs the kernel on the runner's device. Returns the device's complaint, or
/// the first wrong result, or "".
std::string runPlanted(SolverRunner &gpu, const PlantedFault &fault);

} // namespace tarpon::test

#endif // TARPON_TEST_UNIT_KERNELS_PLANTEDFAULTS_H
