//===- PackageMetadata.cpp - The JSON part of a package file ----*- C++ -*-===//
//
// Part of Tarpon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "PackageMetadata.h"

#include "JsonReader.h"

#include <array>
#include <nlohmann/json.hpp>

namespace tarpon::runtime {

using nlohmann::json;

/// In the order of the enumeration.
static constexpr std::array<const char *, 4> kSpaceNames = {"constant", "arena",
                                                            "input", "output"};

//===----------------------------------------------------------------------===//
// Writing
//===----------------------------------------------------------------------===//

static json toJson(const TensorInfo &tensor) {
  json result = {{"name", tensor.name},
                 {"dtype", dtypeName(tensor.dtype)},
                 {"shape", tensor.shape}};
  if (tensor.quantized)
    result["quantized"] = {{"scale", tensor.scale},
                           {"zero_point", tensor.zeroPoint}};
  if (tensor.usedPerRow)
    result["used_per_row"] = tensor.usedPerRow;
  return result;
}

static json toJson(const Launch &launch) {
  json buffers = json::array();
  for (const BufferRef &buffer : launch.buffers)
    buffers.push_back({{"space", kSpaceNames[size_t(buffer.space)]},
                       {"offset", buffer.offset}});
  return {{"symbol", launch.symbol},
          {"buffers", std::move(buffers)},
          {"params", launch.params},
          {"tasks", launch.tasks},
          {"scratch_bytes", launch.scratchBytes}};
}

static json toJson(const CodeObjectRange &object) {
  return {{"symbol", object.symbol},
          {"offset", object.offset},
          {"bytes", object.bytes},
          {"workgroup", object.workgroup}};
}

template <typename T>
static json toJson(const std::vector<T> &items) {
  json result = json::array();
  for (const T &item : items)
    result.push_back(toJson(item));
  return result;
}

static json toJson(const Layer &layer) {
  return {{"name", layer.name},     {"problem", layer.problem},
          {"solver", layer.solver}, {"config", layer.config},
          {"source", layer.source}, {"flops", layer.flops},
          {"bytes", layer.bytes},   {"launches", toJson(layer.launches)}};
}

std::string packageMetadataToJson(const Package &package) {
  json document = {
      {"model", {{"name", package.modelName}, {"sha256", package.modelSha256}}},
      {"arch", package.arch},
      {"cpu_features", package.cpuFeatures},
      {"dtype", package.dtype},
      {"layout", package.layout},
      {"fusion", package.fusion},
      {"inputs", toJson(package.inputs)},
      {"outputs", toJson(package.outputs)},
      {"layers", toJson(package.layers)},
      {"arena_bytes", package.arenaBytes}};
  if (package.isForGpu())
    document["gpu"] = {{"target", package.gpuTarget},
                       {"code_objects", toJson(package.codeObjects)}};
  // Names come from the user's model and need not be UTF-8.
  return document.dump(-1, ' ', false, json::error_handler_t::replace);
}

//===----------------------------------------------------------------------===//
// Reading
//===----------------------------------------------------------------------===//

static DType readDType(const JsonReader &reader) {
  std::optional<DType> dtype = parseDType(reader.string());
  if (!dtype)
    reader.expect("a dtype");
  return dtype.value_or(DType::F32);
}

static TensorInfo readTensor(const JsonReader &reader) {
  TensorInfo tensor;
  tensor.name = reader.field("name").string();
  tensor.dtype = readDType(reader.field("dtype"));
  tensor.shape = reader.field("shape").integers();
  tensor.quantized = reader.has("quantized");
  if (tensor.quantized) {
    JsonReader quantized = reader.field("quantized");
    tensor.scale = static_cast<float>(quantized.field("scale").number());
    tensor.zeroPoint = quantized.field("zero_point").integer();
  }
  if (reader.has("used_per_row"))
    tensor.usedPerRow = reader.field("used_per_row").integer();
  return tensor;
}

static BufferRef readBuffer(const JsonReader &reader) {
  BufferRef buffer;
  std::string space = reader.field("space").string();
  buffer.offset = reader.field("offset").integer();
  for (size_t index = 0; index < kSpaceNames.size(); ++index) {
    if (space != kSpaceNames[index])
      continue;
    buffer.space = static_cast<BufferSpace>(index);
    return buffer;
  }
  reader.field("space").expect("constant, arena, input or output");
  return buffer;
}

static Launch readLaunch(const JsonReader &reader) {
  Launch launch;
  launch.symbol = reader.field("symbol").string();
  for (const JsonReader &buffer : reader.field("buffers").elements())
    launch.buffers.push_back(readBuffer(buffer));
  launch.params = reader.field("params").integers();
  launch.tasks = reader.field("tasks").integer();
  launch.scratchBytes = reader.field("scratch_bytes").integer();
  return launch;
}

static Layer readLayer(const JsonReader &reader) {
  Layer layer;
  layer.name = reader.field("name").string();
  layer.problem = reader.field("problem").string();
  layer.solver = reader.field("solver").string();
  layer.config = reader.field("config").string();
  layer.source = reader.field("source").string();
  layer.flops = reader.field("flops").number();
  layer.bytes = reader.field("bytes").number();
  for (const JsonReader &launch : reader.field("launches").elements())
    layer.launches.push_back(readLaunch(launch));
  return layer;
}

static CodeObjectRange readCodeObject(const JsonReader &reader) {
  CodeObjectRange object;
  object.symbol = reader.field("symbol").string();
  object.offset = reader.field("offset").integer();
  object.bytes = reader.field("bytes").integer();
  object.workgroup = reader.field("workgroup").integer();
  return object;
}

static void readGpu(const JsonReader &reader, Package &package) {
  package.gpuTarget = reader.field("target").string();
  for (const JsonReader &object : reader.field("code_objects").elements())
    package.codeObjects.push_back(readCodeObject(object));
}

Result<Package> packageMetadataFromJson(std::string_view text) {
  json document = json::parse(text, nullptr, /*allow_exceptions=*/false);
  if (document.is_discarded())
    return Error{"its metadata is not JSON"};
  std::string error;
  JsonReader reader(document, "", error);
  Package package;
  package.modelName = reader.field("model").field("name").string();
  package.modelSha256 = reader.field("model").field("sha256").string();
  package.arch = reader.field("arch").string();
  package.cpuFeatures = reader.field("cpu_features").strings();
  package.dtype = reader.field("dtype").string();
  package.layout = reader.field("layout").string();
  package.fusion = reader.field("fusion").string();
  for (const JsonReader &tensor : reader.field("inputs").elements())
    package.inputs.push_back(readTensor(tensor));
  for (const JsonReader &tensor : reader.field("outputs").elements())
    package.outputs.push_back(readTensor(tensor));
  for (const JsonReader &layer : reader.field("layers").elements())
    package.layers.push_back(readLayer(layer));
  package.arenaBytes = reader.field("arena_bytes").integer();
  if (reader.has("gpu"))
    readGpu(reader.field("gpu"), package);
  if (!error.empty())
    return Error{"in its metadata, " + error};
  return package;
}

} // namespace tarpon::runtime
