//===- LoweringOps.cpp - Fused regions and launches -------------*- C++ -*-===//
//
// Part of Tarpon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tarpon/IR/ElementTypes.h"
#include "tarpon/IR/FusedProblem.h"
#include "tarpon/IR/TarponOps.h"
#include "tarpon/Problem/OpKind.h"
#include "tarpon/Problem/Producer.h"

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
  for (auto [expected, actual] :
       llvm::zip_equal(fused.getResultTypes(), yield.getOperandTypes()))
    if (expected != actual)
      return fused.emitOpError("expects to yield the result's type ")
             << expected << ", got " << actual;
  return success();
}

/// Returns true for an op that adds up products of the chain's value, which is
/// its first operand, and another one.
static bool isConsumer(Operation &op) {
  std::optional<OpKind> kind = parseOp(op.getName().stripDialect());
  return kind && mayConsume(*kind) && !isa<BlockArgument>(op.getOperand(0)) &&
         op.getOperand(0) != op.getOperand(1);
}

/// Problems say nothing else of the value that a consumer reads.
static LogicalResult verifyConsumed(FusedOp fused, Value value) {
  auto first = cast<RankedTensorType>(fused.getInputs().front().getType());
  auto type = cast<RankedTensorType>(value.getType());
  if (type.getElementType() == first.getElementType() &&
      type.getEncoding() == first.getEncoding())
    return success();
  return fused.emitOpError("expects the value between two operations to be "
                           "stored like the first operand, ")
         << first << ", got " << type;
}

/// C3, C4, C9
static LogicalResult verifyOps(FusedOp fused) {
  Operation *root = fused.getRoot();
  bool hasConsumer = false;
  for (Operation &op : fused.getBody().front().without_terminator()) {
    if (!isa<TarponDialect>(op.getDialect()) || op.getNumRegions() != 0 ||
        op.getNumResults() == 0 || (op.getNumResults() > 1 && &op != root))
      return fused.emitOpError("expects tarpon ops without regions, got ")
             << op.getName();
    if (&op != root && !hasConsumer && isConsumer(op)) {
      if (failed(verifyConsumed(fused, op.getOperand(0))))
        return failure();
      hasConsumer = true;
      continue;
    }
    if (&op != root && !isa<ConvertOp, ElementwiseInterface>(op))
      return fused.emitOpError("expects elementwise ops and converts behind "
                               "the root ")
             << root->getName() << ", got " << op.getName();
  }
  if (!parseOp(root->getName().stripDialect()))
    return fused.emitOpError("expects a root that problems have, got ")
           << root->getName();
  return success();
}

/// C5. Leaves are the values that the epilogue may read beside the chain:
/// region arguments and converts of them.
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

/// C6
static LogicalResult verifyMoreResults(FusedOp fused, YieldOp yield) {
  ResultRange others = fused.getRoot()->getResults().drop_front();
  if (!llvm::equal(others, yield.getMoreValues()))
    return fused.emitOpError("expects to yield the other results of the root ")
           << fused.getRoot()->getName() << " as they are";
  return success();
}

/// C7: a kernel computes all ops of a region, in these types.
static LogicalResult verifyElements(FusedOp fused) {
  auto isKnown = [](Type type) {
    auto tensor = dyn_cast<RankedTensorType>(type);
    return !tensor || isElementType(tensor.getElementType());
  };
  SmallVector<Type> types(fused.getInputs().getTypes());
  llvm::append_range(types, fused.getResultTypes());
  for (Operation &op : fused.getBody().front())
    llvm::append_range(types, op.getResultTypes());
  const auto *unknown = llvm::find_if_not(types, isKnown);
  if (unknown == types.end())
    return success();
  return fused.emitOpError(
             "expects elements that kernels know: i1, i2, i4, i8 to i64, ")
         << listFloatTypes(", ") << " or quantised ones of 8 bits, got "
         << *unknown;
}

