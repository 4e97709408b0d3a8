//===- KernelBuilder.h - Emits the body of one host kernel ------*- C++ -*-===//
//
// Part of Tarpon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The builder with which solvers emit kernels: arithmetic on i64 and f32,
// loops, vectors of the target's width, and loads and stores that convert
// between a storage dtype and the type of the computation. Everything is MLIR
// of the arith, scf, vector, math and llvm dialects; memory is addressed by
// byte offsets from raw pointers, which KernelABI.h passes.
//
//===----------------------------------------------------------------------===//

#ifndef TARPON_KERNELS_COMMON_KERNELBUILDER_H
#define TARPON_KERNELS_COMMON_KERNELBUILDER_H

#include "tarpon/Runtime/DType.h"
#include "tarpon/Solver/TargetInfo.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/ImplicitLocOpBuilder.h"
#include "mlir/IR/Value.h"

#include <functional>

namespace tarpon {

class KernelBuilder : public mlir::ImplicitLocOpBuilder {
public:
  using Value = mlir::Value;
  using ValueRange = mlir::ValueRange;
  using Pred = mlir::arith::CmpIPredicate;

  /// Builds the function `symbol` in `module`; finish() closes it.
  KernelBuilder(mlir::ModuleOp module, llvm::StringRef symbol,
                const TargetInfo &target);
  virtual ~KernelBuilder() = default;
  virtual void finish();

  /// Registers the dialects of emitted kernels.
  static void registerDialects(mlir::DialectRegistry &registry);

  const TargetInfo &getTarget() const { return target; }
  int64_t lanes() const { return target.lanes(); }

  //===--------------------------------------------------------------------===//
  // The arguments of the kernel
  //===--------------------------------------------------------------------===//
  virtual Value getBuffer(int64_t index);     ///< pointer
  virtual Value getParam(int64_t index);      ///< i64
  virtual Value getFloatParam(int64_t index); ///< f32
  Value getBegin() { return begin; }          ///< i64, first task
  Value getEnd() { return end; }              ///< i64, behind the last task
  Value getScratch() { return scratch; }      ///< pointer
  /// The number of lanes that share the body of a task, and the index of the
  /// current one (i64). On the host, a task has one thread.
  virtual int64_t getLaneCount() const { return 1; }
  virtual Value getLane() { return cst(0); }
  /// The bytes at whose multiples loads and stores of the type start. None is
  /// assumed here: kernels are also called on sub-tensors.
  virtual unsigned getAlignment(mlir::Type /*type*/) const { return 1; }
  /// Runs `body` for each task in [begin, end).
  void forTasks(llvm::function_ref<void(Value task)> body);

  //===--------------------------------------------------------------------===//
  // Types and constants
  //===--------------------------------------------------------------------===//
  mlir::Type i64() { return getI64Type(); }
  mlir::Type f32() { return getF32Type(); }
  mlir::Type ptr();
  mlir::VectorType vec(mlir::Type element, int64_t lanes);
  /// The type that represents a dtype in memory: f32, f16, i8, ... Other small
  /// floats are held as integers, because LLVM has none of them in registers on
  /// most CPUs.
  mlir::Type storageType(runtime::DType dtype);
  Value cst(int64_t value);                     ///< i64
  Value cstF(double value);                     ///< f32
  Value cstLike(mlir::Type type, double value); ///< any scalar or vector type

  //===--------------------------------------------------------------------===//
  // i64 arithmetic. Vectors work too, with operands of one type. Constants
  // are folded.
  //===--------------------------------------------------------------------===//
  Value add(Value a, Value b);
  Value sub(Value a, Value b);
  Value mul(Value a, Value b);
  Value div(Value a, Value b); ///< non-negative operands
  Value rem(Value a, Value b); ///< non-negative operands
  Value ceilDiv(Value a, Value b);
  Value minS(Value a, Value b);
  Value maxS(Value a, Value b);
  Value add(Value a, int64_t b) { return add(a, cst(b)); }
  Value sub(Value a, int64_t b) { return sub(a, cst(b)); }
  Value mul(Value a, int64_t b) { return mul(a, cst(b)); }
  Value div(Value a, int64_t b) { return div(a, cst(b)); }
  Value rem(Value a, int64_t b) { return rem(a, cst(b)); }
  Value cmp(Pred predicate, Value a, Value b);
  Value slt(Value a, Value b) { return cmp(Pred::slt, a, b); }
  Value ult(Value a, Value b) { return cmp(Pred::ult, a, b); }
  Value eq(Value a, Value b) { return cmp(Pred::eq, a, b); }
  Value andI(Value a, Value b);
  Value orI(Value a, Value b);
  Value select(Value condition, Value a, Value b);

