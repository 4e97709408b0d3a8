//===- MatrixOps.cpp - mma.sync and ldmatrix ------------------------------===//
//
// Part of Tarpon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The layouts are those of PTX ISA, "Matrix Fragments for mma.m16n8k16 with
// floating point type", "... for mma.m16n8k8" (of TF32), "... for
// mma.m16n8k32", and "Warp-level matrix load instruction: ldmatrix". With g =
// lane / 4, t = lane % 4 and p elements in 32 bits, element i of a lane is
//   A (16 x 8p): row g + 8 (i / p % 2), k p t + i % p + 4 p (i / (2 p)),
//   B (8p x 8):  column g, k p t + i % p + 4 p (i / p),
//   C and D (16 x 8): row g + 8 (i / 2), column 2 t + i % 2.
//
// Sums over k are in ascending order, rounding each to f32; hardware sums
// several products at once.
//
//===----------------------------------------------------------------------===//

#include "NvidiaOps.h"

#include "GPU/Emulator/Lanes.h"
#include "GPU/Emulator/MemoryAccess.h"

#include "mlir/Dialect/LLVMIR/NVVMDialect.h"

#include <array>

using namespace mlir;
using namespace tarpon;
using namespace tarpon::emulator;

//===----------------------------------------------------------------------===//
// ldmatrix
//===----------------------------------------------------------------------===//

/// Lane l has the address of row l % 8 of matrix l / 8, and receives 32 bits of
/// row l / 4 of each matrix; of a transposed one, two elements of column l / 4.
/// `imm` is the number of matrices.
template <bool transposed>
static void runLoadMatrix(Wave &wave, const Instr &instr) {
  if (!areAllActive(wave, instr))
    return;
  MemoryAccess memory(wave, instr,
                      wave.group->machine.program.accesses[instr.aux]);
  const uint64_t *pointers = wave.at<uint64_t>(instr.a);
  uint32_t *dst = wave.at<uint32_t>(instr.dst);
  for (unsigned lane = 0; lane < 8 * instr.imm; ++lane) {
    const uint8_t *row = memory.read(lane, pointers[lane]);
    if (!row)
      return;
    uint32_t *matrix = dst + lane / 8 * wave.lanes;
    if (!transposed) {
      std::memcpy(matrix + lane % 8 * 4, row, 16);
      continue;
    }
    // Row r has half r % 2 of the lanes r / 2, r / 2 + 4, and so on.
    for (unsigned column = 0; column < 8; ++column)
      std::memcpy(
          reinterpret_cast<uint8_t *>(matrix + column * 4 + lane % 8 / 2) +
              lane % 2 * 2,
          row + column * 2, 2);
  }
}

static LogicalResult translateLoadMatrix(Translator &translator,
                                         Operation *op) {
  auto load = cast<NVVM::LdMatrixOp>(op);
  if (load.getEltType() != NVVM::LdStMatrixEltType::B16)
    return translator.refuse(op, "is not of 16-bit elements");
  if (translator.lanes() != 32)
    return translator.refuse(op, "needs waves of 32 lanes");
  Access access;
  access.bytes = access.alignment = 16;
  access.lds = true;
  uint32_t index = translator.addAccess(access);
  Reg pointer = translator.use(load.getPtr());
  Reg dst = translator.define(load.getRes());
  bool transposed = load.getLayout() == NVVM::MMALayout::col;
  Instr &instr = translator.emit(
      op, transposed ? runLoadMatrix<true> : runLoadMatrix<false>, dst,
      pointer);
  instr.aux = index;
  instr.imm = load.getNum();
  return success();
}

//===----------------------------------------------------------------------===//
// mma.sync
//===----------------------------------------------------------------------===//

namespace {

/// The offsets of the operands' registers in the frame.
struct MmaOperands final : VendorData {
  std::array<uint32_t, 4> a, c;
  std::array<uint32_t, 2> b;
};

constexpr unsigned kLanes = 32, kM = 16, kN = 8;

/// The elements of a register of 32 bits, as numbers.
template <typename T, typename Number>
struct Registers {
  static constexpr unsigned kPerRegister = 4 / sizeof(T);
  static constexpr unsigned kK = 8 * kPerRegister;

  /// Elements are a vector, lane by lane within each, or packed into an i32.
  static Number get(const Wave &wave, uint32_t offset, bool isPacked,
                    unsigned lane, unsigned element) {
    const T *values = wave.at<T>(offset);
    // NOLINTNEXTLINE(bugprone-signed-char-misuse): an int8_t is a number here.
    return isPacked ? widen(values[lane * kPerRegister + element])
                    : widen(values[element * wave.lanes + lane]);
  }
};

} // namespace

