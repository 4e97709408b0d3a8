//===- KernelCompilerTest.cpp - Kernels to code that runs -----------------===//
//
// Part of Tarpon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "TestKernel.h"

#include <chrono>
#include <gtest/gtest.h>

using namespace tarpon;
using namespace tarpon::test;

namespace {

/// c[rows][columns vectors] += a[k][rows] * b[k][columns vectors], the inner
/// loop of every convolution.
void emitTile(KernelBuilder &b, int64_t rows, int64_t columns) {
  using Value = KernelBuilder::Value;
  Value a = b.getBuffer(0), filter = b.getBuffer(1), c = b.getBuffer(2);
  Value depth = b.getParam(0);
  int64_t lanes = b.lanes();
  mlir::VectorType type = b.vec(b.f32(), lanes);
  mlir::SmallVector<Value> zeros(rows * columns, b.cstLike(type, 0));
  auto results = b.forLoop(
      b.cst(0), depth, b.cst(1), zeros, [&](Value k, mlir::ValueRange sums) {
        Value aRow = b.offset(a, b.mul(k, rows * 4));
        Value bRow = b.offset(filter, b.mul(k, columns * lanes * 4));
        mlir::SmallVector<Value> bs, next;
        for (int64_t j = 0; j < columns; ++j)
          bs.push_back(b.load(b.offset(bRow, j * lanes * 4), type));
        for (int64_t i = 0; i < rows; ++i) {
          Value scalar = b.load(b.offset(aRow, i * 4), b.f32());
          Value all = b.broadcast(scalar, lanes);
          for (int64_t j = 0; j < columns; ++j)
            next.push_back(b.fma(all, bs[j], sums[i * columns + j]));
        }
        return next;
      });
  for (int64_t i = 0; i < rows * columns; ++i)
    b.store(results[i], b.offset(c, i * lanes * 4));
}

TEST(KernelCompiler, TileHasNoSpills) {
  TargetInfo target = getTarget("native");
  if (target.vectorBits != 512)
    GTEST_SKIP() << "needs AVX-512";
  KernelCompiler compiler(target, nullptr);
  KernelSource source{"tile", [](KernelBuilder &b) { emitTile(b, 14, 2); }};
  auto text = compiler.printAssembly(source);
  ASSERT_TRUE(text) << text.message();
  EXPECT_EQ(text->find("(%rsp)"), std::string::npos) << *text;
  // One multiply-add per accumulator and no unrolled copies of the loop.
  size_t count = 0;
  for (size_t at = text->find("vfmadd231ps"); at != std::string::npos;
       at = text->find("vfmadd231ps", at + 1))
    ++count;
  EXPECT_EQ(count, 28u) << *text;
}

TEST(KernelCompiler, TileComputesOnEveryTarget) {
  constexpr int64_t kRows = 3, kColumns = 2, kDepth = 17;
  for (std::string cpu : {"native", "x86-64-v3", "x86-64-v2", "x86-64"}) {
    SCOPED_TRACE(cpu);
    TargetInfo target = getTarget(cpu);
    int64_t width = kColumns * target.lanes();
    std::vector<float> a(kDepth * kRows), b(kDepth * width);
    std::vector<float> c(kRows * width, -1), expected(kRows * width, 0);
    for (size_t i = 0; i < a.size(); ++i)
      a[i] = static_cast<float>(i % 7) - 3;
    for (size_t i = 0; i < b.size(); ++i)
      b[i] = static_cast<float>(i % 5) - 2;
    for (int64_t k = 0; k < kDepth; ++k)
      for (int64_t i = 0; i < kRows; ++i)
        for (int64_t j = 0; j < width; ++j)
          expected[i * width + j] += a[k * kRows + i] * b[k * width + j];
    runKernel(target, [](KernelBuilder &b) { emitTile(b, kRows, kColumns); },
              {a.data(), b.data(), c.data()}, {kDepth});
    EXPECT_EQ(c, expected);
  }
}

} // namespace