  //===--------------------------------------------------------------------===//
  // Floating-point arithmetic on scalars and vectors
  //===--------------------------------------------------------------------===//
  Value addF(Value a, Value b);
  Value subF(Value a, Value b);
  Value mulF(Value a, Value b);
  Value divF(Value a, Value b);
  Value fma(Value a, Value b, Value c); ///< a * b + c, fused where the CPU can
  Value maxF(Value a, Value b); ///< a > b ? a : b (one instruction; NaN in b)
  Value minF(Value a, Value b); ///< a < b ? a : b
  Value maxOrNaN(Value a, Value b); ///< NaN if one of them is
  Value minOrNaN(Value a, Value b);

  //===--------------------------------------------------------------------===//
  // Control flow
  //===--------------------------------------------------------------------===//
  /// for (i = lower; i < upper; i += step) carried = body(i, carried); i64
  /// bounds. Returns the final carried values.
  mlir::SmallVector<Value> forLoop(
      Value lower, Value upper, Value step, ValueRange carried,
      llvm::function_ref<mlir::SmallVector<Value>(Value i, ValueRange carried)>
          body);
  void forLoop(Value lower, Value upper, Value step,
               llvm::function_ref<void(Value i)> body);
  void forLoop(Value upper, llvm::function_ref<void(Value i)> body) {
    forLoop(cst(0), upper, cst(1), body);
  }
  void ifThen(Value condition, llvm::function_ref<void()> body);
  void ifThenElse(Value condition, llvm::function_ref<void()> thenBody,
                  llvm::function_ref<void()> elseBody);
  mlir::SmallVector<Value>
  ifThenElse(Value condition, mlir::TypeRange results,
             llvm::function_ref<mlir::SmallVector<Value>()> thenBody,
             llvm::function_ref<mlir::SmallVector<Value>()> elseBody);

  //===--------------------------------------------------------------------===//
  // Memory. Offsets are in bytes. No alignment is assumed.
  //===--------------------------------------------------------------------===//
  Value offset(Value pointer, Value bytes);
  Value offset(Value pointer, int64_t bytes);
  /// Assumes the alignment of getAlignment.
  Value load(Value pointer, mlir::Type type);
  void store(Value value, Value pointer);
  /// Lanes with a false mask read as zero and are not written; masked lanes may
  /// lie outside of the buffer.
  Value maskedLoad(Value pointer, Value mask, mlir::VectorType type);
  void maskedStore(Value value, Value pointer, Value mask);
  /// Emits a scheduling barrier, which is no instruction: `vectors`, which are
  /// renamed, have been computed there, no load moves across it, and `kept`
  /// stay in registers until then, so that no result takes one of them over.
  void fence(mlir::MutableArrayRef<Value> vectors, mlir::ArrayRef<Value> kept);
  /// A mask whose lane l is on if l < count (i64).
  Value firstLanes(Value count, int64_t lanes);

  /// Loads a scalar or vector of `dtype` and converts it to its compute type:
  /// f32 for floats that fit it and 8- and 16-bit integers, f64 for f64, i64
  /// for the wider integers and bool. `lanes` 1 gives a scalar. Quantised
  /// elements are not scaled. `mask` may be null.
  Value loadConverted(runtime::DType dtype, Value pointer, int64_t lanes = 1,
                      Value mask = nullptr);
  /// The inverse of loadConverted: rounds floats to nearest even, saturates
  /// 8- and 16-bit integers.
  void storeConverted(runtime::DType dtype, Value value, Value pointer,
                      Value mask = nullptr);
  /// The scalar type that loadConverted returns.
  mlir::Type computeType(runtime::DType dtype);

  //===--------------------------------------------------------------------===//
  // Vectors
  //===--------------------------------------------------------------------===//
  Value broadcast(Value scalar, int64_t lanes);
  Value bitcast(Value value, mlir::Type type);
  /// Transposes n vectors of n 32-bit lanes, in n log n shuffles.
  mlir::SmallVector<Value> transpose(mlir::ArrayRef<Value> rows);
  Value shuffle(Value a, Value b, mlir::ArrayRef<int64_t> lanes);
  /// Adds up the lanes, in a fixed tree order.
  Value reduceAdd(Value vector);
  Value reduceMax(Value vector);

protected:
  /// For subclasses that create functions of another form.
  KernelBuilder(mlir::MLIRContext *context, const TargetInfo &target);

  Value begin, end;

private:
  Value widen(runtime::DType dtype, Value stored);
  Value narrow(runtime::DType dtype, Value value);

  const TargetInfo &target;
  Value buffers, params, scratch;
};

} // namespace tarpon

#endif // TARPON_KERNELS_COMMON_KERNELBUILDER_H
