//===- TuningFile.cpp - Fuzzes the reader of tuning files -----------------===//
//
// Part of Tarpon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "FuzzInput.h"

#include "tarpon/Autotune/Choice/TuningFile.h"

using namespace tarpon;

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size) {
  auto file =
      parseTuningFile(std::string(fuzz::asText(bytes, size)), "tuning.json");
  if (!file) {
    fuzz::require(file.message().find('\n') == std::string::npos,
                  "a refusal is one line");
    return 0;
  }
  auto again = parseTuningFile(printTuningFile(*file), "tuning.json");
  fuzz::require(again && *again == *file, "a file is read back as it was");
  return 0;
}
