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

OnnxModel::OnnxModel(std::unique_ptr<ModelReader> reader)
    : reader(std::move(reader)) {}
OnnxModel::~OnnxModel() = default;

std::unique_ptr<OnnxModel> OnnxModel::open(MLIRContext &context, StringRef path,
                                           const ImportOptions &options) {
  auto reader =
      ModelReader::create(&context, path, options.threads, options.digest);
  if (!reader)
    return nullptr;
  return std::unique_ptr<OnnxModel>(new OnnxModel(std::move(reader)));
}

OwningOpRef<ModuleOp> OnnxModel::import(MLIRContext &context,
                                        const ImportOptions &options) {
  context.loadDialect<TarponDialect, func::FuncDialect, quant::QuantDialect>();
  reader->setContext(&context);
  OwningOpRef<ModuleOp> module =
      GraphBuilder(*reader, options, &context).build();
  // Errors in a file that is being written are the writer's.
  if (failed(reader->checkUnchanged()))
    return nullptr;
  return module;
}

OwningOpRef<ModuleOp> importOnnx(MLIRContext &context, StringRef path,
                                 const ImportOptions &options) {
  std::unique_ptr<OnnxModel> model = OnnxModel::open(context, path, options);
  return model ? model->import(context, options) : nullptr;
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
