//===- TargetAttr.h - The attribute #tarpon.target --------------*- C++ -*-===//
//
// Part of Tarpon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// #tarpon.target, apart from the dialect's other attributes: few files need it.
//
//===----------------------------------------------------------------------===//

#ifndef TARPON_IR_TARGETATTR_H
#define TARPON_IR_TARGETATTR_H

#include "tarpon/IR/TarponDialect.h"

#define GET_ATTRDEF_CLASSES
#include "tarpon/IR/TarponTargetAttr.h.inc"

#endif // TARPON_IR_TARGETATTR_H
