//===- ModelInputs.h - The static types of the model's inputs ---*- C++ -*-===//
//
// Part of Tarpon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TARPON_LIB_IMPORT_MODELINPUTS_H
#define TARPON_LIB_IMPORT_MODELINPUTS_H

#include "ModelReader.h"

#include "tarpon/Import/OnnxImport.h"

#include "mlir/IR/BuiltinTypes.h"

namespace tarpon {

/// One type per input, with symbolic dimensions bound by the options; leading
/// ones without a size become 1, with a warning.
mlir::FailureOr<llvm::SmallVector<mlir::RankedTensorType>>
resolveInputTypes(ModelReader &model,
                  llvm::ArrayRef<const onnx::ValueInfoProto *> inputs,
                  const ImportOptions &options);

/// The symbols of an input's dimensions, "" for those that have none.
llvm::SmallVector<llvm::StringRef>
getSymbols(const onnx::ValueInfoProto &input);

} // namespace tarpon

#endif // TARPON_LIB_IMPORT_MODELINPUTS_H
