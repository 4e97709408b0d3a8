//===- OuterProduct.cpp - A register tile times one unit of K -------------===//
//
// Part of Tarpon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The innermost loop of all kernels on register tiles, and the rule that
// decides which tiles the registers hold.
//
//===----------------------------------------------------------------------===//

#include "KernelEmitter.h"

#include "mlir/Dialect/LLVMIR/LLVMDialect.h"

using namespace mlir;
using namespace tarpon;
using namespace tarpon::igemm;
using runtime::DType;

//===----------------------------------------------------------------------===//
// Registers
//===----------------------------------------------------------------------===//

/// Returns true if bytes are multiplied by instructions for wider integers.
static bool multipliesInSteps(const TargetInfo &target, Arith arith) {
  return arith == Arith::I8Dot && !target.hasVnni;
}

/// The registers that a vector of units takes as a factor.
static int64_t partsPerFactor(const TargetInfo &target, Arith arith) {
  return multipliesInSteps(target, arith) ? 2 : 1;
}

/// Returns true if products of pairs are added by an instruction of their own.
static bool addsProductsApart(const TargetInfo &target, Arith arith) {
  return arith == Arith::I16Dot && !target.hasVnni;
}

/// The registers of a pixel's multiplications beside sums and weights: the
/// broadcast unit, or in steps a mask, the unit's halves, and the products of
/// each vector, which LLVM's scheduler computes in any order.
static int64_t registersPerPixel(const TargetInfo &target, Arith arith,
                                 int64_t vectors) {
  if (multipliesInSteps(target, arith))
    return 3 + 2 * vectors;
  return addsProductsApart(target, arith) ? 1 + vectors : 1;
}

/// Larger tiles would spill in the inner loop: a 7x64 tile runs at 41 % of the
/// peak.
bool igemm::fitsRegisters(const TargetInfo &target, Arith arith, int64_t m,
                          int64_t n) {
  int64_t vectors = n / target.lanes();
  return m * vectors + partsPerFactor(target, arith) * vectors +
             registersPerPixel(target, arith, vectors) <=
         target.vectorRegisters;
}

//===----------------------------------------------------------------------===//
// Multiplication
//===----------------------------------------------------------------------===//

/// pmaddwd: products of i16, two of them added to an i32.
static Value multiplyPairs(KernelBuilder &b, Value x, Value y) {
  auto type = cast<VectorType>(x.getType());
  int64_t words = 2 * type.getNumElements();
  StringRef name = words == 32   ? "llvm.x86.avx512.pmaddw.d.512"
                   : words == 16 ? "llvm.x86.avx2.pmadd.wd"
                                 : "llvm.x86.sse2.pmadd.wd";
  Type pairs = b.vec(b.getI16Type(), words);
  return LLVM::CallIntrinsicOp::create(
             b, type, b.getStringAttr(name),
             ValueRange{b.bitcast(x, pairs), b.bitcast(y, pairs)})
      .getResult(0);
}

using Parts = SmallVector<Value, 2>;

/// A unit as a factor: itself, or in steps its even and its odd bytes as i16.
static Parts splitFactor(KernelBuilder &b, Arith arith, Value units,
                         bool isSigned) {
  if (!multipliesInSteps(b.getTarget(), arith))
    return {units};
  auto type = cast<VectorType>(units.getType());
  Type pairs = b.vec(b.getI16Type(), 2 * type.getNumElements());
  Value words = b.bitcast(units, pairs), byte = b.cstLike(pairs, 8);
  Value even, odd;
  if (isSigned) {
    even = arith::ShLIOp::create(b, words, byte);
    even = arith::ShRSIOp::create(b, even, byte);
    odd = arith::ShRSIOp::create(b, words, byte);
  } else {
    even = b.andI(words, b.cstLike(pairs, 0xff));
    odd = arith::ShRUIOp::create(b, words, byte);
  }
  return {b.bitcast(even, type), b.bitcast(odd, type)};
}

