//===- OutputMetric.cpp - A user's measure of results ---------------------===//
//
// Part of Tarpon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Measure/OutputMetric.h"

using namespace tarpon;

OutputMetric::~OutputMetric() = default;
