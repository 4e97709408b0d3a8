//===- EmulatorTest.cpp - NVIDIA's instructions in the emulator -----------===//
//
// Part of Tarpon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Matrices are dealt to lanes by formulas of the other direction than the
// emulator's: from a matrix element to its lane and register.
//
//===----------------------------------------------------------------------===//

#include "../AMDGPU/TestEmulator.h"

#include "tarpon/Runtime/DType.h"
#include "tarpon/Targets/NVIDIA/Emulator/NvidiaInstructions.h"

#include <gtest/gtest.h>
#include <numeric>
#include <random>

using namespace tarpon;
using namespace tarpon::test;
using runtime::DType;

static runtime::Result<EmulationReport>
run(const std::string &arguments, const std::string &body, int64_t block,
    std::vector<EmulatedArgument> values) {
  EmulatorOptions options;
  options.instructions = &getNvidiaInstructions();
  options.waveSize = 32;
  return emulateBody(arguments, body, /*grid=*/1, block, std::move(values),
                     options);
}

//===----------------------------------------------------------------------===//
// mma.sync
//===----------------------------------------------------------------------===//

namespace {

/// The types of A and B, and of their registers in the op.
struct Form {
  const char *name;
  DType a, b;
  const char *registerType, *sumType, *attributes;
};

std::ostream &operator<<(std::ostream &os, const Form &form) {
  return os << form.name;
}

constexpr const char *kBytes =
    "intOverflowBehavior = #nvvm.mma_int_overflow<wrapped>, ";
constexpr Form kForms[] = {
    {"f16", DType::F16, DType::F16, "vector<2xf16>", "f32", ""},
    {"bf16", DType::BF16, DType::BF16, "i32", "f32",
     "multiplicandAPtxType = #nvvm.mma_type<bf16>, "
     "multiplicandBPtxType = #nvvm.mma_type<bf16>, "},
    {"s8", DType::I8, DType::I8, "i32", "i32",
     "multiplicandAPtxType = #nvvm.mma_type<s8>, "
     "multiplicandBPtxType = #nvvm.mma_type<s8>, "},
    {"u8", DType::U8, DType::I8, "i32", "i32",
     "multiplicandAPtxType = #nvvm.mma_type<u8>, "
     "multiplicandBPtxType = #nvvm.mma_type<s8>, "},
    {"tf32", DType::F32, DType::F32, "i32", "f32",
     "multiplicandAPtxType = #nvvm.mma_type<tf32>, "
     "multiplicandBPtxType = #nvvm.mma_type<tf32>, "}};

class MmaSync : public testing::TestWithParam<Form> {};

/// Loads `count` registers of each lane's part of an operand.
std::string loadRegisters(const std::string &name, int count,
                          const std::string &type) {
  std::string text;
  for (int i = 0; i < count; ++i) {
    std::string id = name + std::to_string(i);
    text += "%i" + id + " = arith.constant " + std::to_string(i) + " : i32\n" +
            "%n" + id + " = arith.constant " + std::to_string(count) +
            " : i32\n%l" + id + " = arith.muli %tid, %n" + id + " : i32\n%s" +
            id + " = arith.addi %l" + id + ", %i" + id + " : i32\n%p" + id +
            " = llvm.getelementptr %" + name + "[%s" + id +
            "] : (!llvm.ptr<1>, i32) -> !llvm.ptr<1>, i32\n%" + id +
            " = llvm.load %p" + id + " : !llvm.ptr<1> -> " + type + "\n";
  }
  return text;
}

std::string makeMmaBody(const Form &form, int k) {
  std::string type = form.registerType, sum = form.sumType;
  std::string body = loadRegisters("a", 4, type) + loadRegisters("b", 2, type) +
                     loadRegisters("c", 4, sum);
  body += "%r = nvvm.mma.sync A[%a0, %a1, %a2, %a3] B[%b0, %b1] "
          "C[%c0, %c1, %c2, %c3] {layoutA = #nvvm.mma_layout<row>, "
          "layoutB = #nvvm.mma_layout<col>, ";
  body += form.b == DType::I8 ? kBytes : "";
  body += form.attributes +
          std::string("shape = #nvvm.shape<m = 16, n = 8, "
                      "k = ") +
          std::to_string(k) + ">} : (" + type + ", " + type + ", " + sum +
          ") -> !llvm.struct<(" + sum + ", " + sum + ", " + sum + ", " + sum +
          ")>\n";
  for (int i = 0; i < 4; ++i) {
    std::string id = std::to_string(i);
    body += "%v" + id + " = llvm.extractvalue %r[" + id + "] : !llvm.struct<(" +
            sum + ", " + sum + ", " + sum + ", " + sum + ")>\nllvm.store %v" +
            id + ", %pc" + id + " : " + sum + ", !llvm.ptr<1>\n";
  }
  return body;
}

TEST_P(MmaSync, multiplies) {
  const Form &form = GetParam();
  unsigned bytes = runtime::dtypeBytes(form.a), p = 4 / bytes, k = 8 * p;
  DType sumType = form.b == DType::I8 ? DType::I32 : DType::F32;
  std::vector<uint8_t> a(32 * 16), b(32 * 8), c(32 * 16);
  std::vector<int> matrixA(16 * k), matrixB(k * 8), expected(16 * 8);
  std::mt19937 random(5);
  auto store = [](DType dtype, std::vector<uint8_t> &to, unsigned lane,
                  unsigned registers, unsigned number, unsigned byte,
                  int value) {
    runtime::storeFromFloat(dtype, static_cast<float>(value),
                            to.data() + (lane * registers + number) * 4 + byte);
  };
  for (unsigned row = 0; row < 16; ++row)
    for (unsigned i = 0; i < k; ++i) {
      // Large bytes tell unsigned from signed ones.
      int value =
          form.a == DType::U8 ? int(random() % 256) : int(random() % 9) - 4;
      matrixA[row * k + i] = value;
      store(form.a, a, row % 8 * 4 + i % (4 * p) / p, 4,
            row / 8 + i / (4 * p) * 2, i % p * bytes, value);
    }
  for (unsigned i = 0; i < k; ++i)
    for (unsigned column = 0; column < 8; ++column) {
      int value = int(random() % 9) - 4;
      matrixB[i * 8 + column] = value;
      store(form.b, b, column * 4 + i % (4 * p) / p, 2, i / (4 * p),
            i % p * bytes, value);
    }
  auto placeSum = [](unsigned row, unsigned column) {
    return (row % 8 * 4 + column / 2) * 4 + row / 8 * 2 + column % 2;
  };
  for (unsigned row = 0; row < 16; ++row)
    for (unsigned column = 0; column < 8; ++column) {
      int value = int(random() % 9) - 4;
      runtime::storeFromFloat(sumType, static_cast<float>(value),
                              c.data() + placeSum(row, column) * 4);
      for (unsigned i = 0; i < k; ++i)
        value += matrixA[row * k + i] * matrixB[i * 8 + column];
      expected[row * 8 + column] = value;
    }
  auto report = run("%a: !llvm.ptr<1>, %b: !llvm.ptr<1>, %c: !llvm.ptr<1>",
                    makeMmaBody(form, int(k)), 32,
                    {makeBuffer(a), makeBuffer(b), makeBuffer(c)});
  ASSERT_EQ(getMessage(report), "");
  EXPECT_EQ(report->matrixInstructions, 1u);
  for (unsigned row = 0; row < 16; ++row)
    for (unsigned column = 0; column < 8; ++column)
      EXPECT_EQ(
          runtime::loadAsFloat(sumType, c.data() + placeSum(row, column) * 4),
          static_cast<float>(expected[row * 8 + column]))
          << row << " " << column;
}

INSTANTIATE_TEST_SUITE_P(Forms, MmaSync, testing::ValuesIn(kForms),
                         [](const auto &info) {
                           return std::string(info.param.name);
                         });

} // namespace

