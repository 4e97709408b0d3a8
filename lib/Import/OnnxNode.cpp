//===- OnnxNode.cpp - A node as its importer sees it ------------*- C++ -*-===//
//
// Part of Tarpon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "OnnxNode.h"

#include "tarpon/IR/ConstantData.h"
#include "tarpon/Runtime/Tensor.h"

#include "mlir/IR/Verifier.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/Sequence.h"
#include "llvm/Support/MathExtras.h"

#include <cassert>
#include <cstring>

using namespace mlir;
using tarpon::runtime::DType;

namespace tarpon {

int64_t multiply(ArrayRef<int64_t> dims) {
  int64_t product = 1;
  for (int64_t dim : dims)
    product *= dim;
  return product;
}

template <typename T>
static SmallVector<int64_t> widen(ArrayRef<char> bytes) {
  SmallVector<int64_t> ints(bytes.size() / sizeof(T));
  for (size_t i = 0; i < ints.size(); ++i) {
    T value;
    std::memcpy(&value, bytes.data() + i * sizeof(T), sizeof(T));
    // NOLINTNEXTLINE(bugprone-signed-char-misuse): an int8_t is a number here.
    ints[i] = static_cast<int64_t>(value);
  }
  return ints;
}

/// In the order of DType; null for floats.
static constexpr SmallVector<int64_t> (*kWiden[])(ArrayRef<char>) = {
#define TARPON_FLOAT(...) nullptr,
#define TARPON_INTEGER(enumerator, spelling, type, ...) widen<type>,
#include "tarpon/Runtime/DTypes.def"
};

SmallVector<int64_t> readInts(ElementsAttr attr) {
  DType dtype = getDType(attr.getElementType()).value_or(DType::F32);
  auto *widenAll = kWiden[static_cast<size_t>(dtype)];
  assert(widenAll && "not an integer constant");
  return widenAll(getConstantBytes(attr));
}

Value OnnxNode::Graph::lookup(StringRef name) {
  Value &value = values[name];
  if (value)
    return value;
  auto it = initializers.find(name);
  if (it == initializers.end())
    return nullptr;
  Location loc = NameLoc::get(builder.getStringAttr(name), model.getLoc());
  value = ConstantOp::create(builder, loc, it->second.getType(), it->second,
                             TypeAttr());
  return value;
}

OnnxNode::OnnxNode(Graph &graph, const onnx::NodeProto &proto, Location loc,
                   std::string description)
    : graph(graph), proto(proto), loc(loc),
      description(std::move(description)) {}

InFlightDiagnostic OnnxNode::emitError() {
  // The first error causes the following ones.
  if (failedFlag)
    return InFlightDiagnostic();
  failedFlag = true;
  return mlir::emitError(loc) << description << ": ";
}

//===----------------------------------------------------------------------===//
// Inputs and outputs
//===----------------------------------------------------------------------===//

bool OnnxNode::hasInput(unsigned index) const {
  return !getInputName(index).empty();
}

StringRef OnnxNode::getInputName(unsigned index) const {
  return index < getNumInputs() ? StringRef(proto.input(index)) : StringRef();
}

Value OnnxNode::getInput(unsigned index) {
  if (Value value = replaced.lookup(index))
    return value;
  return hasInput(index) ? graph.lookup(getInputName(index)) : Value();
}

bool OnnxNode::isOutputUsed(unsigned index) const {
  return index < getNumOutputs() && !proto.output(index).empty() &&
         graph.useCounts.lookup(proto.output(index)) > 0;
}

void OnnxNode::setOutput(unsigned index, Value value) {
  if (value && index < getNumOutputs() && !proto.output(index).empty())
    graph.values[proto.output(index)] = value;
}

void OnnxNode::setOutput(unsigned index, Value value,
                         std::optional<RealSize> size) {
  setOutput(index, value, size ? RealSizes{*size} : RealSizes());
}

void OnnxNode::setOutput(unsigned index, Value value, const RealSizes &sizes) {
  setOutput(index, value);
  for (const RealSize &size : sizes) {
    if (!value || !size.size)
      return;
    setRealSize(value, size);
    ownSizes.insert(index);
  }
}

Value OnnxNode::getOutput(unsigned index) const {
  return graph.values.lookup(proto.output(index));
}

void OnnxNode::replaceInput(unsigned index, Value value) {
  replaced[index] = value;
}

//===----------------------------------------------------------------------===//
// Sizes that depend on data
//===----------------------------------------------------------------------===//

std::optional<RealSize> OnnxNode::findRealSize(Value value, int64_t dim) const {
  for (const RealSize &size : findRealSizes(value))
    if (size.dim == dim)
      return size;
  return std::nullopt;
}

void OnnxNode::setRealSize(Value value, RealSize size) {
  RealSizes &sizes = graph.sizes[value];
  llvm::erase_if(sizes,
                 [&](const RealSize &known) { return known.dim == size.dim; });
  auto place = llvm::find_if(
      sizes, [&](const RealSize &known) { return known.dim > size.dim; });
  sizes.insert(place, canonicalize(value, size));
}

RealSize OnnxNode::canonicalize(Value value, RealSize size) {
  int64_t most = getShape(value)[size.dim];
  return {size.dim, graph.sizeElements.add(size.size, most)};
}

std::optional<SizeElements::List> OnnxNode::getSizes(unsigned index,
                                                     StringRef what) {
  if (!findConstantInput(index))
    if (auto sizes = findSizes(index))
      return sizes;
  std::optional<SmallVector<int64_t>> ints = getConstantInts(index, what);
  if (!ints)
    return std::nullopt;
  SizeElements::List sizes;
  for (int64_t size : *ints)
    sizes.push_back({size, size, nullptr});
  return sizes;
}

//===----------------------------------------------------------------------===//
// Values at compile time
//===----------------------------------------------------------------------===//

ElementsAttr OnnxNode::getConstant(Value value) {
  return value ? getConstantValue(value) : ElementsAttr();
}

/// The length of a chain of operations that is still computed here; an unrolled
/// loop makes long ones.
static constexpr int maxDepth = 2000;

OnnxNode::Known OnnxNode::computeResult(Operation *op, Value value, int depth) {
  Known result;
  SmallVector<Attribute> operands;
  for (Value operand : op->getOperands()) {
    Known known = compute(operand, depth - 1);
    if (!known.elements)
      return {};
    operands.push_back(known.elements);
    for (Value argument : known.used)
      if (!llvm::is_contained(result.used, argument))
        result.used.push_back(argument);
  }
  SmallVector<OpFoldResult> folded;
  if (failed(op->fold(operands, folded)) || folded.size() != 1)
    return {};
  if (auto attr = dyn_cast<Attribute>(folded.front())) {
    result.elements = dyn_cast<ElementsAttr>(attr);
    return result;
  }
  auto other = cast<Value>(folded.front());
  return other == value ? Known() : compute(other, depth - 1);
}

OnnxNode::Known OnnxNode::compute(Value value, int depth) {
  if (ElementsAttr attr = getConstant(value))
    return {attr, {}};
  if (ElementsAttr attr = graph.assumed.lookup(value))
    return {attr, {value}};
  Operation *op = value.getDefiningOp();
  if (!op || depth == 0)
    return {};
  // Values are used several times, which would take exponential time.
  auto it = graph.known.find(value);
  if (it != graph.known.end())
    return it->second;
  Known result = computeResult(op, value, depth);
  graph.known[value] = result;
  return result;
}

/// The other sizes of a shape may be known where one depends on data.
ElementsAttr OnnxNode::evaluateSizes(Value value) {
  RankedTensorType type = getTensorType(value);
  auto sizes = graph.sizeElements.find(value);
  if (!sizes || !type.getElementType().isInteger(64))
    return nullptr;
  std::vector<char> bytes;
  for (const SizeElement &size : *sizes) {
    if (!size.isKnown())
      return nullptr;
    const char *data = reinterpret_cast<const char *>(&size.least);
    bytes.insert(bytes.end(), data, data + sizeof(size.least));
  }
  return makeConstantAttr(type, std::move(bytes));
}

ElementsAttr OnnxNode::evaluate(Value value) {
  if (!value)
    return nullptr;
  Known known = compute(value, maxDepth);
  if (!known.elements)
    return evaluateSizes(value);
  graph.usedAssumptions.insert_range(known.used);
  return known.elements;
}

ElementsAttr OnnxNode::findConstantInput(unsigned index) {
  return evaluate(getInput(index));
}

ElementsAttr OnnxNode::getConstantInput(unsigned index, StringRef what) {
  ElementsAttr attr = findConstantInput(index);
  if (!attr)
    emitError() << what << " '" << getInputName(index) << "' is not a constant";
  return attr;
}

std::optional<SmallVector<int64_t>> OnnxNode::getConstantInts(unsigned index,
                                                              StringRef what) {
  ElementsAttr attr = getConstantInput(index, what);
  if (!attr)
    return std::nullopt;
  if (!attr.getElementType().isIntOrIndex() ||
      attr.getShapedType().getRank() > 1) {
    emitError() << what << " '" << getInputName(index)
                << "' is not a list of integers";
    return std::nullopt;
  }
  return readInts(attr);
}

std::optional<double> OnnxNode::getConstantNumber(unsigned index,
                                                  StringRef what) {
  ElementsAttr attr = getConstantInput(index, what);
  if (!attr)
    return std::nullopt;
  if (attr.getNumElements() != 1) {
    emitError() << what << " '" << getInputName(index) << "' has "
                << attr.getNumElements() << " elements, expected 1";
    return std::nullopt;
  }
  if (attr.getElementType().isInteger())
    return static_cast<double>(readInts(attr).front());
  if (!attr.getElementType().isF64())
    return getConstantFloats(attr).front();
  double value;
  std::memcpy(&value, getConstantBytes(attr).data(), sizeof(value));
  return value;
}

Value OnnxNode::createConstant(RankedTensorType type, std::vector<char> bytes) {
  return tarpon::createConstant(graph.builder, loc, type, std::move(bytes));
}

Value OnnxNode::createConstant(OnnxTensor tensor) {
  Type elementType = getElementType(graph.builder.getContext(), tensor.dtype);
  auto type = RankedTensorType::get(tensor.shape, elementType);
  return ConstantOp::create(graph.builder, loc, type,
                            makeConstantAttr(type, std::move(tensor.bytes)),
                            /*quantizedType=*/TypeAttr());
}

Value OnnxNode::createInts(ArrayRef<int64_t> ints, bool scalar) {
  SmallVector<int64_t, 1> shape;
  if (!scalar)
    shape.push_back(ints.size());
  const char *data = reinterpret_cast<const char *>(ints.data());
  return createConstant(
      RankedTensorType::get(shape, graph.builder.getI64Type()),
      std::vector<char>(data, data + ints.size() * sizeof(int64_t)));
}

bool OnnxNode::mayCreate(ArrayRef<int64_t> shape) {
  static constexpr int64_t kMostElements = int64_t(1) << 26;
  int64_t count = 1;
  for (int64_t size : shape)
    if (llvm::MulOverflow(count, size, count) || count > kMostElements) {
      emitError() << "needs a constant of "
                  << runtime::shapeToString(shape.vec())
                  << " elements, which are more than " << kMostElements;
      return false;
    }
  return true;
}

Value OnnxNode::createRange(int64_t count) {
  return mayCreate(count)
             ? createInts(llvm::to_vector(llvm::seq<int64_t>(0, count)))
             : nullptr;
}

Value OnnxNode::createFloats(ArrayRef<double> values, ArrayRef<int64_t> shape,
                             Type elementType) {
  auto type = RankedTensorType::get(shape, elementType);
  if (!elementType.isF64())
    return createFloatConstant(graph.builder, loc, type,
                               SmallVector<float>(values));
  const char *data = reinterpret_cast<const char *>(values.data());
  return createConstant(
      type, std::vector<char>(data, data + values.size() * sizeof(double)));
}

Value OnnxNode::createFloat(double value, Type elementType) {
  return createFloats(value, {}, elementType);
}

Value OnnxNode::createNumber(double value, Type elementType) {
  Type wide = elementType.isF64() ? elementType : graph.builder.getF32Type();
  return convert(createFloat(value, wide), elementType);
}

Value OnnxNode::splat(Value constant, ArrayRef<int64_t> shape) {
  if (!constant)
    return nullptr;
  // A splat takes no memory here, but may be expanded later.
  constexpr int64_t maxSplat = int64_t(1) << 30;
  std::optional<int64_t> count = countElements(shape);
  if (!count || *count > maxSplat) {
    emitError() << "the shape [" << shape << "] is too large or negative";
    return nullptr;
  }
  auto type =
      RankedTensorType::get(shape, getTensorType(constant).getElementType());
  if (*count == 0)
    return createConstant(type, {});
  auto dense = cast<DenseElementsAttr>(getConstant(constant));
  return ConstantOp::create(graph.builder, loc, type,
                            cast<ElementsAttr>(dense.resizeSplat(type)),
                            TypeAttr());
}

//===----------------------------------------------------------------------===//
// Ops
//===----------------------------------------------------------------------===//

LogicalResult OnnxNode::build(OperationState &state, InferFn infer,
                              Operation *&op) {
  MLIRContext *context = graph.builder.getContext();
  if (infer &&
      failed(infer(context, loc, state.operands,
                   state.attributes.getDictionary(context),
                   state.getRawProperties(), state.regions, state.types)))
    return failure();
  for (Type type : state.types)
    if (!countElements(cast<RankedTensorType>(type).getShape()))
      return mlir::emitError(loc) << "the result " << type << " is too large";
  op = graph.builder.create(state);
  return verify(op);
}

SmallVector<Value> OnnxNode::insert(OperationState &state, InferFn infer) {
  std::string reason;
  Operation *op = nullptr;
  {
    // The dialect's diagnostics are repeated with the node's name and file.
    ScopedDiagnosticHandler handler(
        graph.builder.getContext(), [&](Diagnostic &diag) {
          if (diag.getSeverity() == DiagnosticSeverity::Error && reason.empty())
            reason = diag.str();
          return success();
        });
    if (failed(build(state, infer, op)) && reason.empty())
      reason = "its operands do not fit each other";
  }
  if (!reason.empty()) {
    if (op)
      op->erase();
    emitError() << reason;
    return {};
  }
  SmallVector<Value> folded;
  if (succeeded(graph.builder.tryFold(op, folded)) && !folded.empty()) {
    op->erase();
    return folded;
  }
  return SmallVector<Value>(op->getResults());
}

Value OnnxNode::reshape(Value value, ArrayRef<int64_t> shape) {
  if (!value || getShape(value) == shape)
    return value;
  Type elementType = getTensorType(value).getElementType();
  return createTyped<ReshapeOp>(RankedTensorType::get(shape, elementType),
                                value);
}

Value OnnxNode::convert(Value value, Type elementType) {
  if (!value || getTensorType(value).getElementType() == elementType)
    return value;
  return createTyped<ConvertOp>(
      RankedTensorType::get(getShape(value), elementType), value);
}

/// The only dimension in which a shape differs from another; none if there are
/// several.
static std::optional<size_t> findOnlyDifference(ArrayRef<int64_t> shape,
                                                ArrayRef<int64_t> other) {
  std::optional<size_t> found;
  for (size_t dim = 0; dim < shape.size(); ++dim) {
    if (shape[dim] == other[dim])
      continue;
    if (found)
      return std::nullopt;
    found = dim;
  }
  return found;
}

Value OnnxNode::broadcast(Value value, ArrayRef<int64_t> shape) {
  if (!value || getShape(value) == shape)
    return value;
  if (multiply(getShape(value)) == multiply(shape))
    return reshape(value, shape);
  SmallVector<int64_t> aligned(shape.size() - getShape(value).size(), 1);
  llvm::append_range(aligned, getShape(value));
  // Copies of rows are faster than selections of elements: keys and values that
  // three heads share took 2.2 of a token's 15.8 ms, and take 0.3 with all
  // other joins (a Llama on a Zen 4).
  constexpr int64_t kMaxCopies = 16;
  if (auto dim = findOnlyDifference(aligned, shape);
      dim && shape[*dim] > 1 && shape[*dim] <= kMaxCopies)
    return create<ConcatOp>(
        SmallVector<Value>(shape[*dim], reshape(value, aligned)),
        static_cast<int64_t>(*dim));
  // The condition gives the result its shape.
  Value always = splat(createNumber(1, graph.builder.getI1Type()), shape);
  return create<WhereOp>(always, value, value);
}

Value OnnxNode::countFromStart(Value indices, int64_t size) {
  if (!indices)
    return nullptr;
  Type elementType = getTensorType(indices).getElementType();
  Value isNegative = create<LessOp>(indices, createNumber(0, elementType));
  Value offset = create<MulOp>(
      isNegative, convert(createInts({size}, /*scalar=*/true), elementType));
  return create<AddOp>(offset, indices);
}

Value OnnxNode::slice(Value value, int64_t axis, int64_t begin,
                      int64_t length) {
  if (!value)
    return nullptr;
  ArrayRef<int64_t> shape = getShape(value);
  if (begin == 0 && length == shape[axis])
    return value;
  SmallVector<int64_t> pads(2 * shape.size(), 0);
  pads[axis] = -begin;
  pads[shape.size() + axis] = begin + length - shape[axis];
  OpBuilder &builder = graph.builder;
  return create<PadOp>(
      value, builder.getDenseI64ArrayAttr(pads), builder.getF64FloatAttr(0.0),
      PadModeAttr::get(builder.getContext(), PadMode::Constant));
}

Value OnnxNode::concat(ArrayRef<Value> values, int64_t axis) {
  if (values.empty() || llvm::is_contained(values, Value()))
    return nullptr;
  SmallVector<Value> parts(values);
  // An empty value of another shape is left to the op, which refuses it.
  auto isRedundant = [&](Value value) {
    if (getTensorType(value).getElementType() !=
            getTensorType(values.front()).getElementType() ||
        getShape(value).size() != getShape(values.front()).size() ||
        getShape(value)[axis] != 0)
      return false;
    SmallVector<int64_t> shape(getShape(values.front()));
    shape[axis] = 0;
    return getShape(value) == ArrayRef(shape);
  };
  llvm::erase_if(parts, isRedundant);
  if (parts.empty())
    return values.front();
  return parts.size() == 1
             ? parts.front()
             : create<ConcatOp>(ValueRange(parts),
                                graph.builder.getI64IntegerAttr(axis));
}

Value OnnxNode::transpose(Value value, ArrayRef<int64_t> permutation) {
  return create<TransposeOp>(value,
                             graph.builder.getDenseI64ArrayAttr(permutation));
}

//===----------------------------------------------------------------------===//
// Sub-graphs
//===----------------------------------------------------------------------===//

const onnx::GraphProto *OnnxNode::getGraph(StringRef name) {
  const auto *attribute =
      findAttribute(name, onnx::AttributeProto::GRAPH, "a graph");
  if (attribute)
    return &attribute->g();
  if (!failedFlag)
    emitError() << "attribute '" << name << "' is missing";
  return nullptr;
}

std::optional<SmallVector<Value>>
OnnxNode::importBody(const onnx::GraphProto &body, ArrayRef<Value> inputs) {
  SmallVector<Value> outputs;
  if (failedFlag || failed(graph.importBody(*this, body, inputs, outputs))) {
    // A node of the body has said why.
    failedFlag = true;
    return std::nullopt;
  }
  return outputs;
}

} // namespace tarpon
