//===- graph-opt.cpp - The command line of Tarpon ---------------*- C++ -*-===//
//
// Part of Tarpon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Opt.h"

int main(int argc, char **argv) { return tarpon::runOpt(argc, argv); }
