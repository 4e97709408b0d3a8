//===- ModelLoading.cpp - A model and its compiler ------------------------===//
//
// Part of Tarpon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Choice/ModelLoading.h"

#include "Choice/ModelCompiler.h"
#include "tarpon/IR/TarponDialect.h"
#include "tarpon/Runtime/HostFeatures.h"
#include "tarpon/Targets/Cache/LayeredKernelCache.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Quant/IR/Quant.h"

using namespace tarpon;
using runtime::Error;
using runtime::Result;
using runtime::Status;

Status tarpon::checkRunsHere(const TargetCompiler &compiler,
                             const std::string &name) {
  if (!compiler.kernels->describeCostModel().empty())
    return runtime::success();
  for (const std::string &feature : compiler.target->getInfo().features)
    if (!runtime::hostHasFeature(feature))
      return Error{"cannot compile for '" + name + "': it has " + feature +
                   ", which this machine lacks"};
  return runtime::success();
}

Result<TargetCompiler>
tarpon::makeTargetCompiler(const std::string &name,
                           const TargetOptions &options) {
  Result<std::shared_ptr<const Target>> found = findTarget(name, options);
  if (!found)
    return found.error();
  TargetCompiler compiler;
  compiler.target = std::move(*found);
  compiler.kernels = openKernelCompiler(*compiler.target);
  return compiler;
}

std::unique_ptr<mlir::MLIRContext> tarpon::makeModelContext() {
  auto context = std::make_unique<mlir::MLIRContext>(
      mlir::MLIRContext::Threading::DISABLED);
  context->loadDialect<TarponDialect, mlir::func::FuncDialect,
                       mlir::quant::QuantDialect>();
  return context;
}

Result<mlir::OwningOpRef<mlir::ModuleOp>>
tarpon::importModel(mlir::MLIRContext &context,
                    std::unique_ptr<OnnxModel> &model, const std::string &path,
                    const ImportOptions &options,
                    llvm::function_ref<Status(const std::string &)> onRemark) {
  std::vector<std::string> remarks;
  ErrorCapture errors(
      &context, [&](std::string text) { remarks.push_back(std::move(text)); });
  if (!model)
    model = OnnxModel::open(context, path, options);
  mlir::OwningOpRef<mlir::ModuleOp> module;
  if (model)
    module = model->import(context, options);
  if (!module)
    return errors.getError("cannot import " + path);
  for (const std::string &remark : remarks)
    if (Status status = onRemark(remark); !status)
      return status.error();
  return module;
}

Result<mlir::OwningOpRef<mlir::ModuleOp>>
tarpon::importModel(mlir::MLIRContext &context, const std::string &path,
                    const ImportOptions &options,
                    llvm::function_ref<Status(const std::string &)> onRemark) {
  std::unique_ptr<OnnxModel> model;
  return importModel(context, model, path, options, onRemark);
}
