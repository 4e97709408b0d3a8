//===- TarponOps.cpp - Definitions generated from TableGen ------*- C++ -*-===//
//
// Part of Tarpon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tarpon/IR/TarponOps.h"

#include "ConstantFolding.h"
#include "Inference.h"

#include "mlir/IR/Builders.h"

#include "tarpon/IR/TarponInterfaces.cpp.inc"

#define GET_OP_CLASSES
#include "tarpon/IR/TarponOps.cpp.inc"
