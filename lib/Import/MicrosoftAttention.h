//===- MicrosoftAttention.h - Parts of ORT's attentions -------*- C++ -*-===//
//
// Part of Tarpon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TARPON_LIB_IMPORT_MICROSOFTATTENTION_H
#define TARPON_LIB_IMPORT_MICROSOFTATTENTION_H

#include "Attention.h"

namespace tarpon {

/// An integer attribute that has to be neutral.
struct NeutralAttribute {
  llvm::StringRef name;
  int64_t value;
};

class MicrosoftAttention : protected Attention {
public:
  using Attention::Attention;

protected:
  /// Emits an error if the node has an input from `first` on, whose names are
  /// these.
  void refuseInputs(unsigned first, llvm::ArrayRef<llvm::StringRef> names);
  /// Emits an error if an attribute is there with another value.
  void refuseOthers(llvm::ArrayRef<NeutralAttribute> attributes);
  /// The attribute, of which 0 is the default scale.
  double getScale();

  /// Adds the mask, in any of its forms, to the bias, which may be null.
  void addMask(mlir::Value &bias, unsigned input);
  /// Adds what hides the keys behind the position of each query, which is the
  /// `past`-th of the keys for the first one.
  void addCausalMask(mlir::Value &bias, int64_t past);
  /// Adds input `input` to the bias, if it is there.
  void addAttentionBias(mlir::Value &bias, unsigned input);

  /// Returns true if what has this shape of rank 4 can be added to scores
  /// without more batches or heads.
  bool fitsScores(llvm::ArrayRef<int64_t> shape);

  /// Sets output 0 for the bias, which may be null.
  void setResult(mlir::Value bias);

  /// Returns the scores, of which setResult makes the result.
  mlir::Value scores;

private:
  mlir::Value readMask(unsigned input);
};

} // namespace tarpon

#endif // TARPON_LIB_IMPORT_MICROSOFTATTENTION_H
