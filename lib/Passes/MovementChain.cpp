//===- MovementChain.cpp - Transposes and reshapes in a row -----*- C++ -*-===//
//
// Part of Tarpon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "MovementChain.h"
#include "Regions.h"

#include "llvm/ADT/STLExtras.h"

using namespace mlir;
using namespace tarpon;
using namespace tarpon::detail;

/// Returns true if the op moves the elements of a row-major tensor, which may
/// be written in several ways.
static bool moves(Operation *op) {
  if (!op || (!isa<ReshapeOp>(op) && !getTranspose(op)))
    return false;
  auto isPlain = [](Type type) {
    auto tensor = cast<RankedTensorType>(type);
    return !tensor.getEncoding() && tensor.getNumElements() > 0 &&
           !isa<quant::UniformQuantizedPerAxisType>(tensor.getElementType());
  };
  return llvm::all_of(op->getOperandTypes(), isPlain) &&
         llvm::all_of(op->getResultTypes(), isPlain);
}

MovementChain::Ops MovementChain::collect(Value result) {
  Ops chain{result, {}};
  while (moves(chain.source.getDefiningOp())) {
    Operation *op = chain.source.getDefiningOp();
    chain.ops.push_back(op);
    chain.transposes += !isa<ReshapeOp>(op);
    chain.source = op->getOperand(0);
  }
  std::reverse(chain.ops.begin(), chain.ops.end());
  return chain;
}

std::optional<MovementChain> MovementChain::find(Value result) {
  Ops chain = collect(result);
  if (chain.transposes == 0)
    return std::nullopt;
  Movement movement(getTensorType(chain.source).getShape());
  for (Operation *op : chain.ops)
    if (!movement.append(op))
      return std::nullopt;
  return MovementChain{chain.source, movement, chain.transposes};
}

bool MovementChain::isEnd(Operation *op) {
  return moves(op) && llvm::any_of(op->getUsers(), [](Operation *user) {
           return !moves(user);
         });
}

void tarpon::detail::eraseUnusedMovements(Block &block) {
  for (Operation &op : llvm::make_early_inc_range(llvm::reverse(block)))
    if (moves(&op) && op.use_empty())
      op.erase();
}
