//===- AlignedBytesTest.cpp - Tests of bytes that kernels may read --------===//
//
// Part of Tarpon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tarpon/Runtime/AlignedBytes.h"
#include "tarpon/Runtime/KernelABI.h"

#include <gtest/gtest.h>
#include <malloc.h>

#include <cstdint>

using namespace tarpon::runtime;

TEST(AlignedBytesTest, AreAlignedAndReadableBehindTheirEnd) {
  for (size_t size :
       {1, 63, 64, 65, 4096, (2 << 20) - 64, (2 << 20) + 1, 5 << 20}) {
    AlignedBytes bytes(size);
    EXPECT_EQ(reinterpret_cast<uintptr_t>(bytes.data()) % kBufferAlignment, 0u);
    EXPECT_GE(malloc_usable_size(bytes.data()), size + kBufferTailPadding);
    EXPECT_EQ(bytes, AlignedBytes(size, 0)) << "of " << size;
  }
}

TEST(AlignedBytesTest, KeepTheirContentsAsTheyGrow) {
  AlignedBytes bytes;
  EXPECT_EQ(bytes.data(), nullptr);
  for (int i = 0; i < 100000; ++i)
    bytes.push_back(static_cast<char>(i));
  EXPECT_EQ(reinterpret_cast<uintptr_t>(bytes.data()) % kBufferAlignment, 0u);
  bool same = true;
  for (int i = 0; i < 100000; ++i)
    same &= bytes[i] == static_cast<char>(i);
  EXPECT_TRUE(same);
  AlignedBytes copy = bytes;
  EXPECT_EQ(copy, bytes);
}

TEST(AlignedBytesDeathTest, SayWhenThereIsNoMemory) {
  EXPECT_DEATH(allocateAligned(size_t(1) << 62),
               "error: cannot allocate 4611686018427387904 bytes of memory");
}
