//===- Problem.cpp - Fuzzes problem keys and perf configs -----------------===//
//
// Part of Tarpon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "FuzzInput.h"

#include "tarpon/Problem/PerfConfig.h"
#include "tarpon/Problem/PerfConfigJson.h"
#include "tarpon/Problem/Problem.h"

using namespace tarpon;

/// The key is what records are found by: parsed again, it must not change.
static void checkKey(llvm::StringRef text) {
  std::string fault;
  auto problem = parseProblem(text, &fault);
  if (failed(problem))
    return;
  std::string key = problem->key();
  auto again = parseProblem(key, &fault);
  fuzz::require(succeeded(again), "a problem's key can be parsed");
  fuzz::require(again->key() == key, "a key is parsed as the same problem");
  fuzz::require(problem->flops() >= 0 && problem->bytes() >= 0,
                "costs are not negative");
}

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size) {
  llvm::StringRef text = fuzz::asText(bytes, size);
  checkKey(text);
  (void)PerfConfig::parse(text);
  (void)parseJsonConfig(text);
  return 0;
}
