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

/// The names are in the order of the enumeration.
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
  if (tensor.sizeOutput >= 0)
    result["size"] = {{"dim", tensor.sizeDim}, {"output", tensor.sizeOutput}};
  return result;
}

static json toJson(const BufferRef &buffer) {
  return {{"space", kSpaceNames[size_t(buffer.space)]},
          {"offset", buffer.offset}};
}

static json toJson(const std::vector<BufferRef> &buffers) {
  json result = json::array();
  for (const BufferRef &buffer : buffers)
    result.push_back(toJson(buffer));
  return result;
}

static json toJson(const Launch &launch) {
  return {{"symbol", launch.symbol},
          {"buffers", toJson(launch.buffers)},
          {"params", launch.params},
          {"tasks", launch.tasks},
          {"scratch_bytes", launch.scratchBytes}};
}

static json toJson(const CodeObjectRange &object) {
  json result = {{"symbol", object.symbol},
                 {"offset", object.offset},
                 {"bytes", object.bytes},
                 {"workgroup", object.workgroup}};
  if (object.ldsBytes)
    result["lds_bytes"] = object.ldsBytes;
  return result;
}

template <typename T>
static json toJson(const std::vector<T> &items) {
  json result = json::array();
  for (const T &item : items)
    result.push_back(toJson(item));
  return result;
}

static json toJson(const Candidate &candidate) {
  return {{"solver", candidate.solver},
          {"config", candidate.config},
          {"model_ms", candidate.modelMs},
          {"workspace_offset", candidate.workspaceOffset},
          {"workspace_bytes", candidate.workspaceBytes},
          {"launches", toJson(candidate.launches)}};
}

static json toJson(const Layer &layer) {
  json result = {
      {"name", layer.name},     {"problem", layer.problem},
      {"solver", layer.solver}, {"config", layer.config},
      {"source", layer.source}, {"flops", layer.flops},
      {"bytes", layer.bytes},   {"launches", toJson(layer.launches)}};
  if (layer.candidates.empty())
    return result;
  result["candidates"] = toJson(layer.candidates);
  result["operands"] = toJson(layer.operands);
  result["results"] = toJson(layer.results);
  return result;
}

static json toJson(const Dimension &dimension) {
  json places = json::array();
  for (auto [input, dim] : dimension.places)
    places.push_back({input, dim});
  return {{"name", dimension.name},
          {"low", dimension.low},
          {"high", dimension.high},
          {"places", std::move(places)}};
}

static json toJson(const ProgramRange &range) {
  return {{"sizes", range.sizes},
          {"offset", range.offset},
          {"bytes", range.bytes},
          {"arena_bytes", range.arenaBytes}};
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
  if (package.getKernelForm() == KernelForm::CodeObjects) {
    document["gpu"] = {{"target", package.chip},
                       {"code_objects", toJson(package.codeObjects)}};
    if (!package.kernelVersion.empty())
      document["gpu"]["kernel_version"] = package.kernelVersion;
  }
  if (!package.dimensions.empty())
    document["sizes"] = {{"dimensions", toJson(package.dimensions)},
                         {"symbols", package.symbols},
                         {"programs", toJson(package.programRanges)}};
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
  if (reader.has("size")) {
    tensor.sizeDim = reader.field("size").field("dim").integer();
    tensor.sizeOutput = reader.field("size").field("output").integer();
  }
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

static std::vector<BufferRef> readBuffers(const JsonReader &reader) {
  std::vector<BufferRef> buffers;
  for (const JsonReader &buffer : reader.elements())
    buffers.push_back(readBuffer(buffer));
  return buffers;
}

static Launch readLaunch(const JsonReader &reader) {
  Launch launch;
  launch.symbol = reader.field("symbol").string();
  launch.buffers = readBuffers(reader.field("buffers"));
  launch.params = reader.field("params").integers();
  launch.tasks = reader.field("tasks").integer();
  launch.scratchBytes = reader.field("scratch_bytes").integer();
  return launch;
}

static std::vector<Launch> readLaunches(const JsonReader &reader) {
  std::vector<Launch> launches;
  for (const JsonReader &launch : reader.elements())
    launches.push_back(readLaunch(launch));
  return launches;
}

static Candidate readCandidate(const JsonReader &reader) {
  Candidate candidate;
  candidate.solver = reader.field("solver").string();
  candidate.config = reader.field("config").string();
  candidate.modelMs = reader.field("model_ms").number();
  candidate.workspaceOffset = reader.field("workspace_offset").integer();
  candidate.workspaceBytes = reader.field("workspace_bytes").integer();
  candidate.launches = readLaunches(reader.field("launches"));
  return candidate;
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
  layer.launches = readLaunches(reader.field("launches"));
  if (!reader.has("candidates"))
    return layer;
  for (const JsonReader &candidate : reader.field("candidates").elements())
    layer.candidates.push_back(readCandidate(candidate));
  layer.operands = readBuffers(reader.field("operands"));
  layer.results = readBuffers(reader.field("results"));
  return layer;
}

static CodeObjectRange readCodeObject(const JsonReader &reader) {
  CodeObjectRange object;
  object.symbol = reader.field("symbol").string();
  object.offset = reader.field("offset").integer();
  object.bytes = reader.field("bytes").integer();
  object.workgroup = reader.field("workgroup").integer();
  if (reader.has("lds_bytes"))
    object.ldsBytes = reader.field("lds_bytes").integer();
  return object;
}

static void readCodeObjects(const JsonReader &reader, Package &package) {
  package.chip = reader.field("target").string();
  for (const JsonReader &object : reader.field("code_objects").elements())
    package.codeObjects.push_back(readCodeObject(object));
  // Only packages that can be tuned have one.
  if (reader.has("kernel_version"))
    package.kernelVersion = reader.field("kernel_version").string();
}

static Dimension readDimension(const JsonReader &reader) {
  Dimension dimension;
  dimension.name = reader.field("name").string();
  dimension.low = reader.field("low").integer();
  dimension.high = reader.field("high").integer();
  for (const JsonReader &place : reader.field("places").elements()) {
    std::vector<int64_t> numbers = place.integers();
    if (numbers.size() == 2)
      dimension.places.push_back({numbers[0], numbers[1]});
    else
      place.expect("an input and a dimension of it");
  }
  return dimension;
}

static ProgramRange readProgramRange(const JsonReader &reader) {
  ProgramRange range;
  range.sizes = reader.field("sizes").integers();
  range.offset = reader.field("offset").integer();
  range.bytes = reader.field("bytes").integer();
  range.arenaBytes = reader.field("arena_bytes").integer();
  return range;
}

static void readSizes(const JsonReader &reader, Package &package) {
  for (const JsonReader &dimension : reader.field("dimensions").elements())
    package.dimensions.push_back(readDimension(dimension));
  package.symbols = reader.field("symbols").strings();
  for (const JsonReader &range : reader.field("programs").elements())
    package.programRanges.push_back(readProgramRange(range));
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
    readCodeObjects(reader.field("gpu"), package);
  if (reader.has("sizes"))
    readSizes(reader.field("sizes"), package);
  if (!error.empty())
    return Error{"in its metadata, " + error};
  return package;
}

} // namespace tarpon::runtime
