//===- OnnxNode.h - A node as its importer sees it --------------*- C++ -*-===//
//
// Part of Tarpon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// An importer reads inputs and attributes through checked getters, creates ops
// and sets outputs. Any failure becomes one error that names operator, node and
// file; a getter then returns a null or default value. An importer therefore
// checks only values that it dereferences, and otherwise just returns.
//
//===----------------------------------------------------------------------===//

#ifndef TARPON_LIB_IMPORT_ONNXNODE_H
#define TARPON_LIB_IMPORT_ONNXNODE_H

#include "BlockWeights.h"
#include "ModelReader.h"
#include "SizeElements.h"
#include "TensorReader.h"
#include "tarpon/IR/TarponOps.h"

#include "mlir/IR/Builders.h"

#include "llvm/ADT/StringMap.h"

#include <functional>
#include <optional>

namespace tarpon {

/// The size of a dimension that depends on data; the value's type has the most
/// that it can be.
struct RealSize {
  int64_t dim;
  /// A value of i64 and one element.
  mlir::Value size;

  bool operator==(const RealSize &) const = default;
};

/// The sizes of a value that depend on data, one for each such dimension, in
/// the order of the dimensions.
using RealSizes = llvm::SmallVector<RealSize, 1>;

class OnnxNode {
public:
  /// The elements of a value, or null, and the arguments whose assumed values
  /// they were computed from.
  struct Known {
    mlir::ElementsAttr elements;
    llvm::SmallVector<mlir::Value, 1> used;
  };

  /// The state that all nodes of a graph share.
  struct Graph {
    Graph(ModelReader &model, mlir::MLIRContext *context)
        : model(model), builder(context) {}

    ModelReader &model;
    mlir::OpBuilder builder;
    /// Values by name.
    llvm::StringMap<mlir::Value> values;
    /// Initialisers that no node has used yet.
    llvm::StringMap<mlir::ElementsAttr> initializers;
    /// The values that arguments may be assumed to have.
    llvm::DenseMap<mlir::Value, mlir::ElementsAttr> assumed;
    /// The arguments whose assumed values were needed.
    llvm::DenseSet<mlir::Value> usedAssumptions;
    /// The values whose sizes depend on data, and these sizes.
    llvm::DenseMap<mlir::Value, RealSizes> sizes;
    SizeElements sizeElements;
    /// True if a constant of the model holds Inf.
    bool hasInf = false;
    /// The number of uses of each name by nodes and the graph's outputs.
    llvm::StringMap<int> useCounts;
    /// The values that evaluate() has looked at.
    llvm::DenseMap<mlir::Value, Known> known;
    /// Imports the nodes of a sub-graph for these inputs, and appends its
    /// outputs to the list; fails after an error.
    std::function<mlir::LogicalResult(
        OnnxNode &node, const onnx::GraphProto &body,
        llvm::ArrayRef<mlir::Value> inputs, llvm::SmallVector<mlir::Value> &)>
        importBody;
    /// The integers that constants were dequantised from.
    llvm::DenseMap<mlir::Value, BlockWeights> blockWeights;

    /// Returns the value with that name; an initialiser becomes an op at its
    /// first use.
    mlir::Value lookup(llvm::StringRef name);
  };

  OnnxNode(Graph &graph, const onnx::NodeProto &proto, mlir::Location loc,
           std::string description);

  llvm::StringRef getOpType() const { return proto.op_type(); }
  int64_t getOpset() const { return graph.model.getOpset(); }
  mlir::Location getLoc() const { return loc; }
  mlir::OpBuilder &getBuilder() { return graph.builder; }

  /// Emits an error "<OpType> node '<name>' in <file>: ...".
  mlir::InFlightDiagnostic emitError();
  bool hasFailed() const { return failedFlag; }

  //===--- Inputs and outputs ---------------------------------------------===//