/// PTX ISA, "cvt": rna rounds to nearest, halves away from zero. The products
/// ignore what it drops.
TEST(NvidiaEmulator, RoundsToTf32) {
  constexpr float kInfinity = std::numeric_limits<float>::infinity();
  const std::pair<float, float> cases[] = {
      {1.0f, 1.0f},
      {1.0f + 0x1p-11f, 1.0f + 0x1p-10f},
      {-1.0f - 0x1p-11f, -1.0f - 0x1p-10f},
      {1.0f + 0x1p-12f, 1.0f},
      {2.0f - 0x1p-23f, 2.0f},
      {std::numeric_limits<float>::max(), kInfinity},
      {-kInfinity, -kInfinity},
      {0.0f, 0.0f}};
  std::vector<float> values(33, std::numeric_limits<float>::quiet_NaN());
  for (auto [index, value] : llvm::enumerate(cases))
    values[index] = value.first;
  std::vector<uint8_t> bytes(33 * 4);
  std::memcpy(bytes.data(), values.data(), bytes.size());
  const char *body = "%p = llvm.getelementptr %a[%tid] : (!llvm.ptr<1>, i32) "
                     "-> !llvm.ptr<1>, f32\n"
                     "%x = llvm.load %p : !llvm.ptr<1> -> f32\n"
                     "%y = nvvm.convert.float.to.tf32 %x {rnd = "
                     "#nvvm.fp_rnd_mode<rna>}\n"
                     "llvm.store %y, %p : i32, !llvm.ptr<1>\n";
  auto report = run("%a: !llvm.ptr<1>", body, 32, {makeBuffer(bytes)});
  ASSERT_EQ(getMessage(report), "");
  std::memcpy(values.data(), bytes.data(), bytes.size());
  for (auto [index, value] : llvm::enumerate(cases))
    EXPECT_EQ(values[index], value.second) << value.first;
  for (size_t lane = std::size(cases); lane < 32; ++lane)
    EXPECT_TRUE(std::isnan(values[lane])) << lane;
  EXPECT_NE(getMessage(run("%a: !llvm.ptr<1>",
                           "%c = arith.constant 1.0 : f32\n"
                           "%y = nvvm.convert.float.to.tf32 %c {rnd = "
                           "#nvvm.fp_rnd_mode<rn>}\n",
                           32, {makeBuffer(bytes)}))
                .find("does not round to nearest"),
            std::string::npos);
}

