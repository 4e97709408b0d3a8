//===- ModelInputs.h - Inputs and outputs of models in files ----*- C++ -*-===//
//
// Part of Tarpon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TARPON_TOOLS_COMMON_MODELINPUTS_H
#define TARPON_TOOLS_COMMON_MODELINPUTS_H

#include "tarpon/Runtime/Package.h"
#include "tarpon/Runtime/Tensor.h"

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

namespace tarpon {

/// Reads a tensor from a file. An error names the file.
using TensorReader =
    runtime::Result<runtime::HostTensor> (*)(const std::string &path);

/// Checks that `tensor` fits the input `info`, and converts an f32 tensor if
/// NumPy lacks the input's type (bf16). `what` names the tensor in the error:
/// "input 'data' from 'x.npy'".
runtime::Status fitTensor(const runtime::TensorInfo &info,
                          runtime::HostTensor &tensor, const std::string &what);

/// Reads the model's inputs, in their order, from arguments NAME=FILE; each
/// input has to occur once. Without arguments, generates them from `seed` and
/// prints a line about it on stdout. A package of several sizes becomes one of
/// the sizes of the inputs, of the lowest ones if they are generated.
runtime::Result<std::vector<runtime::HostTensor>>
makeInputs(runtime::Package &package, const std::vector<std::string> &arguments,
           TensorReader readTensor, uint64_t seed);

/// Parses "NAME=SIZE", the size of a dimension of the model.
runtime::Result<std::pair<std::string, int64_t>>
parseSize(const std::string &text);

/// Makes a package of several sizes one of those that "NAME=SIZE" say, of the
/// lowest ones where they say nothing. The texts have been checked.
runtime::Status chooseSizes(runtime::Package &package,
                            const std::vector<std::string> &sizes);

/// Writes DIR/0.npy, DIR/1.npy, ...; creates the folder if there is none.
runtime::Status writeOutputs(const std::vector<runtime::HostTensor> &outputs,
                             const std::string &directory);

/// Prints a line on each output: its type and its smallest, largest and mean
/// element.
void printOutputs(const std::vector<runtime::TensorInfo> &infos,
                  const std::vector<runtime::HostTensor> &outputs);

} // namespace tarpon

#endif // TARPON_TOOLS_COMMON_MODELINPUTS_H
