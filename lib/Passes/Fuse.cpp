//===- Fuse.cpp - Wraps ops into regions of one launch ----------*- C++ -*-===//
//
// Part of Tarpon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A chain is a root and the ops that become its epilogue. Chains are found
// first, starting from roots that accumulate and then from the remaining
// elementwise ops; then each becomes a region at the place of its last op,
// where all its operands are defined: every value inside has one use, which is
// in the chain.
//
// Converts between f32 and 8 bits cost no launch at the borders of a region:
// the one behind a chain becomes its last op, and those in front are computed
// by each region that reads them.
//
//===----------------------------------------------------------------------===//

#include "Regions.h"
#include "tarpon/IR/ElementTypes.h"
#include "tarpon/IR/FusedProblem.h"
#include "tarpon/Passes/Passes.h"
#include "tarpon/Problem/OpRules.h"

#include "llvm/ADT/SetVector.h"

#include <algorithm>

using namespace mlir;
using namespace tarpon;
using namespace tarpon::detail;

namespace tarpon {
#define GEN_PASS_DEF_FUSEPASS
#include "tarpon/Passes/Passes.h.inc"
} // namespace tarpon

using Chain = SmallVector<Operation *>;

//===----------------------------------------------------------------------===//
// Roots of regions
//===----------------------------------------------------------------------===//

static bool isKernelOperand(Value value) {
  return isElementType(getTensorType(value).getElementType());
}

/// Only operands may have one scale per channel.
static bool isKernelResult(Value value) {
  return isKernelOperand(value) && !isa<quant::UniformQuantizedPerAxisType>(
                                       getTensorType(value).getElementType());
}

static bool isWrappable(Operation &op) {
  return isa<TarponDialect>(op.getDialect()) && op.getNumRegions() == 0 &&
         op.getNumResults() != 0 && op.getNumOperands() != 0 &&
         !isa<BitcastOp, JoinOp, ReshapeOp, SliceOp, LaunchOp>(op) &&
         llvm::all_of(op.getResults(), isKernelResult) &&
         llvm::all_of(op.getOperands(), isKernelOperand);
}

static bool accumulates(Operation &op) {
  auto quantizable = dyn_cast<QuantizableInterface>(op);
  return quantizable && quantizable.accumulates();
}

/// Returns true if the op has the same result behind an unstored value as
/// behind a stored one. Kernels compute integers in 64 bits, and narrower ones
/// wrap only where they are stored.
static bool seesNoOverflow(Operation *op) {
  auto integer =
      dyn_cast<IntegerType>(getTensorType(op->getResult(0)).getElementType());
  return !integer || integer.getWidth() == 64 ||
         getOpRule(getOpKind(op)).keepsLowBits;
}

//===----------------------------------------------------------------------===//
// Converts of 8 bits
//===----------------------------------------------------------------------===//

static bool isQuantized(Value value) {
  return isa<quant::UniformQuantizedType>(
      getTensorType(value).getElementType());
}

/// Returns true if the op converts from 8 bits to f32.
static bool isDequantize(Operation *op) {
  return isa_and_present<ConvertOp>(op) && isQuantized(op->getOperand(0)) &&
         isF32(op->getResult(0));
}

/// Returns true if the op computes in f32 whatever its operands are stored in.
/// Others have kernels for certain types of operands and results.
static bool computesInF32(Operation *op) {
  return isa<AvgPoolOp, GlobalAvgPoolOp>(op) ||
         !isa<ConvertOp, QuantizableInterface>(op);
}

/// Returns true if kernels of the root store their f32 result in 8 bits, too.
static bool mayStoreQuantized(Operation *root) {
  return computesInF32(root) || accumulates(*root);
}

//===----------------------------------------------------------------------===//
// Chains
//===----------------------------------------------------------------------===//

namespace {

class ChainFinder {
public:
  explicit ChainFinder(func::FuncOp function) {
    if (function.isExternal())
      return;
    for (Operation &op : function.getBody().front())
      if (isWrappable(op))
        remaining.insert(&op);
  }

  /// Makes a chain of every single op.
  SmallVector<Chain> findSingles() {
    SmallVector<Chain> chains;
    for (Operation *op : remaining)
      chains.push_back({op});
    return chains;
  }

  SmallVector<Chain> findChains() {
    SmallVector<Chain> chains;
    // The search runs from the back, so that of two roots in front of one add
    // the later one gets it.
    SmallVector<Operation *> ops(llvm::reverse(remaining));
    for (Operation *op : ops)
      if (accumulates(*op))
        chains.push_back(takeChain(op));
    while (!remaining.empty()) {
      Operation *op = remaining.front();
      if (isa<ElementwiseInterface>(op))
        chains.push_back(takeChain(op));
      else
        chains.push_back(takeStored({take(op)}));
    }
    // Then those that the regions of their readers compute are unused.
    std::stable_partition(chains.begin(), chains.end(), [](const Chain &chain) {
      return !isDequantize(chain.front());
    });
    return chains;
  }

private:
  Operation *take(Operation *op) {
    remaining.remove(op);
    return op;
  }

  Chain takeChain(Operation *root) {
    Chain chain = {take(root)};
    while (Operation *next = getEpilogue(chain.back()))
      chain.push_back(take(next));
    return takeStored(std::move(chain));
  }

