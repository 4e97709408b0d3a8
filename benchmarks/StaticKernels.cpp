//===- StaticKernels.cpp - Kernels with the shapes compiled in ------------===//
//
// Part of Tarpon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "StaticKernels.h"

#include "Reports/CompileReport.h"

#include "tarpon/Kernels/Common/KernelBuilder.h"
#include "tarpon/Runtime/KernelABI.h"
#include "tarpon/Runtime/Sha256.h"
#include "tarpon/Targets/Host/HostBackend.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/IR/Matchers.h"

#include <chrono>
#include <cstring>

using namespace mlir;
using namespace tarpon;
using namespace tarpon::benchmarks;

/// The parameter that `pointer` points to, or none.
static std::optional<int64_t> getParamIndex(Value pointer, Value params) {
  if (pointer == params)
    return 0;
  auto offset = pointer.getDefiningOp<LLVM::GEPOp>();
  if (!offset || offset.getBase() != params ||
      !offset.getElemType().isInteger(8))
    return std::nullopt;
  LLVM::GEPIndicesAdaptor<ValueRange> indices = offset.getIndices();
  if (indices.size() != 1)
    return std::nullopt;
  if (auto constant = llvm::dyn_cast<IntegerAttr>(indices[0]))
    return constant.getInt() / 8;
  APInt bytes;
  auto value = llvm::dyn_cast<Value>(indices[0]);
  if (!value || !matchPattern(value, m_ConstantInt(&bytes)))
    return std::nullopt;
  return bytes.getSExtValue() / 8;
}

static TypedAttr getParamValue(OpBuilder &builder, Type type, int64_t param) {
  if (type.isF32())
    return builder.getF32FloatAttr(runtime::paramAsFloat(param));
  return builder.getI64IntegerAttr(param);
}

/// Replaces every load of a parameter by its value.
static void foldParams(func::FuncOp function, ArrayRef<int64_t> params) {
  constexpr unsigned kParams = 1; // see KernelFn
  Value pointer = function.getArgument(kParams);
  SmallVector<std::pair<LLVM::LoadOp, int64_t>> loads;
  function.walk([&](LLVM::LoadOp load) {
    std::optional<int64_t> index = getParamIndex(load.getAddr(), pointer);
    if (index && *index < static_cast<int64_t>(params.size()) &&
        (load.getType().isF32() || load.getType().isInteger(64)))
      loads.emplace_back(load, *index);
  });
  for (auto [load, index] : loads) {
    OpBuilder builder(load);
    Value constant = arith::ConstantOp::create(
        builder, load.getLoc(),
        getParamValue(builder, load.getType(), params[index]));
    load.replaceAllUsesWith(constant);
    load.erase();
  }
}

KernelSource benchmarks::makeStaticKernel(const KernelSource &kernel,
                                          const std::vector<int64_t> &params) {
  std::string bytes(reinterpret_cast<const char *>(params.data()),
                    params.size() * sizeof(int64_t));
  std::string digest = runtime::Sha256().update(bytes).finishHex();
  KernelSource result;
  result.symbol = kernel.symbol + "_static_" + digest.substr(0, 16);
  result.emit = [emit = kernel.emit, params](KernelBuilder &b) {
    emit(b);
    Operation *parent = b.getInsertionBlock()->getParentOp();
    foldParams(cast<func::FuncOp>(parent), params);
  };
  return result;
}

runtime::Result<runtime::Package>
benchmarks::makeStatic(const runtime::Package &package,
                       const TargetInfo &target, StaticCost &cost) {
  using Clock = std::chrono::steady_clock;
  runtime::Package result = package;
  KernelCompiler compiler = makeHostCompiler(target, /*cache=*/nullptr);
  std::map<std::string, std::shared_ptr<const std::vector<char>>> objects;
  Clock::time_point start = Clock::now();
  for (runtime::Layer &layer : result.layers) {
    auto plan = planAgain(layer, target);
    if (!plan)
      return plan.error();
    for (size_t i = 0; i < layer.launches.size(); ++i) {
      // The package's parameters hold the true scales, the plan's do not.
      KernelSource kernel =
          makeStaticKernel(plan->launches[i].kernel, layer.launches[i].params);
      layer.launches[i].symbol = kernel.symbol;
      auto object = compiler.getObject(layer.solver, kernel);
      if (!object)
        return object.error();
      objects[kernel.symbol] = *object;
    }
  }
  std::chrono::duration<double, std::milli> time = Clock::now() - start;
  cost = {static_cast<int64_t>(objects.size()), time.count(), 0};
  for (const auto &[symbol, object] : objects)
    cost.codeBytes += countCodeBytes(*object);
  auto library = compiler.link(objects);
  if (!library)
    return library.error();
  result.kernels = std::move(library->bytes);
  return result;
}
