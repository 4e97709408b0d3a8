//===- PackageTuningTest.cpp ----------------------------------------------===//
//
// Part of Tarpon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Devices that take what the test says: functions in place of kernels, and the
// stand-in for HIP.
//
//===----------------------------------------------------------------------===//

#include "tarpon/Autotune/PackageTuning.h"

#include "ToyDevice.h"
#include "tarpon/Autotune/Compile.h"
#include "tarpon/Autotune/Policy.h"
#include "tarpon/Autotune/StoreAdmin.h"
#include "tarpon/Runtime/Candidates.h"
#include "tarpon/Targets/AMDGPU/GpuExecutor.h"
#include "tarpon/Targets/AMDGPU/HipDevice.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/raw_ostream.h"

#include "gmock/gmock.h"
#include "gtest/gtest.h"

#include <algorithm>
#include <chrono>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <span>
#include <thread>
#include <utility>

#include <sys/wait.h>
#include <unistd.h>

using namespace tarpon;
using namespace tarpon::test;
using runtime::BufferRef;
using runtime::BufferSpace;
using runtime::Candidate;
using runtime::Launch;
using runtime::Layer;
using runtime::Package;
using runtime::Result;
using testing::ElementsAre;
using testing::HasSubstr;
namespace fs = std::filesystem;
using namespace std::string_literals;

namespace {

struct Arguments {
  const float *in;
  float *out;
  uint32_t count;
};

/// The arguments' bytes have no padding at their end.
Arguments readArguments(const char *bytes) {
  Arguments arguments;
  std::memcpy(&arguments, bytes, 20);
  return arguments;
}

void relu(const char *bytes, uint32_t) {
  Arguments a = readArguments(bytes);
  for (uint32_t i = 0; i < a.count; ++i)
    a.out[i] = a.in[i] > 0 ? a.in[i] : 0;
}

void negate(const char *bytes, uint32_t) {
  Arguments a = readArguments(bytes);
  for (uint32_t i = 0; i < a.count; ++i)
    a.out[i] = -a.in[i];
}

/// Writes nothing.
void idle(const char *, uint32_t) {}

/// Right at first.
int flakyRuns = 0;
void flaky(const char *bytes, uint32_t task) {
  (flakyRuns++ < 100 ? relu : negate)(bytes, task);
}

/// Longer than the time that there is.
bool isTardy = false;
void tardy(const char *bytes, uint32_t task) {
  if (std::exchange(isTardy, false))
    std::this_thread::sleep_for(std::chrono::milliseconds(400));
  relu(bytes, task);
}

bool isFaulty = false;
void fault(const char *, uint32_t) { isFaulty = true; }

/// Gives nothing any more once a kernel has touched what is not its own.
class FaultyDevice : public ToyDevice {
public:
  runtime::Status copyOut(std::span<char> to, const GpuMemory &from,
                          int64_t offset) override {
    return isFaulty ? runtime::Error{"a fault"}
                    : ToyDevice::copyOut(to, from, offset);
  }
};

constexpr const char *kProblem = "relu(1x4x2x2xf32)->1x4x2x2xf32";
const BufferRef kIn{BufferSpace::Input, 0}, kOut{BufferSpace::Output, 0};
const BufferRef kArena{BufferSpace::Arena, 0};

Launch makeLaunch(const std::string &symbol, BufferRef in, BufferRef out) {
  Launch launch;
  launch.symbol = symbol;
  launch.buffers = {in, out};
  launch.params = {16};
  return launch;
}

Candidate makeCandidate(const std::string &symbol) {
  Candidate candidate;
  candidate.solver = symbol + "-v1";
  candidate.config = "{}";
  candidate.modelMs = 1;
  candidate.launches = {makeLaunch(symbol, kIn, kOut)};
  return candidate;
}

/// relu(relu(x)), each by the first of these kernels; any of them may be
/// chosen.
Package makePackage(const std::vector<std::string> &symbols) {
  Package package;
  package.modelName = "toy";
  package.modelSha256 = std::string(64, '0');
  package.arch = "amdgcn";
  package.gpuTarget = "gfx942:cu=304";
  package.kernelVersion = "0.1.0+kernels";
  package.dtype = "fp32";
  package.layout = "nchw";
  package.fusion = "on";
  runtime::TensorInfo tensor;
  tensor.name = "x";
  tensor.shape = {1, 4, 2, 2};
  package.inputs = {tensor};
  package.outputs = {tensor};
  package.arenaBytes = 128;
  for (const std::string &symbol : symbols) {
    auto offset = static_cast<int64_t>(package.kernels.size());
    std::string code = "\x7f"
                       "ELF\2\1" +
                       symbol;
    code.resize(64);
    package.kernels.insert(package.kernels.end(), code.begin(), code.end());
    package.codeObjects.push_back({symbol, offset, 64, 64});
  }
  for (int index = 0; index < 2; ++index) {
    Layer layer;
    layer.name = "relu" + std::to_string(index);
    layer.problem = kProblem;
    layer.solver = symbols.front() + "-v1";
    layer.config = "{}";
    layer.source = "model";
    layer.operands = {index == 0 ? kIn : kArena};
    layer.results = {index == 0 ? kArena : kOut};
    layer.launches = {
        makeLaunch(symbols.front(), layer.operands[0], layer.results[0])};
    for (const std::string &symbol : symbols)
      layer.candidates.push_back(makeCandidate(symbol));
    package.layers.push_back(std::move(layer));
  }
  return package;
}

class PackageTuningTest : public testing::Test {
protected:
  PackageTuningTest() {
    for (const char *symbol : {"slow", "fast", "near", "gpu-naive"})
      device.bodies[symbol] = relu;
    device.bodies["wrong"] = negate;
    device.bodies["idle"] = idle;
    device.bodies["flaky"] = flaky;
    device.bodies["tardy"] = tardy;
    device.bodies["fault"] = fault;
    flakyRuns = 0;
    isTardy = isFaulty = false;
    device.milliseconds = {{"slow", 2},
                           {"fast", 1},
                           {"near", 1.05},
                           {"wrong", 0.1},
                           {"gpu-naive", 3}};
  }

