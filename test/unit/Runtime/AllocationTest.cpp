//===- AllocationTest.cpp - Tests that a run allocates nothing ------------===//
//
// Part of Tarpon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The definitions here take the place of the C library's in this program, so
// that every allocation of its process is counted, operator new's among them.
//
//===----------------------------------------------------------------------===//

#include "TestPackages.h"
#include "tarpon/Runtime/Executor.h"

#include <gtest/gtest.h>

#include <atomic>
#include <cstdlib>

static std::atomic<int64_t> allocations = 0;

extern "C" {
// NOLINTBEGIN(bugprone-reserved-identifier,readability-identifier-naming): the
// names are the C library's.
void *__libc_malloc(size_t bytes);
void *__libc_calloc(size_t count, size_t bytes);
void *__libc_realloc(void *memory, size_t bytes);
// NOLINTEND(bugprone-reserved-identifier,readability-identifier-naming)

void *malloc(size_t bytes) {
  ++allocations;
  return __libc_malloc(bytes);
}

void *calloc(size_t count, size_t bytes) {
  ++allocations;
  return __libc_calloc(count, bytes);
}

void *realloc(void *memory, size_t bytes) {
  ++allocations;
  return __libc_realloc(memory, bytes);
}
}

using namespace tarpon::runtime;
using namespace tarpon::runtime::test;

TEST(AllocationTest, CountsAllocations) {
  int64_t before = allocations;
  std::vector<char> memory(1000);
  EXPECT_EQ(allocations - before, 1) << memory.data();
}

TEST(AllocationTest, ARunAllocatesNothing) {
  for (int threads : {1, 2}) {
    ExecutorOptions options;
    options.threads = threads;
    Result<std::unique_ptr<Executor>> executor =
        Executor::create(makeTestPackage(5000), options);
    ASSERT_TRUE(executor) << executor.message();
    // One input and output for the kernels, and one pair to be staged.
    std::vector<float> input(5001, 1.0f), output(5001);
    for (int shift : {0, 1}) {
      const void *inputs[] = {input.data() + shift};
      void *outputs[] = {output.data() + shift};
      ASSERT_TRUE((*executor)->run(inputs, outputs));
      std::vector<int64_t> times((*executor)->package().layers.size());
      int64_t before = allocations;
      for (int run = 0; run < 100; ++run) {
        ASSERT_TRUE((*executor)->run(inputs, outputs));
        ASSERT_TRUE((*executor)->runProfiled(inputs, outputs, times));
      }
      EXPECT_EQ(allocations - before, 0) << threads << " threads";
    }
  }
}
