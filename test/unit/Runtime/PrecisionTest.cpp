//===- PrecisionTest.cpp - Tests of the names of precisions ---------------===//
//
// Part of Tarpon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tarpon/Runtime/Precision.h"

#include <gtest/gtest.h>

using namespace tarpon::runtime;

TEST(PrecisionTest, NamesAreThoseOfTheCommandLine) {
  EXPECT_EQ(getPrecisionName(Precision::F32), "fp32");
  EXPECT_EQ(getPrecisionName(Precision::F16), "fp16");
  EXPECT_EQ(getPrecisionName(Precision::BF16), "bf16");
  EXPECT_EQ(getPrecisionName(Precision::I8), "int8");
}

TEST(PrecisionTest, NamesParse) {
  for (Precision precision : kPrecisions)
    EXPECT_EQ(parsePrecision(getPrecisionName(precision)), precision);
  for (const char *name : {"", "f32", "FP32", "fp8"})
    EXPECT_EQ(parsePrecision(name), std::nullopt) << name;
}
