//===- ComputeKind.cpp - What a problem computes in -----------------------===//
//
// Part of Tarpon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tarpon/Problem/ComputeKind.h"

#include "tarpon/Problem/OpRules.h"

#include "llvm/Support/ErrorHandling.h"

using namespace tarpon;

ComputeKind tarpon::computeKindOf(const TensorDesc &desc) {
  if (desc.quantized)
    return ComputeKind::F32;
  switch (desc.dtype) {
  case DType::F32:
  case DType::F16:
  case DType::BF16:
    return ComputeKind::F32;
  case DType::F64:
    return ComputeKind::F64;
  case DType::U64:
    return ComputeKind::U64;
  case DType::Bool:
  case DType::I8:
  case DType::U8:
  case DType::I16:
  case DType::U16:
  case DType::I32:
  case DType::U32:
  case DType::I64:
    return ComputeKind::I64;
  }
  llvm_unreachable("unknown dtype");
}

bool tarpon::isFloat(ComputeKind kind) {
  return kind == ComputeKind::F32 || kind == ComputeKind::F64;
}

ComputeKind tarpon::computeKindOf(const Problem &problem) {
  const OpRule &rule = getOpRule(problem.op);
  ComputeKind kind = computeKindOf(problem.operands.front());
  ComputeKind resultKind = computeKindOf(problem.result);
  if (rule.followsResult && !isFloat(kind) && isFloat(resultKind))
    return resultKind;
  if (rule.isReal && kind != ComputeKind::F64)
    return ComputeKind::F32;
  return kind;
}
