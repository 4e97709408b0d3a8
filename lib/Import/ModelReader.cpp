//===- ModelReader.cpp - The model file, parsed and checked -----*- C++ -*-===//
//
// Part of Tarpon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "ModelReader.h"

#include "GraphChecks.h"
#include "tarpon/Runtime/Sha256.h"

#include "llvm/ADT/Twine.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Path.h"

using namespace mlir;

namespace tarpon {

static std::string computeSha256(StringRef bytes) {
  return runtime::Sha256().update(bytes).finishHex();
}

ModelReader::ModelReader(Location loc, StringRef path)
    : loc(loc), path(path), external(path) {}

InFlightDiagnostic ModelReader::emitError() const {
  return mlir::emitError(loc) << path << ": ";
}

std::unique_ptr<ModelReader> ModelReader::create(MLIRContext *context,
                                                 StringRef path) {
  Location loc = FileLineColLoc::get(context, path, 0, 0);
  std::unique_ptr<ModelReader> model(new ModelReader(loc, path));
  if (failed(model->parse()) || failed(model->readOpset()) ||
      failed(model->checkGraph()))
    return nullptr;
  return model;
}

LogicalResult ModelReader::parse() {
  if (llvm::sys::fs::is_directory(path))
    return emitError() << "is a folder, not a model file";
  auto buffer = llvm::MemoryBuffer::getFile(path, /*IsText=*/false,
                                            /*RequiresNullTerminator=*/false);
  if (!buffer)
    return emitError() << "cannot read the file: "
                       << buffer.getError().message();
  file = std::move(*buffer);
  std::string reason = parseProto(file->getBuffer(), proto);
  if (!reason.empty())
    return emitError() << "not an ONNX model: " << reason;
  if (!proto.has_graph())
    return emitError() << "not an ONNX model: it has no graph";
  // Hashing reads all of the file, so it runs beside the rest.
  digest = std::async(std::launch::async, computeSha256, file->getBuffer());
  return success();
}

LogicalResult ModelReader::readOpset() {
  for (const onnx::OperatorSetIdProto &entry : proto.opset_import())
    if (entry.domain().empty() || entry.domain() == "ai.onnx")
      opset = entry.version();
  if (opset == 0)
    return emitError() << "the model imports no opset of the default domain";
  if (opset < 1 || opset > maxOpset)
    return emitError() << "opset " << opset << " is not supported; expected "
                       << minOpset << " to " << maxOpset;
  return success();
}

LogicalResult ModelReader::checkGraph() {
  if (proto.graph().sparse_initializer_size() > 0)
    return emitError() << "sparse initialisers are not supported";
  for (const onnx::NodeProto &node : proto.graph().node())
    if (node.op_type().empty())
      return emitError() << "node '" << node.name() << "' has no operator";
  return checkValues(*this);
}

std::string ModelReader::getName() const {
  if (!proto.graph().name().empty())
    return proto.graph().name();
  return llvm::sys::path::stem(path).str();
}

std::string ModelReader::getNodeName(const onnx::NodeProto &node) const {
  if (!node.name().empty())
    return node.name();
  int64_t index = 0;
  while (&proto.graph().node(index) != &node)
    ++index;
  return node.op_type() + "_" + std::to_string(index);
}

std::string ModelReader::describe(const onnx::NodeProto &node) const {
  return node.op_type() + " node '" + getNodeName(node) + "' in " + path;
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
