//===- ControlFlowOps.cpp - scf by execution masks ------------------------===//
//
// Part of Tarpon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A region is skipped when no lane would execute it, so that a loop runs until
// its last lane leaves. The values of lanes that have left a loop stay in the
// registers of its arguments, which its results share.
//
//===----------------------------------------------------------------------===//

#include "Lanes.h"
#include "Translator.h"
#include "Wave.h"

#include "mlir/Dialect/SCF/IR/SCF.h"

using namespace mlir;
using namespace tarpon;
using namespace tarpon::emulator;

//===----------------------------------------------------------------------===//
// Instructions; `imm` is the jump's target
//===----------------------------------------------------------------------===//

static void pushMask(Wave &wave, const Instr &) {
  wave.masks.push_back(wave.exec);
}

static void popMask(Wave &wave, const Instr &) {
  wave.exec = wave.masks.back();
  wave.masks.pop_back();
}

static void jump(Wave &wave, const Instr &instr) { wave.pc = instr.imm; }

static void setExec(Wave &wave, const Instr &instr, uint64_t exec) {
  wave.exec = exec;
  if (exec == 0)
    wave.pc = instr.imm;
}

static void beginThen(Wave &wave, const Instr &instr) {
  uint64_t condition = packMask(wave, wave.at<uint8_t>(instr.a));
  wave.masks.push_back(wave.exec);
  wave.masks.push_back(wave.exec & ~condition);
  setExec(wave, instr, wave.exec & condition);
}

static void beginElse(Wave &wave, const Instr &instr) {
  setExec(wave, instr, wave.masks.back());
}

static void endIf(Wave &wave, const Instr &) {
  wave.masks.pop_back();
  wave.exec = wave.masks.back();
  wave.masks.pop_back();
}

template <typename T>
static void testBound(Wave &wave, const Instr &instr) {
  const T *value = wave.at<T>(instr.a), *bound = wave.at<T>(instr.b);
  uint64_t exec = 0;
  for (unsigned lane = 0; lane < wave.lanes; ++lane)
    exec |= uint64_t(value[lane] < bound[lane]) << lane;
  setExec(wave, instr, wave.exec & exec);
}

template <typename T>
static void nextIteration(Wave &wave, const Instr &instr) {
  T *value = wave.at<T>(instr.a);
  const T *step = wave.at<T>(instr.b);
  for (unsigned lane = 0; lane < wave.lanes; ++lane)
    value[lane] += step[lane];
  wave.pc = instr.imm;
}

static void testCondition(Wave &wave, const Instr &instr) {
  setExec(wave, instr, wave.exec & packMask(wave, wave.at<uint8_t>(instr.a)));
}

static void finish(Wave &wave, const Instr &) {
  wave.state = Wave::State::Finished;
}

//===----------------------------------------------------------------------===//
// Ops
//===----------------------------------------------------------------------===//

using Moves = SmallVector<std::pair<Reg, Reg>>;

static Moves zipMoves(Translator &translator, ValueRange to, ValueRange from) {
  Moves moves;
  for (auto [dst, src] : llvm::zip_equal(to, from))
    moves.emplace_back(translator.use(dst), translator.use(src));
  return moves;
}

static LogicalResult translateIf(Translator &translator, Operation *op) {
  auto ifOp = cast<scf::IfOp>(op);
  for (Value result : ifOp.getResults())
    translator.define(result);
  uint32_t begin = translator.getPosition();
  translator.emit(op, beginThen, {}, translator.use(ifOp.getCondition()));
  if (failed(translator.translateBlock(*ifOp.thenBlock())))
    return failure();
  if (Block *elseBlock = ifOp.elseBlock()) {
    uint32_t middle = translator.getPosition();
    translator.at(begin).imm = middle;
    begin = middle;
    translator.emit(op, beginElse);
    if (failed(translator.translateBlock(*elseBlock)))
      return failure();
  }
  translator.at(begin).imm = translator.getPosition();
  translator.emit(op, endIf);
  return success();
}

