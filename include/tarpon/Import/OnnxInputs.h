//===- OnnxInputs.h - The names of a model's inputs -------------*- C++ -*-===//
//
// Part of Tarpon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TARPON_IMPORT_ONNXINPUTS_H
#define TARPON_IMPORT_ONNXINPUTS_H

#include "mlir/IR/MLIRContext.h"
#include "mlir/Support/LLVM.h"

#include <string>
#include <vector>

namespace tarpon {

/// The graph inputs of the model at `path` that have no initialiser, which
/// become the arguments of @main. They are known without an import, which may
/// need to assume values for some of them. Fails, with a diagnostic, for a
/// broken model.
mlir::FailureOr<std::vector<std::string>>
readOnnxInputNames(mlir::MLIRContext &context, llvm::StringRef path);

} // namespace tarpon

#endif // TARPON_IMPORT_ONNXINPUTS_H
