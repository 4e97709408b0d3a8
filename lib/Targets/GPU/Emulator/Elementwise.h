//===- Elementwise.h - Instructions that work per element -------*- C++ -*-===//
//
// Part of Tarpon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Makes handlers from a function of one element, a struct with a static
// `apply`. Elements of f16 and bf16 are computed in f32 and rounded.
//
//===----------------------------------------------------------------------===//

#ifndef TARPON_TARGETS_GPU_EMULATOR_ELEMENTWISE_H
#define TARPON_TARGETS_GPU_EMULATOR_ELEMENTWISE_H

#include "Lanes.h"
#include "Translator.h"

#include "llvm/Support/ErrorHandling.h"

namespace tarpon::emulator {

/// The number of elements of the result; waves have a multiple of 32 lanes,
/// which helps the compiler.
inline uint32_t elementCount(const Instr &instr) { return instr.count & ~31u; }

template <typename Op, typename T>
void runUnary(Wave &wave, const Instr &instr) {
  T *__restrict dst = wave.at<T>(instr.dst);
  const T *__restrict a = wave.at<T>(instr.a);
  for (uint32_t i = 0, count = elementCount(instr); i < count; ++i)
    dst[i] = narrow<T>(Op::apply(widen(a[i])));
}

template <typename Op, typename T>
void runBinary(Wave &wave, const Instr &instr) {
  T *__restrict dst = wave.at<T>(instr.dst);
  const T *__restrict a = wave.at<T>(instr.a);
  const T *__restrict b = wave.at<T>(instr.b);
  for (uint32_t i = 0, count = elementCount(instr); i < count; ++i)
    dst[i] = narrow<T>(Op::apply(widen(a[i]), widen(b[i])));
}

template <typename Op, typename T>
void runTernary(Wave &wave, const Instr &instr) {
  T *__restrict dst = wave.at<T>(instr.dst);
  const T *__restrict a = wave.at<T>(instr.a);
  const T *__restrict b = wave.at<T>(instr.b);
  const T *__restrict c = wave.at<T>(instr.c);
  for (uint32_t i = 0, count = elementCount(instr); i < count; ++i)
    dst[i] = narrow<T>(Op::apply(widen(a[i]), widen(b[i]), widen(c[i])));
}

template <typename Op, typename T>
void runCompare(Wave &wave, const Instr &instr) {
  uint8_t *__restrict dst = wave.at<uint8_t>(instr.dst);
  const T *__restrict a = wave.at<T>(instr.a);
  const T *__restrict b = wave.at<T>(instr.b);
  for (uint32_t i = 0, count = elementCount(instr); i < count; ++i)
    dst[i] = Op::apply(widen(a[i]), widen(b[i]));
}

/// Returns `Run<T>::handler` for the type of an integer's elements, or null for
/// i1 and floats.
template <template <typename> typename Run, bool isSigned = false>
Handler pickInteger(Elem elem) {
  switch (elem) {
  case Elem::I8:
    return Run<std::conditional_t<isSigned, int8_t, uint8_t>>::handler;
  case Elem::I16:
    return Run<std::conditional_t<isSigned, int16_t, uint16_t>>::handler;
  case Elem::I32:
    return Run<std::conditional_t<isSigned, int32_t, uint32_t>>::handler;
  case Elem::I64:
    return Run<std::conditional_t<isSigned, int64_t, uint64_t>>::handler;
  case Elem::I1:
  case Elem::F16:
  case Elem::BF16:
  case Elem::F32:
  case Elem::F64:
    return nullptr;
  }
  llvm_unreachable("unknown element type");
}

/// Returns `Run<T>::handler` for the type of a float's elements, or null for
/// others.
template <template <typename> typename Run>
Handler pickFloat(Elem elem) {
  switch (elem) {
  case Elem::F16:
    return Run<Half>::handler;
  case Elem::BF16:
    return Run<BFloat>::handler;
  case Elem::F32:
    return Run<float>::handler;
  case Elem::F64:
    return Run<double>::handler;
  case Elem::I1:
  case Elem::I8:
  case Elem::I16:
  case Elem::I32:
  case Elem::I64:
    return nullptr;
  }
  llvm_unreachable("unknown element type");
}

template <typename Op>
struct Unary {
  template <typename T>
  struct Run {
    static constexpr Handler handler = runUnary<Op, T>;
  };
};
template <typename Op>
struct Binary {
  template <typename T>
  struct Run {
    static constexpr Handler handler = runBinary<Op, T>;
  };
};
template <typename Op>
struct Ternary {
  template <typename T>
  struct Run {
    static constexpr Handler handler = runTernary<Op, T>;
  };
};
template <typename Op>
struct Compare {
  template <typename T>
  struct Run {
    static constexpr Handler handler = runCompare<Op, T>;
  };
};

/// Emits `handler` on up to three operands, or refuses the op if it is null.
inline mlir::LogicalResult
emitElementwise(Translator &translator, mlir::Operation *op, Handler handler) {
  if (!handler)
    return translator.refuse(op, "has an element type that the emulator does "
                                 "not know for it");
  Reg operands[3];
  for (unsigned i = 0; i < op->getNumOperands(); ++i)
    operands[i] = translator.use(op->getOperand(i));
  Reg dst = translator.define(op->getResult(0));
  translator.emit(op, handler, dst, operands[0], operands[1], operands[2]);
  return mlir::success();
}

/// The element type of the op's first operand.
inline Elem operandElem(Translator &translator, mlir::Operation *op) {
  return translator.use(op->getOperand(0)).elem;
}

} // namespace tarpon::emulator

#endif // TARPON_TARGETS_GPU_EMULATOR_ELEMENTWISE_H
