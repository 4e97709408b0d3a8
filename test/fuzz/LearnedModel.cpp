//===- LearnedModel.cpp - Fuzzes the reader of learned models -------------===//
//
// Part of Tarpon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The input is a model without its digest, which mutated bytes would not fit.
//
//===----------------------------------------------------------------------===//

#include "FuzzInput.h"

#include "tarpon/Autotune/Learn/LearnedModel.h"
#include "tarpon/Runtime/Sha256.h"

using namespace tarpon;

static std::string seal(std::string_view bytes) {
  runtime::Sha256 sha;
  sha.update(bytes);
  std::string sealed(bytes);
  for (uint8_t byte : sha.finish())
    sealed.push_back(static_cast<char>(byte));
  return sealed;
}

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size) {
  auto model = LearnedModel::parse(seal(fuzz::asText(bytes, size)), "model");
  if (!model)
    return 0;
  std::string written = model->serialize();
  auto again = LearnedModel::parse(written, "model");
  fuzz::require(static_cast<bool>(again), "a model can be read back");
  fuzz::require(again->serialize() == written,
                "a model is read back as it was");
  return 0;
}
