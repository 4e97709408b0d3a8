//===- TuningFileTest.cpp -------------------------------------------------===//
//
// Part of Tarpon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tarpon/Autotune/Choice/TuningFile.h"

#include "TestDirectory.h"

#include "gmock/gmock.h"
#include "gtest/gtest.h"

#include <nlohmann/json.hpp>

using namespace tarpon;
using namespace tarpon::test;
using nlohmann::json;
using testing::HasSubstr;
using testing::StartsWith;

namespace {

/// A file that has every field of the schema.
TuningFile makeFile() {
  TuningFile file;
  file.model = {std::string(64, 'a'), "resnet50", {{"data", {1, 3, 224, 224}}}};
  file.target = {"x86-64", "znver5", {"avx2", "avx512f"}, 2, "32K/512K/8192K"};
  file.toolchain = {"0.1.0", "22.1.8"};
  file.knobs = {"pick_global", "pick_global", "on", "pick"};
  file.calibration = {"generated", 4, "c0ffee"};
  CandidateRecord good;
  good.choice = {runtime::Precision::I8, Layout{Layout::NHWC}, Fusion::On};
  good.accuracy = {0.004, 0.02, true, MetricRecord{"top-1", 0.99, 0.9, 0.1}};
  good.pipeline = {5.9, 0.05, 50};
  good.ranges = {{"data", -2.117904f, 2.64f}, {"conv1", 0, 1.0f / 3}};
  good.ranges[1].method = RangeMethod::Entropy;
  good.ranges[1].inputMeans = {roundToShortForm(1.0 / 3), -1.5e-7f, 0};
  good.ranges[1].storedMeans = {0.25f, 0, 1e20f};
  good.choice.regions = {{runtime::Precision::I8, {}},
                         {runtime::Precision::F32, {Layout::NHWC}},
                         {runtime::Precision::F32, {}, Fusion::Off}};
  LayerRecord layer;
  layer.name = "conv1";
  layer.problem = "conv(1x3x224x224u8q:nhwc, ...)";
  layer.solver = "conv-igemm-v1";
  layer.config = {{"tile_m", 14}, {"tile_n", 32}};
  layer.workspaceBytes = 64;
  layer.source = "measured";
  layer.timing = {0.31, 0.004, 30, 1e-6};
  good.prediction = {1.5, 0.01, 0.25};
  good.correctedPrediction = {1.25, 0.02, 0.125};
  good.layers = {layer};
  layer.timing.reset();
  layer.source = "default";
  good.layers.push_back(layer);
  CandidateRecord bad;
  bad.choice = {runtime::Precision::BF16, Layout(), Fusion::Off};
  bad.failure = "output has a NaN";
  // Without a budget, the metric decides.
  bad.accuracy = {0.4, std::nullopt, false, MetricRecord{"x", -2, -3.5, 0}};
  file.candidates = {good, bad};
  file.progress = {{1.5, 2, "fp32/nchw"}};
  return file;
}

json makeJson() { return json::parse(printTuningFile(makeFile())); }

std::string parseError(const json &document) {
  auto file = parseTuningFile(document.dump(), "t.json");
  return file ? "" : file.message();
}

/// Every object in `document`, by its JSON pointer.
void collectObjects(const json &document, const json::json_pointer &at,
                    std::vector<json::json_pointer> &objects) {
  const json &value = document[at];
  if (value.is_object())
    objects.push_back(at);
  if (value.is_structured())
    for (const auto &item : value.items())
      collectObjects(document,
                     value.is_array() ? at / std::stoul(item.key())
                                      : at / item.key(),
                     objects);
}

/// The part of the schema that is about the objects there.
json findSchema(const json::json_pointer &at) {
  static const json schema = json::parse(getTuningSchema());
  json part = schema;
  std::string text = at.to_string();
  size_t begin = 0;
  while (begin < text.size()) {
    size_t end = std::min(text.find('/', begin + 1), text.size());
    std::string step = text.substr(begin + 1, end - begin - 1);
    begin = end;
    if (part.contains("items"))
      part = part["items"];
    else if (part.contains("properties") && part["properties"].contains(step))
      part = part["properties"][step];
    else
      part = part["additionalProperties"];
    if (part.contains("$ref"))
      part =
          schema[json::json_pointer(part["$ref"].get<std::string>().substr(1))];
  }
  return part;
}

} // namespace

