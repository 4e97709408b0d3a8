//===- NodeAttributes.cpp - Checked access to node attributes ---*- C++ -*-===//
//
// Part of Tarpon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "OnnxNode.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"

#include <cmath>

using namespace mlir;

namespace tarpon {

bool OnnxNode::hasAttribute(StringRef name) const {
  return llvm::any_of(proto.attribute(), [&](const auto &attribute) {
    return attribute.name() == name;
  });
}

const onnx::AttributeProto *
OnnxNode::findAttribute(StringRef name,
                        onnx::AttributeProto::AttributeType type,
                        StringRef typeName) {
  for (const onnx::AttributeProto &attribute : proto.attribute()) {
    if (attribute.name() != name)
      continue;
    if (attribute.type() == type)
      return &attribute;
    emitError() << "attribute '" << name << "' is not " << typeName;
    return nullptr;
  }
  return nullptr;
}

int64_t OnnxNode::getInt(StringRef name, int64_t defaultValue) {
  const auto *attribute =
      findAttribute(name, onnx::AttributeProto::INT, "an integer");
  return attribute ? attribute->i() : defaultValue;
}

bool OnnxNode::getBool(StringRef name, bool defaultValue) {
  int64_t value = getInt(name, defaultValue);
  if (value != 0 && value != 1)
    emitError() << "attribute '" << name << "' is " << value
                << ", expected 0 or 1";
  return value != 0;
}

float OnnxNode::getFloat(StringRef name, float defaultValue) {
  const auto *attribute =
      findAttribute(name, onnx::AttributeProto::FLOAT, "a float");
  if (!attribute)
    return defaultValue;
  checkNumbers(name, attribute->f());
  return attribute->f();
}

void OnnxNode::checkNumbers(StringRef name, ArrayRef<float> values) {
  for (float value : values) {
    if (std::isnan(value))
      emitError() << "attribute '" << name << "' contains NaN";
    graph.hasInf |= std::isinf(value);
  }
}

std::string OnnxNode::getString(StringRef name, StringRef defaultValue) {
  const auto *attribute =
      findAttribute(name, onnx::AttributeProto::STRING, "a string");
  return attribute ? attribute->s() : defaultValue.str();
}

SmallVector<int64_t> OnnxNode::getInts(StringRef name) {
  const auto *attribute =
      findAttribute(name, onnx::AttributeProto::INTS, "a list of integers");
  if (!attribute)
    return {};
  return SmallVector<int64_t>(attribute->ints().begin(),
                              attribute->ints().end());
}

SmallVector<float> OnnxNode::getFloats(StringRef name) {
  const auto *attribute =
      findAttribute(name, onnx::AttributeProto::FLOATS, "a list of floats");
  if (!attribute)
    return {};
  SmallVector<float> values(attribute->floats().begin(),
                            attribute->floats().end());
  checkNumbers(name, values);
  return values;
}

SmallVector<std::string> OnnxNode::getStrings(StringRef name) {
  const auto *attribute =
      findAttribute(name, onnx::AttributeProto::STRINGS, "a list of strings");
  if (!attribute)
    return {};
  return SmallVector<std::string>(attribute->strings().begin(),
                                  attribute->strings().end());
}

std::optional<OnnxTensor> OnnxNode::getTensor(StringRef name) {
  const auto *attribute =
      findAttribute(name, onnx::AttributeProto::TENSOR, "a tensor");
  if (!attribute) {
    if (!failedFlag)
      emitError() << "attribute '" << name << "' is missing";
    return std::nullopt;
  }
  onnx::TensorProto proto = attribute->t();
  runtime::Result<OnnxTensor> tensor =
      takeTensor(proto, &graph.model.getExternalData());
  if (!tensor) {
    emitError() << "attribute '" << name << "': " << tensor.message();
    return std::nullopt;
  }
  Finiteness finiteness = checkFinite(tensor->dtype, tensor->bytes);
  if (finiteness == Finiteness::HasNaN) {
    emitError() << "attribute '" << name << "' contains NaN";
    return std::nullopt;
  }
  graph.hasInf |= finiteness == Finiteness::HasInf;
  return std::move(*tensor);
}

int64_t OnnxNode::normalizeAxis(int64_t axis, int64_t rank) {
  if (axis >= -rank && axis < rank)
    return axis < 0 ? axis + rank : axis;
  emitError() << "axis " << axis << " is out of range for rank " << rank;
  return -1;
}

int64_t OnnxNode::getAxis(StringRef name, int64_t defaultValue, int64_t rank,
                          bool isInsertion) {
  int64_t axis = getInt(name, defaultValue);
  if (isInsertion && axis == rank)
    return axis;
  return normalizeAxis(axis, rank);
}

std::optional<SmallVector<int64_t>>
OnnxNode::normalizeAxes(ArrayRef<int64_t> axes, int64_t rank) {
  SmallVector<int64_t> result;
  for (int64_t axis : axes) {
    result.push_back(normalizeAxis(axis, rank));
    if (result.back() < 0)
      return std::nullopt;
  }
  llvm::sort(result);
  auto duplicate = std::adjacent_find(result.begin(), result.end());
  if (duplicate != result.end()) {
    emitError() << "axis " << *duplicate << " is listed twice";
    return std::nullopt;
  }
  return result;
}

void OnnxNode::checkAttributes(StringRef known) {
  SmallVector<StringRef> names;
  known.split(names, ' ', /*MaxSplit=*/-1, /*KeepEmpty=*/false);
  llvm::StringMap<int> seen;
  for (const onnx::AttributeProto &attribute : proto.attribute()) {
    if (!llvm::is_contained(names, attribute.name()))
      emitError() << "unknown attribute '" << attribute.name() << "'";
    else if (seen[attribute.name()]++ > 0)
      emitError() << "attribute '" << attribute.name() << "' is set twice";
    if (failedFlag)
      return;
  }
}

} // namespace tarpon
