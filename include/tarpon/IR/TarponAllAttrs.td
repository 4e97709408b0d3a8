//===- TarponAllAttrs.td - All attributes of the dialect ---*- tablegen -*-===//
//
// Part of Tarpon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// One file defines all attributes of the dialect, since they share one parser.
//
//===----------------------------------------------------------------------===//

include "tarpon/IR/TarponOps.td"
include "tarpon/IR/TarponTargetAttr.td"
