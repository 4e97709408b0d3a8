//===- graph-opt-toy.cpp - graph-opt with one more target -----------------===//
//
// Part of Tarpon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "GraphOptMain.h"
#include "Toy.h"

#include "tarpon/Targets/AllTargets.h"

int main(int argc, char **argv) {
  tarpon::registerAllTargets();
  tarpon::toy::registerToyTarget();
  return tarpon::graphOptMain(argc, argv);
}
