//===- Activations.h - Emits the activations of a cell ----------*- C++ -*-===//
//
// Part of Tarpon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TARPON_LIB_KERNELS_HOST_RECURRENT_ACTIVATIONS_H
#define TARPON_LIB_KERNELS_HOST_RECURRENT_ACTIVATIONS_H

#include "tarpon/Kernels/Common/KernelBuilder.h"
#include "tarpon/Problem/Recurrent.h"

namespace tarpon::recurrent {

/// The activation of `x`, a scalar or vector of f32 or f64. `alpha` and `beta`
/// have its type; only the activations that have them use them.
mlir::Value emitActivation(KernelBuilder &b, RecurrentActivation activation,
                           mlir::Value x, mlir::Value alpha, mlir::Value beta);

/// Clips `x` to [-limit, limit].
mlir::Value emitClip(KernelBuilder &b, mlir::Value x, mlir::Value limit);

} // namespace tarpon::recurrent

#endif // TARPON_LIB_KERNELS_HOST_RECURRENT_ACTIVATIONS_H
