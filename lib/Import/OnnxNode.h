//===- OnnxNode.h - A node as its importer sees it --------------*- C++ -*-===//
//
// Part of Tarpon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// An importer reads inputs and attributes through checked getters, creates ops
// and sets outputs. Whatever goes wrong becomes one error that names operator,
// node and file; a getter then returns a null or default value. So an importer
// checks what it is about to look into, and otherwise only returns.
//
//===----------------------------------------------------------------------===//

#ifndef TARPON_LIB_IMPORT_ONNXNODE_H
#define TARPON_LIB_IMPORT_ONNXNODE_H

#include "ModelReader.h"
#include "TensorReader.h"
#include "tarpon/IR/TarponOps.h"

#include "mlir/IR/Builders.h"

#include "llvm/ADT/StringMap.h"

#include <optional>

namespace tarpon {

class OnnxNode {
public:
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
    /// Values that arguments may be assumed to have.
    llvm::DenseMap<mlir::Value, mlir::ElementsAttr> assumed;
    /// Arguments of which that was needed.
    llvm::DenseSet<mlir::Value> usedAssumptions;
    /// Whether a constant of the model holds Inf.
    bool hasInf = false;
    /// Names that a node or the graph's outputs read.
    llvm::StringMap<int> useCounts;

    /// The value of that name; an initialiser becomes an op at its first use.
    mlir::Value lookup(llvm::StringRef name);
  };

  OnnxNode(Graph &graph, const onnx::NodeProto &proto, mlir::Location loc,
           std::string description);

  llvm::StringRef getOpType() const { return proto.op_type(); }
  int64_t getOpset() const { return graph.model.getOpset(); }
  mlir::Location getLoc() const { return loc; }
  mlir::OpBuilder &getBuilder() { return graph.builder; }

  /// An error "<OpType> node '<name>' in <file>: ...".
  mlir::InFlightDiagnostic emitError();
  bool hasFailed() const { return failedFlag; }

  //===--- Inputs and outputs ---------------------------------------------===//

  unsigned getNumInputs() const { return proto.input_size(); }
  unsigned getNumOutputs() const { return proto.output_size(); }
  bool hasInput(unsigned index) const;
  llvm::StringRef getInputName(unsigned index) const;
  /// Input `index`, or null if it is left out.
  mlir::Value getInput(unsigned index);
  /// Whether anything reads output `index`.
  bool isOutputUsed(unsigned index) const;
  /// A null value is passed over: it stands for an error already given.
  void setOutput(unsigned index, mlir::Value value);

  //===--- Values at compile time -----------------------------------------===//

  /// The elements of a constant, or null.
  static mlir::ElementsAttr getConstant(mlir::Value value);
  /// The elements of input `index`, which may be assumed; null and an error if
  /// they are not known.
  mlir::ElementsAttr getConstantInput(unsigned index, llvm::StringRef what);
  /// The same for a tensor of integers of at most one dimension.
  std::optional<llvm::SmallVector<int64_t>>
  getConstantInts(unsigned index, llvm::StringRef what);
  /// The same for one number.
  std::optional<double> getConstantNumber(unsigned index, llvm::StringRef what);

  mlir::Value createConstant(mlir::RankedTensorType type,
                             std::vector<char> bytes);
  mlir::Value createConstant(OnnxTensor tensor);
  /// A tensor of shape [ints.size()], or a scalar.
  mlir::Value createInts(llvm::ArrayRef<int64_t> ints, bool scalar = false);
  /// A tensor without dimensions of the given float type.
  mlir::Value createFloat(double value, mlir::Type elementType);

  /// The one element of `constant` in every place of a shape.
  mlir::Value splat(mlir::Value constant, llvm::ArrayRef<int64_t> shape);

  //===--- Attributes -----------------------------------------------------===//

  bool hasAttribute(llvm::StringRef name) const;
  int64_t getInt(llvm::StringRef name, int64_t defaultValue);
  bool getBool(llvm::StringRef name, bool defaultValue);
  float getFloat(llvm::StringRef name, float defaultValue);
  std::string getString(llvm::StringRef name, llvm::StringRef defaultValue);
  /// Empty when absent.
  llvm::SmallVector<int64_t> getInts(llvm::StringRef name);
  llvm::SmallVector<float> getFloats(llvm::StringRef name);
  llvm::SmallVector<std::string> getStrings(llvm::StringRef name);
  /// None, and an error, when absent or broken.
  std::optional<OnnxTensor> getTensor(llvm::StringRef name);
  /// An axis of a tensor of that rank, counted from its start. `isInsertion`
  /// also allows the place behind the last one.
  int64_t getAxis(llvm::StringRef name, int64_t defaultValue, int64_t rank,
                  bool isInsertion = false);
  /// Checks an axis that comes from elsewhere; -1 and an error if it is not
  /// one.
  int64_t normalizeAxis(int64_t axis, int64_t rank);
  /// `axes` counted from the start, without duplicates, in order.
  std::optional<llvm::SmallVector<int64_t>>
  normalizeAxes(llvm::ArrayRef<int64_t> axes, int64_t rank);

  /// Every attribute must be one of `known`, words parted by blanks.
  void checkAttributes(llvm::StringRef known);

  //===--- Ops ------------------------------------------------------------===//

  /// Creates an op whose type is inferred, and folds it. Null if an operand is
  /// null, or if its operands and attributes do not fit each other.
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

  /// The same for an op with several results, `count` of them beside variadic
  /// ones; empty rather than null.
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

  /// `value` in another shape of as many elements.
  mlir::Value reshape(mlir::Value value, llvm::ArrayRef<int64_t> shape);
  /// `value` with another element type.
  mlir::Value convert(mlir::Value value, mlir::Type elementType);
  /// The part of `value` from `begin` on along `axis`.
  mlir::Value slice(mlir::Value value, int64_t axis, int64_t begin,
                    int64_t length);

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

  const onnx::AttributeProto *
  findAttribute(llvm::StringRef name, onnx::AttributeProto::AttributeType type,
                llvm::StringRef typeName);
  /// Refuses NaN in an attribute, and takes note of Inf.
  void checkNumbers(llvm::StringRef name, llvm::ArrayRef<float> values);
  /// The results, folded; none, and an error, if the op does not verify.
  llvm::SmallVector<mlir::Value> insert(mlir::OperationState &state,
                                        InferFn infer);
  mlir::LogicalResult build(mlir::OperationState &state, InferFn infer,
                            mlir::Operation *&op);

  Graph &graph;
  const onnx::NodeProto &proto;
  mlir::Location loc;
  std::string description;
  bool failedFlag = false;
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
