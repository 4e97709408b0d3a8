//===- KernelCompilerTest.cpp - Kernels to code that runs -----------------===//
//
// Part of Tarpon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "TestKernel.h"
#include "tarpon/Targets/Host/HostBackend.h"

#include "mlir/Dialect/Math/IR/Math.h"

#include <atomic>
#include <cmath>
#include <gtest/gtest.h>
#include <thread>

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
  KernelCompiler compiler = makeHostCompiler(target, nullptr);
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

TEST(KernelCompiler, MathNeedsNoLibrary) {
  // Polynomials instead of calls of libm.
  for (std::string cpu : {"native", "x86-64-v2"}) {
    SCOPED_TRACE(cpu);
    TargetInfo target = getTarget(cpu);
    std::vector<float> in(target.lanes(), 0.75f), out(4 * target.lanes());
    auto emit = [](KernelBuilder &b) {
      mlir::VectorType type = b.vec(b.f32(), b.lanes());
      auto x = b.load(b.getBuffer(0), type);
      int64_t at = 0;
      for (KernelBuilder::Value value :
           {mlir::math::ExpOp::create(b, x).getResult(),
            mlir::math::LogOp::create(b, x).getResult(),
            mlir::math::TanhOp::create(b, x).getResult(),
            mlir::math::ErfOp::create(b, x).getResult()})
        b.store(value, b.offset(b.getBuffer(1), 4 * b.lanes() * at++));
    };
    KernelCompiler compiler = makeHostCompiler(target, nullptr);
    auto text = compiler.printAssembly({"kernel", emit});
    ASSERT_TRUE(text) << text.message();
    EXPECT_EQ(text->find("call"), std::string::npos) << *text;
    runKernel(target, emit, {in.data(), out.data()});
    float expected[] = {std::exp(0.75f), std::log(0.75f), std::tanh(0.75f),
                        std::erf(0.75f)};
    for (size_t i = 0; i < out.size(); ++i)
      EXPECT_NEAR(out[i], expected[i / target.lanes()], 1e-6) << i;
  }
}

TEST(KernelCompiler, NarrowTargetsUseNoWideInstructions) {
  for (std::string cpu : {"x86-64-v2", "x86-64-v3"}) {
    KernelCompiler compiler = makeHostCompiler(getTarget(cpu), nullptr);
    auto text = compiler.printAssembly(
        {"tile", [](KernelBuilder &b) { emitTile(b, 2, 2); }});
    ASSERT_TRUE(text) << text.message();
    EXPECT_EQ(text->find("%zmm"), std::string::npos) << *text;
    EXPECT_EQ(text->find("%ymm") == std::string::npos, cpu == "x86-64-v2");
  }
}

TEST(KernelCompiler, ThreadsCompileTogether) {
  TargetInfo target = getTarget("native");
  auto makeSource = [](int index) {
    return KernelSource{
        "kernel" + std::string(1, char('a' + index)),
        [index](KernelBuilder &b) { b.store(b.cst(index), b.getBuffer(0)); }};
  };
  KernelCompiler compiler = makeHostCompiler(target, nullptr);
  std::vector<std::thread> threads;
  std::atomic<int> failures = 0;
  constexpr int kKernels = 8;
  for (int t = 0; t < 4; ++t)
    threads.emplace_back([&] {
      for (int i = 0; i < kKernels; ++i)
        if (!compiler.getObject("test-v1", makeSource(i)))
          ++failures;
    });
  for (std::thread &thread : threads)
    thread.join();
  EXPECT_EQ(failures, 0);
  EXPECT_EQ(compiler.getStatistics().compiled, kKernels);
  EXPECT_EQ(compiler.getStatistics().fromMemory, 3 * kKernels);

  std::map<std::string, std::shared_ptr<const std::vector<char>>> objects;
  for (int i = 0; i < kKernels; ++i) {
    KernelSource source = makeSource(i);
    objects[source.symbol] = *compiler.getObject("test-v1", source);
  }
  auto library = compiler.link(objects), again = compiler.link(objects);
  ASSERT_TRUE(library) << library.message();
  EXPECT_EQ(library->bytes, again->bytes);
  LoadedLibrary loaded(library->bytes);
  for (int i = 0; i < kKernels; ++i) {
    int64_t result = -1;
    void *buffers[] = {&result};
    auto function = loaded.find(makeSource(i).symbol);
    ASSERT_TRUE(function) << loaded.getError();
    function(buffers, nullptr, 0, 1, nullptr);
    EXPECT_EQ(result, i);
  }
}

TEST(KernelCompiler, ErrorsNameTheCause) {
  KernelCompiler compiler = makeHostCompiler(getTarget("native"), nullptr);
  KernelSource malformed{"broken", [](KernelBuilder &b) {
                           mlir::arith::AddIOp::create(b, b.cst(1), b.cst(2))
                               ->setOperand(1, b.cstF(1));
                         }};
  auto object = compiler.getObject("test-v1", malformed);
  ASSERT_FALSE(object);
  EXPECT_EQ(object.message().find("kernel 'broken' is malformed: "), 0u)
      << object.message();
  EXPECT_NE(compiler.printMlir(malformed).find("// malformed: "),
            std::string::npos);
  EXPECT_FALSE(compiler.printAssembly(malformed));
  KernelSource good{
      "good", [](KernelBuilder &b) { b.store(b.cst(1), b.getBuffer(0)); }};
  EXPECT_NE(compiler.printMlir(good).find("func.func @good"),
            std::string::npos);

  auto garbage =
      std::make_shared<const std::vector<char>>(std::vector<char>(100, 'x'));
  auto library = compiler.link({{"garbage", garbage}});
  ASSERT_FALSE(library);
  EXPECT_EQ(library.message().find("cannot link the kernels: "), 0u);
  EXPECT_EQ(library.message().find('\n'), std::string::npos);
  // The linker still works after an error, and refuses a symbol defined twice.
  auto one = compiler.getObject("test-v1", good);
  ASSERT_TRUE(compiler.link({{"good", *one}}));
  auto twice = compiler.link({{"good", *one}, {"same", *one}});
  ASSERT_FALSE(twice);
  EXPECT_EQ(twice.message(), "cannot link the kernels: duplicate symbol: good");
}

} // namespace