TEST(NvidiaEmulator, MmaNeedsAllLanesAndWraps) {
  std::vector<uint8_t> a(512), b(256), c(512);
  auto fail = [&](const std::string &body) {
    return getMessage(
        run("%a: !llvm.ptr<1>, %b: !llvm.ptr<1>, %c: !llvm.ptr<1>", body, 32,
            {makeBuffer(a), makeBuffer(b), makeBuffer(c)}));
  };
  std::string body = makeMmaBody(kForms[2], 32);
  std::string saturates = body;
  saturates.replace(saturates.find("wrapped"), 7, "satfinite");
  EXPECT_NE(fail(saturates).find("saturates"), std::string::npos);
  std::string half =
      "%c16 = arith.constant 16 : i32\n"
      "%low = arith.cmpi slt, %tid, %c16 : i32\nscf.if %low {\n" +
      body + "}\n";
  EXPECT_NE(fail(half).find("lane 16: 'nvvm.mma.sync'"), std::string::npos)
      << fail(half);
}

//===----------------------------------------------------------------------===//
// LDS
//===----------------------------------------------------------------------===//

namespace {

/// Places of 16 bytes: of a lane in LDS, %lds16, and in %x, %x16.
const std::string kPlaces = R"(%c4 = arith.constant 4 : i32
    %c16 = arith.constant 16 : i32
    %at = arith.muli %tid, %c4 : i32
    %lds16 = llvm.getelementptr %lds[%at] : (!llvm.ptr<3>, i32) -> !llvm.ptr<3>, i32
    %x16 = llvm.getelementptr %x[%at] : (!llvm.ptr<1>, i32) -> !llvm.ptr<1>, i32
    %y16 = llvm.getelementptr %y[%at] : (!llvm.ptr<1>, i32) -> !llvm.ptr<1>, i32
)";
const std::string kCopy = "nvvm.cp.async.shared.global %lds16, %x16, 16, "
                          "cache = cg, %bytes : !llvm.ptr<3>, !llvm.ptr<1>, "
                          "i32\n";
const std::string kCommit = "nvvm.cp.async.commit.group\n";

std::string waitFor(int groups) {
  return "nvvm.cp.async.wait.group " + std::to_string(groups) + "\n";
}

/// Stores this lane's 16 bytes of LDS, or with `other` those of its partner in
/// another wave, to %y.
std::string store(bool other) {
  return std::string(other ? "%c128 = arith.constant 128 : i32\n"
                             "%from = arith.xori %at, %c128 : i32\n"
                           : "%from = arith.addi %at, %zero : i32\n") +
         R"(%p = llvm.getelementptr %lds[%from] : (!llvm.ptr<3>, i32) -> !llvm.ptr<3>, i32
    %v = llvm.load %p {alignment = 16} : !llvm.ptr<3> -> vector<4xi32>
    llvm.store %v, %y16 {alignment = 16} : vector<4xi32>, !llvm.ptr<1>
)";
}

/// Runs two waves; returns the fault, or what %y got.
std::string
copy(const std::string &body, std::vector<int32_t> &result,
     const std::string &bytes = "%bytes = arith.constant 16 : i32\n") {
  std::vector<int32_t> from(256);
  std::iota(from.begin(), from.end(), 1);
  result.assign(256, -1);
  return getMessage(
      run("%x: !llvm.ptr<1>, %y: !llvm.ptr<1>",
          kPlaces + "%zero = arith.constant 0 : i32\n" + bytes + body, 64,
          {makeBuffer(from), makeBuffer(result)}));
}

bool has(const std::string &text, const std::string &part) {
  return text.find(part) != std::string::npos;
}

} // namespace

