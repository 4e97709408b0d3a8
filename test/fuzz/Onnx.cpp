//===- Onnx.cpp - Fuzzes the importer and the passes ----------------------===//
//
// Part of Tarpon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A model becomes a function of launches, in a precision and a layout that its
// bytes decide. No kernels are compiled: that takes a thousand times as long.
//
//===----------------------------------------------------------------------===//

#include "FuzzInput.h"
#include "MutateMessage.h"

#include "tarpon/Import/OnnxImport.h"
#include "tarpon/Passes/Pipelines.h"
#include "tarpon/Targets/Host/HostTarget.h"
#include "tarpon/Targets/Registry/TargetRegistry.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/Diagnostics.h"

#include "onnx/onnx_pb.h"

#include <algorithm>
#include <iterator>
#include <numeric>

using namespace mlir;
using namespace tarpon;

static const TargetInfo &getTarget() {
  static const TargetInfo target = [] {
    registerHostTargets();
    return (*findTarget("x86-64-v3"))->getInfo();
  }();
  return target;
}

/// int8 needs ranges, which only a run of the model tells.
static ChoiceOptions choose(const uint8_t *bytes, size_t size) {
  using runtime::Precision;
  static constexpr Precision kFloats[] = {Precision::F32, Precision::F16,
                                          Precision::BF16};
  size_t sum = std::accumulate(bytes, bytes + size, size_t(0));
  ChoiceOptions options;
  options.dtype = kFloats[sum % std::size(kFloats)];
  options.layout = sum / 3 % 2 == 0 ? Layout() : *parseLayout("nhwc");
  options.fusion = sum / 6 % 4 == 0 ? Fusion::Off : Fusion::On;
  options.target = getTarget();
  return options;
}

static void lower(func::FuncOp function, const ChoiceOptions &choice) {
  PassManager pm(function.getContext(), func::FuncOp::getOperationName());
  buildSimplifyPipeline(pm);
  buildChoicePipeline(pm, choice);
  buildLoweringPipeline(pm, {getTarget(), nullptr});
  // The pass manager verifies the function after each pass.
  (void)pm.run(function);
}

extern "C" size_t LLVMFuzzerCustomMutator(uint8_t *bytes, size_t size,
                                          size_t maxSize, unsigned seed) {
  onnx::ModelProto model;
  return fuzz::mutate(model, bytes, size, maxSize, seed);
}

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size) {
  // Threads would outlive the context of each input.
  MLIRContext context(MLIRContext::Threading::DISABLED);
  int errors = 0;
  ScopedDiagnosticHandler handler(&context, [&](Diagnostic &diagnostic) {
    errors += diagnostic.getSeverity() == DiagnosticSeverity::Error;
    return success();
  });
  fuzz::InputFile file(bytes, size);
  ImportOptions options;
  options.digest = false;
  options.threads = 1;
  OwningOpRef<ModuleOp> module = importOnnx(context, file.getPath(), options);
  fuzz::require(module || errors > 0, "a refusal says why");
  if (module)
    lower(*module->getOps<func::FuncOp>().begin(), choose(bytes, size));
  return 0;
}
