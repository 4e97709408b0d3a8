//===- ModelParser.cpp - Parses a model file ------------------------------===//
//
// Part of Tarpon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Initialisers are nearly all of a model file, and protobuf parses a message on
// one thread. Therefore the initialisers are found first, by skipping from
// field to field, and parsed on several threads; all other fields are parsed as
// usual. See https://protobuf.dev/programming-guides/encoding: fields come in
// any order, and fields that occur twice are merged.
//
//===----------------------------------------------------------------------===//

#include "OnnxProto.h"
#include "tarpon/IR/ParallelFor.h"

#include "google/protobuf/io/coded_stream.h"
#include "google/protobuf/wire_format_lite.h"

#include <limits>
#include <optional>
#include <vector>

using namespace llvm;
using google::protobuf::internal::WireFormatLite;
using google::protobuf::io::CodedInputStream;

namespace {
/// A message without one of its fields, and each occurrence of that field.
struct SplitMessage {
  std::string rest;
  std::vector<StringRef> field;
};
} // namespace

/// Splits a message; none if it is broken. Does not parse nested messages.
static std::optional<SplitMessage> splitMessage(StringRef bytes, int field) {
  uint32_t wanted =
      WireFormatLite::MakeTag(field, WireFormatLite::WIRETYPE_LENGTH_DELIMITED);
  CodedInputStream stream(reinterpret_cast<const uint8_t *>(bytes.data()),
                          static_cast<int>(bytes.size()));
  SplitMessage split;
  while (true) {
    int start = stream.CurrentPosition();
    uint32_t tag = stream.ReadTag();
    if (tag == 0)
      break;
    if (tag != wanted) {
      if (!WireFormatLite::SkipField(&stream, tag))
        return std::nullopt;
      split.rest += bytes.slice(start, stream.CurrentPosition());
      continue;
    }
    int size;
    if (!stream.ReadVarintSizeAsInt(&size) || !stream.Skip(size))
      return std::nullopt;
    split.field.push_back(bytes.substr(stream.CurrentPosition() - size, size));
  }
  if (!stream.ConsumedEntireMessage())
    return std::nullopt;
  return split;
}

static std::string parseInitializers(ArrayRef<StringRef> found, int threads,
                                     onnx::GraphProto &graph) {
  for (size_t i = 0; i < found.size(); ++i)
    graph.add_initializer();
  std::vector<std::string> reasons(found.size());
  tarpon::parallelFor(found.size(), threads, [&](size_t i) {
    reasons[i] =
        tarpon::parseProto(found[i], *graph.mutable_initializer(int(i)));
  });
  for (const std::string &reason : reasons)
    if (!reason.empty())
      return reason;
  return "";
}

std::string tarpon::parseModel(StringRef bytes, int threads,
                               onnx::ModelProto &model) {
  // Protobuf refuses models that are too large or broken.
  if (bytes.size() > size_t(std::numeric_limits<int>::max()))
    return parseProto(bytes, model);
  auto top = splitMessage(bytes, onnx::ModelProto::kGraphFieldNumber);
  if (!top)
    return parseProto(bytes, model);
  std::string rest;
  std::vector<StringRef> initializers;
  for (StringRef graph : top->field) {
    auto split = splitMessage(graph, onnx::GraphProto::kInitializerFieldNumber);
    if (!split)
      return parseProto(bytes, model);
    rest = rest.empty() ? std::move(split->rest) : rest + split->rest;
    initializers.insert(initializers.end(), split->field.begin(),
                        split->field.end());
  }
  std::string reason = parseProto(top->rest, model);
  if (!reason.empty() || top->field.empty())
    return reason;
  onnx::GraphProto &graph = *model.mutable_graph();
  reason = parseProto(rest, graph);
  if (!reason.empty())
    return reason;
  return parseInitializers(initializers, threads, graph);
}
