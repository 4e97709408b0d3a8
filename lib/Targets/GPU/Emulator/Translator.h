//===- Translator.h - Translates MLIR to the emulator's code ----*- C++ -*-===//
//
// Part of Tarpon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Walks the structured IR of one kernel, assigns registers to its values and
// emits instructions. A table maps ops to their translations; the files beside
// this one fill it, one file for each kind of op, and the instructions of the
// vendor (VendorInstructions.h).
//
// Registers are freed after the last op that uses their value, within the block
// that defines it. The results and loop arguments of an op with regions get
// their registers before the regions are translated.
//
//===----------------------------------------------------------------------===//

#ifndef TARPON_TARGETS_GPU_EMULATOR_TRANSLATOR_H
#define TARPON_TARGETS_GPU_EMULATOR_TRANSLATOR_H

#include "ProductSums.h"
#include "Program.h"

#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/IR/BuiltinTypes.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/DenseSet.h"
#include "llvm/ADT/StringMap.h"

#include <map>
#include <optional>

namespace tarpon::emulator {

class Translator;
/// Emits the code of an op. Its types have registers.
using TranslateOp = mlir::LogicalResult (*)(Translator &, mlir::Operation *);
using OpTable = llvm::StringMap<TranslateOp>;

void addIntegerOps(OpTable &table);
void addFloatOps(OpTable &table);
void addConversionOps(OpTable &table);
void addMathOps(OpTable &table);
void addVectorOps(OpTable &table);
void addControlFlowOps(OpTable &table);
void addMemoryOps(OpTable &table);
void addGpuOps(OpTable &table);
void addCrossLaneOps(OpTable &table);

class Translator {
public:
  Translator(mlir::gpu::GPUFuncOp kernel, Program &program)
      : kernel(kernel), program(program) {}

  /// Translates the kernel. On failure, getError() has the reason.
  mlir::LogicalResult run();
  const std::string &getError() const { return error; }

  /// Ends the translation with the error "kernel k: 'op' at file:1:2 REASON".
  mlir::LogicalResult refuse(mlir::Operation *op, const llvm::Twine &reason);

  mlir::LogicalResult translateBlock(mlir::Block &block);

  /// Returns the registers of a type, or none if it has no form in registers.
  /// Pointers to global memory and LDS are one I64; the vendor may have others.
  std::optional<Reg> getRegisterType(mlir::Type type) const;
  /// Returns the registers of a value that has some.
  Reg use(mlir::Value value) const { return registers.lookup(value); }
  /// Assigns registers to a value.
  Reg define(mlir::Value value);
  /// Gives a value the registers of another, which must outlive it.
  void alias(mlir::Value value, Reg reg) { registers[value] = reg; }
  /// Registers for the translator's own use, until they are given back.
  Reg allocate(Reg type);
  void free(Reg reg);
  /// Returns a register that always holds this value in all lanes.
  Reg getConstant(Elem elem, uint64_t bits);
  Reg getConstant(Elem elem, llvm::ArrayRef<uint64_t> components);

  /// Appends an instruction; `count` becomes the number of elements of `dst`.
  Instr &emit(mlir::Operation *op, Handler handler, Reg dst = {}, Reg a = {},
              Reg b = {}, Reg c = {});
  /// Copies components between registers; neighbours become one move.
  void emitMoves(mlir::Operation *op,
                 llvm::ArrayRef<std::pair<Reg, Reg>> moves);
  /// Copies all sources in the active lanes only, as if at the same time.
  void emitMaskedMoves(mlir::Operation *op,
                       llvm::ArrayRef<std::pair<Reg, Reg>> moves);
  uint32_t getPosition() const { return program.code.size(); }
  Instr &at(uint32_t position) { return program.code[position]; }

  /// Component `index` of a value.
  Reg component(Reg reg, uint32_t index, uint32_t count = 1) const {
    reg.offset += index * program.options.waveSize * elemBytes(reg.elem);
    reg.components = count;
    return reg;
  }
  unsigned lanes() const { return program.options.waveSize; }
  uint32_t addAccess(const Access &access);
  /// The accumulator of a sum of asynchronous products.
  uint32_t getAccumulator(mlir::Value sum) const {
    return sums.accumulators.lookup(sum);
  }
  /// Returns the pointer to the LDS global of that name in the kernel's module,
  /// if there is one.
  std::optional<uint64_t> getLdsPointer(llvm::StringRef name) const;

  mlir::gpu::GPUFuncOp kernel;
  Program &program;

private:
  mlir::LogicalResult translateOp(mlir::Operation *op);
  void addOps();
  mlir::LogicalResult addArguments();
  mlir::LogicalResult addLds();
  uint32_t getSite(mlir::Operation *op);

  void emitSumAccesses(mlir::Operation *op);

  OpTable ops;
  ProductSums sums;
  llvm::DenseMap<mlir::Value, Reg> registers;
  /// Offsets of free registers, by size.
  std::map<uint32_t, std::vector<uint32_t>> freeOffsets;
  std::map<std::pair<Elem, std::vector<uint64_t>>, Reg> constants;
  llvm::DenseSet<uint32_t> constantOffsets;
  llvm::DenseMap<mlir::Operation *, uint32_t> sites;
  std::string error;
};

} // namespace tarpon::emulator

#endif // TARPON_TARGETS_GPU_EMULATOR_TRANSLATOR_H
