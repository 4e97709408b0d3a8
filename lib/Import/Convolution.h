//===- Convolution.h - The attributes of convolutions -----------*- C++ -*-===//
//
// Part of Tarpon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TARPON_LIB_IMPORT_CONVOLUTION_H
#define TARPON_LIB_IMPORT_CONVOLUTION_H

#include "Window.h"

namespace tarpon {

struct Convolution {
  Window window;
  int64_t group = 1;
};

/// Reads the attributes of a node that convolves these two; none after an
/// error.
std::optional<Convolution> readConvolution(OnnxNode &node, mlir::Value input,
                                           mlir::Value filter);

mlir::Value createConv(OnnxNode &node, const Convolution &conv,
                       mlir::Value input, mlir::Value filter);

} // namespace tarpon

#endif // TARPON_LIB_IMPORT_CONVOLUTION_H
