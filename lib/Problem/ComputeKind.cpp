//===- ComputeKind.cpp - The type that a problem computes in --------------===//
//
// Part of Tarpon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tarpon/Problem/ComputeKind.h"

#include "tarpon/Problem/OpRules.h"

using namespace tarpon;

ComputeKind tarpon::computeKindOf(const TensorDesc &desc) {
  if (desc.dtype == DType::F64)
    return ComputeKind::F64;
  if (desc.quantized || runtime::isFloat(desc.dtype))
    return ComputeKind::F32;
  return desc.dtype == DType::U64 ? ComputeKind::U64 : ComputeKind::I64;
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
