//===- OnnxImport.h - Imports an ONNX file ----------------------*- C++ -*-===//
//
// Part of Tarpon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Reads an ONNX model (opset 7 to 24, and older where its operators have not
// changed since) and builds its graph: static shapes, nchw, the model's own
// precision, nothing fused. A model that is broken or uses unsupported features
// gives a diagnostic that names the operator, the node and the file, and no
// module.
//
//===----------------------------------------------------------------------===//

#ifndef TARPON_IMPORT_ONNXIMPORT_H
#define TARPON_IMPORT_ONNXIMPORT_H

#include "tarpon/Runtime/Tensor.h"

#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/OwningOpRef.h"

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace tarpon {

struct ImportOptions {
  /// The size of symbolic leading dimensions, and of every other dimension that
  /// has the same symbol. Without it they become 1, with a warning.
  std::optional<int64_t> batch;
  /// The sizes of symbolic dimensions, by their symbols; the others are bound
  /// by `batch`.
  std::map<std::string, int64_t> dims = {};

  /// Values of model inputs, by name, that may be assumed where an operator
  /// needs a compile-time constant (the shape of a Reshape). Such an input
  /// stays an argument, and the module is right for this value of it only. A
  /// tensor of another type than the input's is not assumed. The tensors are
  /// read during the import only.
  std::map<std::string, const runtime::HostTensor *> assumedInputs;

  /// True to compute ModelInfo::sha256, which reads the whole file.
  bool digest = true;
  /// The number of threads that read large weights. 0: one per core.
  int threads = 0;
};

/// The attributes of @main that describe the imported model.
struct ModelInfo {
  std::string name;
  /// The digest of the model file, or, with external data, of the list of its
  /// and the data files' digests. Empty without ImportOptions::digest.
  std::string sha256;
  std::vector<std::string> inputs;
  std::vector<std::string> outputs;
  /// The inputs of ImportOptions::assumedInputs whose values an operator
  /// needed.
  std::vector<std::string> assumedInputs;
  /// For each input the symbols of its dimensions, "" for those without one.
  /// Empty if no input has any.
  std::vector<std::vector<std::string>> symbols;
};

class ModelReader;

/// A model file that is read once, to be imported several times. Its weights
/// are shared between the modules, and live as long as one of them does.
class OnnxModel {
public:
  /// Reads the file; of the options, only `digest` and `threads` count. Emits
  /// diagnostics on the context, and returns null, on failure.
  static std::unique_ptr<OnnxModel> open(mlir::MLIRContext &context,
                                         llvm::StringRef path,
                                         const ImportOptions &options);
  ~OnnxModel();

  /// Imports the model like importOnnx, into any context; all options but
  /// `digest` and `threads` count.
  mlir::OwningOpRef<mlir::ModuleOp> import(mlir::MLIRContext &context,
                                           const ImportOptions &options);

private:
  explicit OnnxModel(std::unique_ptr<ModelReader> reader);
  std::unique_ptr<ModelReader> reader;
};

/// Imports the model at `path` as func.func @main, one argument per graph input
/// that has no initialiser, with the discardable attributes tarpon.model_name,
/// tarpon.model_sha256 (see ImportOptions::digest), tarpon.input_names,
/// tarpon.output_names and, if there are any, tarpon.input_symbols,
/// tarpon.assumed_inputs and tarpon.output_sizes (see docs/design.md, section
/// 4). The location of every op is a NameLoc of its node inside the file's. On
/// failure, emits diagnostics and returns null.
mlir::OwningOpRef<mlir::ModuleOp> importOnnx(mlir::MLIRContext &context,
                                             llvm::StringRef path,
                                             const ImportOptions &options = {});

/// Reads the attributes back; fields without an attribute stay empty.
ModelInfo getModelInfo(mlir::ModuleOp module);

} // namespace tarpon

#endif // TARPON_IMPORT_ONNXIMPORT_H
