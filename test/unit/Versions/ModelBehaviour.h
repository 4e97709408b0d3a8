//===- ModelBehaviour.h - Digests passes and calibration --------*- C++ -*-===//
//
// Part of Tarpon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TARPON_TEST_UNIT_VERSIONS_MODELBEHAVIOUR_H
#define TARPON_TEST_UNIT_VERSIONS_MODELBEHAVIOUR_H

#include "KernelBehaviour.h"

namespace tarpon::test {

/// Digests of the results of the passes on tiny models in all dtypes and
/// layouts, and of the ranges that the calibration finds for them.
Digests digestModels();

} // namespace tarpon::test

#endif // TARPON_TEST_UNIT_VERSIONS_MODELBEHAVIOUR_H
