//===- Npy.h - NumPy's .npy files -------------------------------*- C++ -*-===//
//
// Part of Tarpon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TARPON_RUNTIME_NPY_H
#define TARPON_RUNTIME_NPY_H

#include "tarpon/Runtime/Result.h"
#include "tarpon/Runtime/Tensor.h"

#include <string>

namespace tarpon::runtime {

/// Reads a .npy file of version 1 or 2: little endian, C order, f2, f4, f8,
/// i1 to i8, u1 to u8 or bool. An error names the file and what is wrong.
Result<HostTensor> readNpy(const std::string &path);

/// Returns true if NumPy has that type. It has no bf16.
bool hasNumPyType(DType dtype);

/// Writes a .npy file through a temporary file, fsync and rename. A tensor
/// whose type NumPy does not have is written as f4, which holds it exactly.
Status writeNpy(const HostTensor &tensor, const std::string &path);

} // namespace tarpon::runtime

#endif // TARPON_RUNTIME_NPY_H
