//===- TarponOps.td - All ops of the dialect ----------------------*- tablegen -*-===//
//
// Part of Tarpon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TARPON_IR_TARPONOPS_TD
#define TARPON_IR_TARPONOPS_TD

include "tarpon/IR/TarponComputeOps.td"
include "tarpon/IR/TarponElementwiseOps.td"
include "tarpon/IR/TarponIndexOps.td"
include "tarpon/IR/TarponResizeOps.td"
include "tarpon/IR/TarponNormOps.td"
include "tarpon/IR/TarponReduceOps.td"
include "tarpon/IR/TarponRecurrentOps.td"
include "tarpon/IR/TarponSampleOps.td"
include "tarpon/IR/TarponShapeOps.td"
include "tarpon/IR/TarponUnaryOps.td"
include "tarpon/IR/TarponLoweringOps.td"

#endif // TARPON_IR_TARPONOPS_TD