  /// Adds the convert in which the chain's result is stored.
  Chain takeStored(Chain chain) {
    Operation *next = getNext(chain.back());
    if (next && isa<ConvertOp>(next) && isQuantized(next->getResult(0)) &&
        isF32(next->getOperand(0)) && mayStoreQuantized(chain.front()))
      chain.push_back(take(next));
    return chain;
  }

  /// Returns the op that can follow `op` in its region, or null.
  Operation *getEpilogue(Operation *op) {
    Operation *next = getNext(op);
    bool fits = next && isa<ElementwiseInterface>(next) &&
                next->getResult(0).getType() == op->getResult(0).getType() &&
                seesNoOverflow(next);
    return fits ? next : nullptr;
  }

  /// Returns the only reader of the op, or null.
  Operation *getNext(Operation *op) {
    Value value = op->getResult(0);
    // Other results may be used before the op that would be the epilogue, at
    // whose place the region would be.
    if (op->getNumResults() != 1 || !value.hasOneUse())
      return nullptr;
    Operation *next = *value.getUsers().begin();
    return remaining.contains(next) ? next : nullptr;
  }

  llvm::SetVector<Operation *> remaining;
};

} // namespace

//===----------------------------------------------------------------------===//
// Wrapping
//===----------------------------------------------------------------------===//

/// The operands of the region: the root's, then those of the other ops except
/// the result of the previous op. A value that is used twice is an operand
/// twice, so that each position has one meaning.
static SmallVector<Value> getOperands(ArrayRef<Operation *> chain) {
  SmallVector<Value> inputs(chain.front()->getOperands());
  for (auto [previous, op] : llvm::zip(chain, chain.drop_front()))
    for (Value operand : op->getOperands())
      if (operand != previous->getResult(0))
        inputs.push_back(operand);
  return inputs;
}

/// Returns what the region reads for each operand: in place of converts from 8
/// bits, which it computes itself, their operands.
static SmallVector<Value> getInputs(ArrayRef<Operation *> chain,
                                    ArrayRef<Value> operands, Fusion fusion) {
  SmallVector<Value> inputs(operands);
  size_t first =
      computesInF32(chain.front()) ? 0 : chain.front()->getNumOperands();
  if (fusion != Fusion::Off)
    for (Value &input : MutableArrayRef(inputs).drop_front(first))
      if (isDequantize(input.getDefiningOp()))
        input = input.getDefiningOp()->getOperand(0);
  return inputs;
}

/// Returns the arguments of the block, those that are stored in 8 bits
/// converted to the type of the operand that they stand for.
static SmallVector<Value> getLeaves(OpBuilder &builder, Block *block,
                                    ArrayRef<Value> operands) {
  SmallVector<Value> leaves;
  for (auto [argument, operand] :
       llvm::zip_equal(block->getArguments(), operands))
    leaves.push_back(builder.createOrFold<ConvertOp>(
        operand.getLoc(), operand.getType(), argument));
  return leaves;
}

static void wrap(IRRewriter &rewriter, ArrayRef<Operation *> chain,
                 Fusion fusion) {
  Operation *root = chain.front(), *last = chain.back();
  SmallVector<Value> operands = getOperands(chain),
                     inputs = getInputs(chain, operands, fusion);
  rewriter.setInsertionPoint(last);
  auto fused =
      FusedOp::create(rewriter, root->getLoc(), last->getResultTypes(), inputs);
  Block *block = rewriter.createBlock(
      &fused.getBody(), {}, TypeRange(ValueRange(inputs)),
      SmallVector<Location>(inputs.size(), root->getLoc()));
  SmallVector<Value> leaves = getLeaves(rewriter, block, operands);
  auto *leaf = leaves.begin();
  Value previous;
  for (Operation *op : chain) {
    Operation *clone = rewriter.clone(*op);
    for (OpOperand &operand : clone->getOpOperands()) {
      bool isChain = previous && operand.get() == previous;
      operand.set(isChain ? block->back().getPrevNode()->getResult(0)
                          : *leaf++);
    }
    previous = op->getResult(0);
  }
  ResultRange results = block->back().getResults();
  YieldOp::create(rewriter, last->getLoc(), results.front(),
                  results.drop_front());
  rewriter.replaceOp(last, fused);
  for (Operation *op : llvm::reverse(chain.drop_back()))
    rewriter.eraseOp(op);
}

namespace {

struct FusePass : tarpon::impl::FusePassBase<FusePass> {
  using FusePassBase::FusePassBase;

  void runOnOperation() override {
    func::FuncOp function = getOperation();
    std::optional<Fusion> fusion = parseFusion(mode.getValue());
    if (!fusion) {
      function.emitError(
          "expects the fusion mode to be on, producers or off, got '")
          << mode << "'";
      return signalPassFailure();
    }
    ChainFinder finder(function);
    SmallVector<Chain> chains =
        *fusion == Fusion::Off ? finder.findSingles() : finder.findChains();
    IRRewriter rewriter(&getContext());
    for (ArrayRef<Operation *> chain : chains) {
      if (isDequantize(chain.front()) && chain.front()->use_empty()) {
        rewriter.eraseOp(chain.front());
        continue;
      }
      wrap(rewriter, chain, *fusion);
      ++numRegions;
      numEpilogueOps += chain.size() - 1;
    }
  }
};

} // namespace

std::unique_ptr<Pass> tarpon::createFusePass(Fusion fusion) {
  return createFusePass({std::string(getFusionName(fusion))});
}
