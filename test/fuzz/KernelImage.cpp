//===- KernelImage.cpp - Fuzzes the check of kernels ----------------------===//
//
// Part of Tarpon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "FuzzInput.h"

#include "Runtime/KernelImage.h"

#include "tarpon/Runtime/Package.h"

#include <span>

using namespace tarpon;

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size) {
  std::string_view text = fuzz::asText(bytes, size);
  std::span image(text.data(), text.size());
  // As packages do, which tell first what is no shared object at all.
  if (runtime::isElf(image))
    (void)runtime::validateKernelImage(image);
  return 0;
}
