//===- Opt.h - Passes on .mlir files, like mlir-opt -------------*- C++ -*-===//
//
// Part of Tarpon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TARPON_TOOLS_GRAPHOPT_OPT_H
#define TARPON_TOOLS_GRAPHOPT_OPT_H

namespace tarpon {

/// Runs `graph-opt FILE.mlir PASSES`. Returns the exit status.
int runOpt(int argc, char **argv);

} // namespace tarpon

#endif // TARPON_TOOLS_GRAPHOPT_OPT_H
