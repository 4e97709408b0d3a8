//===- Toy.h - A target that is not in lib/ ---------------------*- C++ -*-===//
//
// Part of Tarpon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TARPON_TEST_TOY_TOY_H
#define TARPON_TEST_TOY_TOY_H

#include "tarpon/Autotune/Measure/MeasurerFactory.h"
#include "tarpon/Runtime/Device.h"
#include "tarpon/Solver/Solver.h"
#include "tarpon/Targets/KernelBackend.h"

namespace tarpon::toy {

/// "toy-relu-v1", which has a field to tune, and "toy-naive-v1", which takes
/// everything.
llvm::ArrayRef<const Solver *> getSolvers();

/// Code objects for the baseline of x86-64, so that they run on every machine
/// that tests run on.
std::unique_ptr<KernelBackend> makeBackend();

/// A device with one processor, memory and a clock of its own.
runtime::Result<std::unique_ptr<runtime::Device>> makeDevice();

/// Candidates run on a device of this process, whose clock tells their time.
std::unique_ptr<MeasurerFactory>
makeMeasurerFactory(KernelCompiler &compiler,
                    const std::string &evaluatorProgram);

/// Makes findTarget know "toy".
void registerToyTarget();

} // namespace tarpon::toy

#endif // TARPON_TEST_TOY_TOY_H