  unsigned getNumInputs() const { return proto.input_size(); }
  unsigned getNumOutputs() const { return proto.output_size(); }
  bool hasInput(unsigned index) const;
  llvm::StringRef getInputName(unsigned index) const;
  /// Returns input `index`, or null if it is left out.
  mlir::Value getInput(unsigned index);
  /// Returns true if anything reads output `index`.
  bool isOutputUsed(unsigned index) const;
  /// Sets an output. A null value is ignored: its error was reported already.
  void setOutput(unsigned index, mlir::Value value);
  /// Sets an output of which a dimension's size depends on data.
  void setOutput(unsigned index, mlir::Value value,
                 std::optional<RealSize> size);
  /// Sets an output of which several may.
  void setOutput(unsigned index, mlir::Value value, const RealSizes &sizes);
  /// Returns true if output `index` was set with such a size.
  bool hasOwnSize(unsigned index) const { return ownSizes.contains(index); }
  /// Returns output `index`; null if it was not set.
  mlir::Value getOutput(unsigned index) const;
  /// Gives the node another value as input `index`.
  void replaceInput(unsigned index, mlir::Value value);

  //===--- Sizes that depend on data --------------------------------------===//

  /// Returns the sizes of a value that depend on data.
  RealSizes findRealSizes(mlir::Value value) const {
    return graph.sizes.lookup(value);
  }
  /// Returns that of one dimension, if it depends on data.
  std::optional<RealSize> findRealSize(mlir::Value value, int64_t dim) const;
  /// Gives a dimension of a value such a size.
  void setRealSize(mlir::Value value, RealSize size);
  /// Returns the size as other values have it that have the same one, for a
  /// value of that type.
  RealSize canonicalize(mlir::Value value, RealSize size);
  /// Returns what is known of a list of integers that depend on such sizes.
  std::optional<SizeElements::List> findSizes(unsigned index) {
    return graph.sizeElements.find(getInput(index));
  }
  /// Returns what is known of a list of integers that may be constants, too;
  /// emits an error and returns none if that is nothing.
  std::optional<SizeElements::List> getSizes(unsigned index,
                                             llvm::StringRef what);

  //===--- Values at compile time -----------------------------------------===//

  /// Returns the elements of a constant, or null.
  static mlir::ElementsAttr getConstant(mlir::Value value);
  /// Returns the elements of a value, which may be assumed, or computed from
  /// what is; null if they are not known.
  mlir::ElementsAttr evaluate(mlir::Value value);
  /// Returns the elements of input `index` likewise.
  mlir::ElementsAttr findConstantInput(unsigned index);
  /// Returns the elements of input `index` likewise; emits an error and returns
  /// null if they are not known.
  mlir::ElementsAttr getConstantInput(unsigned index, llvm::StringRef what);
  /// Returns the elements of a tensor of integers of at most one dimension.
  std::optional<llvm::SmallVector<int64_t>>
  getConstantInts(unsigned index, llvm::StringRef what);
  /// Returns the value of a single number.
  std::optional<double> getConstantNumber(unsigned index, llvm::StringRef what);

  /// Records the integers that a constant was dequantised from.
  void setBlockWeights(mlir::Value value, BlockWeights weights) {
    graph.blockWeights[value] = std::move(weights);
  }
  /// Returns them, or null.
  const BlockWeights *findBlockWeights(mlir::Value value) const {
    auto found = graph.blockWeights.find(value);
    return found == graph.blockWeights.end() ? nullptr : &found->second;
  }

  mlir::Value createConstant(mlir::RankedTensorType type,
                             std::vector<char> bytes);
  mlir::Value createConstant(OnnxTensor tensor);
  /// Creates a tensor of shape [ints.size()], or a scalar.
  mlir::Value createInts(llvm::ArrayRef<int64_t> ints, bool scalar = false);
  /// Creates 0, 1, ..., count - 1; null after an error if these are too many.
  mlir::Value createRange(int64_t count);
  /// Returns true if a constant of the shape may be created. A model that makes
  /// the importer write more is wrong, and would take all memory.
  bool mayCreate(llvm::ArrayRef<int64_t> shape);
  /// Creates a tensor of floats.
  mlir::Value createFloats(llvm::ArrayRef<double> values,
                           llvm::ArrayRef<int64_t> shape,
                           mlir::Type elementType);
  /// Creates a tensor without dimensions of the given float type.
  mlir::Value createFloat(double value, mlir::Type elementType);

