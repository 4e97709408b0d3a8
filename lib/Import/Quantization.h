//===- Quantization.h - Quantised operands of other operators ---*- C++ -*-===//
//
// Part of Tarpon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// An operator that computes with quantised tensors is written as QuantizeLinear
// of an operator of DequantizeLinear; as for a model that spells it out, the
// passes find the integer computation.
//
//===----------------------------------------------------------------------===//

#ifndef TARPON_LIB_IMPORT_QUANTIZATION_H
#define TARPON_LIB_IMPORT_QUANTIZATION_H

#include "OnnxNode.h"

namespace tarpon {

/// The indices of the inputs that are a tensor, its scale and its zero point.
struct QuantInputs {
  unsigned value = 0, scale = 1, zeroPoint = 2;
  /// The dimension that several scales run along; none if an attribute gives
  /// it.
  std::optional<int64_t> axis;
};

/// Returns input `inputs.value` in f32, whatever its type is.
mlir::Value dequantize(OnnxNode &node, const QuantInputs &inputs);

/// As dequantize, for a tensor that has one scale.
mlir::Value dequantizeWhole(OnnxNode &node, unsigned value, unsigned scale,
                            unsigned zeroPoint);

/// Sets output 0 to `result`, quantised by these inputs. Without a zero point,
/// it has the type of what input `like` holds.
void setQuantized(OnnxNode &node, mlir::Value result, unsigned scale,
                  unsigned zeroPoint, unsigned like = 0);

/// A tensor that is quantised by its own range, in f32.
struct DynamicallyQuantized {
  /// The integers from 0 to 255.
  mlir::Value steps;
  mlir::Value scale, zeroPoint;
};

/// Quantises as DynamicQuantizeLinear does.
DynamicallyQuantized quantizeDynamically(OnnxNode &node, mlir::Value x);

/// Returns `x` rounded as its quantisation rounds it.
mlir::Value roundDynamically(OnnxNode &node, mlir::Value x);

} // namespace tarpon

#endif // TARPON_LIB_IMPORT_QUANTIZATION_H
