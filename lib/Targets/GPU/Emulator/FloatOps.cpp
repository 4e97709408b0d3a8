//===- FloatOps.cpp - Floating-point numbers of arith ---------------------===//
//
// Part of Tarpon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "ElementFunctions.h"
#include "Elementwise.h"

#include "mlir/Dialect/Arith/IR/Arith.h"

using namespace mlir;
using namespace tarpon;
using namespace tarpon::emulator;

namespace {

/// Compares: true if the relation is among the bits of `relations`.
constexpr unsigned kLess = 1, kEqual = 2, kGreater = 4, kUnordered = 8;
template <unsigned relations>
struct Relation {
  template <typename T>
  static bool apply(T a, T b) {
    bool result = false;
    if constexpr (relations & kLess)
      result |= a < b;
    if constexpr (relations & kEqual)
      result |= a == b;
    if constexpr (relations & kGreater)
      result |= a > b;
    if constexpr (relations & kUnordered)
      result |= (a != a) | (b != b);
    return result;
  }
};

} // namespace

template <typename Op>
static LogicalResult translateUnary(Translator &translator, Operation *op) {
  return emitElementwise(
      translator, op,
      pickFloat<Unary<Op>::template Run>(operandElem(translator, op)));
}

template <typename Op>
static LogicalResult translateBinary(Translator &translator, Operation *op) {
  return emitElementwise(
      translator, op,
      pickFloat<Binary<Op>::template Run>(operandElem(translator, op)));
}

template <size_t... relations>
static Handler pickRelation(unsigned wanted, Elem elem,
                            std::index_sequence<relations...>) {
  Handler handler = nullptr;
  ((relations == wanted
        ? void(handler =
                   pickFloat<Compare<Relation<relations>>::template Run>(elem))
        : void()),
   ...);
  return handler;
}

static unsigned getRelations(arith::CmpFPredicate predicate) {
  using P = arith::CmpFPredicate;
  switch (predicate) {
  case P::AlwaysFalse:
    return 0;
  case P::OEQ:
    return kEqual;
  case P::OGT:
    return kGreater;
  case P::OGE:
    return kGreater | kEqual;
  case P::OLT:
    return kLess;
  case P::OLE:
    return kLess | kEqual;
  case P::ONE:
    return kLess | kGreater;
  case P::ORD:
    return kLess | kEqual | kGreater;
  case P::UEQ:
    return kUnordered | kEqual;
  case P::UGT:
    return kUnordered | kGreater;
  case P::UGE:
    return kUnordered | kGreater | kEqual;
  case P::ULT:
    return kUnordered | kLess;
  case P::ULE:
    return kUnordered | kLess | kEqual;
  case P::UNE:
    return kUnordered | kLess | kGreater;
  case P::UNO:
    return kUnordered;
  case P::AlwaysTrue:
    return kUnordered | kLess | kEqual | kGreater;
  }
  return 0;
}

static LogicalResult translateCompare(Translator &translator, Operation *op) {
  unsigned relations = getRelations(cast<arith::CmpFOp>(op).getPredicate());
  return emitElementwise(translator, op,
                         pickRelation(relations, operandElem(translator, op),
                                      std::make_index_sequence<16>()));
}

void emulator::addFloatOps(OpTable &table) {
  table["arith.addf"] = translateBinary<Add>;
  table["arith.subf"] = translateBinary<Sub>;
  table["arith.mulf"] = translateBinary<Mul>;
  table["arith.divf"] = translateBinary<Divide>;
  table["arith.remf"] = translateBinary<FloatRemainder>;
  table["arith.negf"] = translateUnary<Negate>;
  table["arith.maximumf"] = translateBinary<Maximum>;
  table["arith.minimumf"] = translateBinary<Minimum>;
  table["arith.maxnumf"] = translateBinary<MaxNum>;
  table["arith.minnumf"] = translateBinary<MinNum>;
  table["llvm.intr.maxnum"] = translateBinary<MaxNum>;
  table["arith.cmpf"] = translateCompare;
}
