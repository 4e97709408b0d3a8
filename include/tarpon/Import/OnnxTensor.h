//===- OnnxTensor.h - Reading ONNX TensorProto files ------------*- C++ -*-===//
//
// Part of Tarpon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Reads the .pb files of ONNX test data sets. Users of this header need no
// protobuf header.
//
//===----------------------------------------------------------------------===//

#ifndef TARPON_IMPORT_ONNXTENSOR_H
#define TARPON_IMPORT_ONNXTENSOR_H

#include "tarpon/Runtime/Tensor.h"

#include <string>

namespace tarpon {

/// Reads a file that holds one TensorProto. A bool becomes 0 or 1. External
/// data is not followed.
runtime::Result<runtime::HostTensor>
readOnnxTensorFile(const std::string &path);

} // namespace tarpon

#endif // TARPON_IMPORT_ONNXTENSOR_H
