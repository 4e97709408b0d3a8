//===- MatrixLayout.h - Matrix elements in the lanes of a wave --*- C++ -*-===//
//
// Part of Tarpon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The matrix instructions that Tarpon uses, D[M,N] = A[M,K] * B[K,N] + C[M,N]
// of one wave, and how their operands lie in the lanes' registers: one table,
// which both the kernels and the emulator read.
//
// Sources:
// - MFMA: "AMD Instinct MI300 Instruction Set Architecture" (CDNA3), section
//   7.1 on matrix arithmetic, the CDNA2 and CDNA4 documents of the same name,
//   and the tables of github.com/ROCm/amd_matrix_instruction_calculator,
//   architectures cdna2 and cdna3 (`--detail-instruction`).
// - WMMA of gfx11: "RDNA3 Instruction Set Architecture", section 7.9, and the
//   same calculator, architecture rdna3, wave32.
// - WMMA of gfx12: "RDNA4 Instruction Set Architecture", section on WMMA, and
//   gpuopen.com/learn/using_matrix_core_amd_rdna4.
//
// The order of k within a lane is that of these documents, but no result
// depends on it as long as A and B use the same order: hardware only sums over
// k. For gfx950 and gfx12, which the calculator does not cover, the order of k
// is not certain beyond that. The places of C and D are certain for all.
//
//===----------------------------------------------------------------------===//

#ifndef TARPON_SOLVER_MATRIXLAYOUT_H
#define TARPON_SOLVER_MATRIXLAYOUT_H

#include <cstdint>
#include <iterator>

namespace tarpon {

/// Generations of matrix instructions, as bits of a set.
enum class MatrixFamily : uint8_t {
  None = 0,
  CDNA2 = 1,  ///< gfx90a
  CDNA3 = 2,  ///< gfx942
  CDNA4 = 4,  ///< gfx950
  RDNA3 = 8,  ///< gfx11
  RDNA4 = 16, ///< gfx12
  All = 31
};

constexpr bool isIn(MatrixFamily family, unsigned families) {
  return static_cast<unsigned>(family) & families;
}

/// Element types of matrix instructions. I8 of WMMA may be signed or not.
enum class MatrixElement : uint8_t { F16, BF16, F32, I8, I32 };

/// One matrix instruction. Lanes are numbered 0 to waveSize - 1, and elements
/// of a lane's vector from 0. B lies as the transpose of A: statements on row i
/// of A hold for column j of B.
struct MatrixLayout {
  /// The op of the amdgpu dialect: amdgpu.wmma, else amdgpu.mfma.
  bool isWmma;
  MatrixElement input, output;
  uint8_t m, n, k;
  uint8_t waveSize;
  /// Set of MatrixFamily that have the instruction.
  uint8_t families;
  /// Elements of A (and B) in one lane.
  uint8_t inputElements;
  /// The number of groups of m lanes that hold different k. Further groups hold
  /// copies of the first ones, and must: gfx11 reads either.
  uint8_t kGroups;
  /// Elements of C and D in one lane, and the distance between two of them in
  /// the lane's vector: 2 where 16-bit results fill half of each register.
  uint8_t outputElements, outputStep;
  /// Element e of C and D in lane l is in row
  ///   e / run * runStride + e % run * elementStride + l / n * laneStride.
  uint8_t run, runStride, elementStride, laneStride;