TEST(NvidiaEmulator, Copies) {
  std::vector<int32_t> result;
  EXPECT_EQ(copy(kCopy + kCommit + waitFor(0) + store(false), result), "");
  EXPECT_EQ(result[5], 6);
  std::string barrier = "gpu.barrier\n";
  EXPECT_EQ(copy(kCopy + kCommit + waitFor(0) + barrier + store(true), result),
            "");
  EXPECT_EQ(result[5], 128 + 6);
  // A group behind it may be under way.
  EXPECT_EQ(copy(kCopy + kCommit + kCommit + waitFor(1) + barrier + store(true),
                 result),
            "");
  // Zeros where nothing is read.
  std::string size = "%isLow = arith.cmpi slt, %tid, %c4 : i32\n"
                     "%bytes = arith.select %isLow, %c16, %zero : i32\n";
  EXPECT_EQ(copy(kCopy + kCommit + waitFor(0) + store(false), result, size),
            "");
  EXPECT_EQ(result[15], 16);
  EXPECT_EQ(result[16], 0);
}

TEST(NvidiaEmulator, CopiesAreWaitedFor) {
  std::vector<int32_t> result;
  std::string barrier = "gpu.barrier\n", waiting = "nothing has waited for";
  std::string unordered = "with no barrier between";
  // No wait; one that the copy's group is not among; one without a commit.
  for (const std::string &wait : {kCommit, kCommit + waitFor(1),
                                  kCommit + kCommit + waitFor(2), waitFor(0)}) {
    std::string fault = copy(kCopy + wait + barrier + store(false), result);
    EXPECT_TRUE(has(fault, waiting)) << wait << fault;
  }
  // Other waves' data needs the barrier, and behind the wait.
  std::string own = copy(kCopy + kCommit + waitFor(0) + store(true), result);
  EXPECT_NE(own, "");
  std::string early =
      copy(kCopy + kCommit + barrier + waitFor(0) + store(true), result);
  EXPECT_TRUE(has(early, waiting) || has(early, unordered)) << early;
  // A copy to what another wave still reads.
  std::string late = copy(
      kCopy + kCommit + waitFor(0) + barrier + store(true) + kCopy, result);
  EXPECT_TRUE(has(late, unordered)) << late;
}

/// Each eight lanes give the rows of a matrix, and lane l gets 32 bits of row
/// l / 4 of each.
/// Stores the four words of a lane that ldmatrix gives it.
static std::string loadMatrices(const std::string &layout) {
  std::string load =
      kCopy + kCommit + waitFor(0) + R"(gpu.barrier
    %m = nvvm.ldmatrix %lds16 {num = 4 : i32, layout = #nvvm.mma_layout<)" +
      layout +
      R"(>, shape = #nvvm.ld_st_matrix_shape<m = 8, n = 8>, eltType = #nvvm.ld_st_matrix_elt_type<b16>} : (!llvm.ptr<3>) -> !llvm.struct<(i32, i32, i32, i32)>
)";
  for (int i = 0; i < 4; ++i) {
    std::string id = std::to_string(i);
    load += "%e" + id + " = llvm.extractvalue %m[" + id +
            "] : !llvm.struct<(i32, i32, i32, i32)>\n%q" + id +
            " = llvm.getelementptr %y16[" + id +
            "] : (!llvm.ptr<1>) -> !llvm.ptr<1>, i32\nllvm.store %e" + id +
            ", %q" + id + " : i32, !llvm.ptr<1>\n";
  }
  return load;
}

TEST(NvidiaEmulator, LoadsMatrices) {
  std::vector<int32_t> result;
  ASSERT_EQ(copy(loadMatrices("row"), result), "");
  for (int lane = 0; lane < 64; ++lane)
    for (int matrix = 0; matrix < 4; ++matrix) {
      int row = lane / 32 * 32 + matrix * 8 + lane % 32 / 4;
      EXPECT_EQ(result[lane * 4 + matrix], row * 4 + lane % 4 + 1);
    }
}

/// A lane gets two elements of a column, which are halves of words.
TEST(NvidiaEmulator, TransposesMatrices) {
  std::vector<int32_t> result;
  ASSERT_EQ(copy(loadMatrices("col"), result), "");
  for (int lane = 0; lane < 64; ++lane)
    for (int matrix = 0; matrix < 4; ++matrix) {
      int column = lane % 32 / 4;
      int row = lane / 32 * 32 + matrix * 8 + lane % 4 * 2;
      auto getElement = [&](int of) {
        return column % 2 == 0 ? of * 4 + column / 2 + 1 : 0;
      };
      EXPECT_EQ(result[lane * 4 + matrix], getElement(row) | getElement(row + 1)
                                                                 << 16);
    }
}
