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

/// Fills `message` from `bytes`; returns the fault, or an empty string. Both
/// trailing and missing bytes are errors.
std::string parseProto(llvm::StringRef bytes,
                       google::protobuf::MessageLite &message);

/// Parses a model on that many threads.
std::string parseModel(llvm::StringRef bytes, int threads,
                       onnx::ModelProto &model);

} // namespace tarpon

#endif // TARPON_LIB_IMPORT_ONNXPROTO_H
