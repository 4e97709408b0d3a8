//===- RuntimeTest.cpp - Tests of the C interface ---------------*- C++ -*-===//
//
// Part of Tarpon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tarpon/C/Runtime.h"

#include "TestPackages.h"

#include "tarpon/Runtime/Signature.h"

#include <gmock/gmock.h>
#include <string>
#include <thread>
#include <vector>

using namespace tarpon::runtime;
using namespace tarpon::runtime::test;
using testing::HasSubstr;
using testing::StartsWith;

// In UsesC.c, which a C compiler compiles.
extern "C" int runFromC(const char *path, const float *input, float *output,
                        size_t elements);

namespace {

constexpr int64_t kElements = 100;
constexpr size_t kBytes = kElements * sizeof(float);

/// A package in a file and the model that is loaded from it.
class CRuntimeTest : public testing::Test {
protected:
  void SetUp() override {
    for (size_t i = 0; i < input.size(); ++i)
      input[i] = static_cast<float>(i);
    ASSERT_TRUE(writePackage(makeTestPackage(kElements), path));
    ASSERT_EQ(tarpon_model_load(path.c_str(), 2, &model), TARPON_OK)
        << tarpon_error_message();
  }
  void TearDown() override { tarpon_model_free(model); }

  tarpon_status run(std::vector<tarpon_input> inputs,
                    std::vector<tarpon_output> outputs) {
    return tarpon_model_run(model, inputs.data(), inputs.size(), outputs.data(),
                            outputs.size());
  }

  /// The sentence of a run that is refused.
  std::string refusal(std::vector<tarpon_input> inputs,
                      std::vector<tarpon_output> outputs) {
    EXPECT_EQ(run(std::move(inputs), std::move(outputs)),
              TARPON_INVALID_ARGUMENT);
    return tarpon_error_message();
  }

  void checkOutput() const {
    for (size_t i = 0; i < output.size(); ++i)
      ASSERT_EQ(output[i], expectedOutput(input[i])) << i;
  }

