//===- TileRows.cpp - The addresses of a tile's pixels --------------------===//
//
// Part of Tarpon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "TileRows.h"

#include "mlir/Dialect/LLVMIR/LLVMDialect.h"

#include "llvm/Support/MathExtras.h"

#include <algorithm>
#include <bit>

using namespace mlir;
using namespace tarpon;
using namespace tarpon::pointwise;

/// Empty assembly that is declared to change the values, which are integers or
/// pointers.
static SmallVector<Value> hide(KernelBuilder &b, ArrayRef<Value> values) {
  SmallVector<Type> types;
  std::string results, inputs;
  for (auto [i, value] : llvm::enumerate(values)) {
    types.push_back(value.getType());
    results += (i ? ",=r" : "=r");
    inputs += "," + std::to_string(i);
  }
  bool isOne = values.size() == 1;
  Type type = isOne ? types[0]
                    : LLVM::LLVMStructType::getLiteral(b.getContext(), types);
  auto assembly = LLVM::InlineAsmOp::create(
      b, TypeRange{type}, values, /*asm_string=*/"", results + inputs,
      /*has_side_effects=*/true, /*is_align_stack=*/false,
      LLVM::tailcallkind::TailCallKind::None, /*asm_dialect=*/nullptr,
      /*operand_attrs=*/nullptr);
  if (isOne)
    return {assembly.getRes()};
  SmallVector<Value> hidden;
  for (size_t i = 0; i < values.size(); ++i)
    hidden.push_back(LLVM::ExtractValueOp::create(b, assembly.getRes(), i));
  return hidden;
}

TileRows::TileRows(KernelBuilder &b, int64_t rows, Value strideBytes)
    : b(b), rows(rows) {
  for (int64_t multiple = 1; multiple < std::min(rows, kRows); multiple += 2)
    odd.push_back(b.mul(strideBytes, multiple));
}

SmallVector<Value> TileRows::getPointers(Value first) {
  SmallVector<Value> all = {first};
  for (int64_t pixel = kRows; pixel < rows; pixel += kRows)
    all.push_back(b.offset(first, b.mul(odd[0], pixel)));
  return all;
}

void TileRows::beginPass(ValueRange at) {
  SmallVector<Value> all(at);
  llvm::append_range(all, odd);
  all = hide(b, all);
  pointers.assign(all.begin(), all.begin() + at.size());
  strides.assign(all.begin() + at.size(), all.end());
}

Value TileRows::getAddress(int64_t pixel, int64_t bytes) {
  Value address = pointers[pixel / kRows];
  if (auto multiple = static_cast<uint64_t>(pixel % kRows)) {
    int64_t power = int64_t(1) << std::countr_zero(multiple);
    int64_t factor = static_cast<int64_t>(multiple) / power;
    address = b.offset(address, b.mul(strides[factor / 2], power));
  }
  return b.offset(address, bytes);
}

SmallVector<Value> TileRows::advance(int64_t bytes) {
  SmallVector<Value> next;
  for (Value pointer : pointers)
    next.push_back(b.offset(pointer, bytes));
  return next;
}
