//===- WaveOp.cpp - The product of one wave -------------------------------===//
//
// Part of Tarpon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "WaveOp.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/ErrorHandling.h"

#include <algorithm>

using namespace tarpon;
using namespace tarpon::gpuigemm;

int64_t WaveOp::unitBytes() const {
  return std::max(kChunkBytes, inputElements * elementBytes());
}

int64_t WaveOp::opsPerUnit() const {
  return unitBytes() / (inputElements * elementBytes());
}

int64_t WaveOp::getOutputRow(int64_t group, int64_t element) const {
  if (kind == Kind::Fma)
    return group;
  // Two neighbouring columns of each instruction, which has eight.
  if (kind == Kind::MmaSync || kind == Kind::Wgmma)
    return element / 2 * 8 + group * 2 + element % 2;
  return layout->getOutputRow(static_cast<unsigned>(group * n),
                              static_cast<unsigned>(element));
}

int64_t WaveOp::getColumn(int64_t index) const {
  // Those of a tile are eight apart.
  return index / columnsPerLane * n + index % columnsPerLane * 8;
}

std::string WaveOp::name() const {
  static constexpr const char *kPrefixes[] = {"mfma", "wmma", "mma", "wgmma",
                                              "fma"};
  return kPrefixes[static_cast<size_t>(kind)] + std::to_string(m) + "x" +
         std::to_string(n) + "x" + std::to_string(k);
}

static DType getMatrixDType(DType dtype) {
  return dtype == DType::U8 ? DType::I8 : dtype;
}

/// The dtype in instructions' names; none if there are no instructions for it.
static std::optional<MatrixElement> getElement(DType dtype) {
  switch (dtype) {
  case DType::F16:
    return MatrixElement::F16;
  case DType::BF16:
    return MatrixElement::BF16;
  case DType::F32:
    return MatrixElement::F32;
  case DType::I8:
    return MatrixElement::I8;
  case DType::F64:
  case DType::U8:
  case DType::I16:
  case DType::U16:
  case DType::I32:
  case DType::U32:
  case DType::I64:
  case DType::U64:
  case DType::Bool:
  case DType::F8E4M3FN:
  case DType::F8E4M3FNUZ:
  case DType::F8E5M2:
  case DType::F8E5M2FNUZ:
  case DType::U4:
  case DType::I4:
  case DType::F4E2M1FN:
  case DType::F8E8M0FNU:
  case DType::U2:
  case DType::I2:
    return std::nullopt;
  }
  llvm_unreachable("unknown dtype");
}

/// The lane layout of the target's instruction of that shape.
static const MatrixLayout *findLayout(const GpuTarget &gpu,
                                      const MatrixInstruction &instruction) {
  bool isWmma = gpu.matrixUnit == MatrixUnit::Wmma;
  std::optional<MatrixElement> input = getElement(instruction.dtype);
  MatrixElement output =
      input == MatrixElement::I8 ? MatrixElement::I32 : MatrixElement::F32;
  for (const MatrixLayout &layout : kMatrixLayouts)
    if (layout.isWmma == isWmma && layout.m == instruction.m &&
        layout.n == instruction.n && layout.k == instruction.k &&
        layout.input == input && layout.output == output &&
        layout.waveSize == gpu.waveSize &&
        isIn(gpu.matrixFamily, layout.families))
      return &layout;
  return nullptr;
}

/// The lanes form rows of eight: a wave tile of 32 x 64 then has 64 sums in
/// each of 32 lanes, and each loaded value is used eight times.
static constexpr int64_t kFmaColumns = 8;

static std::optional<WaveOp> makeFmaOp(const GpuTarget &gpu, DType dtype) {
  if (dtype != DType::F32)
    return std::nullopt;
  int64_t rows = gpu.waveSize / kFmaColumns;
  // A SIMD issues one instruction of a wave per clock, or per four clocks.
  int64_t perClock = gpu.vectorFmasPerClock / gpu.simdsPerUnit;
  return WaveOp{WaveOp::Kind::Fma,
                dtype,
                gpu.waveSize,
                rows,
                kFmaColumns,
                /*k=*/1,
                /*inputElements=*/1,
                /*kGroups=*/1,
                /*outputElements=*/1,
                /*columnsPerLane=*/1,
                std::max<int64_t>(1, gpu.waveSize / perClock),
                /*unsignedB=*/false,
                /*layout=*/nullptr};
}

/// A pair of mma.sync, for which ldmatrix gives a lane 16 bytes of A, and of B:
/// of four matrices of eight lines and 16 bytes of k, as if it held one chunk.
static WaveOp makeMmaOp(const GpuTarget &gpu,
                        const MatrixInstruction &instruction, bool isUnsigned) {
  return WaveOp{WaveOp::Kind::MmaSync,
                instruction.dtype,
                gpu.waveSize,
                instruction.m,
                instruction.n,
                instruction.k,
                /*inputElements=*/instruction.k / 2,
                /*kGroups=*/2,
                /*outputElements=*/8,
                /*columnsPerLane=*/2,
                instruction.cycles,
                isUnsigned,
                /*layout=*/nullptr,
                instruction.isTf32};
}

static WaveOp makeWgmmaOp(const GpuTarget &gpu,
                          const MatrixInstruction &instruction,
                          bool isUnsigned) {
  WaveOp op = makeMmaOp(gpu, instruction, isUnsigned);
  op.kind = WaveOp::Kind::Wgmma;
  op.waveSize = 4 * gpu.waveSize;
  op.outputElements = instruction.m * instruction.n / op.waveSize;
  return op;
}

std::optional<WaveOp> gpuigemm::findWaveOp(const GpuTarget &gpu, DType dtype,
                                           int64_t m) {
  bool isUnsigned = dtype == DType::U8;
  dtype = getMatrixDType(dtype);
  std::vector<MatrixInstruction> known = gpu.getMatrixInstructions(dtype);
  for (const MatrixInstruction &instruction : known) {
    if (gpu.matrixUnit == MatrixUnit::MmaSync && instruction.m == m &&
        instruction.n == 64)
      return makeWgmmaOp(gpu, instruction, isUnsigned);
    if (gpu.matrixUnit == MatrixUnit::MmaSync && instruction.m == m)
      return makeMmaOp(gpu, instruction, isUnsigned);
    const MatrixLayout *layout = findLayout(gpu, instruction);
    if (instruction.m != m || !layout)
      continue;
    return WaveOp{layout->isWmma ? WaveOp::Kind::Wmma : WaveOp::Kind::Mfma,
                  dtype,
                  gpu.waveSize,
                  instruction.m,
                  instruction.n,
                  instruction.k,
                  layout->inputElements,
                  layout->kGroups,
                  layout->outputElements,
                  /*columnsPerLane=*/1,
                  instruction.cycles,
                  /*unsignedB=*/false,
                  layout};
  }
  std::optional<WaveOp> fma = makeFmaOp(gpu, dtype);
  return known.empty() && fma && fma->m == m ? fma : std::nullopt;
}

std::vector<int64_t> gpuigemm::getWaveOpSizes(const GpuTarget &gpu,
                                              DType dtype) {
  std::vector<int64_t> sizes;
  for (int64_t m : {256, 128, 64, 32, 16, 8, 4})
    if (findWaveOp(gpu, dtype, m))
      sizes.push_back(m);
  return sizes;
}
