//===- Problem.h - One operation to be solved -------------------*- C++ -*-===//
//
// Part of Tarpon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A problem, which solvers solve and databases have as key: a root operation,
// its operands and results as they are stored, its attributes and its epilogue.
// It has one canonical text form, the problem key, which parses back. The IR
// carries it as #tarpon.problem; tarpon/IR/FusedProblem.h makes one of a
// region.
//
//===----------------------------------------------------------------------===//

#ifndef TARPON_PROBLEM_PROBLEM_H
#define TARPON_PROBLEM_PROBLEM_H

#include "tarpon/Problem/OpKind.h"
#include "tarpon/Runtime/DType.h"

#include "mlir/Support/LLVM.h"

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/Hashing.h"
#include "llvm/ADT/StringRef.h"

#include <map>
#include <string>
#include <vector>

namespace tarpon {

using runtime::DType;

/// Mirrors #tarpon.layout without an MLIR context.
struct Layout {
  enum Kind : uint8_t { NCHW, NHWC, Blocked } kind = NCHW;
  /// Channels per block; 1 unless the kind is Blocked.
  int64_t block = 1;

  auto operator<=>(const Layout &) const = default;
  /// "nchw", "nhwc" or "nchw16c".
  std::string name() const;
};

/// Parses such a name.
mlir::FailureOr<Layout> parseLayout(llvm::StringRef name);

/// One operand or result as it lies in memory.
struct TensorDesc {
  DType dtype = DType::F32;
  /// Logical shape: N, C, spatial...
  std::vector<int64_t> shape;
  Layout layout;
  /// The distance in elements from one pixel to the next in nhwc, if it is more
  /// than the number of channels: the tensor is a slice of a larger one. 0
  /// where pixels lie side by side.
  int64_t pitch = 0;
  /// Known at compile time, so that a solver may pack it.
  bool constant = false;

  /// real = scale * (stored - zeroPoint). Not part of the key: one kernel
  /// serves all scales. One scale, or one per index of `quantAxis`.
  bool quantized = false;
  std::vector<float> scales;
  int64_t zeroPoint = 0;
  int64_t quantAxis = -1;

  bool operator==(const TensorDesc &) const = default;

  int64_t rank() const { return static_cast<int64_t>(shape.size()); }
  /// Logical elements.
  int64_t numElements() const;
  /// Bytes in memory from the first element to the last; a blocked layout
  /// counts its padding channels.
  int64_t numBytes() const;
  /// The distance in elements from one pixel to the next in nhwc.
  int64_t pixelPitch() const { return pitch ? pitch : shape[1]; }
  /// Product of the dimensions behind the second.
  int64_t spatialSize() const;
  /// The dimensions behind the second.
  llvm::ArrayRef<int64_t> spatial() const;
};

/// Named numbers; integers are exact up to 2^53.
using ProblemAttrs = std::map<std::string, std::vector<double>>;

/// One operation on the result of the step before it: an elementwise one in f32
/// (in f64 or i64 when the problem computes in those), or the consumer of a
/// problem with a producer (Producer.h).
struct EpilogueStep {
  /// The operation, which the initial value is not.
  OpKind op = OpKind::Convert;
  /// The other operand of a binary op or of a consumer (index into
  /// Problem::operands), or -1.
  int operand = -1;
  /// True if the value of the step before is the right-hand operand.
  bool swapped = false;
  ProblemAttrs attrs;

  bool operator==(const EpilogueStep &) const = default;
};

struct Problem {
  /// The root's operation.
  OpKind op = OpKind::Convert;
  /// The root's operands in order, then the epilogue's.
  std::vector<TensorDesc> operands;
  /// The number of the root's operands.
  int rootOperands = 1;
  TensorDesc result;
  /// Results beside the first: indices, saved statistics, states. The epilogue
  /// applies to `result` only.
  std::vector<TensorDesc> moreResults;
  ProblemAttrs attrs;
  std::vector<EpilogueStep> epilogue;

  /// Unlike keys, this compares scales and zero points, too. Attributes are
  /// compared as the key spells them, so that a NaN equals itself.
  bool operator==(const Problem &other) const;

  int64_t numResults() const {
    return 1 + static_cast<int64_t>(moreResults.size());
  }
  /// `result`, then `moreResults`.
  const TensorDesc &getResult(int64_t index) const {
    return index == 0 ? result : moreResults[index - 1];
  }
  TensorDesc &getResult(int64_t index) {
    return index == 0 ? result : moreResults[index - 1];
  }

  /// An integer list or value of `attrs`; asserts that it is there.
  std::vector<int64_t> ints(llvm::StringRef name) const;
  int64_t integer(llvm::StringRef name) const;
  double number(llvm::StringRef name) const;

  /// The canonical text, for example
  ///   conv(1x64x56x56xf32:nhwc, 64x64x3x3xf32:const)->1x64x56x56xf32:nhwc
  ///   {dilations=1,1 group=1 pads=1,1,1,1 strides=1,1} | relu
  /// on one line. Quantised dtypes are spelled "u8q", "i8q"; several results
  /// stand in parentheses: "...)->(1x4x2x2xf32, 1x4x2x2xi64)". A slice of a
  /// tensor with 256 channels is spelled "1x64x56x56xf32:nhwc/256".
  std::string key() const;

  /// The problem as its key describes it: scales are 1, zero points are 0.
  Problem withUnitScales() const;

  /// Returns true if an operand or the result is a slice (see
  /// TensorDesc::pitch).
  bool hasSlices() const;

  /// The multiplications and additions of the root, counted separately; and the
  /// bytes read and written, each once.
  double flops() const;
  double bytes() const;
};

/// Hashes the key, which equal problems share.
llvm::hash_code hash_value(const Problem &problem);

/// Parses a problem key. Scales come back as 1 and zero points as 0. A key that
/// no graph can make (see findFault) is refused; `fault` then says why.
mlir::FailureOr<Problem> parseProblem(llvm::StringRef key,
                                      std::string *fault = nullptr);

/// Describes what is wrong with a problem that no graph can pose, and that
/// solvers need not be ready for: "conv has 1 operands, expected 2". "" if
/// nothing is wrong.
std::string findFault(const Problem &problem);

} // namespace tarpon

#endif // TARPON_PROBLEM_PROBLEM_H
