//===- MatrixOps.cpp - MFMA and WMMA --------------------------------------===//
//
// Part of Tarpon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A matrix instruction gathers A, B and C from the lanes according to
// tarpon/Solver/MatrixLayout.h, multiplies, and scatters D. It sums over k in
// ascending order, rounding each sum to f32 (f32 products are exact before
// that); hardware sums several products at once, in an order that is not
// documented. Subnormal f16 are not flushed, unlike on CDNA2.
//
//===----------------------------------------------------------------------===//

#include "AmdOps.h"

#include "GPU/Emulator/Lanes.h"
#include "tarpon/Solver/MatrixLayout.h"

#include "mlir/Dialect/AMDGPU/IR/AMDGPUDialect.h"

#include "llvm/Support/ErrorHandling.h"

#include <algorithm>
#include <limits>

using namespace mlir;
using namespace tarpon;
using namespace tarpon::emulator;

namespace {

/// A matrix instruction: the place of each element of a lane's vector (element
/// major) in a row-major matrix. B is also stored by rows of k.
struct MatrixPlan final : VendorData {
  explicit MatrixPlan(const MatrixLayout &layout) : layout(&layout) {}

  const MatrixLayout *layout;
  std::vector<uint16_t> a, b, c;
  bool unsignedA = false, unsignedB = false, clamp = false;
  /// The half of a register in which 16-bit results are, if they use only one.
  unsigned subword = 0;
};

} // namespace

//===----------------------------------------------------------------------===//
// Products
//===----------------------------------------------------------------------===//

constexpr unsigned kMaxM = 32, kMaxK = 64;

// The library is compiled for any x86-64, and kernels with matrix instructions
// spend most of their time in these loops. No clone contracts to fma.
#if defined(__x86_64__)
#define TARPON_CLONES                                                          \
  __attribute__((target_clones("avx512f", "avx2", "default")))
#else
#define TARPON_CLONES
#endif

/// c += a * b; products of f16 and bf16 are exact in f32.
TARPON_CLONES static void multiplyHalf(const float *a, const float *b, float *c,
                                       unsigned m, unsigned n, unsigned k) {
  n &= ~15u; // a multiple of 16 anyway
  for (unsigned row = 0; row < m; ++row)
    for (unsigned inner = 0; inner < k; ++inner) {
      float factor = a[row * k + inner];
      for (unsigned column = 0; column < n; ++column)
        c[row * n + column] += factor * b[inner * n + column];
    }
}

/// c += a * b for f32, whose products are exact in f64.
TARPON_CLONES static void multiplySingle(const float *a, const float *b,
                                         float *c, unsigned m, unsigned n,
                                         unsigned k) {
  n &= ~15u;
  for (unsigned row = 0; row < m; ++row)
    for (unsigned inner = 0; inner < k; ++inner) {
      double factor = a[row * k + inner];
      for (unsigned column = 0; column < n; ++column)
        c[row * n + column] = static_cast<float>(
            factor * double(b[inner * n + column]) + c[row * n + column]);
    }
}

/// c += a * b for integers; the sum of 64 products of 9 bits fits.
TARPON_CLONES static void multiplyInteger(const int32_t *a, const int32_t *b,
                                          int32_t *sum, unsigned m, unsigned n,
                                          unsigned k) {
  n &= ~15u;
  for (unsigned row = 0; row < m; ++row)
    for (unsigned inner = 0; inner < k; ++inner) {
      int32_t factor = a[row * k + inner];
      for (unsigned column = 0; column < n; ++column)
        sum[row * n + column] += factor * b[inner * n + column];
    }
}

//===----------------------------------------------------------------------===//
// Instructions; `aux` is the plan
//===----------------------------------------------------------------------===//

/// All lanes take part, whatever the mask: a kernel that has disabled some of
/// them is wrong.
static const MatrixPlan *beginMatrix(Wave &wave, const Instr &instr) {
  ++wave.matrixInstructions;
  if (uint64_t missing = wave.fullMask() & ~wave.exec) {
    wave.fail(instr, std::countr_zero(missing),
              "needs this lane, which is not active");
    return nullptr;
  }
  return static_cast<const MatrixPlan *>(
      wave.group->machine.program.vendorData[instr.aux].get());
}

template <typename T, typename Wide>
static void gather(const std::vector<uint16_t> &places, const T *source,
                   Wide *matrix) {
  for (size_t i = 0; i < places.size(); ++i)
    // NOLINTNEXTLINE(bugprone-signed-char-misuse): an int8_t is a number here.
    matrix[places[i]] = widen(source[i]);
}

