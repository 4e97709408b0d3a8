//===- EmulatorMatrixTest.cpp - Every matrix instruction ------------------===//
//
// Part of Tarpon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Matrices are dealt to lanes by formulas of the other direction than those of
// MatrixLayout.h, from a matrix element to its lane and register, as the matrix
// instruction calculator and the RDNA4 ISA print them.
//
//===----------------------------------------------------------------------===//

#include "TestEmulator.h"

#include "tarpon/Runtime/DType.h"
#include "tarpon/Solver/MatrixLayout.h"

#include <gtest/gtest.h>
#include <random>

using namespace tarpon;
using namespace tarpon::test;
using runtime::DType;

namespace {

/// Where a matrix element is.
struct Place {
  unsigned lane, element;
};

/// The place of row i (or column j) and k of A (or B), by the documents.
Place placeInput(const MatrixLayout &layout, unsigned line, unsigned k) {
  unsigned perLane = layout.inputElements;
  if (layout.isWmma && layout.families == unsigned(MatrixFamily::RDNA3))
    return {line, k}; // and the same in lane line + 16
  return {layout.m * (k / perLane) + line, k % perLane};
}

/// The place of row i and column j of C and D.
Place placeOutput(const MatrixLayout &layout, unsigned i, unsigned j) {
  if (layout.families == unsigned(MatrixFamily::RDNA3))
    return {16 * i % 32 + j, i / 2 * layout.outputStep};
  if (layout.families == unsigned(MatrixFamily::RDNA4))
    return {16 * (i / 8) + j, i % 8};
  if (layout.m == 16)
    return {16 * (i / 4) + j, i % 4};
  return {32 * (i / 4) % 64 + j, 4 * (i / 8) + i % 4};
}

DType getDType(MatrixElement element) {
  switch (element) {
  case MatrixElement::F16:
    return DType::F16;
  case MatrixElement::BF16:
    return DType::BF16;
  case MatrixElement::F32:
    return DType::F32;
  case MatrixElement::I8:
    return DType::I8;
  case MatrixElement::I32:
    return DType::I32;
  }
  return DType::F32;
}

std::string getVector(MatrixElement element, unsigned length) {
  std::string name(runtime::dtypeName(getDType(element)));
  return length == 1 ? name
                     : "vector<" + std::to_string(length) + "x" + name + ">";
}

std::string getName(const MatrixLayout &layout) {
  std::string name = layout.isWmma ? "wmma" : "mfma";
  for (unsigned number : {unsigned(layout.m), unsigned(layout.n),
                          unsigned(layout.k), unsigned(layout.inputElements)})
    name += "_" + std::to_string(number);
  return name + "_" + std::string(runtime::dtypeName(getDType(layout.input))) +
         "_" + std::string(runtime::dtypeName(getDType(layout.output)));
}

/// Fragments of all lanes, in memory.
class Fragments {
public:
  Fragments(const MatrixLayout &layout, MatrixElement element, unsigned length)
      : dtype(getDType(element)), length(length),
        bytes(layout.waveSize * length * runtime::dtypeBytes(dtype)) {}

  void set(Place place, float value) {
    runtime::storeFromFloat(dtype, value, at(place));
  }
  float get(Place place) { return runtime::loadAsFloat(dtype, at(place)); }
  EmulatedBuffer buffer() { return makeBuffer(bytes); }

private:
  void *at(Place place) {
    return bytes.data() +
           (place.lane * length + place.element) * runtime::dtypeBytes(dtype);
  }

