//===- ExecutorTest.cpp - Tests of loading and running ----------*- C++ -*-===//
//
// Part of Tarpon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tarpon/Runtime/Executor.h"
#include "TestPackages.h"
#include "tarpon/Runtime/HostDevice.h"
#include "tarpon/Runtime/HostFeatures.h"
#include "tarpon/Runtime/ThreadPool.h"

#include <algorithm>
#include <gmock/gmock.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

using namespace tarpon::runtime;
using namespace tarpon::runtime::test;
using testing::StartsWith;

static std::unique_ptr<Executor> load(Package package,
                                      ExecutorOptions options = {}) {
  Result<std::unique_ptr<Executor>> executor =
      Executor::create(std::move(package), options);
  EXPECT_TRUE(executor) << executor.message();
  return std::move(*executor);
}

static std::string refusal(Package package, ExecutorOptions options = {}) {
  Result<std::unique_ptr<Executor>> executor =
      Executor::create(std::move(package), options);
  return executor ? "it was accepted" : executor.message();
}

static void runOnce(Executor &executor, const void *input, void *output) {
  const void *inputs[] = {input};
  void *outputs[] = {output};
  EXPECT_TRUE(executor.run(inputs, outputs));
}

/// Runs on memory at these addresses and checks the result.
static void checkRun(Executor &executor, float *input, float *output,
                     int64_t elements) {
  for (int64_t i = 0; i < elements; ++i)
    input[i] = static_cast<float>(i);
  runOnce(executor, input, output);
  for (int64_t i = 0; i < elements; ++i)
    ASSERT_EQ(output[i], expectedOutput(static_cast<float>(i))) << i;
}

TEST(ExecutorTest, RunsAModel) {
  for (int threads : {1, 2, 4}) {
    for (int64_t elements : {1, 17, 5000}) {
      ExecutorOptions options;
      options.threads = threads;
      options.poisonMemory = true;
      std::unique_ptr<Executor> executor =
          load(makeTestPackage(elements), options);
      EXPECT_EQ(executor->device().threads(), threads);
      HostTensor input = makeTensor(DType::F32, {1, elements});
      HostTensor output = makeTensor(DType::F32, {1, elements});
      for (int run = 0; run < 3; ++run)
        checkRun(*executor, floatsOf(input), floatsOf(output), elements);
    }
  }
}

TEST(ExecutorTest, TakesMisalignedPointers) {
  std::unique_ptr<Executor> executor = load(makeTestPackage(50));
  std::vector<float> input(60), output(60, -1.0f);
  checkRun(*executor, input.data() + 3, output.data() + 5, 50);
  EXPECT_EQ(output[4], -1.0f);
  EXPECT_EQ(output[55], -1.0f);
}

