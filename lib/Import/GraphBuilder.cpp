//===- GraphBuilder.cpp - Builds @main from a checked model -----*- C++ -*-===//
//
// Part of Tarpon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "GraphBuilder.h"

#include "BodyScope.h"
#include "ModelInputs.h"
#include "RealSizes.h"
#include "tarpon/IR/ConstantData.h"
#include "tarpon/IR/ParallelFor.h"

#include "mlir/Interfaces/SideEffectInterfaces.h"

#include "llvm/ADT/STLExtras.h"

using namespace mlir;

namespace tarpon {

GraphBuilder::GraphBuilder(ModelReader &model, const ImportOptions &options,
                           MLIRContext *context)
    : model(model), options(options), graph(model, context) {
  graph.importBody = [this](OnnxNode &node, const onnx::GraphProto &body,
                            ArrayRef<Value> inputs,
                            SmallVector<Value> &outputs) {
    return importBody(node, body, inputs, outputs);
  };
}

GraphBuilder::~GraphBuilder() = default;

OwningOpRef<ModuleOp> GraphBuilder::build() {
  module = ModuleOp::create(graph.builder, model.getLoc());
  countUses(model.getGraph(), graph.useCounts);
  if (!model.initializers) {
    auto read = readInitializers(*model.getGraph().mutable_initializer());
    if (failed(read))
      return nullptr;
    model.initializers = std::move(*read);
  }
  addInitializers(*model.initializers, graph.initializers);
  if (failed(createFunction()) || failed(importNodes()) ||
      failed(createReturn()))
    return nullptr;
  eraseDeadOps();
  setAttributes();
  return std::move(module);
}

FailureOr<Initializers> GraphBuilder::readInitializers(TensorProtos &protos) {
  std::vector<OnnxTensor> tensors;
  for (onnx::TensorProto &proto : protos) {
    runtime::Result<OnnxTensor> tensor =
        takeTensor(proto, &model.getExternalData());
    if (!tensor)
      return model.emitError()
             << "initialiser '" << proto.name() << "': " << tensor.message();
    tensors.push_back(std::move(*tensor));
  }
  std::vector<Finiteness> finiteness(tensors.size());
  parallelFor(tensors.size(), model.getThreads(), [&](size_t i) {
    finiteness[i] = checkFinite(tensors[i].dtype, tensors[i].bytes);
  });
  Initializers read;
  for (auto [tensor, worst] : llvm::zip_equal(tensors, finiteness)) {
    if (worst == Finiteness::HasNaN)
      return model.emitError()
             << "initialiser '" << tensor.name << "' contains NaN";
    read.hasInf |= worst == Finiteness::HasInf;
    read.entries.push_back(
        {std::move(tensor.name), tensor.dtype, std::move(tensor.shape),
         std::make_shared<const std::string>(std::move(tensor.bytes))});
  }
  return read;
}

void GraphBuilder::addInitializers(
    const Initializers &read, llvm::StringMap<ElementsAttr> &initializers) {
  graph.hasInf |= read.hasInf;
  for (const auto &[name, dtype, shape, bytes] : read.entries) {
    Type elementType = getElementType(graph.builder.getContext(), dtype);
    initializers[name] =
        makeConstantAttr(RankedTensorType::get(shape, elementType), bytes);
  }
}

void GraphBuilder::assumeInput(const std::string &name, Value value) {
  auto it = options.assumedInputs.find(name);
  if (it == options.assumedInputs.end())
    return;
  const runtime::HostTensor &tensor = *it->second;
  auto type = RankedTensorType::get(
      tensor.shape, getElementType(value.getContext(), tensor.dtype));
  if (type != value.getType())
    return;
  const char *data = reinterpret_cast<const char *>(tensor.data.data());
  graph.assumed[value] = makeConstantAttr(
      type, std::vector<char>(data, data + tensor.data.size()));
}

LogicalResult GraphBuilder::createFunction() {
  SmallVector<const onnx::ValueInfoProto *> inputs;
  for (const onnx::ValueInfoProto &input : model.getGraph().input())
    if (!graph.initializers.contains(input.name()))
      inputs.push_back(&input);
  auto types = resolveInputTypes(model, inputs, options);
  if (failed(types))
    return failure();
  OpBuilder &builder = graph.builder;
  builder.setInsertionPointToStart(module->getBody());
  SmallVector<Type> argumentTypes(types->begin(), types->end());
  function = func::FuncOp::create(builder, model.getLoc(), "main",
                                  builder.getFunctionType(argumentTypes, {}));
  Block *block = function.addEntryBlock();
  builder.setInsertionPointToStart(block);
  for (auto [input, argument] :
       llvm::zip_equal(inputs, block->getArguments())) {
    inputNames.push_back(input->name());
    inputSymbols.push_back(builder.getStrArrayAttr(getSymbols(*input)));
    argument.setLoc(
        NameLoc::get(builder.getStringAttr(input->name()), model.getLoc()));
    graph.values[input->name()] = argument;
    // The value of an empty input is known, and no kernel reads it.
    auto type = cast<RankedTensorType>(argument.getType());
    if (type.getNumElements() == 0)
      graph.values[input->name()] =
          createConstant(builder, argument.getLoc(), type, {});
    assumeInput(input->name(), argument);
  }
  return success();
}

//===----------------------------------------------------------------------===//
// Nodes
//===----------------------------------------------------------------------===//

LogicalResult GraphBuilder::importNodes() {
  for (const onnx::NodeProto &proto : model.getGraph().node())
    if (failed(importNode(proto)))
      return failure();
  return success();
}

LogicalResult GraphBuilder::importNode(const onnx::NodeProto &proto) {
  // Names need not be unique in ONNX, but layers are identified by theirs.
  std::string name = model.getNodeName(proto);
  std::string unique = name;
  // Counts on where the last layer of this name ended.
  int64_t &last = lastNumber[name];
  while (!nodeNames.insert(unique).second)
    unique = name + "_" + std::to_string(++last);
  Location loc =
      NameLoc::get(graph.builder.getStringAttr(unique), model.getLoc());
  OnnxNode node(graph, proto, loc, model.describe(proto));
  const OpRow *row = checkNode(proto, node);
  if (!row)
    return failure();
  fillUncounted(*row, node);
  row->import(node);
  if (node.hasFailed() || failed(passRealSizes(*row, node)))
    return failure();
  return checkResults(proto, node);
}

const OpRow *GraphBuilder::checkNode(const onnx::NodeProto &proto,
                                     OnnxNode &node) {
  bool isDefault = proto.domain().empty() || proto.domain() == "ai.onnx";
  const OpRow *row =
      findOp(isDefault ? StringRef() : proto.domain(), proto.op_type());
  if (!row && !isDefault) {
    node.emitError() << "the operator of domain '" << proto.domain()
                     << "' is not supported";
    return nullptr;
  }
  if (!row) {
    node.emitError() << "the operator is not supported";
    return nullptr;
  }
  int64_t opset = model.getOpset();
  if (isDefault && (opset < row->minOpset || opset > row->maxOpset)) {
    node.emitError() << "the operator is not supported in opset " << opset
                     << ", only in " << row->minOpset << " to "
                     << row->maxOpset;
    return nullptr;
  }
  node.checkAttributes(row->attributes);
  if (node.hasFailed() || failed(checkOperands(*row, node)) ||
      failed(checkWeights(node)))
    return nullptr;
  return row;
}

LogicalResult GraphBuilder::checkOperands(const OpRow &row, OnnxNode &node) {
  unsigned count = node.getNumInputs();
  if (count < row.minInputs || count > row.maxInputs) {
    InFlightDiagnostic diag = node.emitError()
                              << "has " << count << " inputs, expected ";
    if (count < row.minInputs)
      return diag << row.minInputs << " or more";
    return diag << "at most " << row.maxInputs;
  }
  for (unsigned i = 0; i < count; ++i) {
    bool required = i < row.minInputs || row.maxInputs == anyNumber;
    if (required && !node.hasInput(i))
      return node.emitError() << "input " << i << " is missing";
    Value value = node.getInput(i);
    if (value && graph.sizes.contains(value) && !takesRealSizes(row))
      return node.emitError()
             << "the size of '" << node.getInputName(i)
             << "' depends on data, which the operator does not take";
    if (value && row.quantized == Quantized::Refuses &&
        isa<quant::QuantizedType>(getTensorType(value).getElementType()))
      return node.emitError() << "cannot compute with the quantised tensor '"
                              << node.getInputName(i)
                              << "'; it needs a DequantizeLinear before it";
  }
  return success();
}

/// Inf is a valid bound or mask, but no weight.
LogicalResult GraphBuilder::checkWeights(OnnxNode &node) {
  bool hasWeights =
      llvm::is_contained({"BatchNormalization", "Conv", "FusedConv",
                          "FusedGemm", "FusedMatMul", "Gemm", "MatMul"},
                         node.getOpType());
  if (!graph.hasInf || !hasWeights)
    return success();
  for (unsigned i = 0; i < node.getNumInputs(); ++i) {
    ElementsAttr attr = OnnxNode::getConstant(node.getInput(i));
    std::optional<runtime::DType> dtype =
        attr ? getDType(attr.getElementType()) : std::nullopt;
    if (dtype &&
        checkFinite(*dtype, getConstantBytes(attr)) != Finiteness::Finite)
      return node.emitError()
             << "the weight '" << node.getInputName(i) << "' contains Inf";
  }
  return success();
}

LogicalResult GraphBuilder::checkResults(const onnx::NodeProto &proto,
                                         OnnxNode &node) {
  for (auto [index, name] : llvm::enumerate(proto.output())) {
    if (!node.isOutputUsed(index))
      continue;
    Value value = graph.values.lookup(name);
    if (!value)
      return node.emitError()
             << "output " << index << " ('" << name << "') is not supported";
    // An empty constant needs no computation; shapes of scalars are empty.
    if (!OnnxNode::getConstant(value) && llvm::is_contained(getShape(value), 0))
      return node.emitError()
             << "output '" << name << "' of type " << value.getType()
             << " is empty; empty tensors are not supported";
  }
  return success();
}

//===----------------------------------------------------------------------===//
// Sub-graphs
//===----------------------------------------------------------------------===//

/// The number of nodes that sub-graphs may make in all, each iteration counted.
static constexpr int64_t maxBodyNodes = int64_t(1) << 14;

FailureOr<Body *> GraphBuilder::getBody(const onnx::GraphProto &proto) {
  std::unique_ptr<Body> &body = bodies[&proto];
  if (body)
    return body.get();
  auto created = std::make_unique<Body>();
  TensorProtos tensors = proto.initializer();
  auto read = readInitializers(tensors);
  if (failed(read))
    return failure();
  addInitializers(*read, created->initializers);
  countUses(proto, created->useCounts);
  created->names = listDefinitions(proto);
  body = std::move(created);
  return body.get();
}

LogicalResult GraphBuilder::importBody(OnnxNode &node,
                                       const onnx::GraphProto &proto,
                                       ArrayRef<Value> inputs,
                                       SmallVector<Value> &outputs) {
  FailureOr<Body *> body = getBody(proto);
  if (failed(body))
    return failure();
  auto isKnown = [&](const onnx::NodeProto &inner) {
    return inner.op_type() == "Constant" && inner.output_size() == 1 &&
           (*body)->constants.contains(inner.output(0));
  };
  // An iteration without nodes counts, too, lest a loop never end.
  bodyNodes += 1 + proto.node_size() - llvm::count_if(proto.node(), isKnown);
  if (bodyNodes > maxBodyNodes)
    return node.emitError() << "the sub-graphs make more than " << maxBodyNodes
                            << " nodes when loops are unrolled";
  if (proto.input_size() != static_cast<int>(inputs.size()))
    return node.emitError()
           << "the sub-graph '" << proto.name() << "' has "
           << proto.input_size() << " inputs, expected " << inputs.size();
  BodyScope scope(graph, **body);
  for (auto [info, value] : llvm::zip_equal(proto.input(), inputs))
    graph.values[info.name()] = value;
  for (const onnx::NodeProto &inner : proto.node()) {
    if (isKnown(inner))
      continue;
    if (failed(importNode(inner)))
      return failure();
    if (inner.op_type() == "Constant" && inner.output_size() == 1)
      (*body)->constants[inner.output(0)] =
          graph.values.lookup(inner.output(0));
  }
  for (const onnx::ValueInfoProto &output : proto.output()) {
    outputs.push_back(graph.lookup(output.name()));
    if (!outputs.back())
      return node.emitError() << "output '" << output.name()
                              << "' of its sub-graph is not a tensor";
  }
  return success();
}

//===----------------------------------------------------------------------===//
// Results
//===----------------------------------------------------------------------===//

LogicalResult GraphBuilder::checkOutput(const onnx::ValueInfoProto &output,
                                        Value value) {
  const onnx::TypeProto::Tensor &declared = output.type().tensor_type();
  RankedTensorType type = getTensorType(value);
  auto mismatch = [&]() -> LogicalResult {
    return model.emitError() << "output '" << output.name() << "' is " << type
                             << ", which is not what the model declares";
  };
  if (declared.elem_type() != 0 &&
      getDType(declared.elem_type()) != getDType(type.getElementType()))
    return mismatch();
  if (!declared.has_shape())
    return success();
  if (declared.shape().dim_size() != type.getRank())
    return mismatch();
  RealSizes sizes = graph.sizes.lookup(value);
  // The leading dimension is often exported wrongly, and may have been bound.
  for (int64_t i = 1; i < type.getRank(); ++i) {
    if (llvm::any_of(sizes,
                     [&](const RealSize &size) { return size.dim == i; }))
      continue;
    const auto &dim = declared.shape().dim(i);
    if (dim.has_dim_value() && dim.dim_value() > 0 &&
        dim.dim_value() != type.getDimSize(i))
      return mismatch();
  }
  return success();
}

/// Sizes that depend on data are outputs of their own, behind all others.
LogicalResult GraphBuilder::returnSizes(SmallVector<Value> &results) {
  SmallVector<int64_t> attribute;
  for (auto [index, output] : llvm::enumerate(model.getGraph().output())) {
    RealSizes sizes = graph.sizes.lookup(results[index]);
    if (sizes.empty())
      continue;
    if (sizes.size() > 1)
      return model.emitError()
             << "the sizes of dimensions " << sizes[0].dim << " and "
             << sizes[1].dim << " of output '" << output.name()
             << "' depend on data, and only one may";
    attribute.append({static_cast<int64_t>(index), sizes[0].dim,
                      static_cast<int64_t>(results.size())});
    results.push_back(sizes[0].size);
    sizeNames.push_back(output.name() + ".size");
  }
  if (!attribute.empty())
    function->setAttr("tarpon.output_sizes",
                      graph.builder.getDenseI64ArrayAttr(attribute));
  return success();
}

LogicalResult GraphBuilder::createReturn() {
  SmallVector<Value> results;
  for (const onnx::ValueInfoProto &output : model.getGraph().output()) {
    Value value = graph.lookup(output.name());
    if (failed(checkOutput(output, value)))
      return failure();
    results.push_back(value);
  }
  if (failed(returnSizes(results)))
    return failure();
  func::ReturnOp::create(graph.builder, model.getLoc(), results);
  function.setFunctionType(graph.builder.getFunctionType(
      function.getArgumentTypes(), ValueRange(results).getTypes()));
  return success();
}

void GraphBuilder::eraseDeadOps() {
  // Most unused operations are left over from shape arithmetic.
  Block &block = function.getBody().front();
  for (Operation &op : llvm::make_early_inc_range(llvm::reverse(block)))
    if (isOpTriviallyDead(&op))
      op.erase();
}

void GraphBuilder::setAttributes() {
  OpBuilder &builder = graph.builder;
  SmallVector<StringRef> inputs(inputNames.begin(), inputNames.end());
  SmallVector<StringRef> outputs;
  for (const onnx::ValueInfoProto &output : model.getGraph().output())
    outputs.push_back(output.name());
  llvm::append_range(outputs, sizeNames);
  function->setAttr("tarpon.model_name",
                    builder.getStringAttr(model.getName()));
  if (model.hasDigest())
    function->setAttr("tarpon.model_sha256",
                      builder.getStringAttr(model.getSha256()));
  function->setAttr("tarpon.input_names", builder.getStrArrayAttr(inputs));
  function->setAttr("tarpon.output_names", builder.getStrArrayAttr(outputs));
  auto isNamed = [](Attribute symbols) {
    return llvm::any_of(cast<ArrayAttr>(symbols).getAsRange<StringAttr>(),
                        [](StringAttr name) { return !name.empty(); });
  };
  if (llvm::any_of(inputSymbols, isNamed))
    function->setAttr("tarpon.input_symbols",
                      builder.getArrayAttr(inputSymbols));
  SmallVector<StringRef> assumed;
  for (auto [name, argument] : llvm::zip_equal(inputs, function.getArguments()))
    if (graph.usedAssumptions.contains(argument))
      assumed.push_back(name);
  if (!assumed.empty())
    function->setAttr("tarpon.assumed_inputs",
                      builder.getStrArrayAttr(assumed));
}

} // namespace tarpon
