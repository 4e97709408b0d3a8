//===- ConvGeometry.h - A convolution for the GEMM engine -------*- C++ -*-===//
//
// Part of Tarpon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TARPON_LIB_KERNELS_HOST_CONV_CONVGEOMETRY_H
#define TARPON_LIB_KERNELS_HOST_CONV_CONVGEOMETRY_H

#include "Host/ImplicitGemm/ImplicitGemm.h"

namespace tarpon {

/// The geometry of a convolution with one to three spatial dimensions.
igemm::Geometry getConvGeometry(const Problem &problem);

} // namespace tarpon

#endif // TARPON_LIB_KERNELS_HOST_CONV_CONVGEOMETRY_H