  DType dtype;
  unsigned length;
  std::vector<uint8_t> bytes;
};

std::string makeBody(const MatrixLayout &layout,
                     const std::string &attributes) {
  std::string input = getVector(layout.input, layout.getInputVectorLength());
  std::string output = getVector(layout.output, layout.getOutputVectorLength());
  std::string body;
  for (const char *name : {"a", "b", "c", "d"}) {
    std::string operand(name);
    bool isInput = operand == "a" || operand == "b";
    const std::string &type = isInput ? input : output;
    body += "%p" + operand + " = llvm.getelementptr %" + operand +
            "[%tid] : (!llvm.ptr<1>, i32) -> !llvm.ptr<1>, " + type + "\n";
    if (operand != "d")
      body += "%v" + operand + " = llvm.load %p" + operand +
              " : !llvm.ptr<1> -> " + type + "\n";
  }
  std::string shape = std::to_string(layout.m) + "x" +
                      std::to_string(layout.n) + "x" + std::to_string(layout.k);
  body += layout.isWmma ? "%vd = amdgpu.wmma " : "%vd = amdgpu.mfma ";
  body += shape + " %va * %vb + %vc " + attributes +
          (layout.isWmma ? "" : " blgp = none") + " : " + input + ", " + input +
          ", " + output + "\nllvm.store %vd, %pd : " + output +
          ", !llvm.ptr<1>";
  return body;
}

/// Small whole numbers, with which all types compute exactly.
struct Matrices {
  explicit Matrices(const MatrixLayout &layout)
      : a(layout.m * layout.k), b(layout.k * layout.n), c(layout.m * layout.n),
        expected(layout.m * layout.n) {
    std::mt19937 random(7);
    for (std::vector<int> *matrix : {&a, &b, &c})
      for (int &value : *matrix)
        value = int(random() % 5) - 2;
    for (unsigned i = 0; i < layout.m; ++i)
      for (unsigned j = 0; j < layout.n; ++j) {
        int &sum = expected[i * layout.n + j];
        sum = c[i * layout.n + j];
        for (unsigned k = 0; k < layout.k; ++k)
          sum += a[i * layout.k + k] * b[k * layout.n + j];
      }
  }
  std::vector<int> a, b, c, expected;
};

/// Deals, runs and returns D. With `swapped`, neighbouring lanes have each
/// other's part of A.
runtime::Result<std::vector<float>> multiply(const MatrixLayout &layout,
                                             const Matrices &matrices,
                                             bool swapped = false) {
  Fragments a(layout, layout.input, layout.getInputVectorLength());
  Fragments b = a;
  Fragments c(layout, layout.output, layout.getOutputVectorLength());
  Fragments d = c;
  bool isDuplicated = layout.families == unsigned(MatrixFamily::RDNA3);
  for (unsigned line = 0; line < layout.m; ++line)
    for (unsigned k = 0; k < layout.k; ++k) {
      Place place = placeInput(layout, line, k);
      for (unsigned copy = 0; copy < (isDuplicated ? 2 : 1); ++copy) {
        b.set(place, matrices.b[k * layout.n + line]);
        Place placeOfA = place;
        placeOfA.lane ^= swapped ? 1 : 0;
        a.set(placeOfA, matrices.a[line * layout.k + k]);
        place.lane += 16;
      }
    }
  for (unsigned i = 0; i < layout.m; ++i)
    for (unsigned j = 0; j < layout.n; ++j)
      c.set(placeOutput(layout, i, j), matrices.c[i * layout.n + j]);
  EmulatorOptions options;
  options.waveSize = layout.waveSize;
  options.matrixFamilies = layout.families;
  auto result = emulateBody(
      "%a: !llvm.ptr<1>, %b: !llvm.ptr<1>, %c: !llvm.ptr<1>, %d: !llvm.ptr<1>",
      makeBody(layout, ""), 1, layout.waveSize,
      {a.buffer(), b.buffer(), c.buffer(), d.buffer()}, options);
  if (!result)
    return result.error();
  EXPECT_EQ(result->matrixInstructions, 1u);
  std::vector<float> product;
  for (unsigned i = 0; i < layout.m; ++i)
    for (unsigned j = 0; j < layout.n; ++j)
      product.push_back(d.get(placeOutput(layout, i, j)));
  return product;
}

class EmulatorMatrixTest : public testing::TestWithParam<MatrixLayout> {};

INSTANTIATE_TEST_SUITE_P(Layouts, EmulatorMatrixTest,
                         testing::ValuesIn(kMatrixLayouts),
                         [](const auto &info) { return getName(info.param); });

} // namespace

TEST_P(EmulatorMatrixTest, Multiplies) {
  const MatrixLayout &layout = GetParam();
  Matrices matrices(layout);
  auto product = multiply(layout, matrices);
  ASSERT_TRUE(product) << product.message();
  EXPECT_EQ(*product, std::vector<float>(matrices.expected.begin(),
                                         matrices.expected.end()));
}

TEST_P(EmulatorMatrixTest, AWrongLaneMappingGivesAWrongResult) {
  const MatrixLayout &layout = GetParam();
  Matrices matrices(layout);
  auto product = multiply(layout, matrices, /*swapped=*/true);
  ASSERT_TRUE(product) << product.message();
  EXPECT_NE(*product, std::vector<float>(matrices.expected.begin(),
                                         matrices.expected.end()));
}

/// Every element of a matrix is in some lane, and nothing else is.
TEST_P(EmulatorMatrixTest, LayoutCoversTheMatrices) {
  const MatrixLayout &layout = GetParam();
  std::vector<int> input(layout.m * layout.k), output(layout.m * layout.n);
  for (unsigned lane = 0; lane < layout.waveSize; ++lane) {
    for (unsigned e = 0; e < layout.inputElements; ++e) {
      ASSERT_LT(layout.getInputK(lane, e), layout.k);
      ++input[layout.getInputLine(lane) * layout.k + layout.getInputK(lane, e)];
    }
    for (unsigned e = 0; e < layout.outputElements; ++e) {
      ASSERT_LT(layout.getOutputRow(lane, e), layout.m);
      ++output[layout.getOutputRow(lane, e) * layout.n +
               layout.getOutputColumn(lane)];
    }
  }
  int copies = layout.waveSize * layout.inputElements / (layout.m * layout.k);
  EXPECT_EQ(input, std::vector<int>(layout.m * layout.k, copies));
  EXPECT_EQ(output, std::vector<int>(layout.m * layout.n, 1));
}

