//===- EvaluatorProtocol.cpp - Fuzzes what evaluators say -----------------===//
//
// Part of Tarpon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "FuzzInput.h"

#include "tarpon/Runtime/Evaluator.h"

using namespace tarpon;

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size) {
  std::string_view line = fuzz::asText(bytes, size);
  (void)runtime::parseEvaluationRequest(line);
  (void)runtime::parseEvaluationAnswer(line);
  return 0;
}
