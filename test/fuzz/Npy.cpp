//===- Npy.cpp - Fuzzes the reader of .npy files --------------------------===//
//
// Part of Tarpon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "FuzzInput.h"

#include "tarpon/Runtime/Npy.h"

using namespace tarpon;

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size) {
  fuzz::InputFile file(bytes, size);
  (void)runtime::readNpy(file.getPath());
  return 0;
}
