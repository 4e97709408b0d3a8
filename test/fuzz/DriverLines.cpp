//===- DriverLines.cpp - Fuzzes lines of MIOpenDriver ---------------------===//
//
// Part of Tarpon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "FuzzInput.h"

#include "tarpon/Driver/Workload.h"

using namespace tarpon;

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size) {
  Workload workload = parseWorkload(llvm::StringRef(fuzz::asText(bytes, size)));
  for (const Problem &problem : workload.problems) {
    Workload again = parseWorkload(printDriverLine(problem));
    fuzz::require(again.problems.size() == 1 && again.faults.empty(),
                  "a line that was printed poses one problem");
    fuzz::require(again.problems.front().key() == problem.key(),
                  "a line that was printed poses the same problem");
  }
  return 0;
}
