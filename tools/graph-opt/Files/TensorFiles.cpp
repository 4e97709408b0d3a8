//===- TensorFiles.cpp - Tensors in .npy and .pb files ----------*- C++ -*-===//
//
// Part of Tarpon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "TensorFiles.h"

#include "tarpon/Import/OnnxTensor.h"
#include "tarpon/Runtime/Npy.h"

#include "llvm/ADT/StringRef.h"

namespace tarpon {

using namespace runtime;
using llvm::StringRef;

Result<HostTensor> readTensorFile(const std::string &path) {
  StringRef name(path);
  if (name.ends_with(".npy"))
    return readNpy(path);
  if (name.ends_with(".pb"))
    return readOnnxTensorFile(path);
  return Error{"'" + path + "' is neither a .npy nor a .pb file"};
}

} // namespace tarpon
