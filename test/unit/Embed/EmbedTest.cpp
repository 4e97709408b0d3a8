//===- EmbedTest.cpp - Tests of what programs embed -------------*- C++ -*-===//
//
// Part of Tarpon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tarpon/Tarpon.h"

#include <cstdlib>
#include <filesystem>
#include <gmock/gmock.h>
#include <string>
#include <unistd.h>
#include <vector>

using namespace tarpon;
using testing::HasSubstr;

namespace {

const std::string kModels = TARPON_MODELS;

/// With stores and caches of the tests' own.
class EmbedTest : public testing::Test {
protected:
  static void SetUpTestSuite() {
    std::string pattern =
        std::filesystem::temp_directory_path() / "tarpon-embed-test-XXXXXX";
    folder = mkdtemp(pattern.data());
    setenv("XDG_CACHE_HOME", (folder + "/cache").c_str(), 1);
  }
  /// One test's measurements are no answers for another one.
  void SetUp() override {
    std::string name =
        testing::UnitTest::GetInstance()->current_test_info()->name();
    setenv("XDG_CONFIG_HOME", (folder + "/" + name).c_str(), 1);
  }
  static void TearDownTestSuite() { std::filesystem::remove_all(folder); }

  static Model compile(const ModelOptions &options = {}) {
    runtime::Result<Model> model =
        Model::compile(kModels + "/tiny/tiny_resnet.onnx", options);
    EXPECT_TRUE(model) << model.message();
    return std::move(*model);
  }

  static std::string refusal(const ModelOptions &options) {
    runtime::Result<Model> model =
        Model::compile(kModels + "/tiny/tiny_resnet.onnx", options);
    return model ? "it was compiled" : model.message();
  }

  /// The scores of an image of ones.
  static std::vector<float> run(Model model, int64_t threads) {
    runtime::Result<Session> session =
        Session::create(std::move(model), threads);
    EXPECT_TRUE(session) << session.message();
    EXPECT_EQ(session->threads(), threads);
    std::vector<float> image(3 * 29 * 29, 1.0f), scores(10);
    runtime::Status status =
        session->run({std::as_bytes(std::span(image))},
                     {std::as_writable_bytes(std::span(scores))});
    EXPECT_TRUE(status) << status.message();
    return scores;
  }