  Result<PackageTuning> tune(Package package,
                             const PackageTuningOptions &options = {}) {
    return tunePackage(std::move(package), device, progress, options);
  }

  std::vector<float> run(const Package &package) {
    auto executor = GpuExecutor::create(package, device);
    EXPECT_TRUE(executor) << executor.message();
    std::vector<float> in(16), out(16);
    for (int i = 0; i < 16; ++i)
      in[i] = static_cast<float>(i - 8);
    const void *inputs[] = {in.data()};
    void *outputs[] = {out.data()};
    auto status = (*executor)->run(inputs, outputs);
    EXPECT_TRUE(status) << status.message();
    return out;
  }

  std::string remarks;
  llvm::raw_string_ostream os{remarks};
  Progress progress{os, Progress::Style::Quiet};
  ToyDevice device;
  GpuTarget gpu = *parseGpuTarget("gfx942:cu=228");
  JournalContext context = getMeasuredContext(gpu, "0.1.0+kernels");
};

std::vector<std::string> getSolvers(const Package &package) {
  std::vector<std::string> solvers;
  for (const Layer &layer : package.layers)
    solvers.push_back(layer.solver);
  return solvers;
}

std::vector<MeasurementStatus>
getStatuses(const std::vector<Measurement> &results) {
  std::vector<MeasurementStatus> statuses;
  for (const Measurement &result : results)
    statuses.push_back(result.status);
  return statuses;
}

} // namespace