static LogicalResult translateFor(Translator &translator, Operation *op) {
  auto loop = cast<scf::ForOp>(op);
  if (!translator.getRegisterType(loop.getInductionVar().getType()))
    return translator.refuse(op, "counts in a type that the emulator does not "
                                 "know");
  Reg counter = translator.define(loop.getInductionVar());
  if (counter.elem != Elem::I64 && counter.elem != Elem::I32)
    return translator.refuse(op, "does not count in index, i32 or i64");
  for (Value argument : loop.getRegionIterArgs())
    translator.define(argument);
  Moves moves =
      zipMoves(translator, loop.getRegionIterArgs(), loop.getInitArgs());
  moves.emplace_back(counter, translator.use(loop.getLowerBound()));
  translator.emitMoves(op, moves);
  translator.emit(op, pushMask);
  uint32_t head = translator.getPosition();
  bool isWide = counter.elem == Elem::I64, isUnsigned = loop.getUnsignedCmp();
  Handler test = isWide
                     ? (isUnsigned ? testBound<uint64_t> : testBound<int64_t>)
                     : (isUnsigned ? testBound<uint32_t> : testBound<int32_t>);
  translator.emit(op, test, {}, counter, translator.use(loop.getUpperBound()));
  if (failed(translator.translateBlock(*loop.getBody())))
    return failure();
  translator
      .emit(op, isWide ? nextIteration<uint64_t> : nextIteration<uint32_t>, {},
            counter, translator.use(loop.getStep()))
      .imm = head;
  translator.at(head).imm = translator.getPosition();
  translator.emit(op, popMask);
  translator.free(counter);
  for (auto [result, argument] :
       llvm::zip_equal(loop.getResults(), loop.getRegionIterArgs()))
    translator.alias(result, translator.use(argument));
  return success();
}

static LogicalResult translateWhile(Translator &translator, Operation *op) {
  auto loop = cast<scf::WhileOp>(op);
  for (Value argument : loop.getBeforeArguments())
    translator.define(argument);
  for (Value argument : loop.getAfterArguments())
    translator.define(argument);
  translator.emitMoves(
      op, zipMoves(translator, loop.getBeforeArguments(), loop.getInits()));
  translator.emit(op, pushMask);
  uint32_t head = translator.getPosition();
  if (failed(translator.translateBlock(*loop.getBeforeBody())))
    return failure();
  uint32_t test = translator.getPosition() - 1;
  if (failed(translator.translateBlock(*loop.getAfterBody())))
    return failure();
  translator.emit(op, jump).imm = head;
  translator.at(test).imm = translator.getPosition();
  translator.emit(op, popMask);
  for (Value argument : loop.getBeforeArguments())
    translator.free(translator.use(argument));
  for (auto [result, argument] :
       llvm::zip_equal(loop.getResults(), loop.getAfterArguments()))
    translator.alias(result, translator.use(argument));
  return success();
}

/// Lanes that leave keep the values of the condition; the others continue with
/// them.
static LogicalResult translateCondition(Translator &translator, Operation *op) {
  auto condition = cast<scf::ConditionOp>(op);
  auto loop = cast<scf::WhileOp>(op->getParentOp());
  translator.emitMaskedMoves(
      op, zipMoves(translator, loop.getAfterArguments(), condition.getArgs()));
  translator.emit(op, testCondition, {},
                  translator.use(condition.getCondition()));
  return success();
}

static LogicalResult translateYield(Translator &translator, Operation *op) {
  Operation *parent = op->getParentOp();
  SmallVector<Value> to;
  if (auto loop = dyn_cast<scf::ForOp>(parent))
    to.append(loop.getRegionIterArgs().begin(), loop.getRegionIterArgs().end());
  else if (auto loop = dyn_cast<scf::WhileOp>(parent))
    to.append(loop.getBeforeArguments().begin(),
              loop.getBeforeArguments().end());
  else
    to.append(parent->result_begin(), parent->result_end());
  translator.emitMaskedMoves(op, zipMoves(translator, to, op->getOperands()));
  return success();
}

static LogicalResult translateReturn(Translator &translator, Operation *op) {
  translator.emit(op, finish);
  return success();
}

void emulator::addControlFlowOps(OpTable &table) {
  table["scf.if"] = translateIf;
  table["scf.for"] = translateFor;
  table["scf.while"] = translateWhile;
  table["scf.condition"] = translateCondition;
  table["scf.yield"] = translateYield;
  table["gpu.return"] = translateReturn;
}