TEST(ExecutorTest, DoesNotReadBehindTheCallersMemory) {
  // Two pages with nothing behind them; the tensors end with the first.
  auto *pages = static_cast<char *>(mmap(nullptr, 8192, PROT_READ | PROT_WRITE,
                                         MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
  ASSERT_NE(pages, MAP_FAILED);
  ASSERT_EQ(munmap(pages + 4096, 4096), 0);
  std::unique_ptr<Executor> executor = load(makeTestPackage(16));
  auto *input = reinterpret_cast<float *>(pages + 4096 - 64);
  auto *output = reinterpret_cast<float *>(pages + 4096 - 128);
  checkRun(*executor, input, output, 16);
  munmap(pages, 4096);
}

TEST(ExecutorTest, DefaultsToTheCoresOfThisProcess) {
  EXPECT_EQ(load(makeTestPackage(4))->device().threads(), availableCores());
}

TEST(ExecutorTest, KeepsThePackageWithoutItsBytes) {
  std::unique_ptr<Executor> executor = load(makeTestPackage(4));
  EXPECT_EQ(executor->package().modelName, "two-layers");
  EXPECT_TRUE(executor->package().constants.empty());
  EXPECT_TRUE(executor->package().kernels.empty());
  // 64 bytes each of constants and arena, 16 each of input and output.
  EXPECT_EQ(executor->workingSetBytes(), 160);
}

TEST(ExecutorTest, KeepsScratchDuringALaunch) {
  constexpr int64_t kElements = 1000;
  Package package = makeTestPackage(kElements, "countsCalls");
  HostTensor input = makeTensor(DType::F32, {1, kElements});
  HostTensor output = makeTensor(DType::F32, {1, kElements});
  const float *calls = floatsOf(output);
  ExecutorOptions options;
  options.poisonMemory = true;
  for (bool oneByOne : {false, true}) {
    options.threads = 1;
    options.reverseTasks = oneByOne;
    std::unique_ptr<Executor> executor = load(package, options);
    for (int run = 0; run < 3; ++run) {
      runOnce(*executor, input.data.data(), output.data.data());
      for (int64_t i = 0; i < kElements; ++i)
        ASSERT_EQ(calls[i], oneByOne ? float(kElements - 1 - i) : 0) << i;
    }
  }
  // Whoever comes first begins with 0, and two threads make more calls than
  // two.
  options = {.threads = 2};
  std::unique_ptr<Executor> executor = load(package, options);
  for (int run = 0; run < 100; ++run) {
    runOnce(*executor, input.data.data(), output.data.data());
    EXPECT_EQ(*std::min_element(calls, calls + kElements), 0);
    EXPECT_GT(*std::max_element(calls, calls + kElements), 0);
  }
}

TEST(ExecutorTest, ReplicasKeepNoScratchOfEachOther) {
  Package package = makeTestPackage(10, "countsCalls");
  package.layers.erase(package.layers.begin());
  std::unique_ptr<Executor> original = load(package, {.threads = 1});
  Result<std::unique_ptr<Executor>> replica = original->replicate();
  ASSERT_TRUE(replica) << replica.message();
  HostTensor input = makeTensor(DType::F32, {1, 10});
  HostTensor output = makeTensor(DType::F32, {1, 10});
  for (int run = 0; run < 3; ++run)
    for (Executor *executor : {original.get(), replica->get()}) {
      runOnce(*executor, input.data.data(), output.data.data());
      EXPECT_EQ(floatsOf(output)[0], 0);
    }
}

TEST(ExecutorTest, ProfilesEachLayer) {
  std::unique_ptr<Executor> executor = load(makeTestPackage(100000));
  HostTensor input = makeTensor(DType::F32, {1, 100000});
  HostTensor output = makeTensor(DType::F32, {1, 100000});
  const void *inputs[] = {input.data.data()};
  void *outputs[] = {output.data.data()};
  std::vector<int64_t> times;
  ASSERT_TRUE(executor->runProfiled(inputs, outputs, times));
  ASSERT_EQ(times.size(), 2u);
  std::vector<int64_t> once = times;
  EXPECT_GT(once[0], 0);
  EXPECT_GT(once[1], 0);
  ASSERT_TRUE(executor->runProfiled(inputs, outputs, times));
  EXPECT_GT(times[0], once[0]);
  EXPECT_EQ(floatsOf(output)[99999], expectedOutput(0.0f));
}

TEST(ExecutorTest, SeveralExecutorsAreIndependent) {
  // More than one library is loaded at a time, and unloaded out of order.
  std::unique_ptr<Executor> first = load(makeTestPackage(20));
  std::unique_ptr<Executor> second = load(makeTestPackage(20, "slightlyWrong"));
  HostTensor input = makeTensor(DType::F32, {1, 20});
  HostTensor output = makeTensor(DType::F32, {1, 20});
  first.reset();
  std::unique_ptr<Executor> third = load(makeTestPackage(20));
  checkRun(*third, floatsOf(input), floatsOf(output), 20);
  runOnce(*second, input.data.data(), output.data.data());
  EXPECT_EQ(floatsOf(output)[19], expectedOutput(19.0f) + 0.5f);
}

TEST(ExecutorTest, AReplicaOutlivesItsOriginal) {
  ExecutorOptions options;
  options.threads = 2;
  std::unique_ptr<Executor> original = load(makeTestPackage(300), options);
  Result<std::unique_ptr<Executor>> replica = original->replicate();
  ASSERT_TRUE(replica) << replica.message();
  original.reset();
  EXPECT_EQ((*replica)->device().threads(), 2);
  HostTensor input = makeTensor(DType::F32, {1, 300});
  HostTensor output = makeTensor(DType::F32, {1, 300});
  checkRun(**replica, floatsOf(input), floatsOf(output), 300);
}

TEST(ExecutorTest, SeveralExecutorsShareADevice) {
  HostDeviceOptions options;
  options.threads = 2;
  options.poisonScratch = true;
  Result<std::unique_ptr<Device>> device = makeHostDevice(options);
  ASSERT_TRUE(device) << device.message();
  // The second one needs more scratch than there is when it comes.
  Package package = makeTestPackage(300);
  Result<std::unique_ptr<Executor>> first = Executor::create(package, **device);
  ASSERT_TRUE(first) << first.message();
  for (Layer &layer : package.layers)
    for (Launch &launch : layer.launches)
      launch.scratchBytes += 100000;
  Result<std::unique_ptr<Executor>> second =
      Executor::create(package, **device);
  ASSERT_TRUE(second) << second.message();
  HostTensor input = makeTensor(DType::F32, {1, 300});
  HostTensor output = makeTensor(DType::F32, {1, 300});
  for (int run = 0; run < 3; ++run)
    for (Executor *executor : {first->get(), second->get()}) {
      EXPECT_EQ(&executor->device(), device->get());
      checkRun(*executor, floatsOf(input), floatsOf(output), 300);
    }
}

TEST(ExecutorTest, RunsAModelWithoutLayers) {
  Package package;
  std::unique_ptr<Executor> executor = load(std::move(package));
  EXPECT_TRUE(executor->run({}, {}));
}

TEST(ExecutorTest, TakesEmptyTensors) {
  Package package;
  package.inputs = {{"none", DType::F32, {0, 3}}};
  package.outputs = {{"nothing", DType::F32, {0}}};
  std::unique_ptr<Executor> executor = load(std::move(package));
  runOnce(*executor, nullptr, nullptr);
}

TEST(ExecutorTest, RefusesWhatItCannotRun) {
  std::string who = "cannot run the package of model 'two-layers': ";
  Package package = makeTestPackage(4);
  package.cpuFeatures = {"quantum"};
  EXPECT_EQ(refusal(package), who + "it needs the CPU feature quantum, which "
                                    "this machine lacks");
  package = makeTestPackage(4);
  package.arch = "vax";
  EXPECT_EQ(refusal(package), who +
                                  "it was compiled for vax, and this machine "
                                  "is " +
                                  std::string(hostArch()));
  EXPECT_EQ(refusal(makeTestPackage(4, "nowhere")),
            who + "its kernels lack the symbol 'nowhere'");
  package = makeTestPackage(4);
  package.layers[0].launches[0].buffers[0] = {BufferSpace::Input, 3};
  EXPECT_EQ(refusal(package), who + "layer 'first' refers to input 3 of 1");
  package = makeTestPackage(4);
  package.kernels.resize(64);
  EXPECT_EQ(refusal(package),
            who + "its kernels are refused: their segments do not lie in the "
                  "file");
  package = makeTestPackage(4);
  package.arenaBytes = int64_t(1) << 46;
  EXPECT_EQ(refusal(package),
            who + "cannot allocate 70368744177664 bytes of memory");
  ExecutorOptions options;
  options.threads = -1;
  EXPECT_EQ(refusal(makeTestPackage(4), options),
            who + "it cannot run on -1 threads");
  options.threads = 1 << 30;
  EXPECT_EQ(refusal(makeTestPackage(4), options),
            who + "it cannot run on 1073741824 threads");
}

#if defined(__x86_64__)
TEST(HostFeaturesTest, AgreesWithTheCompilersView) {
  EXPECT_EQ(hostArch(), "x86-64");
  EXPECT_EQ(hostHasFeature("sse2"), bool(__builtin_cpu_supports("sse2")));
  EXPECT_EQ(hostHasFeature("sse4.2"), bool(__builtin_cpu_supports("sse4.2")));
  EXPECT_EQ(hostHasFeature("fma"), bool(__builtin_cpu_supports("fma")));
  EXPECT_EQ(hostHasFeature("f16c"), bool(__builtin_cpu_supports("f16c")));
  EXPECT_EQ(hostHasFeature("avx2"), bool(__builtin_cpu_supports("avx2")));
  EXPECT_EQ(hostHasFeature("avx512f"), bool(__builtin_cpu_supports("avx512f")));
  EXPECT_EQ(hostHasFeature("avx512bw"),
            bool(__builtin_cpu_supports("avx512bw")));
  EXPECT_EQ(hostHasFeature("avx512dq"),
            bool(__builtin_cpu_supports("avx512dq")));
  EXPECT_EQ(hostHasFeature("avx512vl"),
            bool(__builtin_cpu_supports("avx512vl")));
  EXPECT_EQ(hostHasFeature("avx512vnni"),
            bool(__builtin_cpu_supports("avx512vnni")));
  EXPECT_EQ(hostHasFeature("avx512bf16"),
            bool(__builtin_cpu_supports("avx512bf16")));
  EXPECT_FALSE(hostHasFeature(""));
  EXPECT_FALSE(hostHasFeature("+avx2"));
}

/// Without the permission, the first instruction of AMX would end the process.
TEST(HostFeaturesTest, TilesAreAskedFor) {
  constexpr long kGetPermissions = 0x1022; // ARCH_GET_XCOMP_PERM
  bool hasTiles = hostHasFeature("amx-tile");
  uint64_t permissions = 0;
  bool isGranted =
      syscall(SYS_arch_prctl, kGetPermissions, &permissions) == 0 &&
      (permissions >> 18 & 1);
  EXPECT_EQ(hasTiles, isGranted);
  EXPECT_FALSE(hostHasFeature("amx-int8") && !hasTiles);
  EXPECT_FALSE(hostHasFeature("amx-bf16") && !hasTiles);
}
#endif
