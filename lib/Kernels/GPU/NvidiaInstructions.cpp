//===- NvidiaInstructions.cpp - The instructions of NVIDIA's GPUs ---------===//
//
// Part of Tarpon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "GpuInstructions.h"

#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

#include "llvm/Support/ErrorHandling.h"

#include <algorithm>

using namespace mlir;
using namespace tarpon;

namespace {

class NvidiaInstructions final : public GpuInstructions {
public:
  void registerDialects(DialectRegistry &registry) const override {
    registry.insert<NVVM::NVVMDialect>();
  }

  /// bar.sync, which orders global memory, too.
  void barrier(GpuKernelBuilder &b) const override {
    gpu::BarrierOp::create(b);
  }
  StringRef getDeviceScope() const override { return "device"; }

  void setWavesPerEu(GpuKernelBuilder &b, gpu::GPUFuncOp kernel,
                     int64_t waves) const override;
  /// ptxas has no such fence: it schedules loads early by itself.
  void fenceSchedule(GpuKernelBuilder &) const override {}

  /// A pointer.
  BoundedBuffer bound(GpuKernelBuilder &, Value pointer,
                      Value bytes) const override {
    return {pointer, bytes};
  }
  Value loadBounded(GpuKernelBuilder &b, const BoundedBuffer &buffer,
                    Value offset, Value uniformOffset) const override;

  /// As many groups as are of use: there is no limit.
  CopyForm getCopyForm(const GpuTarget &) const override {
    return {/*bytes=*/16, /*mostGroups=*/4, /*inRow=*/false};
  }
  void copyRow(GpuKernelBuilder &, Value, const BoundedBuffer &, Value, Value,
               int64_t) const override {
    llvm_unreachable("NVIDIA's copies are not in rows");
  }
  Value takeFirstLane(GpuKernelBuilder &, Value) const override {
    llvm_unreachable("NVIDIA's copies are not in rows");
  }
  void copyToLds(GpuKernelBuilder &b, Value lds, Value pointer, Value exists,
                 bool isShared) const override;
  void commitCopies(GpuKernelBuilder &b) const override {
    NVVM::CpAsyncCommitGroupOp::create(b);
  }
  void waitForCopies(GpuKernelBuilder &b, int64_t left,
                     int64_t /*copies*/) const override {
    NVVM::CpAsyncWaitGroupOp::create(b, static_cast<uint32_t>(left));
  }
  Value loadStage(GpuKernelBuilder &b, Value pointer) const override {
    return LLVM::LoadOp::create(b, b.vec(b.getI32Type(), 4), pointer,
                                /*alignment=*/16);
  }

  /// wgmma reads LDS by another path than that of copies.
  void fenceCopies(GpuKernelBuilder &b) const override {
    NVVM::FenceProxyOp::create(
        b, NVVM::ProxyKind::async_shared,
        NVVM::SharedSpaceAttr::get(b.getContext(),
                                   NVVM::SharedSpace::shared_cta));
  }
  void beginProducts(GpuKernelBuilder &b) const override {
    NVVM::WgmmaFenceAlignedOp::create(b);
  }
  void commitProducts(GpuKernelBuilder &b) const override {
    NVVM::WgmmaGroupSyncAlignedOp::create(b);
  }
  void waitForProducts(GpuKernelBuilder &b, int64_t left) const override {
    NVVM::WgmmaWaitGroupSyncOp::create(b, static_cast<uint64_t>(left));
  }
  Value multiplyGroup(GpuKernelBuilder &b, const MatrixShape &shape, Type input,
                      Value left, Value right, Value sums) const override;

  Value loadFragment(GpuKernelBuilder &b, Value pointer,
                     bool transposed) const override;
  Value roundToTf32(GpuKernelBuilder &b, Value fragment) const override;
  Value multiply(GpuKernelBuilder &b, const MatrixShape &shape, Value left,
                 Value right, Value sum) const override;
};

} // namespace

/// The number of workgroups on a multiprocessor.
void NvidiaInstructions::setWavesPerEu(GpuKernelBuilder &b,
                                       gpu::GPUFuncOp kernel,
                                       int64_t waves) const {
  const GpuTarget &gpu = b.getGpu();
  int64_t lanes = waves * gpu.simdsPerUnit * gpu.waveSize;
  int64_t groups = std::max<int64_t>(1, lanes / b.getWorkgroup());
  kernel->setAttr(NVVM::NVVMDialect::getMinctasmAttrName(),
                  b.getI32IntegerAttr(static_cast<int32_t>(groups)));
}