TEST_F(PackageTuningTest, TheFastestRightOneWins) {
  // There is no such kernel as the last one.
  Package package = makePackage({"slow", "wrong", "near", "fast", "broken"});
  std::vector<float> expected = run(runtime::dropCandidates(package));
  auto tuning = tune(package);
  ASSERT_TRUE(tuning) << tuning.message();
  EXPECT_THAT(getSolvers(tuning->package), ElementsAre("fast-v1", "fast-v1"));
  EXPECT_EQ(tuning->package.layers[0].source, "measured");
  EXPECT_EQ(tuning->changed, 2);
  EXPECT_EQ(run(tuning->package), expected);
  EXPECT_EQ(tuning->before.medianMs, 4);
  EXPECT_EQ(tuning->after.medianMs, 2);

  // Layers of one problem are measured once.
  ASSERT_EQ(tuning->problems.size(), 1u);
  const TunedProblem &problem = tuning->problems[0];
  EXPECT_THAT(problem.layers, ElementsAre(0u, 1u));
  EXPECT_THAT(getStatuses(problem.results),
              ElementsAre(MeasurementStatus::Ok, MeasurementStatus::Wrong,
                          MeasurementStatus::Ok, MeasurementStatus::Ok,
                          MeasurementStatus::Failed));
  EXPECT_EQ(problem.results[0].median, 2);
  EXPECT_EQ(problem.results[0].stage, MeasurementStage::Race);
  // Those that are close to each other are timed again, in turn.
  EXPECT_EQ(problem.results[2].stage, MeasurementStage::Final);
  EXPECT_EQ(problem.results[3].stage, MeasurementStage::Final);
  EXPECT_EQ(problem.results[3].median, 1);
  EXPECT_EQ(tuning->search.rejected, 2);
  EXPECT_THAT(remarks, HasSubstr("wrong-v1 {} is not used for relu"));
  EXPECT_THAT(remarks, HasSubstr("failed: no kernel broken"));
}

TEST_F(PackageTuningTest, WrongInTheEndIsWrong) {
  device.milliseconds["idle"] = 0.1;
  device.milliseconds["flaky"] = 0.1;
  auto tuning = tune(makePackage({"slow", "idle", "flaky", "fast"}));
  ASSERT_TRUE(tuning) << tuning.message();
  EXPECT_GT(flakyRuns, 100);
  EXPECT_THAT(getStatuses(tuning->problems[0].results),
              ElementsAre(MeasurementStatus::Ok, MeasurementStatus::Wrong,
                          MeasurementStatus::Wrong, MeasurementStatus::Ok));
  EXPECT_THAT(getSolvers(tuning->package), ElementsAre("fast-v1", "fast-v1"));
}

TEST_F(PackageTuningTest, TunedPackagesCanBeTunedAgain) {
  auto tuning = tune(makePackage({"slow", "fast"}));
  ASSERT_TRUE(tuning) << tuning.message();
  device.milliseconds["slow"] = 0.5;
  auto again = tune(tuning->package);
  ASSERT_TRUE(again) << again.message();
  EXPECT_THAT(getSolvers(again->package), ElementsAre("slow-v1", "slow-v1"));
  auto settled = tune(again->package);
  ASSERT_TRUE(settled) << settled.message();
  EXPECT_EQ(settled->changed, 0);
}

TEST_F(PackageTuningTest, LayersGetTheBestOfTheirOwn) {
  Package package = makePackage({"slow", "near", "fast"});
  package.layers[1].candidates.pop_back();
  auto tuning = tune(package);
  ASSERT_TRUE(tuning) << tuning.message();
  EXPECT_THAT(getSolvers(tuning->package), ElementsAre("fast-v1", "near-v1"));
}

TEST_F(PackageTuningTest, WorkspacesAreBehindTheArena) {
  Package package = makePackage({"slow", "fast"});
  const BufferRef workspace{BufferSpace::Arena, 64};
  for (Layer &layer : package.layers) {
    Candidate &fast = layer.candidates[1];
    fast.workspaceOffset = 128;
    fast.workspaceBytes = 128;
    fast.launches = {makeLaunch("fast", kIn, workspace),
                     makeLaunch("fast", workspace, kOut)};
  }
  device.milliseconds["fast"] = 0.25;
  std::vector<float> expected = run(runtime::dropCandidates(package));
  auto tuning = tune(package);
  ASSERT_TRUE(tuning) << tuning.message();
  EXPECT_EQ(tuning->changed, 2);
  EXPECT_EQ(tuning->package.arenaBytes, 128 + 128 + 64);
  EXPECT_EQ(tuning->problems[0].results[1].workspaceBytes, 128);
  EXPECT_EQ(run(tuning->package), expected);
}

