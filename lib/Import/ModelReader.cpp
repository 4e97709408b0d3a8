//===- ModelReader.cpp - The model file, parsed and checked -----*- C++ -*-===//
//
// Part of Tarpon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "ModelReader.h"

#include "GraphChecks.h"
#include "tarpon/Runtime/Sha256.h"
#include "tarpon/Runtime/ThreadPool.h"

#include "llvm/ADT/Twine.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Path.h"

#include <algorithm>

using namespace mlir;

namespace tarpon {

static std::string computeSha256(StringRef bytes) {
  return runtime::Sha256().update(bytes).finishHex();
}

ModelReader::ModelReader(Location loc, StringRef path, int threads)
    : loc(loc), path(path), stamp(path.str()),
      threads(threads > 0 ? threads : runtime::availableCores()),
      external(path) {}

void ModelReader::setContext(MLIRContext *context) {
  loc = FileLineColLoc::get(context, path, 0, 0);
}

InFlightDiagnostic ModelReader::emitError() const {
  return mlir::emitError(loc) << path << ": ";
}

std::unique_ptr<ModelReader> ModelReader::create(MLIRContext *context,
                                                 StringRef path, int threads,
                                                 bool digest) {
  Location loc = FileLineColLoc::get(context, path, 0, 0);
  std::unique_ptr<ModelReader> model(new ModelReader(loc, path, threads));
  if (failed(model->parse(digest)) || failed(model->readOpset()) ||
      failed(model->checkGraph()))
    return nullptr;
  return model;
}

LogicalResult ModelReader::parse(bool wantsDigest) {
  if (llvm::sys::fs::is_directory(path))
    return emitError() << "is a folder, not a model file";
  auto buffer = llvm::MemoryBuffer::getFile(path, /*IsText=*/false,
                                            /*RequiresNullTerminator=*/false);
  if (!buffer)
    return emitError() << "cannot read the file: "
                       << buffer.getError().message();
  file = std::move(*buffer);
  // Hashing reads the whole file, so it runs concurrently.
  if (wantsDigest)
    startDigest();
  // Starting a thread takes as long as parsing this much.
  constexpr size_t kBytesPerThread = 1 << 20;
  threads = static_cast<int>(
      std::min<size_t>(threads, 1 + file->getBufferSize() / kBytesPerThread));
  std::string reason = parseModel(file->getBuffer(), threads, proto);
  if (!reason.empty())
    return emitError() << "not an ONNX model: " << reason;
  if (!proto.has_graph())
    return emitError() << "not an ONNX model: it has no graph";
  return success();
}

void ModelReader::startDigest() {
  auto task = std::make_shared<std::packaged_task<std::string()>>(
      [bytes = file->getBuffer()] { return computeSha256(bytes); });
  digest = task->get_future().share();
  hasher = runtime::Thread::start([task] { (*task)(); });
  if (!hasher)
    (*task)();
}

LogicalResult ModelReader::readOpset() {
  for (const onnx::OperatorSetIdProto &entry : proto.opset_import())
    if (entry.domain().empty() || entry.domain() == "ai.onnx")
      opset = entry.version();
  // A model of other domains' operators alone needs none.
  bool usesDefault =
      llvm::any_of(proto.graph().node(), [](const onnx::NodeProto &node) {
        return node.domain().empty() || node.domain() == "ai.onnx";
      });
  if (opset == 0 && !usesDefault && proto.opset_import_size() > 0)
    opset = maxOpset;
  if (opset == 0)
    return emitError() << "the model imports no opset of the default domain";
  if (opset < 1 || opset > maxOpset)
    return emitError() << "opset " << opset << " is not supported; expected "
                       << minOpset << " to " << maxOpset;
  return success();
}

LogicalResult ModelReader::checkGraph() {
  if (failed(checkNodes(proto.graph(), /*prefix=*/"")))
    return failure();
  return checkValues(*this);
}

LogicalResult ModelReader::checkNodes(const onnx::GraphProto &graph,
                                      const std::string &prefix) {
  if (graph.sparse_initializer_size() > 0)
    return emitError() << "sparse initialisers are not supported";
  for (const auto &[index, node] : llvm::enumerate(graph.node())) {
    if (node.op_type().empty())
      return emitError() << "node '" << node.name() << "' has no operator";
    if (node.name().empty())
      defaultNames[&node] =
          prefix + node.op_type() + "_" + std::to_string(index);
    for (const onnx::AttributeProto &attribute : node.attribute())
      if (attribute.has_g() &&
          failed(checkNodes(attribute.g(), getNodeName(node) + "/")))
        return failure();
  }
  return success();
}

std::string ModelReader::getName() const {
  if (!proto.graph().name().empty())
    return proto.graph().name();
  return llvm::sys::path::stem(path).str();
}

std::string ModelReader::getNodeName(const onnx::NodeProto &node) const {
  if (!node.name().empty())
    return node.name();
  return defaultNames.at(&node);
}

std::string ModelReader::describe(const onnx::NodeProto &node) const {
  return node.op_type() + " node '" + getNodeName(node) + "' in " + path;
}

LogicalResult ModelReader::checkUnchanged() const {
  if (stamp.hasChanged())
    return emitError() << "the file was changed while it was read";
  if (std::optional<std::string> changed = external.findChanged())
    return emitError() << "external data '" << *changed
                       << "' was changed while it was read";
  return success();
}

std::string ModelReader::getSha256() {
  std::string model = digest.get();
  if (external.getFiles().empty())
    return model;
  std::string list = model + "\n";
  for (const auto &[name, buffer] : external.getFiles())
    list += computeSha256(buffer->getBuffer()) + " " + name + "\n";
  return computeSha256(list);
}

} // namespace tarpon
