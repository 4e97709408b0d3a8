//===- LoweringOps.cpp - Fused regions and launches -------------*- C++ -*-===//
//
// Part of Tarpon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tarpon/IR/TarponOps.h"

#include "mlir/IR/Builders.h"

#include "llvm/ADT/SmallPtrSet.h"

using namespace mlir;
using namespace tarpon;

//===----------------------------------------------------------------------===//
// FusedOp: syntax
//===----------------------------------------------------------------------===//

/// Parses `%argument = %operand` pairs in parentheses.
static ParseResult
parseBindings(OpAsmParser &parser,
              SmallVectorImpl<OpAsmParser::Argument> &arguments,
              SmallVectorImpl<OpAsmParser::UnresolvedOperand> &operands) {
  return parser.parseCommaSeparatedList(AsmParser::Delimiter::Paren, [&] {
    return failure(parser.parseArgument(arguments.emplace_back()) ||
                   parser.parseEqual() ||
                   parser.parseOperand(operands.emplace_back()));
  });
}

ParseResult FusedOp::parse(OpAsmParser &parser, OperationState &state) {
  SmallVector<OpAsmParser::Argument> arguments;
  SmallVector<OpAsmParser::UnresolvedOperand> operands;
  FunctionType type;
  SMLoc location = parser.getCurrentLocation();
  if (parseBindings(parser, arguments, operands) || parser.parseColonType(type))
    return failure();
  if (parser.parseOptionalAttrDictWithKeyword(state.attributes) ||
      parser.resolveOperands(operands, type.getInputs(), location,
                             state.operands))
    return failure();
  for (auto [argument, argumentType] : llvm::zip(arguments, type.getInputs()))
    argument.type = argumentType;
  state.addTypes(type.getResults());
  return parser.parseRegion(*state.addRegion(), arguments,
                            /*enableNameShadowing=*/true);
}

void FusedOp::print(OpAsmPrinter &printer) {
  printer << "(";
  llvm::interleaveComma(llvm::zip(getBody().getArguments(), getInputs()),
                        printer, [&](auto pair) {
                          printer << std::get<0>(pair) << " = "
                                  << std::get<1>(pair);
                        });
  printer << ") : ";
  printer.printFunctionalType(getOperation());
  printer.printOptionalAttrDictWithKeyword((*this)->getAttrs());
  printer << " ";
  printer.printRegion(getBody(), /*printEntryBlockArgs=*/false);
}

//===----------------------------------------------------------------------===//
// FusedOp: constraints
//===----------------------------------------------------------------------===//

Operation *FusedOp::getRoot() {
  for (Operation &op : getBody().front().without_terminator())
    if (!isa<ConvertOp>(op))
      return &op;
  return &getBody().front().front();
}

/// C1
static LogicalResult verifyArguments(FusedOp fused) {
  TypeRange expected = fused.getInputs().getTypes();
  TypeRange actual = fused.getBody().getArgumentTypes();
  if (expected != actual)
    return fused.emitOpError("expects region arguments of the operands' types ")
           << expected << ", got " << actual;
  return success();
}

/// C2
static LogicalResult verifyYield(FusedOp fused, YieldOp yield) {
  Type expected = fused.getResult().getType();
  Type actual = yield.getValue().getType();
  if (expected != actual)
    return fused.emitOpError("expects to yield the result's type ")
           << expected << ", got " << actual;
  return success();
}

/// C3, C4
static LogicalResult verifyOps(FusedOp fused) {
  Operation *root = fused.getRoot();
  for (Operation &op : fused.getBody().front().without_terminator()) {
    if (!isa<TarponDialect>(op.getDialect()) || op.getNumRegions() != 0 ||
        op.getNumResults() != 1)
      return fused.emitOpError("expects tarpon ops without regions, got ")
             << op.getName();
    if (&op != root && !isa<ConvertOp, ElementwiseInterface>(op))
      return fused.emitOpError("expects elementwise ops and converts behind "
                               "the root ")
             << root->getName() << ", got " << op.getName();
  }
  return success();
}

/// C5. Leaves are what the epilogue may read beside the chain: region arguments
/// and converts of them.
static LogicalResult verifyChain(FusedOp fused, YieldOp yield) {
  Operation *root = fused.getRoot();
  llvm::SmallPtrSet<Value, 8> leaves;
  for (BlockArgument argument : fused.getBody().getArguments())
    leaves.insert(argument);
  Value chain;
  for (Operation &op : fused.getBody().front().without_terminator()) {
    auto isLeaf = [&](Value value) { return leaves.contains(value); };
    if (&op != root && isa<ConvertOp>(op) && isLeaf(op.getOperand(0))) {
      leaves.insert(op.getResult(0));
      continue;
    }
    bool reads = !chain || llvm::is_contained(op.getOperands(), chain);
    if (!reads || !llvm::all_of(op.getOperands(), [&](Value operand) {
          return operand == chain || isLeaf(operand);
        }))
      return fused.emitOpError("expects ops that take the result of the one "
                               "before and region arguments, got ")
             << op.getName();
    chain = op.getResult(0);
  }
  if (yield.getValue() != chain)
    return fused.emitOpError("expects to yield the result of the last op of "
                             "the chain");
  return success();
}

LogicalResult FusedOp::verify() {
  // Runs before the region's ops are verified: the terminator may be anything.
  if (failed(verifyArguments(*this)))
    return failure();
  auto yield = dyn_cast<YieldOp>(getBody().front().getTerminator());
  if (!yield || yield->getNumOperands() != 1)
    return emitOpError("expects to yield one value");
  if (&getBody().front().front() == yield)
    return emitOpError("expects a root operation, got an empty region");
  if (failed(verifyYield(*this, yield)) || failed(verifyOps(*this)))
    return failure();
  return verifyChain(*this, yield);
}

//===----------------------------------------------------------------------===//
// LaunchOp
//===----------------------------------------------------------------------===//

LogicalResult LaunchOp::verify() {
  // C1
  auto offset = static_cast<int64_t>(getOffset().value_or(0));
  if (offset < -1)
    return emitOpError("expects an offset that is not negative or -1, got ")
           << offset;
  offset = static_cast<int64_t>(getWorkspaceOffset().value_or(0));
  if (offset != -1 && (offset < 0 || offset % 64 != 0))
    return emitOpError("expects the workspace's offset to be a multiple of 64 "
                       "or -1, got ")
           << offset;
  // C2
  if (static_cast<int64_t>(getWorkspaceBytes()) < 0)
    return emitOpError("expects workspace_bytes not to be negative, got ")
           << static_cast<int64_t>(getWorkspaceBytes());
  return success();
}