TEST_F(PackageTuningTest, WithoutTimeNothingChanges) {
  PackageTuningOptions options;
  options.deadline = Deadline::after(0);
  auto tuning = tune(makePackage({"slow", "fast"}), options);
  ASSERT_TRUE(tuning) << tuning.message();
  EXPECT_EQ(tuning->countLeft(), 1);
  EXPECT_EQ(tuning->changed, 0);
  EXPECT_THAT(getSolvers(tuning->package), ElementsAre("slow-v1", "slow-v1"));
  EXPECT_EQ(tuning->package.layers[0].source, "model");
}

TEST_F(PackageTuningTest, TheJournalKeepsWhatWasMeasured) {
  auto journal = Journal::openInMemory(context);
  PackageTuningOptions options;
  options.journal = journal.get();
  Package package = makePackage({"slow", "wrong", "fast", "gpu-naive"});
  auto tuning = tune(package, options);
  ASSERT_TRUE(tuning) << tuning.message();
  EXPECT_EQ(tuning->search.measured, 4);
  std::optional<Measurement> best = journal->getBest(kProblem);
  ASSERT_TRUE(best);
  EXPECT_EQ(best->key.solver, "fast-v1");
  EXPECT_FALSE(best->isModelled);
  EXPECT_FALSE(best->samples.empty());

  // What is known is not measured again, unless that is asked for.
  device.milliseconds["slow"] = 0.1;
  auto reused = tune(package, options);
  ASSERT_TRUE(reused) << reused.message();
  EXPECT_EQ(reused->search.measured, 0);
  EXPECT_EQ(reused->search.reused, 4);
  EXPECT_THAT(getSolvers(reused->package), ElementsAre("fast-v1", "fast-v1"));
  options.again = true;
  auto again = tune(package, options);
  ASSERT_TRUE(again) << again.message();
  EXPECT_EQ(again->search.measured, 4);
  EXPECT_THAT(getSolvers(again->package), ElementsAre("slow-v1", "slow-v1"));
}

/// Nobody has verified what the package was compiled with.
TEST_F(PackageTuningTest, TheArbiterDecides) {
  auto journal = Journal::openInMemory(context);
  PackageTuningOptions options;
  options.journal = journal.get();
  Package package = makePackage({"wrong", "slow", "gpu-naive", "fast"});
  auto tuning = tune(package, options);
  ASSERT_TRUE(tuning) << tuning.message();
  EXPECT_THAT(getStatuses(tuning->problems[0].results),
              ElementsAre(MeasurementStatus::Wrong, MeasurementStatus::Ok,
                          MeasurementStatus::Ok, MeasurementStatus::Ok));
  EXPECT_THAT(getSolvers(tuning->package), ElementsAre("fast-v1", "fast-v1"));
  EXPECT_THAT(remarks, HasSubstr("from gpu-naive-v1 where"));
  EXPECT_THAT(remarks, HasSubstr("layer 'relu0' was computed wrongly by "
                                 "wrong-v1: the model's results are not "
                                 "compared with what they were"));
  EXPECT_EQ(journal->getBest(kProblem)->key.solver, "fast-v1");
  // What is new is compared with it, too.
  device.bodies["late"] = relu;
  auto more = tune(makePackage({"wrong", "gpu-naive", "fast", "late", "idle"}),
                   options);
  ASSERT_TRUE(more) << more.message();
  EXPECT_EQ(more->search.reused, 3);
  EXPECT_THAT(getStatuses(more->problems[0].results),
              ElementsAre(MeasurementStatus::Wrong, MeasurementStatus::Ok,
                          MeasurementStatus::Ok, MeasurementStatus::Ok,
                          MeasurementStatus::Wrong));
}

