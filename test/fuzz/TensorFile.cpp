//===- TensorFile.cpp - Fuzzes the reader of .pb files --------------------===//
//
// Part of Tarpon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A .pb file holds a TensorProto.
//
//===----------------------------------------------------------------------===//

#include "FuzzInput.h"
#include "MutateMessage.h"

#include "tarpon/Import/OnnxTensor.h"

#include "onnx/onnx_pb.h"

using namespace tarpon;

extern "C" size_t LLVMFuzzerCustomMutator(uint8_t *bytes, size_t size,
                                          size_t maxSize, unsigned seed) {
  onnx::TensorProto tensor;
  return fuzz::mutate(tensor, bytes, size, maxSize, seed);
}

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size) {
  fuzz::InputFile file(bytes, size);
  auto tensor = readOnnxTensorFile(file.getPath());
  if (!tensor)
    fuzz::require(!tensor.message().empty(), "a refusal says why");
  return 0;
}
