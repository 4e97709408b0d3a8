//===- OnnxProto.h - The ONNX protobuf classes ------------------*- C++ -*-===//
//
// Part of Tarpon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TARPON_LIB_IMPORT_ONNXPROTO_H
#define TARPON_LIB_IMPORT_ONNXPROTO_H

#include "onnx/onnx_pb.h"

#include "llvm/ADT/StringRef.h"

#include <string>

namespace tarpon {

/// Fills `message` from `bytes`; why not, or an empty string. What follows the
/// message, or is missing of it, is an error.
std::string parseProto(llvm::StringRef bytes,
                       google::protobuf::MessageLite &message);

/// The same of a model, on so many threads.
std::string parseModel(llvm::StringRef bytes, int threads,
                       onnx::ModelProto &model);

} // namespace tarpon

#endif // TARPON_LIB_IMPORT_ONNXPROTO_H