TEST_F(PackageTuningTest, WithoutAnArbiterDisagreementIsNotRecorded) {
  auto journal = Journal::openInMemory(context);
  PackageTuningOptions options;
  options.journal = journal.get();
  auto tuning = tune(makePackage({"wrong", "idle", "fast"}), options);
  ASSERT_TRUE(tuning) << tuning.message();
  EXPECT_THAT(getSolvers(tuning->package), ElementsAre("wrong-v1", "wrong-v1"));
  EXPECT_TRUE(journal->getMeasurements(kProblem).empty());
  EXPECT_THAT(remarks, HasSubstr("disagree, and without gpu-naive-v1 nobody "
                                 "can say which are right: nothing is recorded "
                                 "of them, and wrong-v1"));
  // One that does not run is none.
  device.bodies.erase("gpu-naive");
  tuning = tune(makePackage({"slow", "gpu-naive", "idle", "fast"}), options);
  ASSERT_TRUE(tuning) << tuning.message();
  EXPECT_THAT(getSolvers(tuning->package), ElementsAre("fast-v1", "fast-v1"));
  EXPECT_THAT(remarks, HasSubstr("gpu-naive-v1 {} for relu(1x4x2x2xf32)->"
                                 "1x4x2x2xf32 gives no results to compare "
                                 "others with: no kernel gpu-naive"));
}

TEST_F(PackageTuningTest, WhatKillsRunsIsLeftOutForGood) {
  std::string path = testing::TempDir() + "/tarpon-killed-" +
                     std::to_string(getpid()) + ".journal";
  for (int i = 0; i < policy::kMaxInterrupted; ++i) {
    pid_t child = fork();
    if (child == 0) {
      auto journal = Journal::open(path, context);
      (void)(*journal)->recordStarted({kProblem, "fast-v1", ""},
                                      MeasurementStage::Race);
      raise(SIGKILL);
    }
    waitpid(child, nullptr, 0);
  }
  auto journal = Journal::open(path, context);
  ASSERT_TRUE(journal) << journal.message();
  PackageTuningOptions options;
  options.journal = journal->get();
  Package package = makePackage({"slow", "fast"});
  for (int64_t reused : {0, 2}) {
    auto tuning = tune(package, options);
    ASSERT_TRUE(tuning) << tuning.message();
    EXPECT_EQ(tuning->search.reused, reused);
    const Measurement &killer = tuning->problems[0].results[1];
    EXPECT_EQ(killer.status, MeasurementStatus::Crashed);
    EXPECT_EQ(killer.detail, "2 runs ended while it was measured");
    EXPECT_THAT(getSolvers(tuning->package), ElementsAre("slow-v1", "slow-v1"));
  }
  fs::remove(path);
}

TEST_F(PackageTuningTest, FaultsEndTheRun) {
  FaultyDevice faulty;
  faulty.bodies = device.bodies;
  faulty.milliseconds = device.milliseconds;
  auto journal = Journal::openInMemory(context);
  PackageTuningOptions options;
  options.journal = journal.get();
  Package package = makePackage({"slow", "fault", "fast"});
  auto tuning = tunePackage(package, faulty, progress, options);
  ASSERT_FALSE(tuning);
  EXPECT_EQ(tuning.message(),
            "the GPU runs nothing any more since fault-v1 {} for "
            "relu(1x4x2x2xf32)->1x4x2x2xf32 has failed (a fault): a fault");
  // The next process.
  isFaulty = false;
  tuning = tunePackage(package, faulty, progress, options);
  ASSERT_TRUE(tuning) << tuning.message();
  EXPECT_THAT(getStatuses(tuning->problems[0].results),
              ElementsAre(MeasurementStatus::Ok, MeasurementStatus::Crashed,
                          MeasurementStatus::Ok));
  EXPECT_THAT(getSolvers(tuning->package), ElementsAre("fast-v1", "fast-v1"));
}