/// Products of f16, bf16 and TF32 are exact in f32. `imm` is 1 if the elements
/// are packed.
template <typename A, typename B, typename Number>
static void runMma(Wave &wave, const Instr &instr) {
  ++wave.matrixInstructions;
  if (!areAllActive(wave, instr))
    return;
  const auto &operands = static_cast<const MmaOperands &>(
      *wave.group->machine.program.vendorData[instr.aux]);
  using PartsOfA = Registers<A, Number>;
  using PartsOfB = Registers<B, Number>;
  constexpr unsigned p = PartsOfA::kPerRegister, kK = PartsOfA::kK;
  Number a[kM][kK], b[kK][kN], c[kM][kN];
  for (unsigned lane = 0; lane < kLanes; ++lane) {
    unsigned g = lane / 4, t = lane % 4;
    for (unsigned r = 0; r < 4; ++r)
      for (unsigned e = 0; e < p; ++e)
        a[g + 8 * (r % 2)][p * t + e + 4 * p * (r / 2)] =
            PartsOfA::get(wave, operands.a[r], instr.imm, lane, e);
    for (unsigned r = 0; r < 2; ++r)
      for (unsigned e = 0; e < p; ++e)
        b[p * t + e + 4 * p * r][g] =
            PartsOfB::get(wave, operands.b[r], instr.imm, lane, e);
    for (unsigned i = 0; i < 4; ++i)
      c[g + 8 * (i / 2)][2 * t + i % 2] = wave.at<Number>(operands.c[i])[lane];
  }
  for (unsigned row = 0; row < kM; ++row)
    for (unsigned k = 0; k < kK; ++k)
      for (unsigned column = 0; column < kN; ++column)
        c[row][column] += a[row][k] * b[k][column];
  auto *dst = wave.at<Number>(instr.dst);
  for (unsigned lane = 0; lane < kLanes; ++lane)
    for (unsigned i = 0; i < 4; ++i)
      dst[i * kLanes + lane] = c[lane / 4 + 8 * (i / 2)][lane % 4 * 2 + i % 2];
}

namespace {
/// A shape and the types of A and B that the emulator knows.
struct MmaForm {
  NVVM::MMATypes a, b;
  unsigned k;
  Handler handler;
  bool isPacked;
};
} // namespace

/// Integer sums wrap: they are computed as unsigned numbers.
static constexpr MmaForm kForms[] = {
    {NVVM::MMATypes::f16, NVVM::MMATypes::f16, 16, runMma<Half, Half, float>,
     false},
    {NVVM::MMATypes::bf16, NVVM::MMATypes::bf16, 16,
     runMma<BFloat, BFloat, float>, true},
    {NVVM::MMATypes::s8, NVVM::MMATypes::s8, 32,
     runMma<int8_t, int8_t, uint32_t>, true},
    {NVVM::MMATypes::u8, NVVM::MMATypes::s8, 32,
     runMma<uint8_t, int8_t, uint32_t>, true},
    {NVVM::MMATypes::tf32, NVVM::MMATypes::tf32, 8, runMma<Tf32, Tf32, float>,
     true}};

static const MmaForm *findForm(NVVM::MmaOp mma) {
  NVVM::MMAShapeAttr shape = mma.getShape();
  for (const MmaForm &form : kForms)
    if (mma.getMultiplicandAPtxType() == form.a &&
        mma.getMultiplicandBPtxType() == form.b && shape.getM() == kM &&
        shape.getN() == kN && shape.getK() == int(form.k))
      return &form;
  return nullptr;
}

static LogicalResult translateMma(Translator &translator, Operation *op) {
  auto mma = cast<NVVM::MmaOp>(op);
  const MmaForm *form = findForm(mma);
  bool isFloat = mma.getMultiplicandBPtxType() != NVVM::MMATypes::s8;
  if (!form || mma.getOperandC().size() != 4 ||
      mma.getLayoutA() != NVVM::MMALayout::row ||
      mma.getLayoutB() != NVVM::MMALayout::col || translator.lanes() != kLanes)
    return translator.refuse(op, "is of a shape and types that the emulator "
                                 "does not know");
  if (!isFloat && mma.getIntOverflowBehavior() != NVVM::MMAIntOverflow::wrapped)
    return translator.refuse(op, "saturates");
  auto operands = std::make_unique<MmaOperands>();
  auto fill = [&](auto &offsets, OperandRange values) {
    for (auto [offset, value] : llvm::zip_equal(offsets, values))
      offset = translator.use(value).offset;
  };
  fill(operands->a, mma.getOperandA());
  fill(operands->b, mma.getOperandB());
  fill(operands->c, mma.getOperandC());
  Reg dst = translator.define(mma.getRes());
  Instr &instr = translator.emit(op, form->handler, dst);
  instr.aux = translator.program.vendorData.size();
  instr.imm = form->isPacked;
  translator.program.vendorData.push_back(std::move(operands));
  return success();
}

//===----------------------------------------------------------------------===//
// cvt.rna.tf32.f32
//===----------------------------------------------------------------------===//

static void runToTf32(Wave &wave, const Instr &instr) {
  auto *dst = wave.at<uint32_t>(instr.dst);
  const float *src = wave.at<float>(instr.a);
  for (unsigned lane = 0; lane < wave.lanes; ++lane)
    dst[lane] = toTf32(src[lane]).bits;
}

static LogicalResult translateToTf32(Translator &translator, Operation *op) {
  auto conversion = cast<NVVM::ConvertFloatToTF32Op>(op);
  if (conversion.getRnd() != NVVM::FPRoundingMode::RNA ||
      conversion.getSat() != NVVM::SaturationMode::NONE || conversion.getRelu())
    return translator.refuse(op, "does not round to nearest, halves away from "
                                 "zero, or changes the result");
  Reg src = translator.use(conversion.getSrc());
  Reg dst = translator.define(conversion.getRes());
  translator.emit(op, runToTf32, dst, src);
  return success();
}

void emulator::addMmaOps(OpTable &table) {
  table["nvvm.ldmatrix"] = translateLoadMatrix;
  table["nvvm.mma.sync"] = translateMma;
  table["nvvm.convert.float.to.tf32"] = translateToTf32;
}