TEST(TuningFileTest, RoundTripsExactly) {
  TuningFile file = makeFile();
  auto read = parseTuningFile(printTuningFile(file), "t.json");
  ASSERT_TRUE(read) << read.message();
  EXPECT_TRUE(*read == file);
}

TEST(TuningFileTest, GoesThroughTheDisk) {
  TestDirectory directory;
  std::string path = directory.file("t.json");
  ASSERT_TRUE(writeTuningFile(makeFile(), path));
  auto read = readTuningFile(path);
  ASSERT_TRUE(read) << read.message();
  EXPECT_TRUE(*read == makeFile());
  auto missing = readTuningFile(directory.file("no.json"));
  ASSERT_FALSE(missing);
  EXPECT_THAT(missing.message(), HasSubstr(directory.file("no.json")));
}

TEST(TuningFileTest, SchemaIsTheOneInDocs) {
  json docs =
      json::parse(readText(TARPON_SOURCE_DIR "/docs/tuning.schema.json"));
  EXPECT_EQ(docs, json::parse(getTuningSchema()));
}

TEST(TuningFileTest, RequiredFieldsAreRequiredAndOthersAreNot) {
  json document = makeJson();
  std::vector<json::json_pointer> objects;
  collectObjects(document, json::json_pointer(), objects);
  int required = 0, optional = 0;
  for (const json::json_pointer &at : objects) {
    json schema = findSchema(at);
    json names = schema.value("required", json::array());
    for (const auto &item : document[at].items()) {
      json changed = document;
      changed[at].erase(item.key());
      std::string error = parseError(changed);
      if (std::find(names.begin(), names.end(), item.key()) != names.end()) {
        EXPECT_THAT(error, HasSubstr(item.key() + ": missing")) << at;
        ++required;
      } else if (llvm::StringRef(item.key()).ends_with("_means")) {
        // Both are there, or none.
        EXPECT_THAT(error, HasSubstr("differ in number")) << at;
        ++optional;
      } else {
        EXPECT_EQ(error, "") << at << " " << item.key();
        ++optional;
      }
    }
  }
  EXPECT_GT(required, 40);
  EXPECT_GT(optional, 5);
}

TEST(TuningFileTest, UnknownFieldsAreErrorsEverywhere) {
  json document = makeJson();
  std::vector<json::json_pointer> objects;
  collectObjects(document, json::json_pointer(), objects);
  for (const json::json_pointer &at : objects) {
    if (findSchema(at)["additionalProperties"].is_object())
      continue;
    json changed = document;
    changed[at]["surprise"] = 1;
    EXPECT_THAT(parseError(changed), HasSubstr("surprise: unknown field"))
        << at;
  }
}

TEST(TuningFileTest, TheSampleHasEveryFieldOfTheSchema) {
  json document = makeJson();
  std::vector<json::json_pointer> objects;
  collectObjects(document, json::json_pointer(), objects);
  std::map<std::string, std::set<std::string>> missing;
  for (const json::json_pointer &at : objects) {
    json schema = findSchema(at);
    if (!schema.contains("properties"))
      continue;
    std::set<std::string> names;
    for (const auto &item : schema["properties"].items())
      if (!document[at].contains(item.key()))
        names.insert(item.key());
    auto [known, isNew] = missing.try_emplace(schema.dump(), names);
    std::set<std::string> both;
    std::set_intersection(known->second.begin(), known->second.end(),
                          names.begin(), names.end(),
                          std::inserter(both, both.end()));
    known->second = both;
  }
  for (const auto &[schema, names] : missing)
    EXPECT_THAT(names, testing::IsEmpty()) << schema;
}

