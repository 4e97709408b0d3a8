//===- GemmBase.cpp - gemm, gemmfp16 ------------------------------------===//
//
// Part of Tarpon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Bases.h"

using namespace tarpon;
using namespace tarpon::driver;
using runtime::Error;
using runtime::Result;
using runtime::Status;

static constexpr FlagSpec kFlags[] = {
    TARPON_DRIVER_COMMON_FLAGS,
    {'F', "forw", "1", Use::Ignored},
    {'m', "a_h", "256"},
    {'k', "a_w", "256"},
    {'n', "b_w", "256"},
    {'u', "transA", "0"},
    {'v', "transB", "0"},
    {'b', "batch_count", "1"},
    {'A', "alpha", "1.0", Use::Number},
    {'B', "beta", "0.0", Use::Number},
    {'S', "solution", "-1", Use::Text},
};

/// A batch of matrices, or one.
static TensorDesc makeMatrices(DType dtype, int64_t batch, int64_t rows,
                               int64_t columns, bool transposed) {
  if (transposed)
    std::swap(rows, columns);
  std::vector<int64_t> shape = {rows, columns};
  if (batch != 1)
    shape.insert(shape.begin(), batch);
  return makeTensor(dtype, shape, Layout());
}

static Result<TaskList> makeTasks(const Flags &flags, DType dtype) {
  if (Status status = refuseScaling(flags); !status)
    return status.error();
  int64_t m = flags.integer("a_h"), k = flags.integer("a_w"),
          n = flags.integer("b_w"), batch = flags.integer("batch_count");
  if (m < 1 || k < 1 || n < 1 || batch < 1)
    return Error{"a gemm has a size or batch below 1"};
  bool transA = flags.isSet("transA"), transB = flags.isSet("transB");
  Problem problem;
  problem.op = OpKind::MatMul;
  problem.rootOperands = 2;
  problem.operands = {makeMatrices(dtype, batch, m, k, transA),
                      makeMatrices(dtype, batch, k, n, transB)};
  problem.result = makeMatrices(dtype, batch, m, n, /*transposed=*/false);
  problem.attrs["transpose_lhs"] = {transA ? 1.0 : 0.0};
  problem.attrs["transpose_rhs"] = {transB ? 1.0 : 0.0};
  return TaskList{{"GEMM", problem}};
}

const Base driver::kGemm = {"gemm", kFlags, makeTasks};
