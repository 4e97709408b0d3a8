//===- Calibration.cpp - Measures the ranges of tensors -------------------===//
//
// Part of Tarpon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tarpon/Autotune/Choice/Calibration.h"

#include "tarpon/IR/Locations.h"
#include "tarpon/IR/TarponOps.h"
#include "tarpon/Passes/Passes.h"
#include "tarpon/Runtime/Measure.h"

#include "mlir/IR/Builders.h"
#include "mlir/IR/OwningOpRef.h"

#include "llvm/ADT/STLExtras.h"

#include <algorithm>
#include <cmath>
#include <optional>

using namespace mlir;
using namespace tarpon;
using runtime::Error;
using runtime::HostTensor;
using runtime::Instance;
using runtime::Result;

//===----------------------------------------------------------------------===//
// The tensors that have ranges
//===----------------------------------------------------------------------===//

static std::vector<FusedOp> getFusedOps(func::FuncOp function) {
  std::vector<FusedOp> ops;
  function.walk([&](FusedOp op) { ops.push_back(op); });
  return ops;
}

/// The names of the arguments, then of the fused ops.
static std::vector<std::string> getTensorNames(func::FuncOp function) {
  std::vector<std::string> names;
  for (unsigned i = 0; i < function.getNumArguments(); ++i)
    names.push_back("argument " + std::to_string(i));
  for (auto [index, op] : llvm::enumerate(getFusedOps(function))) {
    std::string name = getLocationName(op.getRoot()->getLoc()).str();
    names.push_back(name.empty() ? "op " + std::to_string(index) : name);
  }
  return names;
}

/// Appends every fused op's result to the function's results. Returns the
/// number of its own results.
static size_t exposeResults(func::FuncOp function) {
  Operation *terminator = function.getBody().front().getTerminator();
  size_t own = terminator->getNumOperands();
  SmallVector<Value> results(terminator->getOperands());
  for (FusedOp op : getFusedOps(function))
    results.push_back(op.getResult());
  terminator->setOperands(results);
  function.setType(FunctionType::get(function.getContext(),
                                     function.getArgumentTypes(),
                                     TypeRange(ValueRange(results))));
  function.setAllResultAttrs(
      ArrayRef<DictionaryAttr>(SmallVector<DictionaryAttr>(
          results.size(), DictionaryAttr::get(function.getContext()))));
  return own;
}

//===----------------------------------------------------------------------===//
// Measuring
//===----------------------------------------------------------------------===//

namespace {

/// The least and the greatest value of a tensor so far.
struct Extent {
  float lo = INFINITY, hi = -INFINITY;
  bool finite = true;

  void include(const HostTensor &tensor) {
    int64_t size = runtime::dtypeBytes(tensor.dtype);
    for (int64_t i = 0; i < tensor.data.size(); i += size) {
      float value = runtime::loadAsFloat(tensor.dtype, tensor.data.data() + i);
      finite &= std::isfinite(value);
      lo = std::min(lo, value);
      hi = std::max(hi, value);
    }
  }
};

} // namespace

/// Copies the sample into an existing instance.
static void setInputs(Instance &instance,
                      const std::vector<HostTensor> &sample) {
  for (auto [input, tensor] : llvm::zip_equal(instance.inputs(), sample))
    std::copy_n(tensor.data.data(), tensor.data.size(), input.data.data());
}

static Result<Instance> makeInstance(runtime::Package package, int threads,
                                     const std::vector<HostTensor> &sample) {
  runtime::ExecutorOptions options;
  options.threads = threads;
  options.paddedBuffers = true;
  auto executor = runtime::Executor::create(std::move(package), options);
  if (!executor)
    return executor.error();
  Result<std::vector<HostTensor>> copies = runtime::cloneAll(sample);
  if (!copies)
    return copies.error();
  return Instance::create(std::move(*executor), std::move(*copies));
}

Result<std::vector<TensorRange>>
tarpon::measureRanges(func::FuncOp function, const CalibrationInputs &inputs,
                      const CalibrationCompiler &compile, int threads) {
  std::vector<std::string> names = getTensorNames(function);
  OwningOpRef<func::FuncOp> exposed = function.clone();
  size_t own = exposeResults(*exposed);
  Result<runtime::Package> package = compile(*exposed);
  if (!package)
    return package.error();
  Result<Instance> instance =
      makeInstance(std::move(*package), threads, inputs.samples.front());
  if (!instance)
    return instance.error();

  std::vector<Extent> extents(names.size());
  for (const std::vector<HostTensor> &sample : inputs.samples) {
    setInputs(*instance, sample);
    if (runtime::Status status = instance->run(); !status)
      return status.error();
    for (auto [index, input] : llvm::enumerate(instance->inputs()))
      extents[index].include(input);
    size_t count = instance->inputs().size();
    for (size_t i = own; i < instance->outputs().size(); ++i)
      extents[count + i - own].include(instance->outputs()[i]);
  }
  std::vector<TensorRange> ranges;
  for (auto [name, extent] : llvm::zip_equal(names, extents)) {
    if (!extent.finite)
      return Error{"calibration: '" + name +
                   "' has a NaN or an infinity, so int8 has no range for it"};
    // An empty tensor has no range: any range does.
    if (extent.lo > extent.hi)
      extent = {0, 0, true};
    ranges.push_back({name, extent.lo, extent.hi});
  }
  return ranges;
}

//===----------------------------------------------------------------------===//
// Applying
//===----------------------------------------------------------------------===//

runtime::Status tarpon::applyRanges(func::FuncOp function,
                                    const std::vector<TensorRange> &ranges) {
  std::vector<std::string> names = getTensorNames(function);
  if (ranges.size() != names.size())
    return Error{"there are ranges of " + std::to_string(ranges.size()) +
                 " tensors for a model of " + std::to_string(names.size())};
  for (auto [range, name] : llvm::zip_equal(ranges, names))
    if (range.name != name)
      return Error{"there is a range of '" + range.name + "' where '" + name +
                   "' is expected"};
  Builder builder(function.getContext());
  auto makeAttr = [&](const TensorRange &range) {
    return builder.getDenseF32ArrayAttr({range.lo, range.hi});
  };
  unsigned arguments = function.getNumArguments();
  for (unsigned i = 0; i < arguments; ++i)
    function.setArgAttr(i, kRangeAttrName, makeAttr(ranges[i]));
  for (auto [index, op] : llvm::enumerate(getFusedOps(function)))
    op->setAttr(kRangeAttrName, makeAttr(ranges[arguments + index]));
  return runtime::success();
}