TEST(TuningFileTest, ErrorsNameThePath) {
  struct Case {
    const char *pointer;
    json value;
    const char *error;
  } cases[] = {
      {"/candidates/0/layers/1/source", 3,
       "candidates[0].layers[1].source: expected one of \"measured\", "
       "\"user-db\", \"system-db\", \"model\", \"heuristic\", \"default\", "
       "got 3"},
      {"/candidates/0/layers/0/median_ms", "fast",
       "candidates[0].layers[0].median_ms: expected a number, got a string"},
      {"/candidates/0/layers/0/median_ms", -1.5,
       "candidates[0].layers[0].median_ms: expected at least 0, got -1.5"},
      {"/candidates/0/layers/0/config/tile_m", 1.5,
       "candidates[0].layers[0].config.tile_m: expected an integer, got 1.5"},
      {"/candidates/0/layers/0/config", json::array(),
       "candidates[0].layers[0].config: expected an object, got an array"},
      {"/candidates/1/dtype", "fp8",
       "candidates[1].dtype: expected one of \"fp32\", \"fp16\", \"bf16\", "
       "\"int8\", got \"fp8\""},
      {"/candidates/0/layout", "chwn",
       "candidates[0].layout: expected text that matches "
       "^(nchw|nhwc|nchw[1-9][0-9]{0,3}c)$, got \"chwn\""},
      {"/candidates/0/accuracy/within_budget", nullptr,
       "candidates[0].accuracy.within_budget: expected a boolean, got null"},
      {"/candidates", json::array(),
       "candidates: expected at least 1 elements, got 0"},
      {"/model/inputs/data/0", "N",
       "model.inputs.data[0]: expected an integer, got a string"},
      {"/model/sha256", "xyz",
       "model.sha256: expected text that matches ^[0-9a-f]{64}$, got \"xyz\""},
      {"/target/threads", 0, "target.threads: expected at least 1, got 0"},
      {"/winner", 2, "winner: expected an index below 2, got 2"},
      {"/winner", 1, "winner: candidate 1 has failed"},
      {"/winner", 9223372036854776808u,
       "winner: expected an integer, got 9223372036854776808"},
      {"/winner", 9223372036854775807,
       "winner: expected an index below 2, got 9223372036854775807"},
      {"/candidates/0/ranges/1/lo", 7,
       "candidates[0].ranges[1]: lo is above hi"},
      {"/candidates/0/ranges/1/input_means", "1",
       "candidates[0].ranges[1]: input_means and stored_means differ in "
       "number"},
      {"/candidates/0/ranges/1/input_means", "1 x 2",
       "candidates[0].ranges[1]: input_means and stored_means must be finite "
       "numbers"},
      {"/candidates/0/ranges/1/stored_means", "1 1e99 2",
       "candidates[0].ranges[1]: input_means and stored_means must be finite "
       "numbers"},
      {"/schema", "tarpon.tuning/2",
       "schema: expected \"tarpon.tuning/1\", got \"tarpon.tuning/2\""},
  };
  for (const Case &test : cases) {
    json document = makeJson();
    document[json::json_pointer(test.pointer)] = test.value;
    EXPECT_EQ(parseError(document), std::string("t.json: ") + test.error);
  }
}

TEST(TuningFileTest, OtherDocumentsAreErrors) {
  auto error = [](const std::string &text) {
    auto file = parseTuningFile(text, "t.json");
    return file ? "" : file.message();
  };
  EXPECT_EQ(error(""), "t.json: not a JSON document");
  EXPECT_EQ(error("{\"schema\": "), "t.json: not a JSON document");
  EXPECT_EQ(error("[1]"),
            "t.json: the document: expected an object, got an array");
  EXPECT_EQ(error("{}"), "t.json: schema: missing");
}

TEST(TuningFileTest, AnotherModelIsRefused) {
  TuningFile file = makeFile();
  TuningFile::Model model = file.model;
  EXPECT_TRUE(checkModel(file, model, "t.json"));
  model.inputs["data"] = {4, 3, 224, 224};
  EXPECT_EQ(checkModel(file, model, "t.json").message(),
            "t.json was made for another shape of input 'data': 1x3x224x224, "
            "not 4x3x224x224");
  model = {std::string(64, 'b'), "vgg16", {}};
  EXPECT_EQ(checkModel(file, model, "t.json").message(),
            "t.json was made for another model: resnet50 (sha256 "
            "aaaaaaaaaaaa), not vgg16 (bbbbbbbbbbbb)");
}