/// Lanes outside read the buffer's start, which exists, and drop it.
Value NvidiaInstructions::loadBounded(GpuKernelBuilder &b,
                                      const BoundedBuffer &buffer, Value offset,
                                      Value uniformOffset) const {
  constexpr int64_t kBytes = 16;
  Value at = b.add(offset, uniformOffset);
  Value isInside = b.ult(at, buffer.bytes);
  at = b.select(isInside, at, b.cstLike(b.getI32Type(), 0));
  Value wide = arith::ExtUIOp::create(b, b.getI64Type(), at);
  VectorType type = b.vec(b.getI32Type(), kBytes / 4);
  Value loaded =
      LLVM::LoadOp::create(b, type, b.offset(buffer.start, wide), kBytes);
  return b.select(isInside, loaded, b.cstLike(type, 0));
}

/// Past the first level of the cache, but for what is copied several times: the
/// second level sends multiprocessors less than half of what they ask for.
void NvidiaInstructions::copyToLds(GpuKernelBuilder &b, Value lds,
                                   Value pointer, Value exists,
                                   bool isShared) const {
  constexpr int kBytes = 16;
  Type type = b.getI32Type();
  Value bytes = b.select(exists, b.cstLike(type, kBytes), b.cstLike(type, 0));
  NVVM::CpAsyncOp::create(b, lds, pointer, kBytes,
                          isShared ? NVVM::LoadCacheModifierKind::CA
                                   : NVVM::LoadCacheModifierKind::CG,
                          bytes);
}

//===----------------------------------------------------------------------===//
// Matrices
//===----------------------------------------------------------------------===//

Value NvidiaInstructions::loadFragment(GpuKernelBuilder &b, Value pointer,
                                       bool transposed) const {
  constexpr int kMatrices = 4;
  SmallVector<Type> members(kMatrices, b.getI32Type());
  Value loaded = NVVM::LdMatrixOp::create(
      b, LLVM::LLVMStructType::getLiteral(b.getContext(), members), pointer,
      kMatrices, transposed ? NVVM::MMALayout::col : NVVM::MMALayout::row,
      NVVM::LdStMatrixShapeAttr::get(b.getContext(), 8, 8),
      NVVM::LdStMatrixEltType::B16);
  SmallVector<Value> elements;
  for (int64_t i = 0; i < kMatrices; ++i)
    elements.push_back(LLVM::ExtractValueOp::create(b, loaded, i));
  return vector::FromElementsOp::create(b, b.vec(b.getI32Type(), kMatrices),
                                        elements);
}

/// cvt.rna.tf32.f32, whose result is the bits of an f32.
Value NvidiaInstructions::roundToTf32(GpuKernelBuilder &b,
                                      Value fragment) const {
  auto type = cast<VectorType>(fragment.getType());
  SmallVector<Value> rounded;
  for (int64_t i = 0; i < type.getNumElements(); ++i) {
    Value element = vector::ExtractOp::create(b, fragment, i);
    rounded.push_back(NVVM::ConvertFloatToTF32Op::create(
        b, b.getI32Type(), element, NVVM::FPRoundingMode::RNA));
  }
  Value bits = vector::FromElementsOp::create(
      b, b.vec(b.getI32Type(), type.getNumElements()), rounded);
  return b.bitcast(bits, type);
}

/// The registers of a fragment in the type that mma.sync has for them.
static SmallVector<Value> getRegisters(GpuKernelBuilder &b, Value fragment,
                                       ArrayRef<int64_t> indices) {
  auto type = cast<VectorType>(fragment.getType());
  SmallVector<Value> registers;
  if (!type.getElementType().isF16())
    fragment = b.bitcast(fragment, b.vec(b.getI32Type(), 4));
  for (int64_t i : indices)
    registers.push_back(type.getElementType().isF16()
                            ? b.shuffle(fragment, fragment, {2 * i, 2 * i + 1})
                            : Value(vector::ExtractOp::create(b, fragment, i)));
  return registers;
}

namespace {
/// The type of the factors of a product, as both kinds of instructions call it.
struct FactorType {
  NVVM::MMATypes mma;
  NVVM::WGMMATypes wgmma;
};
} // namespace

/// f32 is TF32 here: no instruction multiplies f32 as it is.
static FactorType getFactorType(Type input) {
  if (input.isF16())
    return {NVVM::MMATypes::f16, NVVM::WGMMATypes::f16};
  if (input.isBF16())
    return {NVVM::MMATypes::bf16, NVVM::WGMMATypes::bf16};
  if (input.isF32())
    return {NVVM::MMATypes::tf32, NVVM::WGMMATypes::tf32};
  return {NVVM::MMATypes::s8, NVVM::WGMMATypes::s8};
}

