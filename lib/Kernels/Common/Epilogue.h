//===- Epilogue.h - Emits the chain behind a root operation -----*- C++ -*-===//
//
// Part of Tarpon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Emits the epilogue of a root operation on a scalar or on a vector of any
// number of lanes. Elementwise roots are emitted by the same functions. The
// caller loads the other operand of a binary step, and stores the result.
//
//===----------------------------------------------------------------------===//

#ifndef TARPON_LIB_KERNELS_COMMON_EPILOGUE_H
#define TARPON_LIB_KERNELS_COMMON_EPILOGUE_H

#include "tarpon/Kernels/Common/KernelBuilder.h"
#include "tarpon/Problem/ComputeKind.h"
#include "tarpon/Problem/ElementwiseOps.h"
#include "tarpon/Problem/Problem.h"

#include <string>
#include <vector>

namespace tarpon {

mlir::Type computeTypeOf(KernelBuilder &b, ComputeKind kind);

/// The attributes of an elementwise op as launch parameters, in a fixed order.
void appendStepParams(OpKind op, const ProblemAttrs &attrs, ComputeKind kind,
                      std::vector<int64_t> &params);
int64_t numStepParams(OpKind op);

/// Emits dy times the derivative of a unary op at x, which are floats.
mlir::Value emitGradient(KernelBuilder &b, OpKind op,
                         llvm::ArrayRef<mlir::Value> attrs, mlir::Value dy,
                         mlir::Value x);

/// Emits one operation. `attrs` are the values of its attributes (scalars of
/// the compute type, see appendStepParams); `other` is null for unary ops. `x`
/// and `other` have one type.
mlir::Value emitStep(KernelBuilder &b, const EpilogueStep &step,
                     ComputeKind kind, llvm::ArrayRef<mlir::Value> attrs,
                     mlir::Value x, mlir::Value other);

/// The epilogue of one problem. Captured by value in KernelSource::emit.
class EpilogueEmitter {
public:
  using Value = mlir::Value;
  using LoadOperand = llvm::function_ref<Value(int operandIndex)>;

  /// The parameters of the epilogue start at `firstParam` in the launch.
  EpilogueEmitter(const Problem &problem, int64_t firstParam);

  static void appendParams(const Problem &problem,
                           std::vector<int64_t> &params);

  /// "" or "_add_relu": names the operations, and the operands that they read
  /// if their order differs. The symbol must also name how the caller reads the
  /// operands (dtype, broadcasting).
  std::string symbolPart() const;

  bool empty() const { return steps.empty(); }
  int64_t numParams() const;

  /// Reads the parameters. Call it ahead of the loops, because loads are not
  /// hoisted across the stores to the result.
  mlir::SmallVector<Value> loadParams(KernelBuilder &b) const;

  /// Applies the epilogue to `acc` (a scalar or vector of the compute type).
  /// `loadOperand` returns operand k of the problem at the same place, in the
  /// type of `acc`. A `scale` is multiplied with `acc` first; if the first step
  /// adds, both are one instruction.
  Value emit(KernelBuilder &b, Value acc, llvm::ArrayRef<Value> params,
             LoadOperand loadOperand, Value scale = nullptr) const;
  /// The same, but reads the parameters in place.
  Value emit(KernelBuilder &b, Value acc, LoadOperand loadOperand) const {
    return emit(b, acc, loadParams(b), loadOperand);
  }

private:
  std::vector<EpilogueStep> steps;
  ComputeKind kind;
  int rootOperands;
  int64_t firstParam;
};

} // namespace tarpon

#endif // TARPON_LIB_KERNELS_COMMON_EPILOGUE_H
