//===- ExternalData.h - Tensor data beside the model file -------*- C++ -*-===//
//
// Part of Tarpon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TARPON_LIB_IMPORT_EXTERNALDATA_H
#define TARPON_LIB_IMPORT_EXTERNALDATA_H

#include "OnnxProto.h"
#include "tarpon/Runtime/Result.h"

#include "FileStamp.h"
#include "llvm/ADT/StringRef.h"

#include "llvm/Support/MemoryBuffer.h"

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace tarpon {

/// The files that the tensors of one model refer to. Each is mapped once.
class ExternalData {
public:
  /// `modelPath` names the model file; only its folder is ever read from.
  explicit ExternalData(llvm::StringRef modelPath);

  /// Returns the part of a file that `tensor` refers to.
  runtime::Result<llvm::StringRef> find(const onnx::TensorProto &tensor);

  /// Finds the path of a file that was changed since it was opened; nothing if
  /// there is none.
  std::optional<std::string> findChanged() const;

  /// All files read so far, by their path relative to the model's folder.
  const std::map<std::string, std::unique_ptr<llvm::MemoryBuffer>> &
  getFiles() const {
    return files;
  }

private:
  runtime::Result<llvm::StringRef> open(llvm::StringRef location);

  std::string folder;
  std::vector<FileStamp> stamps;
  std::map<std::string, std::unique_ptr<llvm::MemoryBuffer>> files;
};

} // namespace tarpon

#endif // TARPON_LIB_IMPORT_EXTERNALDATA_H