/// An instruction's rows are the columns of D, and its columns half of the
/// rows, so that a lane holds neighbouring channels. The fragment of A has a
/// half's registers side by side. The sum has, for each of two columns, two
/// rows of each half.
Value NvidiaInstructions::multiply(GpuKernelBuilder &b,
                                   const MatrixShape &shape, Value left,
                                   Value right, Value sum) const {
  Type input = cast<VectorType>(left.getType()).getElementType();
  Type output = cast<VectorType>(sum.getType()).getElementType();
  NVVM::MMATypes type = getFactorType(input).mma;
  std::optional<NVVM::MMAIntOverflow> overflow;
  if (type == NVVM::MMATypes::s8)
    overflow = NVVM::MMAIntOverflow::wrapped;
  SmallVector<Type> members(4, output);
  auto result = LLVM::LLVMStructType::getLiteral(b.getContext(), members);
  SmallVector<Value> pixels = getRegisters(b, right, {0, 1, 2, 3});
  SmallVector<Value> elements(8);
  for (int64_t half = 0; half < 2; ++half) {
    // The place in the sum of element `i` of the instruction's.
    auto place = [&](int64_t i) { return i / 2 * 4 + half * 2 + i % 2; };
    SmallVector<Value> old;
    for (int64_t i = 0; i < 4; ++i)
      old.push_back(vector::ExtractOp::create(b, sum, place(i)));
    Value product = NVVM::MmaOp::create(
        b, result, pixels, getRegisters(b, left, {2 * half, 2 * half + 1}), old,
        ArrayRef<int64_t>{shape.n, shape.m / 2, shape.k},
        /*b1Op=*/std::nullopt, overflow,
        std::array<NVVM::MMATypes, 2>{
            shape.unsignedB ? NVVM::MMATypes::u8 : type, type},
        std::array<NVVM::MMALayout, 2>{NVVM::MMALayout::row,
                                       NVVM::MMALayout::col});
    for (int64_t i = 0; i < 4; ++i)
      elements[place(i)] = LLVM::ExtractValueOp::create(b, product, i);
  }
  return vector::FromElementsOp::create(b, cast<VectorType>(sum.getType()),
                                        elements);
}

/// PTX ISA, "Matrix descriptor": a sixteenth of the address, that of the bytes
/// from eight rows to the next eight, and the mode of 128 swizzled bytes.
static Value makeDescriptor(GpuKernelBuilder &b, Value bytes) {
  constexpr uint64_t kMode = uint64_t(1) << 62 | uint64_t(1024 / 16) << 32;
  Value base = LLVM::PtrToIntOp::create(b, b.getI64Type(), b.getLds());
  Value wide = arith::ExtUIOp::create(b, b.getI64Type(), bytes);
  Value address = b.add(base, wide);
  address = arith::AndIOp::create(b, address, b.cst(0x3ffff));
  Value sixteenth = arith::ShRUIOp::create(b, address, b.cst(4));
  return b.orI(sixteenth, b.cst(static_cast<int64_t>(kMode)));
}

/// The instruction's A are pixels and its B channels, like those of mma.sync.
Value NvidiaInstructions::multiplyGroup(GpuKernelBuilder &b,
                                        const MatrixShape &shape, Type input,
                                        Value left, Value right,
                                        Value sums) const {
  bool isInteger = input.isInteger(8);
  NVVM::WGMMATypes type = getFactorType(input).wgmma;
  auto one = NVVM::WGMMAScaleIn::one;
  return NVVM::WgmmaMmaAsyncOp::create(
      b, sums.getType(), sums, makeDescriptor(b, right),
      makeDescriptor(b, left),
      NVVM::MMAShapeAttr::get(b.getContext(), static_cast<int>(shape.n),
                              static_cast<int>(shape.m),
                              static_cast<int>(shape.k)),
      shape.unsignedB ? NVVM::WGMMATypes::u8 : type, type,
      isInteger ? NVVM::WGMMATypes::s32 : NVVM::WGMMATypes::f32,
      NVVM::WGMMAScaleOut::one, one, one, NVVM::MMALayout::row,
      NVVM::MMALayout::col, NVVM::MMAIntOverflowAttr());
}

const GpuInstructions &tarpon::getNvidiaGpuInstructions() {
  static const NvidiaInstructions instructions;
  return instructions;
}
