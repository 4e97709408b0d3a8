//===- GlobalChoice.cpp - One dtype, layout and fusion for all ------------===//
//
// Part of Tarpon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tarpon/Autotune/Choice/GlobalChoice.h"

using namespace tarpon;

std::string GlobalChoice::name() const {
  std::string precision(layers.empty() ? getPrecisionName(dtype) : "mixed");
  return precision + "/" + layout.name() +
         (fusion == Fusion::On ? "" : "/unfused");
}
