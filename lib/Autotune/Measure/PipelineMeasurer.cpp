//===- PipelineMeasurer.cpp - Measures whole models -----------------------===//
//
// Part of Tarpon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Measure/PipelineMeasurer.h"

using namespace tarpon;

PipelineMeasurer::~PipelineMeasurer() = default;
