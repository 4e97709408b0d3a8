//===- Attention.h - The parts of attention ---------------------*- C++ -*-===//
//
// Part of Tarpon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Every operator of attention is written with products, a softmax and a sum of
// masks, as its definition is. Scores and probabilities are computed in f32 at
// least.
//
//===----------------------------------------------------------------------===//

#ifndef TARPON_LIB_IMPORT_ATTENTION_H
#define TARPON_LIB_IMPORT_ATTENTION_H

#include "OnnxNode.h"

#include <limits>

namespace tarpon {

/// Creates the operations of one node. Queries, keys and values are of batch x
/// heads x positions x channels.
class Attention {
public:
  Attention(OnnxNode &node, mlir::Type elementType)
      : node(node), elementType(elementType),
        computeType(elementType.isF64()
                        ? elementType
                        : mlir::Type(node.getBuilder().getF32Type())) {}

protected:
  static constexpr double kInfinity = std::numeric_limits<double>::infinity();

  /// Splits the channels of batch x positions x channels into the heads that
  /// the attribute counts.
  mlir::Value splitHeads(mlir::Value value, llvm::StringRef attribute);
  mlir::Value joinHeads(mlir::Value value);
  /// Repeats each head of keys or values for the queries that share it.
  mlir::Value repeatHeads(mlir::Value value);

  /// The products of queries and keys, times `scale`.
  mlir::Value computeScores(double scale);
  /// The factor 1 / sqrt(channels).
  double defaultScale() const;
  /// limit * tanh(scores / limit), if there is a limit.
  mlir::Value cap(mlir::Value scores, float limit);
  mlir::Value createSoftmax(mlir::Value scores);
  /// The products of probabilities and values, of the element type.
  mlir::Value weighValues(mlir::Value probabilities);

  /// The numbers from 0 to below `count` along an axis of 4.
  mlir::Value createPositions(int64_t count, int64_t axis);
  mlir::Value isAtMost(mlir::Value lhs, mlir::Value rhs);
  /// Adds `filler` to the bias, which may be null, where attention is not
  /// allowed.
  void addWhere(mlir::Value &bias, mlir::Value allowed,
                double filler = -kInfinity);

  mlir::Value number(double value) {
    return node.createNumber(value, computeType);
  }
  mlir::Value integer(int64_t value) {
    return node.createInts({value}, /*scalar=*/true);
  }
  mlir::Value add(mlir::Value lhs, mlir::Value rhs) {
    return node.create<AddOp>(lhs, rhs);
  }
  /// Adds to a sum that may be null.
  void addTo(mlir::Value &sum, mlir::Value value) {
    sum = sum ? add(sum, value) : value;
  }
  int64_t numBatches() const { return getShape(query)[0]; }
  int64_t numHeads() const { return getShape(query)[1]; }
  int64_t numQueries() const { return getShape(query)[2]; }
  int64_t numKeys() const { return getShape(key)[2]; }

  OnnxNode &node;
  /// Scores and masks are of the compute type.
  mlir::Type elementType, computeType;
  mlir::Value query, key, value;
};

/// The cosines and sines by which RotaryEmbedding turns, of batch x positions x
/// 1 x angles.
struct Rotation {
  mlir::Value cos, sin;
  /// True if the coordinates of a point lie side by side; else they lie half
  /// the channels apart.
  bool interleaved = false;
};

/// Selects the rows of a cache by the positions, which may be null; null after
/// an error.
mlir::Value selectAngles(OnnxNode &node, mlir::Value cache,
                         mlir::Value positions);

/// Returns the attribute rotary_embedding_dim, of which 0 is all channels.
int64_t readRotatedWidth(OnnxNode &node, int64_t channels);

/// Rotates the first `width` channels of batch x positions x heads x channels.
mlir::Value rotate(OnnxNode &node, mlir::Value x, const Rotation &rotation,
                   int64_t width);

} // namespace tarpon

#endif // TARPON_LIB_IMPORT_ATTENTION_H