/// Signedness of either side, saturation, and the halves of registers.
TEST(EmulatorWmmaTest, Attributes) {
  const MatrixLayout &layout =
      *findMatrixLayout(true, 16, 16, 16, MatrixElement::I8, MatrixElement::I32,
                        16, unsigned(MatrixFamily::RDNA3));
  std::vector<int8_t> a(32 * 16, -1), b(32 * 16, -2);
  std::vector<int32_t> c(32 * 8, 5), d(32 * 8);
  EmulatorOptions options;
  options.waveSize = 32;
  auto run = [&](const std::string &attributes) {
    auto result = emulateBody(
        "%a: !llvm.ptr<1>, %b: !llvm.ptr<1>, "
        "%c: !llvm.ptr<1>, %d: !llvm.ptr<1>",
        makeBody(layout, attributes), 1, 32,
        {makeBuffer(a), makeBuffer(b), makeBuffer(c), makeBuffer(d)}, options);
    EXPECT_TRUE(result) << getMessage(result);
    return d[17];
  };
  EXPECT_EQ(run(""), 16 * 2 + 5);
  EXPECT_EQ(run("{unsignedA}"), 16 * 255 * -2 + 5);
  EXPECT_EQ(run("{unsignedA, unsignedB}"), 16 * 255 * 254 + 5);
  c.assign(c.size(), 0x7ffffff0);
  EXPECT_EQ(run("{clamp}"), 0x7fffffff);
  EXPECT_EQ(run(""), int32_t(0x7ffffff0u + 32));
}

TEST(EmulatorWmmaTest, SubwordOffset) {
  const MatrixLayout &layout =
      *findMatrixLayout(true, 16, 16, 16, MatrixElement::F16,
                        MatrixElement::F16, 16, unsigned(MatrixFamily::RDNA3));
  uint16_t one = 0x3c00, two = 0x4000, eighteen = 0x4c80;
  std::vector<uint16_t> ones(32 * 16, one), twos(32 * 16, two), d(32 * 16);
  EmulatorOptions options;
  options.waveSize = 32;
  auto result = emulateBody(
      "%a: !llvm.ptr<1>, %b: !llvm.ptr<1>, %c: !llvm.ptr<1>, %d: !llvm.ptr<1>",
      makeBody(layout, "{subwordOffset = 1 : i32}"), 1, 32,
      {makeBuffer(ones), makeBuffer(ones), makeBuffer(twos), makeBuffer(d)},
      options);
  ASSERT_TRUE(result) << result.message();
  EXPECT_EQ(d[0], two);
  EXPECT_EQ(d[1], eighteen);
}

TEST(EmulatorMfmaTest, RefusesWhatTheTargetHasNot) {
  const MatrixLayout &layout =
      *findMatrixLayout(false, 16, 16, 32, MatrixElement::F16,
                        MatrixElement::F32, 8, unsigned(MatrixFamily::CDNA4));
  EmulatorOptions options;
  options.matrixFamilies = unsigned(MatrixFamily::CDNA3);
  auto result = emulateBody(
      "%a: !llvm.ptr<1>, %b: !llvm.ptr<1>, %c: !llvm.ptr<1>, %d: !llvm.ptr<1>",
      makeBody(layout, ""), 1, 64, {}, options);
  EXPECT_EQ(getMessage(result),
            "kernel kernel: 'amdgpu.mfma' at kernel.mlir:17:7 is of a shape "
            "and types that no matrix instruction of the target has, with "
            "waves of 64 lanes");
}

TEST(EmulatorMfmaTest, NeedsAllLanes) {
  const MatrixLayout &layout =
      *findMatrixLayout(false, 16, 16, 4, MatrixElement::F32,
                        MatrixElement::F32, 1, unsigned(MatrixFamily::CDNA3));
  std::vector<float> a(64), c(256);
  auto result = emulateBody(
      "%a: !llvm.ptr<1>, %b: !llvm.ptr<1>, %c: !llvm.ptr<1>, %d: !llvm.ptr<1>",
      makeBody(layout, ""), 1, 48,
      {makeBuffer(a), makeBuffer(a), makeBuffer(c), makeBuffer(c)});
  EXPECT_EQ(getMessage(result),
            "kernel kernel: workgroup 0, wave 0, lane 48: 'amdgpu.mfma' at "
            "kernel.mlir:17:7 needs this lane, which is not active");
}
