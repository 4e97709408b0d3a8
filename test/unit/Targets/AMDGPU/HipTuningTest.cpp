//===- HipTuningTest.cpp --------------------------------------------------===//
//
// Part of Tarpon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Through the stand-in for HIP, which takes the time that the test says.
//
//===----------------------------------------------------------------------===//

#include "PackageTuningTest.h"
#include "tarpon/Autotune/Search/Policy.h"
#include "tarpon/Autotune/Store/StoreAdmin.h"
#include "tarpon/Autotune/Tuning/Compile.h"
#include "tarpon/Targets/AMDGPU/AmdGpuTarget.h"
#include "tarpon/Targets/AMDGPU/Hip/HipDevice.h"

#include "llvm/ADT/STLExtras.h"

#include "gmock/gmock.h"
#include "gtest/gtest.h"

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <utility>

using namespace tarpon;
using namespace tarpon::test;
using runtime::Candidate;
using runtime::Launch;
using runtime::Layer;
using runtime::Package;
using testing::ElementsAre;
using testing::HasSubstr;
namespace fs = std::filesystem;
using namespace std::string_literals;

namespace {

class HipTuningTest : public PackageTuningTest {
protected:
  HipTuningTest() {
    std::string text = fs::temp_directory_path() / "tarpon-tune-XXXXXX";
    directory = mkdtemp(text.data());
    fs::path node = directory / "nodes" / "0";
    fs::create_directories(node);
    std::ofstream(node / "properties")
        << "cpu_cores_count 0\ngfx_target_version 90402\nlocation_id "
        << (0xc1 << 8) << "\ndomain 0\n";
    HipOptions options;
    options.library = TARPON_FAKE_HIP;
    options.topology = directory / "nodes";
    for (const char *name : {"FAKE_HIP_LOG", "FAKE_HIP_FAIL"})
      unsetenv(name);
    setenv("FAKE_HIP_GPUS", "1", 1);
    auto device = openHipDevice({}, options);
    EXPECT_TRUE(device) << device.message();
    hip = std::move(*device);
  }
  ~HipTuningTest() override {
    for (const char *name :
         {"FAKE_HIP_TIMES", "TARPON_USER_DB_PATH", "TARPON_CACHE_DIR"})
      unsetenv(name);
    hip.reset();
    fs::remove_all(directory);
  }

  /// A model with three candidates per layer; stores are the test's own.
  CompileOptions makeOptions() const {
    setenv("TARPON_USER_DB_PATH", directory.c_str(), 1);
    setenv("TARPON_CACHE_DIR", (directory / "cache").c_str(), 1);
    CompileOptions options;
    options.model = TARPON_SOURCE_DIR "/models/tiny/tiny_split.onnx";
    options.layout = {"nhwc", {Layout{Layout::NHWC}}};
    options.dtype = {"fp16", {runtime::Precision::F16}};
    options.target = "gfx942";
    options.candidates = 3;
    options.quiet = true;
    return options;
  }

  fs::path directory;
  std::unique_ptr<runtime::Device> hip;
};

} // namespace

TEST_F(HipTuningTest, TheEventsSayWhoWins) {
  TargetInfo target = makeGpuTargetInfo(*parseGpuTarget(hip->target()));
  auto journal = Journal::open((directory / "journal").string(),
                               getMeasuredContext(target, "0.1.0+kernels"));
  ASSERT_TRUE(journal) << journal.message();
  PackageTuningOptions options;
  options.journal = journal->get();
  options.again = true;
  struct Case {
    const char *times, *winner;
    double milliseconds;
  };
  for (const Case &one :
       {Case{"slow=0.5,near=2,fast=0.25", "fast-v1", 0.25},
        Case{"slow=0.5,near=0.125,fast=0.25", "near-v1", 0.125},
        Case{"slow=0.5,near=2,fast=0.75", "slow-v1", 0.5}}) {
    SCOPED_TRACE(one.times);
    setenv("FAKE_HIP_TIMES", one.times, 1);
    auto tuning = tunePackage(makePackage({"slow", "near", "fast"}), *hip,
                              progress, options);
    ASSERT_TRUE(tuning) << tuning.message();
    std::string path = directory / "tuned.tpn";
    ASSERT_TRUE(runtime::writePackage(tuning->package, path));
    auto package = runtime::readPackage(path);
    ASSERT_TRUE(package) << package.message();
    EXPECT_THAT(getSolvers(*package), ElementsAre(one.winner, one.winner));
    EXPECT_FLOAT_EQ(tuning->before.medianMs, 1);
    EXPECT_FLOAT_EQ(tuning->after.medianMs, 2 * one.milliseconds);
  }
  // Kernels that write nothing leave what is no number.
  EXPECT_THAT(remarks, HasSubstr("output 'x' was not finite before, and is not "
                                 "compared"));
  // The last measurement of each counts.
  std::optional<Measurement> best = (*journal)->getBest(kProblem);
  ASSERT_TRUE(best);
  EXPECT_EQ(best->key.solver, "slow-v1");
  EXPECT_EQ(best->timeSource, TimeSource::Measured);
  EXPECT_FLOAT_EQ(best->median, 0.5);
}