  TempFolder folder;
  std::string path = folder.file("model.tpn");
  std::vector<float> input = std::vector<float>(kElements);
  std::vector<float> output = std::vector<float>(kElements, -1.0f);
  tarpon_model *model = nullptr;
};

TEST_F(CRuntimeTest, DescribesAModel) {
  EXPECT_STREQ(tarpon_version(), TARPON_VERSION);
  EXPECT_STREQ(tarpon_model_name(model), "two-layers");
  EXPECT_EQ(tarpon_model_threads(model), 2);
  EXPECT_EQ(tarpon_model_num_inputs(model), 1u);
  EXPECT_EQ(tarpon_model_num_outputs(model), 1u);
  tarpon_tensor_info info;
  ASSERT_EQ(tarpon_model_input(model, 0, &info), TARPON_OK);
  EXPECT_STREQ(info.name, "data");
  EXPECT_EQ(info.dtype, TARPON_F32);
  EXPECT_EQ(info.bytes, kBytes);
  ASSERT_EQ(info.rank, 2u);
  EXPECT_EQ(info.shape[0], 1);
  EXPECT_EQ(info.shape[1], kElements);
  ASSERT_EQ(tarpon_model_output(model, 0, &info), TARPON_OK);
  EXPECT_STREQ(info.name, "result");
}

TEST_F(CRuntimeTest, RunsAModel) {
  for (int i = 0; i < 3; ++i) {
    std::fill(output.begin(), output.end(), -1.0f);
    ASSERT_EQ(run({{input.data(), kBytes}}, {{output.data(), kBytes}}),
              TARPON_OK)
        << tarpon_error_message();
    checkOutput();
  }
}

TEST_F(CRuntimeTest, RunsSizesThatAreChosen) {
  ASSERT_EQ(tarpon_model_num_dimensions(model), 0u);
  tarpon_model_free(model);
  model = nullptr;
  ASSERT_TRUE(writePackage(makePackageOfSizes(10, kElements), path));
  ASSERT_EQ(tarpon_model_load(path.c_str(), 1, &model), TARPON_OK);
  ASSERT_EQ(tarpon_model_num_dimensions(model), 1u);
  tarpon_dimension dimension;
  ASSERT_EQ(tarpon_model_dimension(model, 0, &dimension), TARPON_OK);
  EXPECT_STREQ(dimension.name, "n");
  EXPECT_EQ(dimension.low, 10);
  EXPECT_EQ(dimension.high, kElements);
  for (int64_t size : {int64_t(37), kElements, int64_t(10), int64_t(37)}) {
    ASSERT_EQ(tarpon_model_set_sizes(model, &size, 1), TARPON_OK)
        << tarpon_error_message();
    tarpon_tensor_info info;
    ASSERT_EQ(tarpon_model_output(model, 0, &info), TARPON_OK);
    EXPECT_EQ(info.shape[1], size);
    std::fill(output.begin(), output.end(), -1.0f);
    ASSERT_EQ(run({{input.data(), info.bytes}}, {{output.data(), info.bytes}}),
              TARPON_OK)
        << tarpon_error_message();
    for (int64_t i = 0; i < kElements; ++i)
      ASSERT_EQ(output[i], i < size ? expectedOutput(input[i]) : -1.0f) << i;
  }
}

TEST_F(CRuntimeTest, RefusesSizes) {
  int64_t size = 5;
  EXPECT_EQ(tarpon_model_set_sizes(model, &size, 1), TARPON_INVALID_ARGUMENT);
  EXPECT_STREQ(tarpon_error_message(), "got 1 sizes, expected 0");
  EXPECT_EQ(tarpon_model_set_sizes(model, nullptr, 0), TARPON_OK);
  tarpon_dimension dimension;
  EXPECT_EQ(tarpon_model_dimension(model, 0, &dimension),
            TARPON_INVALID_ARGUMENT);
  EXPECT_STREQ(tarpon_error_message(),
               "there is no dimension 0, the model has 0");
  tarpon_model_free(model);
  model = nullptr;
  ASSERT_TRUE(writePackage(makePackageOfSizes(10, 20), path));
  ASSERT_EQ(tarpon_model_load(path.c_str(), 1, &model), TARPON_OK);
  EXPECT_EQ(tarpon_model_set_sizes(model, &size, 1), TARPON_INVALID_ARGUMENT);
  EXPECT_STREQ(
      tarpon_error_message(),
      "the package of model 'two-layers' is for n from 10 to 20, not 5");
  EXPECT_EQ(tarpon_model_set_sizes(model, nullptr, 1), TARPON_INVALID_ARGUMENT);
  EXPECT_STREQ(tarpon_error_message(), "'sizes' is a null pointer");
}

TEST_F(CRuntimeTest, RunsFromC) {
  ASSERT_EQ(runFromC(path.c_str(), input.data(), output.data(), kElements), 0);
  checkOutput();
}

TEST_F(CRuntimeTest, ThreadsTakeTurns) {
  std::vector<std::thread> threads;
  std::vector<std::vector<float>> results(4, std::vector<float>(kElements));
  for (std::vector<float> &result : results)
    threads.emplace_back([&] {
      for (int i = 0; i < 200; ++i)
        EXPECT_EQ(run({{input.data(), kBytes}}, {{result.data(), kBytes}}),
                  TARPON_OK);
    });
  for (std::thread &thread : threads)
    thread.join();
  for (const std::vector<float> &result : results)
    for (size_t i = 0; i < result.size(); ++i)
      ASSERT_EQ(result[i], expectedOutput(input[i])) << i;
}

TEST_F(CRuntimeTest, RefusesBuffersThatDoNotFit) {
  tarpon_input in = {input.data(), kBytes};
  tarpon_output out = {output.data(), kBytes};
  EXPECT_EQ(refusal({}, {out}), "there are 0 inputs, expected 1");
  EXPECT_EQ(refusal({in}, {out, out}), "there are 2 outputs, expected 1");
  EXPECT_EQ(refusal({{input.data(), 4}}, {out}),
            "input 'data' has 4 bytes, expected 400");
  EXPECT_EQ(refusal({in}, {{output.data(), 404}}),
            "output 'result' has 404 bytes, expected 400");
  EXPECT_EQ(refusal({{nullptr, kBytes}}, {out}),
            "input 'data' is a null pointer");
  EXPECT_EQ(refusal({in}, {{nullptr, kBytes}}),
            "output 'result' is a null pointer");
  EXPECT_EQ(tarpon_model_run(model, nullptr, 1, &out, 1),
            TARPON_INVALID_ARGUMENT);
  EXPECT_STREQ(tarpon_error_message(), "'inputs' is a null pointer");
  EXPECT_EQ(tarpon_model_run(model, &in, 1, nullptr, 1),
            TARPON_INVALID_ARGUMENT);
  EXPECT_STREQ(tarpon_error_message(), "'outputs' is a null pointer");
  EXPECT_EQ(tarpon_model_run(nullptr, &in, 1, &out, 1),
            TARPON_INVALID_ARGUMENT);
  EXPECT_STREQ(tarpon_error_message(), "'model' is a null pointer");
  EXPECT_EQ(output[0], -1.0f) << "a refused run wrote an output";
}

TEST_F(CRuntimeTest, RefusesTensorsThatAreNotThere) {
  tarpon_tensor_info info = {};
  EXPECT_EQ(tarpon_model_input(model, 1, &info), TARPON_INVALID_ARGUMENT);
  EXPECT_STREQ(tarpon_error_message(), "there is no input 1, the model has 1");
  EXPECT_EQ(tarpon_model_output(model, 7, &info), TARPON_INVALID_ARGUMENT);
  EXPECT_STREQ(tarpon_error_message(), "there is no output 7, the model has 1");
  EXPECT_EQ(info.name, nullptr);
  EXPECT_EQ(tarpon_model_input(model, 0, nullptr), TARPON_INVALID_ARGUMENT);
  EXPECT_STREQ(tarpon_error_message(), "'info' is a null pointer");
  EXPECT_EQ(tarpon_model_input(nullptr, 0, &info), TARPON_INVALID_ARGUMENT);
  EXPECT_EQ(tarpon_model_output(nullptr, 0, &info), TARPON_INVALID_ARGUMENT);
  EXPECT_STREQ(tarpon_error_message(), "'model' is a null pointer");
}

TEST_F(CRuntimeTest, SaysWhyAModelCannotBeLoaded) {
  tarpon_model *none = nullptr;
  std::string missing = folder.file("missing.tpn");
  EXPECT_EQ(tarpon_model_load(missing.c_str(), 0, &none), TARPON_CANNOT_LOAD);
  EXPECT_THAT(tarpon_error_message(), HasSubstr("missing.tpn"));

  std::vector<char> bytes = readBytes(path);
  bytes[bytes.size() / 2] ^= 1;
  std::string damaged = folder.file("damaged.tpn");
  writeBytes(damaged, bytes);
  EXPECT_EQ(tarpon_model_load(damaged.c_str(), 0, &none), TARPON_CANNOT_LOAD);
  EXPECT_THAT(tarpon_error_message(), HasSubstr("damaged.tpn"));

  Package foreign = makeTestPackage(kElements);
  foreign.arch = "vax";
  std::string vax = folder.file("vax.tpn");
  ASSERT_TRUE(writePackage(foreign, vax));
  EXPECT_EQ(tarpon_model_load(vax.c_str(), 0, &none), TARPON_CANNOT_LOAD);
  EXPECT_THAT(tarpon_error_message(), HasSubstr("compiled for vax"));

  EXPECT_EQ(tarpon_model_load(path.c_str(), -1, &none),
            TARPON_INVALID_ARGUMENT);
  EXPECT_STREQ(tarpon_error_message(), "a model cannot run on -1 threads");
  EXPECT_EQ(tarpon_model_load(nullptr, 0, &none), TARPON_INVALID_ARGUMENT);
  EXPECT_STREQ(tarpon_error_message(), "'path' is a null pointer");
  EXPECT_EQ(tarpon_model_load(path.c_str(), 0, nullptr),
            TARPON_INVALID_ARGUMENT);
  EXPECT_STREQ(tarpon_error_message(), "'model' is a null pointer");
  EXPECT_EQ(none, nullptr);
}

TEST_F(CRuntimeTest, LoadsWhatIsSignedWithAKey) {
  std::string key = folder.file("key"), pub = key + ".pub";
  ASSERT_TRUE(createKeyPair(key));
  tarpon_model *signedModel = nullptr;
  EXPECT_EQ(
      tarpon_model_load_signed(path.c_str(), pub.c_str(), 1, &signedModel),
      TARPON_CANNOT_LOAD);
  EXPECT_THAT(tarpon_error_message(), HasSubstr("has no signature"));
  ASSERT_TRUE(signFile(path, key));
  EXPECT_EQ(
      tarpon_model_load_signed(path.c_str(), pub.c_str(), 1, &signedModel),
      TARPON_OK)
      << tarpon_error_message();
  tarpon_model_free(signedModel);
  EXPECT_EQ(tarpon_model_load_signed(path.c_str(), nullptr, 1, &signedModel),
            TARPON_INVALID_ARGUMENT);
  EXPECT_STREQ(tarpon_error_message(), "'public_key' is a null pointer");
}

TEST_F(CRuntimeTest, ErrorsBelongToTheirThread) {
  tarpon_tensor_info info;
  EXPECT_EQ(tarpon_model_input(model, 1, &info), TARPON_INVALID_ARGUMENT);
  std::thread([] { EXPECT_STREQ(tarpon_error_message(), ""); }).join();
  EXPECT_THAT(tarpon_error_message(), StartsWith("there is no input 1"));
}

TEST(CRuntime, FreesNothing) { tarpon_model_free(nullptr); }

} // namespace