  /// Row of A, or column of B, that `lane` holds.
  constexpr unsigned getInputLine(unsigned lane) const { return lane % m; }
  /// The k of element `element` of A or B in `lane`.
  constexpr unsigned getInputK(unsigned lane, unsigned element) const {
    return lane / m % kGroups * inputElements + element;
  }
  /// Column of C and D that `lane` holds.
  constexpr unsigned getOutputColumn(unsigned lane) const { return lane % n; }
  /// Row of C and D of element `element`, below outputElements, in `lane`.
  constexpr unsigned getOutputRow(unsigned lane, unsigned element) const {
    return element / run * runStride + element % run * elementStride +
           lane / n * laneStride;
  }
  /// Length of the vector operands of the op: A and B; C and D.
  constexpr unsigned getInputVectorLength() const { return inputElements; }
  constexpr unsigned getOutputVectorLength() const {
    return outputElements * outputStep;
  }
};

namespace matrix_detail {
constexpr uint8_t kCdna2 = 1, kCdna3 = 2, kCdna4 = 4;
constexpr uint8_t kCdna34 = kCdna3 | kCdna4, kCdna = kCdna2 | kCdna34;

/// MFMA: lanes l and l + M hold neighbouring groups of k; four rows of C follow
/// each other in a lane's registers.
constexpr MatrixLayout mfma(MatrixElement input, MatrixElement output,
                            uint8_t size, uint8_t k, uint8_t families) {
  uint8_t groups = 64 / size;
  return {false,
          input,
          output,
          size,
          size,
          k,
          64,
          families,
          static_cast<uint8_t>(k / groups),
          groups,
          static_cast<uint8_t>(size * size / 64),
          1,
          4,
          static_cast<uint8_t>(4 * groups),
          1,
          4};
}

/// gfx11, wave32: each half of the wave holds all of A and B; rows of C
/// alternate between the halves.
constexpr MatrixLayout wmma11(MatrixElement input, MatrixElement output,
                              uint8_t step = 1) {
  return {true, input, output, 16, 16, 16, 32, 8, 16, 1, 8, step, 8, 16, 2, 1};
}

/// gfx12, wave32: the halves of the wave hold halves of k, and halves of the
/// rows of C.
constexpr MatrixLayout wmma12(MatrixElement input, MatrixElement output) {
  return {true, input, output, 16, 16, 16, 32, 16, 8, 2, 8, 1, 8, 16, 1, 8};
}
} // namespace matrix_detail

/// All matrix instructions that Tarpon knows.
constexpr MatrixLayout kMatrixLayouts[] = {
    matrix_detail::mfma(MatrixElement::F16, MatrixElement::F32, 16, 16,
                        matrix_detail::kCdna),
    matrix_detail::mfma(MatrixElement::F16, MatrixElement::F32, 32, 8,
                        matrix_detail::kCdna),
    matrix_detail::mfma(MatrixElement::F16, MatrixElement::F32, 16, 32,
                        matrix_detail::kCdna4),
    matrix_detail::mfma(MatrixElement::F16, MatrixElement::F32, 32, 16,
                        matrix_detail::kCdna4),
    matrix_detail::mfma(MatrixElement::BF16, MatrixElement::F32, 16, 16,
                        matrix_detail::kCdna),
    matrix_detail::mfma(MatrixElement::BF16, MatrixElement::F32, 32, 8,
                        matrix_detail::kCdna),
    matrix_detail::mfma(MatrixElement::BF16, MatrixElement::F32, 16, 32,
                        matrix_detail::kCdna4),
    matrix_detail::mfma(MatrixElement::BF16, MatrixElement::F32, 32, 16,
                        matrix_detail::kCdna4),
    matrix_detail::mfma(MatrixElement::I8, MatrixElement::I32, 16, 16,
                        matrix_detail::kCdna2),
    matrix_detail::mfma(MatrixElement::I8, MatrixElement::I32, 32, 8,
                        matrix_detail::kCdna2),
    matrix_detail::mfma(MatrixElement::I8, MatrixElement::I32, 16, 32,
                        matrix_detail::kCdna34),
    matrix_detail::mfma(MatrixElement::I8, MatrixElement::I32, 32, 16,
                        matrix_detail::kCdna34),
    matrix_detail::mfma(MatrixElement::I8, MatrixElement::I32, 16, 64,
                        matrix_detail::kCdna4),
    matrix_detail::mfma(MatrixElement::I8, MatrixElement::I32, 32, 32,
                        matrix_detail::kCdna4),
    matrix_detail::mfma(MatrixElement::F32, MatrixElement::F32, 16, 4,
                        matrix_detail::kCdna),
    matrix_detail::mfma(MatrixElement::F32, MatrixElement::F32, 32, 2,
                        matrix_detail::kCdna),
    matrix_detail::wmma11(MatrixElement::F16, MatrixElement::F32),
    matrix_detail::wmma11(MatrixElement::BF16, MatrixElement::F32),
    matrix_detail::wmma11(MatrixElement::I8, MatrixElement::I32),
    matrix_detail::wmma11(MatrixElement::F16, MatrixElement::F16, 2),
    matrix_detail::wmma11(MatrixElement::BF16, MatrixElement::BF16, 2),
    matrix_detail::wmma12(MatrixElement::F16, MatrixElement::F32),
    matrix_detail::wmma12(MatrixElement::BF16, MatrixElement::F32),
    matrix_detail::wmma12(MatrixElement::I8, MatrixElement::I32),
    matrix_detail::wmma12(MatrixElement::F16, MatrixElement::F16),
    matrix_detail::wmma12(MatrixElement::BF16, MatrixElement::BF16),
};

/// Returns the instruction of that op, shape, types and length of A's vector,
/// among those of `families` (a set of MatrixFamily), or null.
constexpr const MatrixLayout *
findMatrixLayout(bool isWmma, unsigned m, unsigned n, unsigned k,
                 MatrixElement input, MatrixElement output,
                 unsigned inputElements, unsigned families) {
  for (const MatrixLayout &layout : kMatrixLayouts)
    if (layout.isWmma == isWmma && layout.m == m && layout.n == n &&
        layout.k == k && layout.input == input && layout.output == output &&
        layout.inputElements == inputElements && (layout.families & families))
      return &layout;
  return nullptr;
}

} // namespace tarpon

#endif // TARPON_SOLVER_MATRIXLAYOUT_H