/// Times by which this candidate of a layer takes less than any other, or "" if
/// it has no kernel of its own.
static std::string makeWinner(const Layer &layer, size_t index) {
  std::string times;
  bool hasOwn = false;
  for (const Launch &launch : layer.candidates[index].launches) {
    bool isOwn = true;
    for (size_t other = 0; other < layer.candidates.size(); ++other)
      for (const Launch &theirs : layer.candidates[other].launches)
        isOwn &= other == index ||
                 theirs.symbol.find(launch.symbol) == std::string::npos;
    hasOwn |= isOwn;
    times += launch.symbol + "=0.001,";
  }
  return hasOwn ? times + "gpu_=1" : "";
}

/// From the model to the tuned package, code objects and all.
TEST_F(HipTuningTest, WhateverTheModelExpected) {
  auto compiled = compileModel(makeOptions());
  ASSERT_TRUE(compiled) << compiled.message();
  const Package &package = compiled->package;
  int tried = 0;
  for (const Layer &layer : package.layers) {
    size_t last = layer.candidates.size() - 1;
    if (layer.candidates.empty() || runtime::findChosen(layer) == last ||
        makeWinner(layer, last).empty() || ++tried > 3)
      continue;
    SCOPED_TRACE(layer.problem);
    setenv("FAKE_HIP_TIMES", makeWinner(layer, last).c_str(), 1);
    auto tuning = tunePackage(package, *hip, progress, {});
    ASSERT_TRUE(tuning) << tuning.message();
    for (const Layer &tuned : tuning->package.layers)
      if (tuned.problem == layer.problem) {
        EXPECT_EQ(tuned.solver, layer.candidates[last].solver);
        EXPECT_EQ(tuned.config, layer.candidates[last].config);
        EXPECT_EQ(tuned.source, "measured");
      }
    EXPECT_LT(tuning->after.medianMs, tuning->before.medianMs);
    EXPECT_TRUE(runtime::validatePackage(tuning->package));
  }
  EXPECT_GE(tried, 2);
}

/// The last one that is there to win.
static size_t getLast(const Layer &layer) {
  size_t count = layer.candidates.size();
  return layer.candidates.back().solver == getGpuTraits().getArbiter()
             ? count - 2
             : count - 1;
}

/// Times by which it never wins: more than the launches of any other take.
static std::string slowArbiter(const Package &package) {
  std::string times;
  for (const Layer &layer : package.layers)
    for (const Candidate &candidate : layer.candidates)
      if (candidate.solver == getGpuTraits().getArbiter())
        for (const Launch &launch : candidate.launches)
          times += launch.symbol + "=20,";
  return times;
}

/// Measurements made where the GPU is serve the next compilation there.
TEST_F(HipTuningTest, CompilingTakesWhatWasMeasured) {
  CompileOptions options = makeOptions();
  auto compiled = compileModel(options);
  ASSERT_TRUE(compiled) << compiled.message();
  const Package &package = compiled->package;
  TargetInfo target = makeGpuTargetInfo(*parseGpuTarget(hip->target()));
  EXPECT_EQ(package.kernelVersion,
            getKernelVersion(*makeAmdGpuTarget(*target.gpu)));
  auto varied = std::find_if(
      package.layers.begin(), package.layers.end(), [](const Layer &layer) {
        return !layer.candidates.empty() &&
               !makeWinner(layer, getLast(layer)).empty();
      });
  ASSERT_NE(varied, package.layers.end());
  std::string times =
      slowArbiter(package) + makeWinner(*varied, getLast(*varied));
  setenv("FAKE_HIP_TIMES", times.c_str(), 1);
  auto journal =
      Journal::open(Journal::getDefaultPath(target),
                    getMeasuredContext(target, package.kernelVersion));
  ASSERT_TRUE(journal) << journal.message();
  PackageTuningOptions tuningOptions;
  tuningOptions.journal = journal->get();
  auto tuning = tunePackage(package, *hip, progress, tuningOptions);
  ASSERT_TRUE(tuning) << tuning.message();
  EXPECT_GT(tuning->changed, 0);
  journal->reset();
  {
    auto old = Journal::open(Journal::getDefaultPath(target),
                             getMeasuredContext(target, "0.0.1+old"));
    ASSERT_TRUE(old) << old.message();
    Measurement stale;
    stale.key = {kProblem, "slow-v1", ""};
    ASSERT_TRUE((*old)->record(stale));
  }

  options.candidates = 0;
  testing::internal::CaptureStderr();
  auto again = compileModel(options);
  EXPECT_THAT(testing::internal::GetCapturedStderr(),
              HasSubstr("1 records of other tarpon or LLVM versions are "
                        "ignored"));
  ASSERT_TRUE(again) << again.message();
  const std::vector<Layer> &layers = again->package.layers;
  ASSERT_EQ(layers.size(), package.layers.size());
  for (size_t i = 0; i < layers.size(); ++i) {
    const Layer &tuned = tuning->package.layers[i];
    if (tuned.source != "measured")
      continue;
    EXPECT_EQ(layers[i].solver, tuned.solver);
    EXPECT_EQ(layers[i].config, tuned.config);
    EXPECT_EQ(layers[i].source, "user-db");
  }
}

