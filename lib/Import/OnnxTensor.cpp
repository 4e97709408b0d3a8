//===- OnnxTensor.cpp - Reading ONNX TensorProto files ----------*- C++ -*-===//
//
// Part of Tarpon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tarpon/Import/OnnxTensor.h"

#include "OnnxProto.h"
#include "TensorReader.h"

#include "google/protobuf/io/coded_stream.h"
#include "llvm/Support/MemoryBuffer.h"

#include <cstring>
#include <limits>

using namespace llvm;

namespace tarpon {

std::string parseProto(StringRef bytes,
                       google::protobuf::MessageLite &message) {
  if (bytes.size() > size_t(std::numeric_limits<int>::max()))
    return "it is larger than 2 GiB; keep the weights as external data";
  google::protobuf::io::CodedInputStream stream(
      reinterpret_cast<const uint8_t *>(bytes.data()),
      static_cast<int>(bytes.size()));
  // The largest depth of nested sub-graphs and types; a deeper file was made to
  // overflow the stack.
  stream.SetRecursionLimit(64);
  if (!message.ParseFromCodedStream(&stream) || !stream.ConsumedEntireMessage())
    return "it is truncated or not a protobuf";
  return "";
}

runtime::Result<runtime::HostTensor>
readOnnxTensorFile(const std::string &path) {
  auto file = MemoryBuffer::getFile(path, /*IsText=*/false,
                                    /*RequiresNullTerminator=*/false);
  if (!file)
    return runtime::Error{"cannot read '" + path +
                          "': " + file.getError().message()};
  onnx::TensorProto proto;
  std::string reason = parseProto((*file)->getBuffer(), proto);
  if (!reason.empty())
    return runtime::Error{"'" + path + "' is not an ONNX tensor: " + reason};
  // These files do not say what they hold: the first tensor of a sequence, and
  // that of an optional, have the place of a tensor's segment.
  if (proto.has_segment())
    return runtime::Error{"'" + path +
                          "' holds a sequence or an optional, not a tensor"};
  runtime::Result<OnnxTensor> tensor = takeTensor(proto, nullptr);
  if (!tensor)
    return runtime::Error{"'" + path + "': " + tensor.message()};
  auto result = runtime::HostTensor::create(tensor->dtype, tensor->shape);
  if (result && !tensor->bytes.empty())
    std::memcpy(result->data.data(), tensor->bytes.data(),
                tensor->bytes.size());
  return result;
}

} // namespace tarpon