TEST(TuningFileTest, AnotherTargetIsRefused) {
  TuningFile file = makeFile();
  TargetInfo same;
  same.arch = "x86-64";
  same.cpu = "znver5";
  same.features = {"avx2", "avx512f"};
  same.threads = 2;
  EXPECT_TRUE(checkTarget(file, same, "t.json"));
  auto refused = [&](auto change) {
    TargetInfo target = same;
    change(target);
    return checkTarget(file, target, "t.json").message();
  };
  const std::string prefix = "t.json was made for another target: ";
  EXPECT_EQ(refused([](auto &t) { t.arch = "aarch64"; }),
            prefix + "architecture x86-64, not aarch64");
  EXPECT_EQ(refused([](auto &t) { t.cpu = "znver4"; }),
            prefix + "processor znver5, not znver4");
  EXPECT_EQ(refused([](auto &t) { t.threads = 8; }),
            prefix + "thread count 2, not 8");
  EXPECT_EQ(refused([](auto &t) { t.features = {"avx2"}; }),
            prefix + "processor with feature avx512f, not without it");
  EXPECT_EQ(refused([](auto &t) { t.features.push_back("avx512vnni"); }),
            prefix + "processor without feature avx512vnni, not with it");
  EXPECT_EQ(refused([](auto &t) { t.l3Bytes = 32 << 20; }),
            prefix + "caches 32K/512K/8192K, not 32K/512K/32768K");
  // Files of 6d49224 and before do not name them.
  file.target.caches = "";
  json document = json::parse(printTuningFile(file));
  EXPECT_FALSE(document["target"].contains("caches"));
  auto read = parseTuningFile(document.dump(), "t.json");
  ASSERT_TRUE(read) << read.message();
  EXPECT_EQ(refused([](auto &t) { t.l3Bytes = 32 << 20; }), "");
}

TEST(TuningFileTest, TimesOfAModel) {
  TuningFile file = makeFile();
  CandidateRecord &candidate = file.candidates[0];
  candidate.pipeline = {0.5, 0, 0};
  candidate.layers[0].source = "model";
  candidate.layers[0].timing = {0.25, 0, 0, 0};
  json document = json::parse(printTuningFile(file));
  const json &written = document["candidates"][0];
  EXPECT_EQ(written["pipeline"]["source"], "model");
  EXPECT_EQ(written["layers"][0]["median_ms"], 0.25);
  // Nobody has measured how right it is.
  EXPECT_FALSE(written["layers"][0].contains("max_error"));
  EXPECT_EQ(makeJson()["candidates"][0]["pipeline"]["source"], "measured");
  auto read = parseTuningFile(document.dump(), "t.json");
  ASSERT_TRUE(read) << read.message();
  EXPECT_EQ(*read, file);
}

/// What differs from fp32 by rounding alone is no point of its own, though a
/// budget may tell such candidates apart.
TEST(TuningFileTest, RoundingMakesNoPointOfTheFront) {
  TuningFile file;
  auto add = [&](double milliseconds, double error) {
    CandidateRecord &candidate = file.candidates.emplace_back();
    candidate.accuracy = {error, 0.05, true};
    candidate.pipeline = {milliseconds, 0, 1};
  };
  add(3, 1e-7);
  add(2, 1e-6);
  add(1, 0.01);
  add(4, 0.02);
  EXPECT_EQ(file.getFront(), (std::vector<size_t>{2, 1}));
  EXPECT_EQ(file.findWithin(1), 2u);
  EXPECT_EQ(file.findWithin(1e-5), 1u);
  EXPECT_EQ(file.findWithin(5e-7), 0u);
  EXPECT_FALSE(file.findWithin(1e-8));
}

TEST(TuningFileTest, NamesOfChoices) {
  EXPECT_EQ(
      (GlobalChoice{runtime::Precision::I8, Layout{Layout::NHWC}, Fusion::On}
           .name()),
      "int8/nhwc");
  EXPECT_EQ(
      (GlobalChoice{runtime::Precision::F32, Layout(), Fusion::Off}.name()),
      "fp32/nchw/unfused");
}
