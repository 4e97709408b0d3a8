//===- ModelReader.h - The model file, parsed and checked -------*- C++ -*-===//
//
// Part of Tarpon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TARPON_LIB_IMPORT_MODELREADER_H
#define TARPON_LIB_IMPORT_MODELREADER_H

#include "ExternalData.h"
#include "OnnxProto.h"
#include "tarpon/Runtime/Thread.h"

#include "mlir/IR/Diagnostics.h"
#include "mlir/IR/Location.h"

#include "llvm/ADT/DenseMap.h"

#include <future>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace tarpon {

/// All supported operators exist from the first of these on. Older models are
/// accepted if none of their operators has changed since (see OpTable.cpp).
constexpr int64_t minOpset = 7;
constexpr int64_t maxOpset = 28;

/// The initialisers of a graph.
struct Initializers {
  struct Entry {
    std::string name;
    runtime::DType dtype = runtime::DType::F32;
    std::vector<int64_t> shape;
    std::shared_ptr<const std::string> bytes;
  };
  std::vector<Entry> entries;
  bool hasInf = false;
};

/// A model whose graph is well formed: its opset is supported, and every value
/// has one definition, which precedes its uses. The operators are not checked
/// yet.
class ModelReader {
public:
  /// Reads the model at `path`, on `threads` threads at most (0: one per core),
  /// and computes its digest on request; emits a diagnostic and returns null on
  /// failure.
  static std::unique_ptr<ModelReader> create(mlir::MLIRContext *context,
                                             llvm::StringRef path, int threads,
                                             bool digest);

  /// Diagnostics are emitted on this context from now on.
  void setContext(mlir::MLIRContext *context);

  /// The graph is mutable so that data can be dropped after it was copied.
  onnx::GraphProto &getGraph() { return *proto.mutable_graph(); }
  int64_t getOpset() const { return opset; }
  llvm::StringRef getPath() const { return path; }
  mlir::Location getLoc() const { return loc; }
  ExternalData &getExternalData() { return external; }

  /// The graph's name, or else the file's.
  std::string getName() const;

  /// The number of threads that is useful for work on the weights.
  int getThreads() const { return threads; }
  bool hasDigest() const { return digest.valid(); }
  /// See ModelInfo::sha256. Waits for the digest, which is computed from when
  /// the file was opened.
  std::string getSha256();

  /// Emits an error if a file of the model was written while it was read. Call
  /// this when nothing more is read.
  mlir::LogicalResult checkUnchanged() const;

  /// Describes a node in messages: "<OpType> node '<name>' in <file>".
  std::string describe(const onnx::NodeProto &node) const;
  /// The node's name, or <OpType>_<index> if it has none, behind the name of
  /// the node whose sub-graph it is in.
  std::string getNodeName(const onnx::NodeProto &node) const;

  /// Emits an error about the whole file, "<file>: ...".
  mlir::InFlightDiagnostic emitError() const;

  /// The initialisers of the graph, which are read once.
  std::optional<Initializers> initializers;

private:
  ModelReader(mlir::Location loc, llvm::StringRef path, int threads);
  mlir::LogicalResult parse(bool wantsDigest);
  void startDigest();
  mlir::LogicalResult readOpset();
  mlir::LogicalResult checkGraph();
  mlir::LogicalResult checkNodes(const onnx::GraphProto &graph,
                                 const std::string &prefix);

  mlir::Location loc;
  std::string path;
  FileStamp stamp;
  std::unique_ptr<llvm::MemoryBuffer> file;
  onnx::ModelProto proto;
  /// The names of nodes that have none of their own.
  llvm::DenseMap<const onnx::NodeProto *, std::string> defaultNames;
  int64_t opset = 0;
  int threads;
  ExternalData external;
  std::shared_future<std::string> digest;
  /// Declared last: it reads the file until it is done.
  std::optional<runtime::Thread> hasher;
};

} // namespace tarpon

#endif // TARPON_LIB_IMPORT_MODELREADER_H
