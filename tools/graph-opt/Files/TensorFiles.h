//===- TensorFiles.h - Tensors in .npy and .pb files ------------*- C++ -*-===//
//
// Part of Tarpon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TARPON_TOOLS_GRAPH_OPT_FILES_TENSORFILES_H
#define TARPON_TOOLS_GRAPH_OPT_FILES_TENSORFILES_H

#include "tarpon/Runtime/Tensor.h"

#include <string>

namespace tarpon {

/// Reads a tensor from a .npy file, or from a .pb file that holds an ONNX
/// TensorProto. An error names the file.
runtime::Result<runtime::HostTensor> readTensorFile(const std::string &path);

} // namespace tarpon

#endif // TARPON_TOOLS_GRAPH_OPT_FILES_TENSORFILES_H