TEST_F(PackageTuningTest, CandidatesAreLeftWhenTheTimeIsOver) {
  isTardy = true;
  PackageTuningOptions options;
  options.deadline = Deadline::after(0.3);
  auto tuning = tune(makePackage({"tardy", "fast", "near"}), options);
  ASSERT_TRUE(tuning) << tuning.message();
  EXPECT_EQ(tuning->search.measured, 1);
  EXPECT_THAT(remarks, HasSubstr("2 candidates for relu(1x4x2x2xf32)->"
                                 "1x4x2x2xf32 were left when the time was "
                                 "over"));
  EXPECT_THAT(getSolvers(tuning->package), ElementsAre("tardy-v1", "tardy-v1"));
}

/// Its times are the emulator's.
TEST_F(PackageTuningTest, TheEmulatedDeviceKeepsTheModelsOrder) {
  Package package = makePackage({"slow", "fast", "gpu-naive"});
  package.arch = runtime::kEmulatedArch;
  auto tuning = tune(package);
  ASSERT_TRUE(tuning) << tuning.message();
  EXPECT_EQ(tuning->changed, 0);
  for (const Measurement &result : tuning->problems[0].results) {
    EXPECT_EQ(result.status, MeasurementStatus::Ok);
    EXPECT_TRUE(result.samples.empty());
  }
  package = makePackage({"wrong", "slow", "fast", "gpu-naive"});
  package.arch = runtime::kEmulatedArch;
  for (Layer &layer : package.layers) {
    layer.candidates[2].modelMs = 0.5;
    layer.candidates[3].modelMs = 0;
  }
  tuning = tune(package);
  ASSERT_TRUE(tuning) << tuning.message();
  EXPECT_EQ(tuning->changed, 2);
  EXPECT_THAT(getSolvers(tuning->package), ElementsAre("fast-v1", "fast-v1"));
  EXPECT_EQ(tuning->package.layers[0].source, "model");
}

TEST_F(PackageTuningTest, LayersThatAreNotTheirProblems) {
  auto getError = [&](const Package &package) {
    auto tuning = tune(package);
    return tuning ? std::string() : tuning.message();
  };
  Package package = makePackage({"slow", "fast"});
  package.layers[0].candidates[1].config = "[1]";
  EXPECT_EQ(getError(package), "layer 'relu0': '[1]' is no perf config");
  package = makePackage({"slow", "fast"});
  package.layers[0].operands.push_back(kIn);
  EXPECT_EQ(getError(package),
            "layer 'relu0' has other operands than its problem");
  package = makePackage({"slow", "fast"});
  package.layers[0].problem = "nonsense";
  EXPECT_THAT(getError(package),
              HasSubstr("layer 'relu0' poses 'nonsense', which this build "
                        "cannot read: "));
}

TEST_F(PackageTuningTest, WhatThePackageWasCompiledWithHasToRun) {
  auto tuning = tune(makePackage({"broken", "fast"}));
  ASSERT_FALSE(tuning);
  EXPECT_EQ(tuning.message(), "layer 'relu0': no kernel broken");
}

TEST_F(PackageTuningTest, MixedUpLayersAreSeen) {
  // The candidate is right, but it reads something else in the model.
  Package package = makePackage({"slow", "fast"});
  package.layers[1].operands = {{BufferSpace::Arena, 64}};
  auto tuning = tune(package);
  ASSERT_FALSE(tuning);
  EXPECT_THAT(tuning.message(),
              HasSubstr("the tuned model's output 'x' is off by 1 "));
}

