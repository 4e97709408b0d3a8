//===- ModelInputs.h - The static types of the model's inputs ---*- C++ -*-===//
//
// Part of Tarpon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TARPON_LIB_IMPORT_MODELINPUTS_H
#define TARPON_LIB_IMPORT_MODELINPUTS_H

#include "ModelReader.h"

#include "mlir/IR/BuiltinTypes.h"

#include <optional>

namespace tarpon {

/// One type per input, with the symbolic leading dimensions bound to `batch`,
/// or to 1 with a warning.
mlir::FailureOr<llvm::SmallVector<mlir::RankedTensorType>>
resolveInputTypes(ModelReader &model,
                  llvm::ArrayRef<const onnx::ValueInfoProto *> inputs,
                  std::optional<int64_t> batch);

} // namespace tarpon

#endif // TARPON_LIB_IMPORT_MODELINPUTS_H
