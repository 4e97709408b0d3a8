//===- Recurrent.h - Common parts of recurrent layers -----------*- C++ -*-===//
//
// Part of Tarpon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TARPON_PROBLEM_RECURRENT_H
#define TARPON_PROBLEM_RECURRENT_H

#include "tarpon/Problem/OpKind.h"

#include <cstdint>
#include <optional>

namespace tarpon {

/// The activation of a gate or state, by ONNX's names and definitions.
enum class RecurrentActivation : int64_t {
  Sigmoid,
  Tanh,
  Relu,
  Affine,          ///< alpha * x + beta
  LeakyRelu,       ///< x or alpha * x
  ThresholdedRelu, ///< x from alpha on, else 0
  ScaledTanh,      ///< alpha * tanh(beta * x)
  HardSigmoid,     ///< alpha * x + beta from 0 to 1
  Elu,             ///< x or alpha * (e^x - 1)
  Softsign,        ///< x / (1 + |x|)
  Softplus,        ///< log(1 + e^x)
};

inline constexpr int64_t kNumRecurrentActivations = 11;

/// The sizes that differ between the recurrent ops.
struct RecurrentCell {
  int64_t gates;       ///< per hidden unit
  int64_t activations; ///< per direction
  int64_t states;      ///< that are given behind the results of all steps
};

/// The cell of a recurrent operation; none for other operations.
inline std::optional<RecurrentCell> getRecurrentCell(OpKind op) {
  struct Row {
    OpKind op;
    RecurrentCell cell;
  };
  constexpr Row kCells[] = {{OpKind::Lstm, {4, 3, 2}},
                            {OpKind::Gru, {3, 2, 1}},
                            {OpKind::Rnn, {1, 1, 1}}};
  const Row *row = findRow(kCells, op);
  return row ? std::optional(row->cell) : std::nullopt;
}

} // namespace tarpon

#endif // TARPON_PROBLEM_RECURRENT_H
