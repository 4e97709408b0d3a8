//===- ModelInputs.cpp - The static types of the model's inputs -*- C++ -*-===//
//
// Part of Tarpon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "ModelInputs.h"

#include "TensorReader.h"

#include "llvm/ADT/SetVector.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/Support/MathExtras.h"

#include <optional>

using namespace mlir;
using Dimension = onnx::TensorShapeProto::Dimension;

namespace tarpon {

namespace {
/// Binds symbols from the leading dimensions of all inputs first, and then
/// makes the types.
class InputResolver {
public:
  InputResolver(ModelReader &model,
                ArrayRef<const onnx::ValueInfoProto *> inputs,
                const ImportOptions &options)
      : model(model), inputs(inputs), batch(options.batch),
        sizes(options.dims) {}

  FailureOr<SmallVector<RankedTensorType>> resolve();

private:
  LogicalResult check(const onnx::ValueInfoProto &input);
  LogicalResult checkSizes();
  LogicalResult bindSymbols();
  std::optional<int64_t> evaluate(StringRef symbol) const;
  FailureOr<int64_t> getSize(const onnx::ValueInfoProto &input, int index);
  FailureOr<RankedTensorType> getType(const onnx::ValueInfoProto &input);
  InFlightDiagnostic emitError(const onnx::ValueInfoProto &input) {
    return model.emitError() << "input '" << input.name() << "' ";
  }

