//===- GraphOptMain.h - The main function of graph-opt ----------*- C++ -*-===//
//
// Part of Tarpon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TARPON_TOOLS_GRAPHOPT_GRAPHOPTMAIN_H
#define TARPON_TOOLS_GRAPHOPT_GRAPHOPTMAIN_H

namespace tarpon {

/// Runs a command line and returns its exit status. Uses the targets that have
/// been registered: a program with another target has a main function of its
/// own.
int graphOptMain(int argc, char **argv);

} // namespace tarpon

#endif // TARPON_TOOLS_GRAPHOPT_GRAPHOPTMAIN_H