TEST_F(PackageTuningTest, TheRecordOfTheCompilationIsUpdated) {
  auto tuning = tune(makePackage({"slow", "fast"}));
  ASSERT_TRUE(tuning) << tuning.message();
  TuningFile file;
  file.model = {std::string(64, '0'), "toy", {{"x", {1, 4, 2, 2}}}};
  CandidateRecord other, same;
  other.choice.layout = "nhwc";
  for (const char *name : {"relu0", "relu1", "copy"}) {
    LayerRecord layer;
    layer.name = name;
    layer.problem = kProblem;
    layer.solver = "slow-v1";
    layer.source = "model";
    same.layers.push_back(layer);
  }
  file.candidates = {other, same};
  auto status = updateRecord(file, *tuning, gpu, "t.json");
  ASSERT_TRUE(status) << status.message();
  EXPECT_EQ(file.winner, 1);
  EXPECT_EQ(file.target.cpu, "gfx942:cu=228");
  const CandidateRecord &updated = file.candidates[1];
  EXPECT_EQ(updated.layers[0].solver, "fast-v1");
  EXPECT_EQ(updated.layers[1].source, "measured");
  ASSERT_TRUE(updated.layers[1].timing);
  EXPECT_EQ(updated.layers[1].timing->median, 1);
  EXPECT_EQ(updated.layers[2].source, "model");
  ASSERT_TRUE(updated.pipeline);
  EXPECT_EQ(updated.pipeline->median, 2);

  file.candidates = {other};
  EXPECT_EQ(updateRecord(file, *tuning, gpu, "t.json").message(),
            "t.json has no record of the package's choice, fp32/nchw");
  file.model.sha256 = std::string(64, '1');
  EXPECT_THAT(updateRecord(file, *tuning, gpu, "t.json").message(),
              HasSubstr("t.json was made for another model"));
}

//===----------------------------------------------------------------------===//
// Through HIP
//===----------------------------------------------------------------------===//

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
    auto devices = openHipDevices(options);
    EXPECT_TRUE(devices) << devices.message();
    hip = std::move(devices->front());
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
    options.layout = {"nhwc", {"nhwc"}};
    options.dtype = {"fp16", {"fp16"}};
    options.target = "gfx942";
    options.candidates = 3;
    options.quiet = true;
    return options;
  }

  fs::path directory;
  std::unique_ptr<GpuDevice> hip;
};

} // namespace

TEST_F(HipTuningTest, TheEventsSayWhoWins) {
  GpuTarget target = *parseGpuTarget(hip->target());
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
  EXPECT_FALSE(best->isModelled);
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
  return layer.candidates.back().solver == policy::kArbiter ? count - 2
                                                            : count - 1;
}

/// Times by which it is none that does, nor as fast as others.
static std::string slowArbiter(const Package &package) {
  std::string times;
  for (const Layer &layer : package.layers)
    for (const Candidate &candidate : layer.candidates)
      if (candidate.solver == policy::kArbiter)
        for (const Launch &launch : candidate.launches)
          times += launch.symbol + "=2,";
  return times;
}

/// What was measured where the GPU is serves the next compilation there.
TEST_F(HipTuningTest, CompilingTakesWhatWasMeasured) {
  CompileOptions options = makeOptions();
  auto compiled = compileModel(options);
  ASSERT_TRUE(compiled) << compiled.message();
  const Package &package = compiled->package;
  GpuTarget target = *parseGpuTarget(hip->target());
  EXPECT_EQ(package.kernelVersion, getKernelVersion(target, false));
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
      Journal::open(Journal::getDefaultPath(makeGpuTargetInfo(target)),
                    getMeasuredContext(target, package.kernelVersion));
  ASSERT_TRUE(journal) << journal.message();
  PackageTuningOptions tuningOptions;
  tuningOptions.journal = journal->get();
  auto tuning = tunePackage(package, *hip, progress, tuningOptions);
  ASSERT_TRUE(tuning) << tuning.message();
  EXPECT_GT(tuning->changed, 0);
  journal->reset();
  {
    auto old = Journal::open(Journal::getDefaultPath(makeGpuTargetInfo(target)),
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
  GpuTarget target = *parseGpuTarget(hip->target());
  std::string path = directory / "gpu.journal";
  Package package = makePackage({"slow", "fast"});
  package.kernelVersion = getKernelVersion(target, /*isEmulated=*/false);
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
  // What is there is looked through, and can be published.
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
  package.gpuTarget = "gfx1100:cu=96";
  auto tuning = tunePackage(package, *hip, progress, {});
  ASSERT_FALSE(tuning);
  EXPECT_THAT(tuning.message(),
              HasSubstr("it was compiled for gfx1100:cu=96, and this GPU is "
                        "gfx942:cu=304"));
}
