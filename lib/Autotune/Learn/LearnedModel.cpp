//===- LearnedModel.cpp - Reads and writes learned models -----------------===//
//
// Part of Tarpon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tarpon/Autotune/Learn/LearnedModel.h"

#include "tarpon/Runtime/Sha256.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/SmallVector.h"

#include <nlohmann/json.hpp>

#include <array>
#include <cmath>
#include <optional>

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

static json describe(llvm::ArrayRef<RankingError> errors) {
  json list = json::array();
  for (const RankingError &error : errors)
    list.push_back(describe(error));
  return list;
}

std::string LearnedModel::serialize() const {
  json header = {{"target", madeBy.target},
                 {"targets", targets},
                 {"threads", madeBy.threads},
                 {"tarpon", madeBy.tarpon},
                 {"llvm", madeBy.llvm},
                 {"seed", seed},
                 {"rows", rows},
                 {"problems", problems},
                 {"kinds", kinds},
                 {"split", split},
                 {"held_out", describe(heldOut)},
                 {"held_out_cpus", describe(heldOutCpus)},
                 {"solver_ids", space.getSolvers()},
                 {"config_fields", space.getFields()},
                 {"features", space.getNames()},
                 {"solvers", describe(solvers)},
                 {"configs", describe(configs)}};
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

namespace {
/// Maps the columns of the model in a file to those of its space.
struct ColumnMap {
  std::vector<uint16_t> columns;
  /// The column in the file that counts elements of vectors instead of vectors,
  /// and the logarithm of a vector's elements; of version 1 only.
  std::optional<size_t> elementColumn;
  float logLanes = 0;

  /// Changes a test so that it holds for the same solutions.
  bool apply(TreeNode &node) const {
    if (node.isLeaf())
      return true;
    if (node.feature >= columns.size())
      return false;
    if (node.feature == elementColumn)
      node.value -= logLanes;
    node.feature = columns[node.feature];
    return true;
  }
};
} // namespace

/// Reads a forest whose rows have the first `fileColumns` features of the file
/// and `columns` of the model.
static Result<Forest> readForest(const json &description, size_t fileColumns,
                                 size_t columns, const ColumnMap &map,
                                 ByteReader &reader) {
  HeaderReader header(description);
  auto base = static_cast<float>(header.number("base"));
  int64_t trees = header.integer("trees"), nodes = header.integer("nodes");
  if (!header.missing.empty() || trees < 0 || nodes < 0 ||
      header.integer("columns") != static_cast<int64_t>(fileColumns))
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
    if (!map.apply(node))
      return Error{"a forest does not fit its features"};
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

/// Reads the numbers of problems by name.
static std::map<std::string, int64_t> readCounts(const json &object) {
  std::map<std::string, int64_t> counts;
  for (const auto &[name, count] : object.items())
    counts[name] = count.is_number_integer() ? count.get<int64_t>() : 0;
  return counts;
}

/// Fills all fields but the space and the forests; returns "" or what is wrong.
static std::string readFields(HeaderReader &header, uint32_t version,
                              LearnedModel &model) {
  model.madeBy = {header.text("target"), header.integer("threads"),
                  header.text("tarpon"), header.text("llvm")};
  model.seed = static_cast<uint64_t>(header.integer("seed"));
  model.rows = header.integer("rows");
  model.problems = header.integer("problems");
  model.kinds = readCounts(header.map("kinds"));
  model.split = header.text("split");
  model.heldOut = readErrors(header.array("held_out"), header.missing);
  if (version == 1) {
    model.targets = {{model.madeBy.target, model.problems}};
  } else {
    model.targets = readCounts(header.map("targets"));
    model.heldOutCpus =
        readErrors(header.array("held_out_cpus"), header.missing);
  }
  return header.missing.empty() ? "" : "its header has no " + header.missing;
}

/// The logarithm of the elements of a vector of a CPU's name in a journal,
/// "x86-64/znver4/512/2c4b9a78"; 0 for other names.
static float getLogLanes(llvm::StringRef target) {
  constexpr double kElementBits = 32;
  llvm::SmallVector<llvm::StringRef, 4> parts;
  target.split(parts, '/');
  double bits = 0;
  if (parts.size() < 3 || parts[2].getAsDouble(bits) || bits < kElementBits)
    return 0;
  return static_cast<float>(std::log2(bits / kElementBits));
}

/// Makes the space, and the map of the columns of the file to it; returns "" or
/// what is wrong.
static std::string readSpace(HeaderReader &header, uint32_t version,
                             LearnedModel &model, ColumnMap &map) {
  std::vector<std::string> solvers = header.texts("solver_ids"),
                           fields = header.texts("config_fields"),
                           features = header.texts("features");
  if (!header.missing.empty())
    return "its header has no " + header.missing;
  if (!std::is_sorted(solvers.begin(), solvers.end()) ||
      !std::is_sorted(fields.begin(), fields.end()))
    return "its lists are not sorted";
  model.space = FeatureSpace(std::move(solvers), std::move(fields));
  const std::vector<std::string> &names = model.space.getNames();
  size_t last = 0;
  for (const std::string &feature : features) {
    size_t column = llvm::find(names, feature) - names.begin();
    // The parts of a row keep their order.
    if (column == names.size() || (!map.columns.empty() && column <= last))
      return "it was made for features of another version of tarpon";
    if (version == 1 && feature == "config tile_n")
      map.elementColumn = map.columns.size();
    map.columns.push_back(static_cast<uint16_t>(column));
    last = column;
  }
  map.logLanes = getLogLanes(model.madeBy.target);
  return "";
}

bool LearnedModel::isModel(llvm::StringRef bytes) {
  return bytes.starts_with(kMagic);
}

Result<LearnedModel> LearnedModel::parse(llvm::StringRef bytes,
                                         const std::string &source) {
  auto refuse = [&](const std::string &what) {
    return Error{"the model in " + source + " is not used: " + what};
  };
  if (!isModel(bytes))
    return refuse("it is no model of tarpon");
  ByteReader reader(bytes.drop_front(kMagic.size()));
  auto version = reader.take<uint32_t>();
  if (!reader.isShort && (version < 1 || version > kVersion))
    return refuse("it is of version " + std::to_string(version) +
                  ", this tarpon reads up to " + std::to_string(kVersion));
  if (bytes.size() < kDigestBytes ||
      makeDigest(bytes.drop_back(kDigestBytes)) !=
          bytes.take_back(kDigestBytes))
    return refuse("it is damaged: its checksum is wrong");
  auto length = reader.take<uint32_t>();
  llvm::StringRef text = reader.take(length);
  json object = json::parse(text.begin(), text.end(), nullptr,
                            /*allow_exceptions=*/false);
  HeaderReader header(object);
  LearnedModel model;
  ColumnMap map;
  for (const std::string &fault : {readFields(header, version, model),
                                   readSpace(header, version, model, map)})
    if (!fault.empty())
      return refuse(fault);
  size_t solverColumns = llvm::count_if(map.columns, [&](uint16_t column) {
    return column < model.space.solverColumns();
  });
  Result<Forest> solvers = readForest(header.map("solvers"), solverColumns,
                                      model.space.solverColumns(), map, reader);
  if (!solvers)
    return refuse("it is damaged: " + solvers.message());
  Result<Forest> configs = readForest(header.map("configs"), map.columns.size(),
                                      model.space.configColumns(), map, reader);
  if (!configs)
    return refuse("it is damaged: " + configs.message());
  model.solvers = std::move(*solvers);
  model.configs = std::move(*configs);
  return model;
}
