//===- TensorFiles.h - Inputs and outputs of models in files ----*- C++ -*-===//
//
// Part of Tarpon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TARPON_TOOLS_GRAPHOPT_TENSORFILES_H
#define TARPON_TOOLS_GRAPHOPT_TENSORFILES_H

#include "tarpon/Runtime/Package.h"
#include "tarpon/Runtime/Tensor.h"

#include <string>
#include <vector>

namespace tarpon {

/// Reads a tensor from a .npy file, or from a .pb file that holds an ONNX
/// TensorProto. An error names the file.
runtime::Result<runtime::HostTensor> readTensorFile(const std::string &path);

/// Whether `tensor` may be fed to `info`. `what` names the tensor in the error:
/// "input 'data' from 'x.npy'". An f32 tensor for a bf16 input, which NumPy
/// does not have, is converted.
runtime::Status fitTensor(const runtime::TensorInfo &info,
                          runtime::HostTensor &tensor, const std::string &what);

/// The model's inputs in their order from arguments NAME=FILE. Each input has
/// to be given once.
runtime::Result<std::vector<runtime::HostTensor>>
readInputs(const runtime::Package &package,
           const std::vector<std::string> &arguments);

/// Writes DIR/0.npy, DIR/1.npy, ...; makes the folder if there is none.
runtime::Status writeOutputs(const std::vector<runtime::HostTensor> &outputs,
                             const std::string &directory);

} // namespace tarpon

#endif // TARPON_TOOLS_GRAPHOPT_TENSORFILES_H