  inline static std::string folder;
};

TEST_F(EmbedTest, CompilesSavesLoadsAndRuns) {
  Model model = compile();
  ASSERT_EQ(model.inputs().size(), 1u);
  EXPECT_EQ(model.inputs()[0].name, "data");
  EXPECT_EQ(model.inputs()[0].dtype, "f32");
  EXPECT_THAT(model.inputs()[0].shape, testing::ElementsAre(1, 3, 29, 29));
  EXPECT_EQ(model.inputs()[0].bytes, 3 * 29 * 29 * 4);
  ASSERT_EQ(model.outputs().size(), 1u);
  EXPECT_EQ(model.outputs()[0].name, "fc_out");

  std::string path = folder + "/model.tpn";
  runtime::Status saved = model.save(path);
  ASSERT_TRUE(saved) << saved.message();
  runtime::Result<Model> loaded = Model::load(path);
  ASSERT_TRUE(loaded) << loaded.message();
  std::vector<float> scores = run(std::move(model), 1);
  EXPECT_EQ(run(std::move(*loaded), 2), scores);
  EXPECT_NE(scores, std::vector<float>(10));
}

TEST_F(EmbedTest, TakesOptions) {
  ModelOptions options;
  options.dtype = "int8";
  options.layout = "nhwc";
  options.threads = 1;
  for (const LayerSolution &layer : compile(options).solutions())
    EXPECT_THAT(layer.problem, HasSubstr("u8q"));
  EXPECT_THAT(compile(options).solutions().front().problem, HasSubstr(":nhwc"));
}

TEST_F(EmbedTest, RunsSizesThatAreChosen) {
  ModelOptions options;
  options.dims = {"N=1..3"};
  runtime::Result<Model> model =
      Model::compile(kModels + "/tiny/tiny_symbolic.onnx", options);
  ASSERT_TRUE(model) << model.message();
  runtime::Result<Session> session = Session::create(std::move(*model), 1);
  ASSERT_TRUE(session) << session.message();
  std::vector<float> images(3 * 3 * 14 * 14, 1.0f), first(9), scores(27);
  ASSERT_TRUE(session->run({std::as_bytes(std::span(images).first(588))},
                           {std::as_writable_bytes(std::span(first))}));
  ASSERT_TRUE(session->setSizes({{"N", 3}}));
  EXPECT_EQ(session->outputs()[0].shape, (std::vector<int64_t>{3, 9}));
  ASSERT_TRUE(session->run({std::as_bytes(std::span(images))},
                           {std::as_writable_bytes(std::span(scores))}));
  for (size_t i = 0; i < scores.size(); ++i)
    EXPECT_NEAR(scores[i], first[i % 9], 1e-5) << i;
  EXPECT_EQ(session->setSizes({{"N", 4}}).message(),
            "the package of model 'tiny_symbolic' is for N from 1 to 3, not 4");
  options.dims = {"N"};
  EXPECT_EQ(refusal(options), "expected NAME=SIZE or NAME=LOW..HIGH, got 'N'");
}

TEST_F(EmbedTest, Tunes) {
  ModelOptions options;
  options.tuningTime = 60;
  options.threads = 1;
  // One measurement per problem is enough, and takes less than the time.
  setenv("TARPON_TUNING_ITERATIONS_MAX", "1", 1);
  // On a busy machine, the untuned model may win, whose layers are guesses.
  SolutionQuery query;
  query.threads = options.threads;
  int measured = 0;
  for (const LayerSolution &layer : compile(options).solutions()) {
    runtime::Result<std::vector<ListedSolution>> list =
        listSolutions(layer.problem, query);
    ASSERT_TRUE(list) << list.message();
    for (const ListedSolution &solution : *list)
      measured += solution.milliseconds.has_value();
  }
  EXPECT_GT(measured, 0) << "the evaluator was not found";
  unsetenv("TARPON_TUNING_ITERATIONS_MAX");
}

TEST_F(EmbedTest, ListsSolutions) {
  for (const LayerSolution &layer : compile().solutions()) {
    runtime::Result<std::vector<ListedSolution>> list =
        listSolutions(layer.problem);
    ASSERT_TRUE(list) << list.message();
    ASSERT_FALSE(list->empty()) << layer.problem;
    EXPECT_EQ(list->front().solver, layer.solver) << layer.problem;
    EXPECT_EQ(list->front().config, layer.config) << layer.problem;
    EXPECT_FALSE(list->front().milliseconds);
  }
  EXPECT_TRUE(
      listSolutions("conv -n 1 -c 64 -H 14 -W 14 -k 64 -y 3 -x 3 -F 1"));
}

TEST_F(EmbedTest, ExplainsErrors) {
  ModelOptions options;
  options.dtype = "fp7";
  EXPECT_THAT(refusal(options), HasSubstr("'fp7'"));
  options = {};
  options.layout = "nwhc";
  EXPECT_THAT(refusal(options), HasSubstr("'nwhc'"));
  options = {};
  options.target = "vax";
  EXPECT_THAT(refusal(options), HasSubstr("'vax'"));
  EXPECT_THAT(Model::compile(folder + "/none.onnx").message(),
              HasSubstr("none.onnx"));
  EXPECT_THAT(Model::load(folder + "/none.tpn").message(),
              HasSubstr("none.tpn"));
  EXPECT_THAT(compile().save(folder + "/none/model.tpn").message(),
              HasSubstr("none/model.tpn"));
  EXPECT_THAT(listSolutions("frobnicate(1)").message(),
              HasSubstr("frobnicate"));
  EXPECT_EQ(listSolutions("").message(),
            "'' asks for 0 operations, expected one");
}

TEST_F(EmbedTest, RefusesBuffersThatDoNotFit) {
  runtime::Result<Session> session = Session::create(compile(), 1);
  ASSERT_TRUE(session);
  std::vector<float> image(3 * 29 * 29), scores(10);
  auto in = std::as_bytes(std::span(image));
  auto out = std::as_writable_bytes(std::span(scores));
  EXPECT_EQ(session->run({}, {out}).message(),
            "there are 0 inputs, expected 1");
  EXPECT_EQ(session->run({in}, {out.first(4)}).message(),
            "output 'fc_out' has 4 bytes, expected 40");
  EXPECT_EQ(session->run({std::as_bytes(std::span(scores))}, {out}).message(),
            "input 'data' has 40 bytes, expected 10092");
  EXPECT_THAT(Session::create(compile(), -1).message(),
              HasSubstr("cannot run on -1 threads"));
  EXPECT_EQ(Session::create(compile(), int64_t(1) << 32).message(),
            "cannot run on 4294967296 threads");
}

} // namespace
