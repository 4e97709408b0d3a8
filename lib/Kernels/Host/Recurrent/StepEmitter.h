//===- StepEmitter.h - Emits the steps of a recurrent layer -----*- C++ -*-===//
//
// Part of Tarpon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TARPON_LIB_KERNELS_HOST_RECURRENT_STEPEMITTER_H
#define TARPON_LIB_KERNELS_HOST_RECURRENT_STEPEMITTER_H

#include "Activations.h"
#include "Common/VectorAccess.h"

#include <optional>

namespace tarpon::recurrent {

/// The multiple to which hidden units are padded in the rows of states; a
/// multiple of every target's lanes.
inline constexpr int64_t kRowUnits = 16;
/// The steps of K between two tests of the loop; K is padded to a multiple.
inline constexpr int64_t kUnrollK = 4;

/// The dependent products with the recurrent weights: a GRU without
/// linear_before_reset has gates z and r first, and then h.
enum class Pass : uint8_t { Only, GruGates, GruState };

/// The gates that a pass multiplies.
struct GateRange {
  int64_t first, count;
};
GateRange getGates(Pass pass, const RecurrentCell &cell);

/// The properties that the code of a launch depends on, and the indices of its
/// buffers and parameters.
struct StepKernel {
  OpKind op;
  RecurrentCell cell;
  bool coupled, linear, clips;
  DType weightDtype, lengthDtype;
  std::vector<Pass> passes;
  std::vector<RecurrentActivation> activations; ///< of one direction
  FlatTensor gates, result;
  std::optional<FlatTensor> extra; ///< peepholes or bias

  /// Indices of buffers: the weights of each pass, lengths, and states.
  std::vector<int64_t> weights;
  int64_t lengths, hidden, cells, updates, resets;
  /// Indices of parameters. `reversed`, `alphas` and `betas` are the first of
  /// two directions.
  int64_t firstStep, lastStep, steps, batch, units, directions, tiles;
  int64_t tilesPerTask, blocks, reversed, clip, alphas, betas;

  std::string symbol() const;
  void emit(KernelBuilder &b) const;
  /// The number of rows of the batch that are multiplied at once; see
  /// scratchBytes.
  static int64_t rowsAtOnce(const TargetInfo &target) {
    return target.vectorRegisters >= 32 ? 4 : 2;
  }
  static int64_t scratchBytes() { return 4 * 4 * 64; }
};

} // namespace tarpon::recurrent

#endif // TARPON_LIB_KERNELS_HOST_RECURRENT_STEPEMITTER_H
