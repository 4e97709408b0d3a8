//===- GraphOptMain.h - What graph-opt does ---------------------*- C++ -*-===//
//
// Part of Tarpon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TARPON_TOOLS_GRAPHOPT_GRAPHOPTMAIN_H
#define TARPON_TOOLS_GRAPHOPT_GRAPHOPTMAIN_H

namespace tarpon {

/// Runs a command line and returns its exit status. Knows the targets that are
/// registered by then: a program with another target has a main of its own.
int graphOptMain(int argc, char **argv);

} // namespace tarpon

#endif // TARPON_TOOLS_GRAPHOPT_GRAPHOPTMAIN_H
