//===- OnnxInputs.cpp - The names of a model's inputs -----------*- C++ -*-===//
//
// Part of Tarpon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tarpon/Import/OnnxInputs.h"

#include "ModelReader.h"

#include "llvm/ADT/StringSet.h"

namespace tarpon {

mlir::FailureOr<std::vector<std::string>>
readOnnxInputNames(mlir::MLIRContext &context, llvm::StringRef path) {
  std::unique_ptr<ModelReader> model =
      ModelReader::create(&context, path, /*threads=*/0, /*digest=*/false);
  if (!model)
    return mlir::failure();
  const onnx::GraphProto &graph = model->getGraph();
  llvm::StringSet<> initializers;
  for (const onnx::TensorProto &tensor : graph.initializer())
    initializers.insert(tensor.name());
  std::vector<std::string> names;
  for (const onnx::ValueInfoProto &input : graph.input())
    if (!initializers.contains(input.name()))
      names.push_back(input.name());
  return names;
}

} // namespace tarpon
