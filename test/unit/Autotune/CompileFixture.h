//===- CompileFixture.h - Compiles the tiny models --------------*- C++ -*-===//
//
// Part of Tarpon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TARPON_TEST_UNIT_AUTOTUNE_COMPILEFIXTURE_H
#define TARPON_TEST_UNIT_AUTOTUNE_COMPILEFIXTURE_H

#include "TestDirectory.h"
#include "tarpon/Autotune/Tuning/Compile.h"
#include "tarpon/Runtime/Executor.h"
#include "tarpon/Runtime/Measure.h"

#include "llvm/Support/FileSystem.h"

#include "gtest/gtest.h"

#include <cstdlib>
#include <string>

namespace tarpon::test {

inline const std::string kModels = TARPON_SOURCE_DIR "/models/tiny/";

class CompileTest : public testing::Test {
protected:
  TestDirectory directory;

  void SetUp() override {
    // Kernels are the same in all tests.
    static TestDirectory cache;
    setenv("TARPON_USER_DB_PATH", directory.file("db").c_str(), 1);
    setenv("TARPON_CACHE_DIR", cache.path().c_str(), 1);
  }

  CompileOptions getOptions(const std::string &model) {
    CompileOptions options;
    options.model = kModels + model + ".onnx";
    options.threads = 1;
    options.quiet = true;
    return options;
  }

  CompileOptions getGlobalOptions(const std::string &model) {
    CompileOptions options = getOptions(model);
    options.dtype = *parseDtypeKnob("pick_global");
    options.layout = *parseLayoutKnob("pick_global");
    // The outputs of an untrained model say little about accuracy.
    options.maxError = 1;
    return options;
  }

  CompileOutcome compile(const CompileOptions &options) {
    auto outcome = compileModel(options);
    EXPECT_TRUE(outcome) << outcome.message();
    return outcome ? std::move(*outcome) : CompileOutcome();
  }

  std::string getError(const CompileOptions &options) {
    auto outcome = compileModel(options);
    return outcome ? "" : outcome.message();
  }

  /// The bytes of all outputs on seeded inputs.
  std::string runPackage(runtime::Package package) {
    auto inputs = runtime::makeRandomInputs(package, 1);
    runtime::ExecutorOptions options;
    options.threads = 1;
    options.paddedBuffers = true;
    auto executor = runtime::Executor::create(std::move(package), options);
    EXPECT_TRUE(executor) << executor.message();
    auto instance =
        runtime::Instance::create(std::move(*executor), std::move(*inputs));
    EXPECT_TRUE(instance) << instance.message();
    EXPECT_TRUE(instance->run());
    std::string bytes;
    for (const runtime::HostTensor &output : instance->outputs())
      bytes.append(output.data.data(), output.data.size());
    return bytes;
  }

  std::string findJournal() {
    std::error_code error;
    for (llvm::sys::fs::directory_iterator it(directory.file("db"), error), end;
         it != end && !error; it.increment(error))
      if (llvm::StringRef(it->path()).ends_with(".journal"))
        return it->path();
    return "";
  }
};

} // namespace tarpon::test

#endif // TARPON_TEST_UNIT_AUTOTUNE_COMPILEFIXTURE_H
