//===- IntegerOps.cpp - Integers of arith, and constants ------------------===//
//
// Part of Tarpon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "ElementFunctions.h"
#include "Elementwise.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/BuiltinAttributes.h"

using namespace mlir;
using namespace tarpon;
using namespace tarpon::emulator;

//===----------------------------------------------------------------------===//
// Instructions that do not work per element
//===----------------------------------------------------------------------===//

template <typename Op, typename T>
static void runDivision(Wave &wave, const Instr &instr) {
  T *dst = wave.at<T>(instr.dst);
  const T *a = wave.at<T>(instr.a), *b = wave.at<T>(instr.b);
  for (uint32_t i = 0; i < instr.count; i += wave.lanes)
    for (unsigned lane = 0; lane < wave.lanes; ++lane) {
      if (b[i + lane] != 0)
        dst[i + lane] = Op::apply(a[i + lane], b[i + lane]);
      else if (wave.exec >> lane & 1)
        return wave.fail(instr, lane, "divides by zero");
    }
}

template <typename Op>
struct Division {
  template <typename T>
  struct Run {
    static constexpr Handler handler = runDivision<Op, T>;
  };
};

/// `aux` is the number of components of the condition: 1, or all.
template <typename T>
static void runSelect(Wave &wave, const Instr &instr) {
  T *__restrict dst = wave.at<T>(instr.dst);
  const uint8_t *__restrict condition = wave.at<uint8_t>(instr.a);
  const T *__restrict b = wave.at<T>(instr.b);
  const T *__restrict c = wave.at<T>(instr.c);
  unsigned lanes = wave.lanes & ~31u;
  unsigned step = instr.aux == 1 ? 0 : lanes;
  for (uint32_t i = 0; i < instr.count; i += lanes, condition += step)
    for (unsigned lane = 0; lane < lanes; ++lane)
      dst[i + lane] = condition[lane] ? b[i + lane] : c[i + lane];
}

/// Writes the low half to dst, the high half to c.
template <typename T, typename Wide>
static void runExtendedMul(Wave &wave, const Instr &instr) {
  T *low = wave.at<T>(instr.dst), *high = wave.at<T>(instr.c);
  const T *a = wave.at<T>(instr.a), *b = wave.at<T>(instr.b);
  for (uint32_t i = 0; i < instr.count; ++i) {
    Wide product = Wide(a[i]) * Wide(b[i]);
    low[i] = T(product);
    high[i] = T(product >> sizeof(T) * 8);
  }
}

/// Writes the sum to dst, the overflow to c.
template <typename T>
static void runExtendedAdd(Wave &wave, const Instr &instr) {
  T *sum = wave.at<T>(instr.dst);
  uint8_t *overflow = wave.at<uint8_t>(instr.c);
  const T *a = wave.at<T>(instr.a), *b = wave.at<T>(instr.b);
  for (uint32_t i = 0; i < instr.count; ++i) {
    sum[i] = a[i] + b[i];
    overflow[i] = sum[i] < a[i];
  }
}

//===----------------------------------------------------------------------===//
// Ops
//===----------------------------------------------------------------------===//

template <typename Op, bool isSigned = false>
static LogicalResult translateBinary(Translator &translator, Operation *op) {
  return emitElementwise(translator, op,
                         pickInteger<Binary<Op>::template Run, isSigned>(
                             operandElem(translator, op)));
}

/// Works on i1 too, where `Bool` defines it.
template <typename Op, typename Bool>
static LogicalResult translateLogic(Translator &translator, Operation *op) {
  if (operandElem(translator, op) == Elem::I1)
    return emitElementwise(translator, op, runBinary<Bool, uint8_t>);
  return translateBinary<Op>(translator, op);
}

template <Rounding rounding, bool isSigned>
static LogicalResult translateDivision(Translator &translator, Operation *op) {
  return emitElementwise(
      translator, op,
      pickInteger<Division<Div<rounding>>::template Run, isSigned>(
          operandElem(translator, op)));
}

static Handler pickCompare(arith::CmpIPredicate predicate, Elem elem) {
  using P = arith::CmpIPredicate;
  switch (predicate) {
  case P::eq:
    return elem == Elem::I1 ? runCompare<Equal, uint8_t>
                            : pickInteger<Compare<Equal>::Run>(elem);
  case P::ne:
    return elem == Elem::I1 ? runCompare<NotEqual, uint8_t>
                            : pickInteger<Compare<NotEqual>::Run>(elem);
  case P::slt:
    return pickInteger<Compare<Less>::Run, true>(elem);
  case P::sle:
    return pickInteger<Compare<LessEqual>::Run, true>(elem);
  case P::sgt:
    return pickInteger<Compare<Greater>::Run, true>(elem);
  case P::sge:
    return pickInteger<Compare<GreaterEqual>::Run, true>(elem);
  case P::ult:
    return pickInteger<Compare<Less>::Run>(elem);
  case P::ule:
    return pickInteger<Compare<LessEqual>::Run>(elem);
  case P::ugt:
    return pickInteger<Compare<Greater>::Run>(elem);
  case P::uge:
    return pickInteger<Compare<GreaterEqual>::Run>(elem);
  }
  return nullptr;
}

