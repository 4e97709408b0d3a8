//===- ImportCommand.cpp - graph-opt import ---------------------*- C++ -*-===//
//
// Part of Tarpon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "CommandLineValues.h"
#include "CommandSet.h"
#include "Commands.h"
#include "Messages.h"
#include "Reports/Diagnostics.h"
#include "SharedOptions.h"
#include "SizeOptions.h"

#include "tarpon/Import/OnnxImport.h"

#include "mlir/IR/MLIRContext.h"

using namespace mlir;

namespace tarpon {

namespace {

struct ImportArguments {
  std::string model;
  std::optional<int64_t> batch;
  std::vector<std::string> sizes;
  /// Constants with more elements than this are printed without them.
  int64_t elide = 16;
};

} // namespace

static int runImport(const ImportArguments &arguments) {
  MLIRContext context;
  DiagnosticCollector diagnostics(context);
  ImportOptions options;
  options.batch = arguments.batch;
  // This cannot fail: the command line was checked.
  for (const std::string &size : arguments.sizes)
    if (!options.dims.insert(*parseSize(size)).second)
      return failUsage("--dim is given twice for one dimension");
  OwningOpRef<ModuleOp> module = importOnnx(context, arguments.model, options);
  if (!module)
    return fail(
        diagnostics.getError("cannot import '" + arguments.model + "'"));
  OpPrintingFlags flags;
  flags.elideLargeElementsAttrs(arguments.elide);
  flags.elideLargeResourceString(arguments.elide);
  module->print(llvm::outs(), flags);
  llvm::outs().flush();
  return kSuccess;
}

//===----------------------------------------------------------------------===//
// The command line
//===----------------------------------------------------------------------===//

void addImport(CommandSet &commands) {
  using namespace options;
  auto [sub, import] =
      commands.add("import", "Print an ONNX model as MLIR",
                   "graph-opt import resnet50.onnx --elide 4", runImport);
  addModel(sub, import.model, "The ONNX model");
  addBatch(sub, import.batch);
  addSizes(*sub, import.sizes);
  sub->add_option("--elide", import.elide,
                  "Print the values of constants of up to N elements only "
                  "(default: 16)")
      ->check(isBetween(int64_t(0), int64_t(1) << 40))
      ->type_name("N");
}

} // namespace tarpon
