//===- Calibration.cpp - Measures the ranges of tensors -------------------===//
//
// Part of Tarpon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tarpon/Autotune/Choice/Calibration.h"

#include "Choice/FilterMeans.h"
#include "Choice/Histogram.h"
#include "tarpon/IR/DiagnosticLog.h"
#include "tarpon/IR/Locations.h"
#include "tarpon/IR/TarponOps.h"
#include "tarpon/Passes/Passes.h"
#include "tarpon/Runtime/Measure.h"

#include "mlir/IR/Builders.h"
#include "mlir/IR/OwningOpRef.h"
#include "mlir/Pass/PassManager.h"

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

namespace {

/// Runs a fused function that gives all of its tensors.
class TensorReader {
public:
  TensorReader(Instance instance, size_t ownResults,
               const CalibrationInputs &inputs)
      : instance(std::move(instance)), ownResults(ownResults), inputs(inputs) {}

  /// Calls a function with each tensor of each sample.
  runtime::Status
  read(llvm::function_ref<void(size_t, const HostTensor &)> visit) {
    for (const std::vector<HostTensor> &sample : inputs.getRangeSamples()) {
      setInputs(instance, sample);
      if (runtime::Status status = instance.run(); !status)
        return status;
      size_t index = 0;
      for (const HostTensor &input : instance.inputs())
        visit(index++, input);
      for (const HostTensor &output :
           llvm::drop_begin(instance.outputs(), ownResults))
        visit(index++, output);
    }
    return runtime::success();
  }

private:
  Instance instance;
  size_t ownResults;
  const CalibrationInputs &inputs;
};

} // namespace

static Result<TensorReader> makeReader(func::FuncOp function,
                                       const CalibrationInputs &inputs,
                                       const CalibrationCompiler &compile,
                                       int threads) {
  OwningOpRef<func::FuncOp> exposed = function.clone();
  size_t own = exposeResults(*exposed);
  Result<runtime::Package> package = compile(*exposed);
  if (!package)
    return package.error();
  Result<Instance> instance =
      makeInstance(std::move(*package), threads, inputs.samples.front());
  if (!instance)
    return instance.error();
  return TensorReader(std::move(*instance), own, inputs);
}

static Result<std::vector<Histogram>>
countValues(TensorReader &reader, const std::vector<std::string> &names) {
  std::vector<Extent> extents(names.size());
  if (runtime::Status status =
          reader.read([&](size_t index, const HostTensor &tensor) {
            extents[index].include(tensor);
          });
      !status)
    return status.error();
  std::vector<Histogram> histograms;
  for (auto [name, extent] : llvm::zip_equal(names, extents)) {
    if (!extent.finite)
      return Error{"calibration: '" + name +
                   "' has a NaN or an infinity, so int8 has no range for it"};
    // An empty tensor has no range: any range does.
    if (extent.lo > extent.hi)
      extent = {0, 0, true};
    histograms.emplace_back(extent.lo, extent.hi);
  }
  if (runtime::Status status =
          reader.read([&](size_t index, const HostTensor &tensor) {
            int64_t size = runtime::dtypeBytes(tensor.dtype);
            for (int64_t i = 0; i < tensor.data.size(); i += size)
              histograms[index].add(
                  runtime::loadAsFloat(tensor.dtype, tensor.data.data() + i));
          });
      !status)
    return status.error();
  return histograms;
}

/// Takes the method with the least squared error, unless one is given.
static TensorRange chooseRange(const std::string &name,
                               const Histogram &histogram,
                               std::optional<RangeMethod> method) {
  RangeMethod best = method.value_or(RangeMethod::MinMax);
  if (!method)
    for (RangeMethod other : kRangeMethods)
      if (histogram.getError(histogram.getRange(other)) <
          histogram.getError(histogram.getRange(best)))
        best = other;
  Bounds bounds = histogram.getRange(best);
  TensorRange range = {name, bounds.lo, bounds.hi};
  range.method = best;
  return range;
}

/// Measures the means of what filters read, which depend on the ranges.
static runtime::Status measureMeans(func::FuncOp function, TensorReader &reader,
                                    std::vector<TensorRange> &ranges) {
  OwningOpRef<func::FuncOp> quantized = function.clone();
  if (runtime::Status status = applyRanges(*quantized, ranges); !status)
    return status;
  DiagnosticLog log(function.getContext());
  PassManager passes(function.getContext(), func::FuncOp::getOperationName());
  passes.addPass(createQuantizePass());
  if (failed(passes.run(*quantized)))
    return Error{"calibration: " + log.getFirst()};
  FilterMeans means(function, *quantized);
  if (runtime::Status status =
          reader.read([&](size_t index, const HostTensor &tensor) {
            means.add(index, tensor);
          });
      !status)
    return status;
  means.finish(ranges);
  return runtime::success();
}

Result<std::vector<TensorRange>>
tarpon::measureRanges(func::FuncOp function, const CalibrationInputs &inputs,
                      const CalibrationCompiler &compile, int threads,
                      std::optional<RangeMethod> method) {
  Result<TensorReader> reader = makeReader(function, inputs, compile, threads);
  if (!reader)
    return reader.error();
  std::vector<std::string> names = getTensorNames(function);
  Result<std::vector<Histogram>> histograms = countValues(*reader, names);
  if (!histograms)
    return histograms.error();
  std::vector<TensorRange> ranges;
  for (auto [name, histogram] : llvm::zip_equal(names, *histograms))
    ranges.push_back(chooseRange(name, histogram, method));
  if (runtime::Status status = measureMeans(function, *reader, ranges); !status)
    return status.error();
  return ranges;
}

//===----------------------------------------------------------------------===//
// Applying
//===----------------------------------------------------------------------===//

static DenseF32ArrayAttr makeRangeAttr(Builder &builder,
                                       const TensorRange &range) {
  return builder.getDenseF32ArrayAttr({range.lo, range.hi});
}

static void setRange(Builder &builder, FusedOp op, const TensorRange &range) {
  op->setAttr(kRangeAttrName, makeRangeAttr(builder, range));
  if (range.inputMeans.empty())
    return;
  op->setAttr(kInputMeansAttrName,
              builder.getDenseF32ArrayAttr(range.inputMeans));
  op->setAttr(kStoredMeansAttrName,
              builder.getDenseF32ArrayAttr(range.storedMeans));
}

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
  unsigned arguments = function.getNumArguments();
  for (unsigned i = 0; i < arguments; ++i)
    function.setArgAttr(i, kRangeAttrName, makeRangeAttr(builder, ranges[i]));
  for (auto [index, op] : llvm::enumerate(getFusedOps(function)))
    setRange(builder, op, ranges[arguments + index]);
  return runtime::success();
}
