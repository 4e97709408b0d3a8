//===- ModelBehaviour.h - What passes and calibration do --------*- C++ -*-===//
//
// Part of Tarpon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TARPON_TEST_UNIT_VERSIONS_MODELBEHAVIOUR_H
#define TARPON_TEST_UNIT_VERSIONS_MODELBEHAVIOUR_H

#include "KernelBehaviour.h"

namespace tarpon::test {

/// Digests of what the passes make of tiny models in all dtypes and layouts,
/// and of the ranges that the calibration finds for them.
Digests digestModels();

} // namespace tarpon::test

#endif // TARPON_TEST_UNIT_VERSIONS_MODELBEHAVIOUR_H
