//===- LearnedModel.cpp - Reads and writes learned models -----------------===//
//
// Part of Tarpon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tarpon/Autotune/Learn/LearnedModel.h"

#include "tarpon/Runtime/Sha256.h"

#include "llvm/ADT/STLExtras.h"

#include <nlohmann/json.hpp>

#include <array>

using namespace tarpon;
using nlohmann::json;
using runtime::Error;
using runtime::Result;

static constexpr llvm::StringLiteral kMagic = "TPNMODEL";
static constexpr size_t kDigestBytes = 32;

static std::string makeDigest(llvm::StringRef bytes) {
  runtime::Sha256 sha;
  sha.update(std::string_view(bytes.data(), bytes.size()));
  std::array<uint8_t, kDigestBytes> digest = sha.finish();
  return std::string(digest.begin(), digest.end());
}

//===----------------------------------------------------------------------===//
// Writing
//===----------------------------------------------------------------------===//

template <typename T>
static void append(std::string &bytes, T value) {
  bytes.append(reinterpret_cast<const char *>(&value), sizeof(value));
}

static json describe(const Forest &forest) {
  return {{"base", forest.getBase()},
          {"columns", forest.getColumns()},
          {"trees", forest.getRoots().size()},
          {"nodes", forest.getNodes().size()}};
}

static void append(std::string &bytes, const Forest &forest) {
  for (uint32_t root : forest.getRoots())
    append(bytes, root);
  for (const TreeNode &node : forest.getNodes()) {
    append(bytes, node.value);
    append(bytes, node.feature);
    append(bytes, node.yes);
  }
}

static json describe(const RankingError &error) {
  return {{"kind", error.kind},
          {"problems", error.problems},
          {"mean", error.mean},
          {"tenth", error.tenth},
          {"unmeasured", error.unmeasured}};
}

std::string LearnedModel::serialize() const {
  json header = {{"target", madeBy.target},
                 {"threads", madeBy.threads},
                 {"tarpon", madeBy.tarpon},
                 {"llvm", madeBy.llvm},
                 {"seed", seed},
                 {"rows", rows},
                 {"problems", problems},
                 {"kinds", kinds},
                 {"split", split},
                 {"held_out", json::array()},
                 {"solver_ids", space.getSolvers()},
                 {"config_fields", space.getFields()},
                 {"features", space.getNames()},
                 {"solvers", describe(solvers)},
                 {"configs", describe(configs)}};
  for (const RankingError &error : heldOut)
    header["held_out"].push_back(describe(error));
  std::string text = header.dump();
  std::string bytes = kMagic.str();
  append(bytes, kVersion);
  append(bytes, static_cast<uint32_t>(text.size()));
  bytes += text;
  append(bytes, solvers);
  append(bytes, configs);
  return bytes + makeDigest(bytes);
}

//===----------------------------------------------------------------------===//
// Reading
//===----------------------------------------------------------------------===//

namespace {

/// Reads numbers from the front; remembers if there were too few.
class ByteReader {
public:
  explicit ByteReader(llvm::StringRef bytes) : bytes(bytes) {}

  template <typename T>
  T take() {
    T value = {};
    if (bytes.size() < sizeof(T)) {
      isShort = true;
      return value;
    }
    llvm::copy(bytes.take_front(sizeof(T)), reinterpret_cast<char *>(&value));
    bytes = bytes.drop_front(sizeof(T));
    return value;
  }
  llvm::StringRef take(size_t size) {
    isShort |= size > bytes.size();
    llvm::StringRef piece = bytes.take_front(size);
    bytes = bytes.drop_front(piece.size());
    return piece;
  }

  llvm::StringRef bytes;
  bool isShort = false;
};

/// Reads fields of a JSON object; remembers the first one that is missing or of
/// another type.
class HeaderReader {
public:
  explicit HeaderReader(const json &object) : object(object) {}

  /// Returns a default `T` if the field does not satisfy `isRight`.
  template <typename T>
  T get(const char *name, bool (json::*isRight)() const noexcept) {
    auto field = object.find(name);
    if (object.is_object() && field != object.end() && ((*field).*isRight)())
      return field->get<T>();
    if (missing.empty())
      missing = name;
    return T();
  }
  std::string text(const char *name) {
    return get<std::string>(name, &json::is_string);
  }
  int64_t integer(const char *name) {
    return get<int64_t>(name, &json::is_number_integer);
  }
  double number(const char *name) {
    return get<double>(name, &json::is_number);
  }
  json array(const char *name) { return get<json>(name, &json::is_array); }
  json map(const char *name) { return get<json>(name, &json::is_object); }
  std::vector<std::string> texts(const char *name) {
    std::vector<std::string> list;
    for (const json &item : array(name)) {
      if (!item.is_string()) {
        missing = name;
        return {};
      }
      list.push_back(item.get<std::string>());
    }
    return list;
  }