  /// Creates a tensor without dimensions of the given type.
  mlir::Value createNumber(double value, mlir::Type elementType);

  /// Creates a tensor of that shape whose elements all equal the one element of
  /// `constant`.
  mlir::Value splat(mlir::Value constant, llvm::ArrayRef<int64_t> shape);
  mlir::Value createZeros(llvm::ArrayRef<int64_t> shape,
                          mlir::Type elementType) {
    return splat(createNumber(0, elementType), shape);
  }

  //===--- Attributes -----------------------------------------------------===//

  bool hasAttribute(llvm::StringRef name) const;
  int64_t getInt(llvm::StringRef name, int64_t defaultValue);
  bool getBool(llvm::StringRef name, bool defaultValue);
  float getFloat(llvm::StringRef name, float defaultValue);
  std::string getString(llvm::StringRef name, llvm::StringRef defaultValue);
  /// Returns the list, which is empty if the attribute is absent.
  llvm::SmallVector<int64_t> getInts(llvm::StringRef name);
  llvm::SmallVector<float> getFloats(llvm::StringRef name);
  llvm::SmallVector<std::string> getStrings(llvm::StringRef name);
  /// Returns none, after an error, if it is absent or broken.
  std::optional<OnnxTensor> getTensor(llvm::StringRef name);
  /// Returns an axis of a tensor of that rank, counted from its start.
  /// `isInsertion` also allows the place behind the last one.
  int64_t getAxis(llvm::StringRef name, int64_t defaultValue, int64_t rank,
                  bool isInsertion = false);
  /// Checks an axis from another source; emits an error and returns -1 if it is
  /// invalid.
  int64_t normalizeAxis(int64_t axis, int64_t rank);
  /// Returns `axes` counted from the start, without duplicates, in order.
  std::optional<llvm::SmallVector<int64_t>>
  normalizeAxes(llvm::ArrayRef<int64_t> axes, int64_t rank);

  /// Checks that every attribute is one of `known`, names separated by blanks.
  void checkAttributes(llvm::StringRef known);

  //===--- Ops ------------------------------------------------------------===//

  /// Creates an op whose type is inferred, and folds it. Returns null if an
  /// operand is null, or if its operands and attributes do not fit each other.
  template <typename OpTy, typename... Args>
  mlir::Value create(const Args &...args) {
    if ((isNull(args) || ...) || failedFlag)
      return nullptr;
    mlir::OperationState state(loc, OpTy::getOperationName());
    OpTy::build(graph.builder, state, mlir::Type(graph.builder.getNoneType()),
                args...);
    state.types.clear();
    return getFront(insert(state, &OpTy::inferReturnTypes));
  }

  /// Creates an op with several results, `count` of them beside variadic ones;
  /// the list is empty on failure.
  template <typename OpTy, unsigned count, typename... Args>
  llvm::SmallVector<mlir::Value> createSeveral(const Args &...args) {
    if ((isNull(args) || ...) || failedFlag)
      return {};
    mlir::OperationState state(loc, OpTy::getOperationName());
    llvm::SmallVector<mlir::Type> types(count, graph.builder.getNoneType());
    OpTy::build(graph.builder, state, mlir::TypeRange(types), args...);
    state.types.clear();
    return insert(state, &OpTy::inferReturnTypes);
  }

  /// Creates an op of a given type.
  template <typename OpTy, typename... Args>
  mlir::Value createTyped(mlir::RankedTensorType type, const Args &...args) {
    if ((isNull(args) || ...) || failedFlag)
      return nullptr;
    mlir::OperationState state(loc, OpTy::getOperationName());
    OpTy::build(graph.builder, state, mlir::Type(type), args...);
    return getFront(insert(state, nullptr));
  }