/// Adds in the register of `sum`. LLVM may choose another one for the result,
/// and then sums that fill the registers change places through the stack.
static Value addInPlace(KernelBuilder &b, Value sum, Value product) {
  if (b.getTarget().vectorBits == 128)
    return b.add(sum, product);
  return LLVM::InlineAsmOp::create(
             b, sum.getType(), ValueRange{sum, product}, "vpaddd $2, $1, $0",
             "=v,0,v", /*has_side_effects=*/false, /*is_align_stack=*/false,
             LLVM::tailcallkind::TailCallKind::None, /*asm_dialect=*/nullptr,
             /*operand_attrs=*/nullptr)
      .getRes();
}

/// The instruction that adds the products of units of 512 bits, and the type of
/// its operands.
static std::pair<StringRef, Type> getDotProduct(KernelBuilder &b, Arith arith) {
  if (arith == Arith::I8Dot)
    return {"llvm.x86.avx512.vpdpbusd.512",
            b.vec(b.getI8Type(), 4 * b.lanes())};
  if (arith == Arith::I16Dot)
    return {"llvm.x86.avx512.vpdpwssd.512",
            b.vec(b.getI16Type(), 2 * b.lanes())};
  return {"llvm.x86.avx512bf16.dpbf16ps.512",
          b.vec(b.getBF16Type(), 2 * b.lanes())};
}

static Value multiplyParts(KernelBuilder &b, Arith arith, const Parts &a,
                           const Parts &w, Value acc) {
  if (arith == Arith::F32)
    return b.fma(w[0], a[0], acc);
  if (multipliesInSteps(b.getTarget(), arith)) {
    for (auto [x, y] : llvm::zip_equal(a, w))
      acc = b.add(acc, multiplyPairs(b, x, y));
    return acc;
  }
  if (addsProductsApart(b.getTarget(), arith))
    return addInPlace(b, acc, multiplyPairs(b, a[0], w[0]));
  auto [name, operand] = getDotProduct(b, arith);
  return LLVM::CallIntrinsicOp::create(b, acc.getType(), b.getStringAttr(name),
                                       ValueRange{acc, b.bitcast(a[0], operand),
                                                  b.bitcast(w[0], operand)})
      .getResult(0);
}

Value igemm::multiplyAdd(KernelBuilder &b, Arith arith, Value a, Value w,
                         Value acc) {
  return multiplyParts(b, arith, splitFactor(b, arith, a, /*isSigned=*/false),
                       splitFactor(b, arith, w, /*isSigned=*/true), acc);
}

Type OuterProduct::unitType() {
  return arith == Arith::F32 ? b.f32() : Type(b.getI32Type());
}

Value OuterProduct::loadWeights(Value weights, int64_t vector) {
  int64_t lanes = b.lanes();
  if (arith != Arith::F32)
    return b.load(b.offset(weights, vector * lanes * kUnitBytes),
                  b.vec(unitType(), lanes));
  int64_t bytes = vector * lanes * runtime::dtypeBytes(filterDtype);
  return b.loadConverted(filterDtype, b.offset(weights, bytes), lanes);
}

/// The order of the code is Tarpon's: fences keep what LLVM's scheduler may
/// move to the multiplications of one pixel, so that fitsRegisters() knows what
/// is in the registers at any time, whatever CPU LLVM schedules for. Left
/// alone, it loads the units of later pixels early where its model of a CPU has
/// slow loads, and tiles that fill the registers spill.
void OuterProduct::emit(Value weights,
                        llvm::function_ref<Value(int64_t p)> loadUnit,
                        MutableArrayRef<Value> sums) {
  SmallVector<Parts> row;
  SmallVector<Value> kept;
  for (int64_t v = 0; v < vectors; ++v) {
    row.push_back(splitFactor(b, arith, loadWeights(weights, v), true));
    llvm::append_range(kept, row.back());
  }
  b.fence({}, kept);
  int64_t pixels = static_cast<int64_t>(sums.size()) / vectors;
  for (int64_t p = 0; p < pixels; ++p) {
    Value unit = b.broadcast(loadUnit(p), b.lanes());
    Parts parts = splitFactor(b, arith, unit, /*isSigned=*/false);
    MutableArrayRef<Value> ofPixel = sums.slice(p * vectors, vectors);
    for (auto [sum, weights] : llvm::zip_equal(ofPixel, row))
      sum = multiplyParts(b, arith, parts, weights, sum);
    llvm::append_range(parts, kept);
    b.fence(ofPixel, parts);
  }
}