  std::string missing;

private:
  const json &object;
};

} // namespace

static Result<Forest> readForest(const json &description, size_t columns,
                                 ByteReader &reader) {
  HeaderReader header(description);
  auto base = static_cast<float>(header.number("base"));
  int64_t trees = header.integer("trees"), nodes = header.integer("nodes");
  if (!header.missing.empty() || trees < 0 || nodes < 0 ||
      header.integer("columns") != static_cast<int64_t>(columns))
    return Error{"a forest does not fit its features"};
  // There cannot be more of either than there are bytes.
  constexpr int64_t kTreeBytes = 4, kNodeBytes = 8;
  auto left = static_cast<int64_t>(reader.bytes.size());
  if (trees > left / kTreeBytes || nodes > left / kNodeBytes)
    return Error{"a forest is cut off"};
  std::vector<uint32_t> roots(trees);
  for (uint32_t &root : roots)
    root = reader.take<uint32_t>();
  std::vector<TreeNode> list(nodes);
  for (TreeNode &node : list) {
    node.value = reader.take<float>();
    node.feature = reader.take<uint16_t>();
    node.yes = reader.take<uint16_t>();
  }
  if (reader.isShort)
    return Error{"a forest is cut off"};
  return Forest::create(base, columns, std::move(roots), std::move(list));
}

static std::vector<RankingError> readErrors(const json &list,
                                            std::string &missing) {
  std::vector<RankingError> errors;
  for (const json &item : list) {
    HeaderReader reader(item);
    errors.push_back({reader.text("kind"), reader.integer("problems"),
                      reader.number("mean"), reader.number("tenth"),
                      reader.integer("unmeasured")});
    if (!reader.missing.empty())
      missing = reader.missing;
  }
  return errors;
}

/// Fills all fields but the forests; returns "" or what is wrong.
static std::string readHeader(const json &text, LearnedModel &model) {
  HeaderReader header(text);
  model.madeBy = {header.text("target"), header.integer("threads"),
                  header.text("tarpon"), header.text("llvm")};
  model.seed = static_cast<uint64_t>(header.integer("seed"));
  model.rows = header.integer("rows");
  model.problems = header.integer("problems");
  json kinds = header.map("kinds");
  for (const auto &[kind, count] : kinds.items())
    model.kinds[kind] = count.is_number_integer() ? count.get<int64_t>() : 0;
  model.split = header.text("split");
  model.heldOut = readErrors(header.array("held_out"), header.missing);
  std::vector<std::string> solvers = header.texts("solver_ids"),
                           fields = header.texts("config_fields"),
                           features = header.texts("features");
  if (!header.missing.empty())
    return "its header has no " + header.missing;
  if (!std::is_sorted(solvers.begin(), solvers.end()) ||
      !std::is_sorted(fields.begin(), fields.end()))
    return "its lists are not sorted";
  model.space = FeatureSpace(std::move(solvers), std::move(fields));
  if (model.space.getNames() != features)
    return "it was made for features of another version of tarpon";
  return "";
}

Result<LearnedModel> LearnedModel::parse(llvm::StringRef bytes,
                                         const std::string &source) {
  auto refuse = [&](const std::string &what) {
    return Error{"the model in " + source + " is not used: " + what};
  };
  if (!bytes.starts_with(kMagic))
    return refuse("it is no model of tarpon");
  ByteReader reader(bytes.drop_front(kMagic.size()));
  auto version = reader.take<uint32_t>();
  if (!reader.isShort && version != kVersion)
    return refuse("it is of version " + std::to_string(version) +
                  ", this tarpon reads " + std::to_string(kVersion));
  if (bytes.size() < kDigestBytes ||
      makeDigest(bytes.drop_back(kDigestBytes)) !=
          bytes.take_back(kDigestBytes))
    return refuse("it is damaged: its checksum is wrong");
  auto length = reader.take<uint32_t>();
  llvm::StringRef text = reader.take(length);
  json header = json::parse(text.begin(), text.end(), nullptr,
                            /*allow_exceptions=*/false);
  LearnedModel model;
  if (std::string fault = readHeader(header, model); !fault.empty())
    return refuse(fault);
  HeaderReader forests(header);
  Result<Forest> solvers =
      readForest(forests.map("solvers"), model.space.solverColumns(), reader);
  if (!solvers)
    return refuse("it is damaged: " + solvers.message());
  Result<Forest> configs =
      readForest(forests.map("configs"), model.space.configColumns(), reader);
  if (!configs)
    return refuse("it is damaged: " + configs.message());
  model.solvers = std::move(*solvers);
  model.configs = std::move(*configs);
  return model;
}