/// Visits the elements of C and D that are in use: `places` has outputElements
/// of them, which are outputStep apart.
template <typename T, typename Body>
static void forOutputs(const Wave &wave, const MatrixPlan &plan, T *values,
                       Body body) {
  unsigned step = plan.layout->outputStep, lanes = wave.lanes;
  for (size_t i = 0; i < plan.c.size(); ++i) {
    size_t element = i / lanes * step + plan.subword;
    body(values[element * lanes + i % lanes], plan.c[i]);
  }
}

template <typename In, typename Out>
static void runMatrix(Wave &wave, const Instr &instr) {
  const MatrixPlan *plan = beginMatrix(wave, instr);
  if (!plan)
    return;
  const MatrixLayout &layout = *plan->layout;
  alignas(64) float a[kMaxM * kMaxK], b[kMaxM * kMaxK], c[kMaxM * kMaxM];
  gather(plan->a, wave.at<In>(instr.a), a);
  gather(plan->b, wave.at<In>(instr.b), b);
  const Out *source = wave.at<Out>(instr.c);
  forOutputs(wave, *plan, source, [&](const Out &value, uint16_t place) {
    c[place] = widen(value);
  });
  auto multiply = std::is_same_v<In, float> ? multiplySingle : multiplyHalf;
  multiply(a, b, c, layout.m, layout.n, layout.k);
  Out *dst = wave.at<Out>(instr.dst);
  // The other halves of the registers keep the values of C.
  if (layout.outputStep != 1)
    std::copy_n(source, instr.count, dst);
  forOutputs(wave, *plan, dst, [&](Out &value, uint16_t place) {
    value = narrow<Out>(c[place]);
  });
}

static void gatherBytes(const std::vector<uint16_t> &places,
                        const uint8_t *source, bool isUnsigned,
                        int32_t *matrix) {
  if (isUnsigned)
    gather(places, source, matrix);
  else
    gather(places, reinterpret_cast<const int8_t *>(source), matrix);
}

static void runIntegerMatrix(Wave &wave, const Instr &instr) {
  const MatrixPlan *plan = beginMatrix(wave, instr);
  if (!plan)
    return;
  const MatrixLayout &layout = *plan->layout;
  alignas(64) int32_t a[kMaxM * kMaxK], b[kMaxM * kMaxK];
  alignas(64) int32_t sum[kMaxM * kMaxM] = {};
  gatherBytes(plan->a, wave.at<uint8_t>(instr.a), plan->unsignedA, a);
  gatherBytes(plan->b, wave.at<uint8_t>(instr.b), plan->unsignedB, b);
  multiplyInteger(a, b, sum, layout.m, layout.n, layout.k);
  const int32_t *c = wave.at<int32_t>(instr.c);
  int32_t *dst = wave.at<int32_t>(instr.dst);
  for (size_t i = 0; i < plan->c.size(); ++i) {
    int64_t total = int64_t(c[i]) + sum[plan->c[i]];
    if (plan->clamp)
      total = std::clamp<int64_t>(total, std::numeric_limits<int32_t>::min(),
                                  std::numeric_limits<int32_t>::max());
    dst[i] = static_cast<int32_t>(total);
  }
}

//===----------------------------------------------------------------------===//
// Ops
//===----------------------------------------------------------------------===//

static std::optional<MatrixElement> getElement(Elem elem) {
  switch (elem) {
  case Elem::F16:
    return MatrixElement::F16;
  case Elem::BF16:
    return MatrixElement::BF16;
  case Elem::F32:
    return MatrixElement::F32;
  case Elem::I8:
    return MatrixElement::I8;
  case Elem::I32:
    return MatrixElement::I32;
  case Elem::I1:
  case Elem::I16:
  case Elem::I64:
  case Elem::F64:
    return std::nullopt;
  }
  llvm_unreachable("unknown element type");
}

static Handler pickMatrix(const MatrixLayout &layout) {
  switch (layout.input) {
  case MatrixElement::F16:
    return layout.output == MatrixElement::F16 ? runMatrix<Half, Half>
                                               : runMatrix<Half, float>;
  case MatrixElement::BF16:
    return layout.output == MatrixElement::BF16 ? runMatrix<BFloat, BFloat>
                                                : runMatrix<BFloat, float>;
  case MatrixElement::F32:
    return runMatrix<float, float>;
  case MatrixElement::I8:
  case MatrixElement::I32:
    return runIntegerMatrix;
  }
  llvm_unreachable("unknown element of matrices");
}