  /// Reshapes `value`; the number of elements stays.
  mlir::Value reshape(mlir::Value value, llvm::ArrayRef<int64_t> shape);
  /// Converts `value` to another element type.
  mlir::Value convert(mlir::Value value, mlir::Type elementType);
  /// Repeats the elements of `value`, which broadcasts to that shape.
  mlir::Value broadcast(mlir::Value value, llvm::ArrayRef<int64_t> shape);
  /// Counts integers below 0 from the end of a dimension of that size.
  mlir::Value countFromStart(mlir::Value indices, int64_t size);
  /// Returns the part of `value` from `begin` on along `axis`.
  mlir::Value slice(mlir::Value value, int64_t axis, int64_t begin,
                    int64_t length);
  /// Joins values along `axis`; empty ones add nothing.
  mlir::Value concat(llvm::ArrayRef<mlir::Value> values, int64_t axis);
  mlir::Value transpose(mlir::Value value, llvm::ArrayRef<int64_t> permutation);
  /// Converts `value` to bools, which are false for 0.
  mlir::Value isSet(mlir::Value value) {
    return convert(value, graph.builder.getI1Type());
  }

  //===--- Sub-graphs -----------------------------------------------------===//

  /// Returns the graph of an attribute; null, after an error, if there is none.
  const onnx::GraphProto *getGraph(llvm::StringRef name);
  /// Returns the outputs of a sub-graph for these inputs; none after an error.
  std::optional<llvm::SmallVector<mlir::Value>>
  importBody(const onnx::GraphProto &body, llvm::ArrayRef<mlir::Value> inputs);

private:
  using InferFn = mlir::LogicalResult (*)(
      mlir::MLIRContext *, std::optional<mlir::Location>, mlir::ValueRange,
      mlir::DictionaryAttr, mlir::OpaqueProperties, mlir::RegionRange,
      llvm::SmallVectorImpl<mlir::Type> &);

  static mlir::Value getFront(mlir::ValueRange values) {
    return values.empty() ? mlir::Value() : values.front();
  }
  static bool isNull(mlir::Value value) { return !value; }
  template <typename T>
  static bool isNull(const T &) {
    return false;
  }

  /// Computes a value from constants and from assumed ones. Operations that are
  /// further away than `depth` others are not looked at.
  Known compute(mlir::Value value, int depth);
  Known computeResult(mlir::Operation *op, mlir::Value value, int depth);
  mlir::ElementsAttr evaluateSizes(mlir::Value value);

  const onnx::AttributeProto *
  findAttribute(llvm::StringRef name, onnx::AttributeProto::AttributeType type,
                llvm::StringRef typeName);
  /// Refuses NaN in an attribute, and records Inf.
  void checkNumbers(llvm::StringRef name, llvm::ArrayRef<float> values);
  /// Returns the results, folded; emits an error and returns none if the op
  /// does not verify.
  llvm::SmallVector<mlir::Value> insert(mlir::OperationState &state,
                                        InferFn infer);
  mlir::LogicalResult build(mlir::OperationState &state, InferFn infer,
                            mlir::Operation *&op);

  Graph &graph;
  const onnx::NodeProto &proto;
  mlir::Location loc;
  std::string description;
  bool failedFlag = false;
  /// Inputs that are other values than those of their names.
  llvm::SmallDenseMap<unsigned, mlir::Value, 2> replaced;
  llvm::SmallDenseSet<unsigned, 2> ownSizes;
};

/// The type of a value of the graph.
inline mlir::RankedTensorType getTensorType(mlir::Value value) {
  return llvm::cast<mlir::RankedTensorType>(value.getType());
}

/// The shape of a value of the graph.
inline llvm::ArrayRef<int64_t> getShape(mlir::Value value) {
  return getTensorType(value).getShape();
}

/// The product of some dimensions of a value's shape.
int64_t multiply(llvm::ArrayRef<int64_t> dims);

/// The elements of an integer or bool constant.
llvm::SmallVector<int64_t> readInts(mlir::ElementsAttr attr);

} // namespace tarpon

#endif // TARPON_LIB_IMPORT_ONNXNODE_H