static LogicalResult translateCompare(Translator &translator, Operation *op) {
  return emitElementwise(translator, op,
                         pickCompare(cast<arith::CmpIOp>(op).getPredicate(),
                                     operandElem(translator, op)));
}

static LogicalResult translateSelect(Translator &translator, Operation *op) {
  Reg condition = translator.use(op->getOperand(0));
  Reg whenTrue = translator.use(op->getOperand(1));
  Reg whenFalse = translator.use(op->getOperand(2));
  Reg dst = translator.define(op->getResult(0));
  constexpr Handler handlers[] = {runSelect<uint8_t>, runSelect<uint16_t>,
                                  runSelect<uint32_t>, runSelect<uint64_t>};
  Handler handler = handlers[std::countr_zero(elemBytes(dst.elem))];
  translator.emit(op, handler, dst, condition, whenTrue, whenFalse).aux =
      condition.components;
  return success();
}

static LogicalResult translateExtended(Translator &translator, Operation *op,
                                       Handler of32, Handler of64) {
  Reg a = translator.use(op->getOperand(0)),
      b = translator.use(op->getOperand(1));
  if (a.elem != Elem::I32 && a.elem != Elem::I64)
    return translator.refuse(op, "is not on i32 or i64");
  Reg low = translator.define(op->getResult(0));
  Reg high = translator.define(op->getResult(1));
  translator.emit(op, a.elem == Elem::I32 ? of32 : of64, low, a, b, high);
  return success();
}

static LogicalResult translateUnsignedMul(Translator &translator,
                                          Operation *op) {
  return translateExtended(translator, op, runExtendedMul<uint32_t, uint64_t>,
                           runExtendedMul<uint64_t, unsigned __int128>);
}

static LogicalResult translateSignedMul(Translator &translator, Operation *op) {
  return translateExtended(translator, op, runExtendedMul<int32_t, int64_t>,
                           runExtendedMul<int64_t, __int128>);
}

static LogicalResult translateExtendedAdd(Translator &translator,
                                          Operation *op) {
  return translateExtended(translator, op, runExtendedAdd<uint32_t>,
                           runExtendedAdd<uint64_t>);
}

static std::optional<uint64_t> getBits(Attribute attribute) {
  if (auto value = dyn_cast<IntegerAttr>(attribute))
    return value.getValue().getZExtValue();
  if (auto value = dyn_cast<FloatAttr>(attribute))
    return value.getValue().bitcastToAPInt().getZExtValue();
  return std::nullopt;
}

static LogicalResult translateConstant(Translator &translator, Operation *op) {
  Attribute value = op->getAttr("value");
  Elem elem = translator.getRegisterType(op->getResult(0).getType())->elem;
  SmallVector<uint64_t> components;
  if (auto elements = dyn_cast<DenseElementsAttr>(value))
    for (Attribute element : elements.getValues<Attribute>())
      components.push_back(getBits(element).value_or(0));
  else if (std::optional<uint64_t> bits = getBits(value))
    components.push_back(*bits);
  else
    return translator.refuse(op, "has a value that the emulator does not know");
  translator.alias(op->getResult(0), translator.getConstant(elem, components));
  return success();
}

void emulator::addIntegerOps(OpTable &table) {
  table["arith.constant"] = translateConstant;
  table["arith.addi"] = translateLogic<Add, Xor>;
  table["arith.subi"] = translateLogic<Sub, Xor>;
  table["arith.muli"] = translateLogic<Mul, And>;
  table["arith.andi"] = translateLogic<And, And>;
  table["arith.ori"] = translateLogic<Or, Or>;
  table["arith.xori"] = translateLogic<Xor, Xor>;
  table["arith.maxui"] = translateBinary<Max>;
  table["arith.minui"] = translateBinary<Min>;
  table["arith.maxsi"] = translateBinary<Max, true>;
  table["arith.minsi"] = translateBinary<Min, true>;
  table["arith.shli"] = translateBinary<Shl>;
  table["arith.shrui"] = translateBinary<Shr>;
  table["arith.shrsi"] = translateBinary<Shr, true>;
  table["arith.divui"] = translateDivision<Rounding::Truncate, false>;
  table["arith.divsi"] = translateDivision<Rounding::Truncate, true>;
  table["arith.remui"] = translateDivision<Rounding::Remainder, false>;
  table["arith.remsi"] = translateDivision<Rounding::Remainder, true>;
  table["arith.ceildivui"] = translateDivision<Rounding::Ceil, false>;
  table["arith.ceildivsi"] = translateDivision<Rounding::Ceil, true>;
  table["arith.floordivsi"] = translateDivision<Rounding::Floor, true>;
  table["arith.cmpi"] = translateCompare;
  table["arith.select"] = translateSelect;
  table["arith.mului_extended"] = translateUnsignedMul;
  table["arith.mulsi_extended"] = translateSignedMul;
  table["arith.addui_extended"] = translateExtendedAdd;
}