static MatrixPlan makePlan(const MatrixLayout &layout) {
  MatrixPlan plan(layout);
  for (unsigned element = 0; element < layout.inputElements; ++element)
    for (unsigned lane = 0; lane < layout.waveSize; ++lane) {
      unsigned line = layout.getInputLine(lane);
      unsigned k = layout.getInputK(lane, element);
      plan.a.push_back(line * layout.k + k);
      plan.b.push_back(k * layout.n + line);
    }
  for (unsigned element = 0; element < layout.outputElements; ++element)
    for (unsigned lane = 0; lane < layout.waveSize; ++lane)
      plan.c.push_back(layout.getOutputRow(lane, element) * layout.n +
                       layout.getOutputColumn(lane));
  return plan;
}

/// Returns the layout of the op if its types are those of an instruction that
/// the target has.
static const MatrixLayout *findLayout(Translator &translator, bool isWmma,
                                      unsigned m, unsigned n, unsigned k, Reg a,
                                      Reg b, Reg c) {
  std::optional<MatrixElement> input = getElement(a.elem);
  std::optional<MatrixElement> output = getElement(c.elem);
  if (!input || !output || a.elem != b.elem || a.components != b.components)
    return nullptr;
  const MatrixLayout *layout =
      findMatrixLayout(isWmma, m, n, k, *input, *output, a.components,
                       translator.program.options.matrixFamilies);
  bool fits = layout && layout->waveSize == translator.lanes() &&
              c.components == layout->getOutputVectorLength();
  return fits ? layout : nullptr;
}

static LogicalResult refuseLayout(Translator &translator, Operation *op) {
  return translator.refuse(
      op, "is of a shape and types that no matrix instruction of the target "
          "has, with waves of " +
              Twine(translator.lanes()) + " lanes");
}

static LogicalResult emitMatrix(Translator &translator, Operation *op,
                                MatrixPlan plan) {
  Reg a = translator.use(op->getOperand(0));
  Reg b = translator.use(op->getOperand(1));
  Reg c = translator.use(op->getOperand(2));
  Reg dst = translator.define(op->getResult(0));
  translator.emit(op, pickMatrix(*plan.layout), dst, a, b, c).aux =
      translator.program.vendorData.size();
  translator.program.vendorData.push_back(
      std::make_unique<MatrixPlan>(std::move(plan)));
  return success();
}

static LogicalResult translateMfma(Translator &translator, Operation *op) {
  auto mfma = cast<amdgpu::MFMAOp>(op);
  if (mfma.getBlocks() != 1 || mfma.getCbsz() || mfma.getAbid() ||
      mfma.getBlgp() != amdgpu::MFMAPermB::none || mfma.getReducePrecision() ||
      mfma.getNegateA() || mfma.getNegateB() || mfma.getNegateC())
    return translator.refuse(op, "has several blocks, permutations, negations "
                                 "or reduced precision");
  const MatrixLayout *layout = findLayout(
      translator, false, mfma.getM(), mfma.getN(), mfma.getK(),
      translator.use(mfma.getSourceA()), translator.use(mfma.getSourceB()),
      translator.use(mfma.getDestC()));
  if (!layout)
    return refuseLayout(translator, op);
  return emitMatrix(translator, op, makePlan(*layout));
}

static LogicalResult translateWmma(Translator &translator, Operation *op) {
  auto wmma = cast<amdgpu::WMMAOp>(op);
  const MatrixLayout *layout = findLayout(
      translator, true, wmma.getM(), wmma.getN(), wmma.getK(),
      translator.use(wmma.getSourceA()), translator.use(wmma.getSourceB()),
      translator.use(wmma.getDestC()));
  if (!layout)
    return refuseLayout(translator, op);
  bool isInteger = layout->output == MatrixElement::I32;
  if (wmma.getClamp() && !isInteger)
    return translator.refuse(op, "clamps floating-point results");
  MatrixPlan plan = makePlan(*layout);
  plan.unsignedA = wmma.getUnsignedA();
  plan.unsignedB = wmma.getUnsignedB();
  plan.clamp = wmma.getClamp();
  plan.subword = wmma.getSubwordOffset();
  if (plan.subword >= layout->outputStep)
    return translator.refuse(op, "has a subword offset, and its results fill "
                                 "whole registers");
  return emitMatrix(translator, op, std::move(plan));
}

void emulator::addMatrixOps(OpTable &table) {
  table["amdgpu.mfma"] = translateMfma;
  table["amdgpu.wmma"] = translateWmma;
}