LogicalResult FusedOp::verify() {
  // This runs before the region's ops are verified: the terminator may be any
  // op.
  if (failed(verifyArguments(*this)))
    return failure();
  auto yield = dyn_cast<YieldOp>(getBody().front().getTerminator());
  if (!yield || yield->getNumOperands() != getNumResults())
    return emitOpError("expects to yield one value for each of ")
           << getNumResults()
           << (getNumResults() == 1 ? " result" : " results");
  if (&getBody().front().front() == yield)
    return emitOpError("expects a root operation, got an empty region");
  if (failed(verifyYield(*this, yield)) || failed(verifyOps(*this)))
    return failure();
  if (failed(verifyChain(*this, yield)) ||
      failed(verifyMoreResults(*this, yield)))
    return failure();
  return verifyElements(*this);
}

/// C8. This runs after the verifiers of the ops that the problem is made of.
LogicalResult FusedOp::verifyRegions() {
  ProblemAttr held = getProblemAttr();
  if (!held)
    return success();
  Problem posed = tarpon::getProblem(*this);
  for (auto [operand, heldOperand] :
       llvm::zip(posed.operands, held.getValue().operands))
    operand.constant &= heldOperand.constant;
  if (posed == held.getValue())
    return success();
  return emitOpError("expects the problem that its ops and types pose, got ")
         << held;
}

//===----------------------------------------------------------------------===//
// LaunchOp
//===----------------------------------------------------------------------===//

LogicalResult LaunchOp::verify() {
  // C3
  if (getNumResults() == 0)
    return emitOpError("expects at least one result");
  ArrayRef<int64_t> others = getMoreOffsets().value_or(ArrayRef<int64_t>());
  if (getMoreOffsets() && others.size() != getMoreResults().size())
    return emitOpError("expects more_offsets to have ")
           << getMoreResults().size() << " entries, got " << others.size();
  // C1
  SmallVector<int64_t> offsets(others);
  offsets.push_back(static_cast<int64_t>(getOffset().value_or(0)));
  for (int64_t offset : offsets)
    if (offset < -1)
      return emitOpError("expects an offset that is not negative or -1, got ")
             << offset;
  auto offset = static_cast<int64_t>(getWorkspaceOffset().value_or(0));
  if (offset != -1 && (offset < 0 || offset % 64 != 0))
    return emitOpError("expects the workspace's offset to be a multiple of 64 "
                       "or -1, got ")
           << offset;
  // C2
  if (static_cast<int64_t>(getWorkspaceBytes()) < 0)
    return emitOpError("expects workspace_bytes not to be negative, got ")
           << static_cast<int64_t>(getWorkspaceBytes());
  // C4
  if (getMayOverwrite() && getNumResults() != 1)
    return emitOpError("expects one result if it may overwrite inputs, got ")
           << getNumResults();
  for (int64_t input : getMayOverwrite().value_or(ArrayRef<int64_t>()))
    if (input < 0 || input >= static_cast<int64_t>(getInputs().size()))
      return emitOpError(
                 "expects may_overwrite to have indices of inputs, got ")
             << input;
  return success();
}

std::optional<int64_t> LaunchOp::getResultOffset(unsigned index) {
  if (index > 0)
    return getMoreOffsets() ? std::optional((*getMoreOffsets())[index - 1])
                            : std::nullopt;
  if (!getOffset())
    return std::nullopt;
  return static_cast<int64_t>(*getOffset());
}

void LaunchOp::setResultOffset(unsigned index, int64_t offset) {
  Builder builder(getContext());
  if (index == 0)
    return setOffsetAttr(builder.getI64IntegerAttr(offset));
  SmallVector<int64_t> others(getMoreResults().size(), -1);
  if (getMoreOffsets())
    others.assign(getMoreOffsets()->begin(), getMoreOffsets()->end());
  others[index - 1] = offset;
  setMoreOffsetsAttr(builder.getDenseI64ArrayAttr(others));
}