/// Measured rows have the version of the GPU's kernels, not the host's.
TEST_F(HipTuningTest, StoresKeepWhatWasMeasured) {
  TargetInfo target = makeGpuTargetInfo(*parseGpuTarget(hip->target()));
  std::string path = directory / "gpu.journal";
  Package package = makePackage({"slow", "fast"});
  package.kernelVersion = getKernelVersion(*makeAmdGpuTarget(*target.gpu));
  for (const std::string &version : {package.kernelVersion, "0.0.1+old"s}) {
    auto journal = Journal::open(path, getMeasuredContext(target, version));
    ASSERT_TRUE(journal) << journal.message();
    PackageTuningOptions options;
    options.journal = journal->get();
    auto tuning = tunePackage(package, *hip, progress, options);
    ASSERT_TRUE(tuning) << tuning.message();
  }
  auto store = StoreAdmin::openForWriting(path);
  ASSERT_TRUE(store) << store.message();
  auto stats = (*store)->getStats();
  ASSERT_TRUE(stats) << stats.message();
  ASSERT_EQ(stats->contexts.size(), 2u);
  for (const ContextCount &count : stats->contexts)
    EXPECT_EQ(count.isStale, count.context.tarpon == "0.0.1+old");
  auto best = (*store)->getBestSolutions();
  ASSERT_TRUE(best) << best.message();
  EXPECT_EQ(llvm::count_if(
                *best, [](const BestSolution &one) { return !one.isStale; }),
            1);
  auto pruned = (*store)->prune(/*isDryRun=*/false);
  ASSERT_TRUE(pruned) << pruned.message();
  auto left = (*store)->getStats();
  ASSERT_TRUE(left) << left.message();
  EXPECT_EQ(left->measurements, stats->measurements / 2);
  EXPECT_EQ(left->stale, 0);
  pruned = (*store)->prune(/*isDryRun=*/false);
  ASSERT_TRUE(pruned) << pruned.message();
  EXPECT_EQ(pruned->measurements, 0);
  // The store passes its check, and can be published.
  EXPECT_TRUE((*store)->check());
  auto published = publishStore(path, directory / "published");
  ASSERT_TRUE(published) << published.message();
  EXPECT_EQ(published->measurements, 2);
  auto shipped =
      Journal::openReadOnly(directory / "published",
                            getMeasuredContext(target, package.kernelVersion));
  ASSERT_TRUE(shipped) << shipped.message();
  EXPECT_TRUE((*shipped)->getBest(kProblem));
  auto journal =
      Journal::open(path, getMeasuredContext(target, package.kernelVersion));
  ASSERT_TRUE(journal) << journal.message();
  Measurement bad;
  bad.key.problem = "nonsense";
  ASSERT_TRUE((*journal)->record(bad));
  EXPECT_THAT((*store)->check().message(),
              HasSubstr("'nonsense' is no problem"));
}

TEST_F(HipTuningTest, CallsThatFailAreNamed) {
  setenv("FAKE_HIP_TIMES", "slow=0.5,fast=0.25", 1);
  setenv("FAKE_HIP_FAIL", "hipGraphLaunch", 1);
  auto tuning = tunePackage(makePackage({"slow", "fast"}), *hip, progress, {});
  unsetenv("FAKE_HIP_FAIL");
  ASSERT_FALSE(tuning);
  EXPECT_EQ(tuning.message(),
            "layer 'relu0': hipGraphLaunch has failed: out of memory (2)");
}

TEST_F(HipTuningTest, OtherGpusAreRefused) {
  Package package = makePackage({"slow", "fast"});
  package.chip = "gfx1100:cu=96";
  auto tuning = tunePackage(package, *hip, progress, {});
  ASSERT_FALSE(tuning);
  EXPECT_THAT(tuning.message(),
              HasSubstr("it was compiled for gfx1100:cu=96, and this GPU is "
                        "gfx942:cu=304"));
}
