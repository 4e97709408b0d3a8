//===- Store.cpp - Fuzzes the reader of stores ----------------------------===//
//
// Part of Tarpon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "FuzzInput.h"

#include "tarpon/Autotune/Store/Journal.h"

using namespace tarpon;

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size) {
  fuzz::InputFile file(bytes, size);
  // As installed stores are opened, which needs no file beside this one.
  auto journal = Journal::openReadOnly(
      file.getPath(), {"x86-64/znver5/512", 2, "0.1.0", "22.1.8"});
  if (!journal) {
    fuzz::require(journal.message().find('\n') == std::string::npos,
                  "a refusal is one line");
    return 0;
  }
  for (const std::string &problem : (*journal)->getMeasuredProblems()) {
    (void)(*journal)->getMeasurements(problem);
    (void)(*journal)->getBest(problem);
    (void)(*journal)->getFindings(problem);
  }
  (void)(*journal)->getModel();
  return 0;
}
