//===- OnnxImport.cpp - Imports an ONNX file --------------------*- C++ -*-===//
//
// Part of Tarpon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tarpon/Import/OnnxImport.h"

#include "GraphBuilder.h"

#include "mlir/Dialect/Quant/IR/Quant.h"

using namespace mlir;

namespace tarpon {

OwningOpRef<ModuleOp> importOnnx(MLIRContext &context, StringRef path,
                                 const ImportOptions &options) {
  context.loadDialect<TarponDialect, func::FuncDialect, quant::QuantDialect>();
  std::unique_ptr<ModelReader> model =
      ModelReader::create(&context, path, options.threads, options.digest);
  if (!model)
    return nullptr;
  OwningOpRef<ModuleOp> module =
      GraphBuilder(*model, options, &context).build();
  // Errors in a file that is being written are the writer's.
  if (failed(model->checkUnchanged()))
    return nullptr;
  return module;
}

static std::string getString(Operation *op, StringRef name) {
  auto attr = op->getAttrOfType<StringAttr>(name);
  return attr ? attr.getValue().str() : "";
}

static std::vector<std::string> getStrings(Operation *op, StringRef name) {
  std::vector<std::string> strings;
  if (auto attr = op->getAttrOfType<ArrayAttr>(name))
    for (auto element : attr.getAsRange<StringAttr>())
      strings.push_back(element.getValue().str());
  return strings;
}

static std::vector<std::vector<std::string>> getSymbols(Operation *main) {
  std::vector<std::vector<std::string>> symbols;
  if (auto inputs = main->getAttrOfType<ArrayAttr>("tarpon.input_symbols"))
    for (auto input : inputs.getAsRange<ArrayAttr>()) {
      symbols.emplace_back();
      for (auto symbol : input.getAsRange<StringAttr>())
        symbols.back().push_back(symbol.str());
    }
  return symbols;
}

ModelInfo getModelInfo(ModuleOp module) {
  auto main = module.lookupSymbol<func::FuncOp>("main");
  if (!main)
    return {};
  return {getString(main, "tarpon.model_name"),
          getString(main, "tarpon.model_sha256"),
          getStrings(main, "tarpon.input_names"),
          getStrings(main, "tarpon.output_names"),
          getStrings(main, "tarpon.assumed_inputs"),
          getSymbols(main)};
}

} // namespace tarpon