  ModelReader &model;
  ArrayRef<const onnx::ValueInfoProto *> inputs;
  std::optional<int64_t> batch;
  const std::map<std::string, int64_t> &sizes;
  llvm::StringMap<int64_t> symbols;
};
} // namespace

static const onnx::TensorShapeProto &
getShape(const onnx::ValueInfoProto &info) {
  return info.type().tensor_type().shape();
}

/// Exporters also write -1 for a dimension that they do not know.
static bool isSymbolic(const Dimension &dim) {
  return !dim.has_dim_value() || dim.dim_value() < 0;
}

LogicalResult InputResolver::check(const onnx::ValueInfoProto &input) {
  if (!input.type().has_tensor_type())
    return emitError(input) << "is not a tensor";
  const onnx::TypeProto::Tensor &type = input.type().tensor_type();
  if (!getDType(type.elem_type()))
    return emitError(input) << "has the unsupported data type "
                            << describeOnnxType(type.elem_type());
  if (!type.has_shape())
    return emitError(input) << "has no shape";
  return success();
}

SmallVector<StringRef> getSymbols(const onnx::ValueInfoProto &input) {
  SmallVector<StringRef> symbols;
  for (const Dimension &dim : getShape(input).dim())
    symbols.push_back(isSymbolic(dim) ? StringRef(dim.dim_param()) : "");
  return symbols;
}

/// Checks that the sizes are those of dimensions, and takes them.
LogicalResult InputResolver::checkSizes() {
  llvm::SetVector<StringRef> known;
  for (const onnx::ValueInfoProto *input : inputs)
    for (StringRef symbol : getSymbols(*input))
      if (!symbol.empty())
        known.insert(symbol);
  for (const auto &[name, size] : sizes) {
    if (!known.contains(name)) {
      InFlightDiagnostic diag = model.emitError()
                                << "no input has a dimension called '" << name
                                << "'";
      if (!known.empty())
        diag << ", only '" << llvm::join(known, "', '") << "'";
      return diag;
    }
    if (size < 0)
      return model.emitError() << "the size of '" << name << "' is " << size
                               << ", expected 0 or more";
    symbols[name] = size;
  }
  return success();
}

LogicalResult InputResolver::bindSymbols() {
  if (batch && *batch < 1)
    return model.emitError()
           << "the batch is " << *batch << ", expected 1 or more";
  const onnx::ValueInfoProto *unbound = nullptr;
  const onnx::ValueInfoProto *fixed = nullptr;
  const onnx::ValueInfoProto *named = nullptr;
  bool bound = false;
  for (const onnx::ValueInfoProto *input : inputs) {
    if (getShape(*input).dim_size() == 0)
      continue;
    const Dimension &dim = getShape(*input).dim(0);
    if (isSymbolic(dim) && evaluate(dim.dim_param())) {
      named = named ? named : input;
      continue;
    }
    if (isSymbolic(dim)) {
      bound = true;
      unbound = unbound ? unbound : input;
      if (!dim.dim_param().empty())
        symbols[dim.dim_param()] = batch.value_or(1);
    } else if (batch && dim.dim_value() != *batch) {
      fixed = fixed ? fixed : input;
    }
  }
  if (batch && !bound && named)
    return emitError(*named) << "has a leading dimension whose size is given "
                                "by its name, so that there is no batch to be "
                                "given a size";
  if (batch && !bound && fixed)
    return emitError(*fixed) << "has the fixed leading dimension "
                             << getShape(*fixed).dim(0).dim_value()
                             << ", so that the batch cannot be " << *batch;
  if (!batch && unbound)
    emitWarning(model.getLoc())
        << model.getPath() << ": input '" << unbound->name()
        << "' has a symbolic leading dimension, which becomes 1; a batch size "
           "binds it";
  return success();
}

/// Exporters write "past_sequence_length + sequence_length" for the mask of a
/// model with a cache. A sum of numbers alone is a name like others.
std::optional<int64_t> InputResolver::evaluate(StringRef symbol) const {
  if (auto known = symbols.find(symbol); known != symbols.end())
    return known->second;
  int64_t sum = 0;
  bool hasSymbol = false;
  SmallVector<StringRef> terms;
  symbol.split(terms, '+');
  for (StringRef term : terms) {
    int64_t number = 0;
    auto size = symbols.find(term.trim());
    if (size != symbols.end())
      number = size->second;
    else if (term.trim().getAsInteger(10, number) || number < 0)
      return std::nullopt;
    hasSymbol |= size != symbols.end();
    if (llvm::AddOverflow(sum, number, sum))
      return std::nullopt;
  }
  return hasSymbol ? std::optional(sum) : std::nullopt;
}

FailureOr<int64_t> InputResolver::getSize(const onnx::ValueInfoProto &input,
                                          int index) {
  const Dimension &dim = getShape(input).dim(index);
  if (!isSymbolic(dim))
    return dim.dim_value();
  if (std::optional<int64_t> size = evaluate(dim.dim_param()))
    return *size;
  if (index == 0)
    return batch.value_or(1);
  InFlightDiagnostic diag = emitError(input)
                            << "has the unknown dimension " << index;
  if (dim.dim_param().empty())
    return diag << ", which has no name to give its size by";
  return diag << " ('" << dim.dim_param() << "'), whose size is not given";
}

FailureOr<RankedTensorType>
InputResolver::getType(const onnx::ValueInfoProto &input) {
  SmallVector<int64_t> shape;
  for (int i = 0; i < getShape(input).dim_size(); ++i) {
    FailureOr<int64_t> size = getSize(input, i);
    if (failed(size))
      return failure();
    shape.push_back(*size);
  }
  if (!countElements(shape))
    return emitError(input) << "is too large";
  runtime::DType dtype = *getDType(input.type().tensor_type().elem_type());
  return RankedTensorType::get(
      shape, getElementType(model.getLoc().getContext(), dtype));
}

FailureOr<SmallVector<RankedTensorType>> InputResolver::resolve() {
  for (const onnx::ValueInfoProto *input : inputs)
    if (failed(check(*input)))
      return failure();
  if (failed(checkSizes()) || failed(bindSymbols()))
    return failure();
  SmallVector<RankedTensorType> types;
  for (const onnx::ValueInfoProto *input : inputs) {
    FailureOr<RankedTensorType> type = getType(*input);
    if (failed(type))
      return failure();
    types.push_back(*type);
  }
  return types;
}

FailureOr<SmallVector<RankedTensorType>>
resolveInputTypes(ModelReader &model,
                  ArrayRef<const onnx::ValueInfoProto *> inputs,
                  const ImportOptions &options) {
  return InputResolver(model, inputs, options).resolve();
}

} // namespace tarpon
