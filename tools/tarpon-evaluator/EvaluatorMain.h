//===- EvaluatorMain.h - The main of evaluators -----------------*- C++ -*-===//
//
// Part of Tarpon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TARPON_TOOLS_EVALUATOR_EVALUATORMAIN_H
#define TARPON_TOOLS_EVALUATOR_EVALUATORMAIN_H

#include "PackageDevices.h"

namespace tarpon::evaluator {

/// The main of a program that answers requests; they differ in the devices that
/// they open.
int evaluatorMain(int argc, char **argv, const char *program,
                  const char *summary, DeviceOpener open);

} // namespace tarpon::evaluator

#endif // TARPON_TOOLS_EVALUATOR_EVALUATORMAIN_H
