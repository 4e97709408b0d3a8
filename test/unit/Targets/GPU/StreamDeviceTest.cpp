//===- StreamDeviceTest.cpp - The device of all GPUs ----------------------===//
//
// Part of Tarpon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Every test runs with the stand-ins for HIP and for the CUDA driver.
//
//===----------------------------------------------------------------------===//

#include "../AMDGPU/ToyDevice.h"
#include "HipMachine.h"
#include "tarpon/Runtime/Executor.h"
#include "tarpon/Targets/NVIDIA/Cuda/CudaDevice.h"

#include "gmock/gmock.h"
#include "gtest/gtest.h"

#include <numeric>

using namespace tarpon;
using testing::Contains;
using testing::ElementsAre;
using testing::Not;
using testing::StartsWith;

namespace {

using Opened = runtime::Result<std::unique_ptr<runtime::Device>>;

/// How the libraries call what the tests look for, in logs and in messages.
struct Hip : test::HipMachine {
  static constexpr const char *kPrefix = "FAKE_HIP_";
  static constexpr const char *kTarget = "gfx942:cu=304";
  /// The second of two GPUs, and its place among those of its chip.
  static constexpr const char *kLastTarget = "gfx90a:cu=304";
  static constexpr int kLastIndex = 0;
  static constexpr const char *kAllocate = "hipMalloc";
  static constexpr const char *kFill = "hipMemsetAsync";
  static constexpr const char *kCopyIn = "hipMemcpyAsync";
  static constexpr const char *kLoad = "hipModuleLoadData";
  static constexpr const char *kCodeError =
      "a code object is not an ELF shared object";
  static std::string copyIn(int bytes) {
    return "hipMemcpyAsync " + std::to_string(bytes) + " 1";
  }
  static std::string copyOut(int bytes) {
    return "hipMemcpyAsync " + std::to_string(bytes) + " 2";
  }
  static std::string load() { return kLoad; }
  static std::string select(int index) {
    return "hipSetDevice " + std::to_string(index);
  }
  static std::string openCall(int index) { return select(index); }
  static std::string name(const std::string &call) {
    return "hip" + (call == "LaunchKernel" ? "Module" + call : call);
  }
  Opened open(const GpuRequest &request) {
    return openHipDevice(request, options);
  }
  runtime::Result<std::string> find(const GpuRequest &request) {
    return findHipDevice(request, options);
  }
};

struct Cuda {
  static constexpr const char *kPrefix = "FAKE_CUDA_";
  static constexpr const char *kTarget = "sm_90a:cu=132:bw=3352";
  static constexpr const char *kLastTarget = "sm_90a:cu=132:bw=3352";
  static constexpr int kLastIndex = 1;
  static constexpr const char *kAllocate = "cuMemAlloc";
  static constexpr const char *kFill = "cuMemsetD8Async";
  static constexpr const char *kCopyIn = "cuMemcpyHtoDAsync";
  static constexpr const char *kLoad = "cuModuleLoadDataEx";
  static constexpr const char *kCodeError =
      "a code object is neither a cubin nor PTX";
  static std::string copyIn(int bytes) {
    return "cuMemcpyHtoDAsync " + std::to_string(bytes);
  }
  static std::string copyOut(int bytes) {
    return "cuMemcpyDtoHAsync " + std::to_string(bytes);
  }
  static std::string load() { return std::string(kLoad) + " cubin"; }
  static std::string select(int index) {
    return "cuCtxSetCurrent " + std::to_string(index);
  }
  static std::string openCall(int index) {
    return "cuDevicePrimaryCtxRetain " + std::to_string(index);
  }
  static std::string name(const std::string &call) { return "cu" + call; }
  Opened open(const GpuRequest &request) {
    return openCudaDevice(request, {{"sm_80", "sm_90a"}, TARPON_FAKE_CUDA});
  }
  runtime::Result<std::string> find(const GpuRequest &request) {
    return findCudaDevice(request, {{"sm_80", "sm_90a"}, TARPON_FAKE_CUDA});
  }
};

template <typename Library>
class StreamDeviceTest : public testing::Test {
protected:
  StreamDeviceTest() {
    set("LOG", (folder.path / "log").string());
    set("GPUS", "1");
    set("FAIL", "");
  }
  ~StreamDeviceTest() override { set("FAIL", ""); }

  void set(const std::string &name, const std::string &value) {
    setenv((Library::kPrefix + name).c_str(), value.c_str(), 1);
  }
  /// The library's name of a call.
  static std::string name(const std::string &call) {
    return Library::name(call);
  }

  std::unique_ptr<runtime::Device> open() {
    Opened device = library.open({});
    EXPECT_TRUE(device) << device.message();
    return device ? std::move(*device) : nullptr;
  }
  std::vector<std::string> takeLog() { return folder.takeLines("log"); }

  test::TestFolder folder;
  Library library;
};

} // namespace

using Libraries = testing::Types<Hip, Cuda>;
TYPED_TEST_SUITE(StreamDeviceTest, Libraries);

TYPED_TEST(StreamDeviceTest, DevicesHaveTargets) {
  auto device = this->open();
  ASSERT_TRUE(device);
  EXPECT_EQ(device->target(), TypeParam::kTarget);
}

/// A context on each GPU of a machine would cost others their memory.
TYPED_TEST(StreamDeviceTest, OpensTheGpuThatIsAskedForAlone) {
  this->set("GPUS", "2");
  GpuRequest request = {TypeParam::kLastTarget, TypeParam::kLastIndex};
  auto device = this->library.open(request);
  ASSERT_TRUE(device) << device.message();
  EXPECT_EQ((*device)->target(), TypeParam::kLastTarget);
  std::vector<std::string> log = this->takeLog();
  EXPECT_THAT(log, Contains(TypeParam::openCall(1)));
  EXPECT_THAT(log, Not(Contains(TypeParam::openCall(0))));
  auto found = this->library.find(request);
  ASSERT_TRUE(found) << found.message();
  EXPECT_EQ(*found, TypeParam::kLastTarget);
  request.index = 3;
  EXPECT_EQ(this->library.open(request).message(),
            "GPU 3 was asked for, and this machine has " +
                std::to_string(TypeParam::kLastIndex + 1) + " of " +
                TypeParam::kLastTarget);
  EXPECT_EQ(this->library.open({"", 3}).message(),
            "GPU 3 was asked for, and this machine has 2");
  EXPECT_EQ(this->library.open({"vax:cu=1"}).message(),
            std::string("the package is for vax:cu=1, and this machine has ") +
                TypeParam::kTarget);
}

TYPED_TEST(StreamDeviceTest, CopiesWhatItIsGiven) {
  auto device = this->open();
  ASSERT_TRUE(device);
  auto memory = device->allocate(64);
  ASSERT_TRUE(memory) << memory.message();
  std::vector<char> in(32), out(32);
  std::iota(in.begin(), in.end(), 0);
  ASSERT_TRUE(device->copyIn(**memory, 16, in));
  ASSERT_TRUE(device->copyOut(out, **memory, 16));
  EXPECT_EQ(in, out);
  auto over = device->copyIn(**memory, 33, in);
  ASSERT_FALSE(over);
  EXPECT_EQ(over.message(),
            "a copy to a GPU takes 32 bytes at 33 of a buffer of 64");
  EXPECT_FALSE(device->copyOut(out, **memory, -1));
  ASSERT_TRUE(device->fill(**memory, 7));
  ASSERT_TRUE(device->copyOut(out, **memory, 32));
  EXPECT_EQ(out, std::vector<char>(32, 7));
  auto other = device->allocate(64), small = device->allocate(63);
  ASSERT_TRUE(other && small);
  ASSERT_TRUE(device->copy(**other, **memory));
  out.assign(32, 0);
  ASSERT_TRUE(device->copyOut(out, **other, 32));
  EXPECT_EQ(out, std::vector<char>(32, 7));
  EXPECT_EQ(device->copy(**small, **memory).message(),
            "a copy on a GPU takes 64 bytes at 0 of a buffer of 63");
}

/// A driver need not accept 0 as a size.
TYPED_TEST(StreamDeviceTest, EmptyMemoryIsNoCall) {
  auto device = this->open();
  ASSERT_TRUE(device);
  auto memory = device->allocate(0);
  ASSERT_TRUE(memory) << memory.message();
  this->takeLog();
  EXPECT_TRUE(device->fill(**memory, 0));
  EXPECT_TRUE(device->copyIn(**memory, 0, {}));
  EXPECT_THAT(this->takeLog(), ElementsAre());
  EXPECT_TRUE(device->copyOut({}, **memory, 0));
  EXPECT_THAT(this->takeLog(),
              ElementsAre(TypeParam::select(0), TypeParam::select(0),
                          this->name("StreamSynchronize")));
}

/// A library need not survive other bytes.
TYPED_TEST(StreamDeviceTest, CodeIsCheckedBeforeTheLibraryHasIt) {
  auto device = this->open();
  ASSERT_TRUE(device);
  this->takeLog();
  for (const std::vector<char> &code :
       {std::vector<char>(), std::vector<char>(64), test::makeElf(63)})
    EXPECT_EQ(device->loadKernel(code, "conv").message(),
              TypeParam::kCodeError);
  EXPECT_THAT(this->takeLog(), ElementsAre());
}

TYPED_TEST(StreamDeviceTest, LaunchesAndTimes) {
  auto device = this->open();
  ASSERT_TRUE(device);
  this->takeLog();
  std::vector<char> code = test::makeElf(64);
  auto kernel = device->loadKernel(code, "conv");
  auto again = device->loadKernel(code, "pool");
  ASSERT_TRUE(kernel && again);
  void *buffers[2] = {};
  int64_t params[1] = {};
  runtime::DeviceLaunch launch{buffers, params, /*tasks=*/7, /*workgroup=*/256};
  auto time = device->time([&] { return device->launch(**kernel, launch); });
  ASSERT_TRUE(time) << time.message();
  EXPECT_EQ(*time, 1.5);
  std::string select = TypeParam::select(0);
  EXPECT_THAT(
      this->takeLog(),
      ElementsAre(select, TypeParam::load(),
                  this->name("ModuleGetFunction") + " conv", select,
                  this->name("ModuleGetFunction") + " pool", select,
                  this->name("EventRecord"), select,
                  this->name("LaunchKernel") + " 7 1 1 256 1 1 0 20 bytes",
                  this->name("EventRecord"), this->name("EventSynchronize"),
                  this->name("EventElapsedTime")));
}

TYPED_TEST(StreamDeviceTest, CapturesAGraph) {
  auto device = this->open();
  ASSERT_TRUE(device);
  std::vector<char> code = test::makeElf(64);
  auto kernel = device->loadKernel(code, "conv");
  ASSERT_TRUE(kernel);
  this->takeLog();
  {
    runtime::DeviceLaunch launch;
    launch.workgroup = 64;
    auto graph =
        device->capture([&] { return device->launch(**kernel, launch); });
    ASSERT_TRUE(graph) << graph.message();
    ASSERT_TRUE(device->launch(**graph));
  }
  std::string select = TypeParam::select(0);
  EXPECT_THAT(
      this->takeLog(),
      ElementsAre(select, this->name("StreamBeginCapture") + " 1", select,
                  this->name("LaunchKernel") + " 1 1 1 64 1 1 0 0 bytes",
                  this->name("StreamEndCapture"),
                  this->name("GraphInstantiate"), this->name("GraphDestroy"),
                  select, this->name("GraphLaunch"), select,
                  this->name("GraphExecDestroy")));
  // A capture that fails ends nevertheless.
  auto failed = device->capture(
      [] { return runtime::Status(runtime::Error{"no such kernel"}); });
  ASSERT_FALSE(failed);
  EXPECT_EQ(failed.message(), "no such kernel");
  EXPECT_THAT(this->takeLog(),
              ElementsAre(select, this->name("StreamBeginCapture") + " 1",
                          this->name("StreamEndCapture"),
                          this->name("GraphDestroy")));
}

TYPED_TEST(StreamDeviceTest, ErrorsNameTheCall) {
  auto device = this->open();
  ASSERT_TRUE(device);
  std::vector<char> code = test::makeElf(64);
  auto kernel = device->loadKernel(code, "conv");
  ASSERT_TRUE(kernel);
  const std::string failed = " has failed: out of memory (2)";
  this->set("FAIL", TypeParam::kAllocate);
  EXPECT_EQ(device->allocate(64).message(),
            std::string(TypeParam::kAllocate) + " of 64 bytes" + failed);
  this->set("FAIL", "");
  auto memory = device->allocate(64);
  ASSERT_TRUE(memory) << memory.message();
  this->set("FAIL", TypeParam::kFill);
  EXPECT_EQ(device->fill(**memory, 0).message(),
            std::string(TypeParam::kFill) + " of 64 bytes" + failed);
  std::string select = TypeParam::select(0);
  select.resize(select.find(' '));
  this->set("FAIL", select);
  EXPECT_EQ(device->synchronize().message(), select + " of GPU 0" + failed);
  this->set("FAIL", this->name("LaunchKernel"));
  runtime::DeviceLaunch launch;
  launch.tasks = 3;
  launch.workgroup = 64;
  EXPECT_EQ(device->launch(**kernel, launch).message(),
            this->name("LaunchKernel") +
                " of 'conv' (3 workgroups of 64, 0 bytes of arguments)" +
                failed);
  this->set("FAIL", TypeParam::kLoad);
  std::vector<char> other = test::makeElf(72);
  EXPECT_THAT(device->loadKernel(other, "pool").message(),
              StartsWith(std::string(TypeParam::kLoad) + " of 72 bytes for " +
                         TypeParam::kTarget + failed));
  for (const char *call :
       {"StreamCreate", "EventCreate", "DeviceGetAttribute"}) {
    this->set("FAIL", this->name(call));
    Opened opened = this->library.open({});
    ASSERT_FALSE(opened);
    EXPECT_THAT(opened.message(), StartsWith("GPU 0: " + this->name(call)));
  }
}

/// Copies are asynchronous: who frees an input after a run that failed must not
/// free what the GPU still reads.
TYPED_TEST(StreamDeviceTest, ARunThatFailsWaitsForItsCopies) {
  auto device = this->open();
  ASSERT_TRUE(device);
  runtime::Package package = test::makeToyPackage();
  package.chip = TypeParam::kTarget;
  auto executor = runtime::Executor::create(package, *device);
  ASSERT_TRUE(executor) << executor.message();
  std::vector<float> in(5), out(5);
  const void *inputs[] = {in.data()};
  void *outputs[] = {out.data()};
  this->takeLog();
  this->set("FAIL", this->name("GraphLaunch"));
  auto status = (*executor)->run(inputs, outputs);
  ASSERT_FALSE(status);
  EXPECT_EQ(status.message(),
            this->name("GraphLaunch") + " has failed: out of memory (2)");
  std::string select = TypeParam::select(0);
  std::string wait = this->name("StreamSynchronize");
  EXPECT_THAT(this->takeLog(),
              ElementsAre(select, TypeParam::copyIn(20), select,
                          this->name("GraphLaunch"), select, wait));
  // The first of two copies may have been queued.
  this->set("FAIL", TypeParam::kCopyIn);
  EXPECT_FALSE((*executor)->run(inputs, outputs));
  EXPECT_EQ(this->takeLog().back(), wait);
  this->set("FAIL", this->name("LaunchKernel"));
  std::vector<int64_t> nanoseconds;
  EXPECT_FALSE((*executor)->runProfiled(inputs, outputs, nanoseconds));
  EXPECT_EQ(this->takeLog().back(), wait);
}

/// A thread has one current device.
TYPED_TEST(StreamDeviceTest, SelectsTheDeviceOfEachCall) {
  this->set("GPUS", "2");
  Opened opened = this->library.open({"", 1});
  ASSERT_TRUE(opened) << opened.message();
  runtime::Device &second = **opened;
  auto memory = second.allocate(8);
  ASSERT_TRUE(memory) << memory.message();
  std::vector<char> bytes(8);
  std::string select = TypeParam::select(1);
  this->takeLog();
  EXPECT_TRUE(second.fill(**memory, 0));
  EXPECT_THAT(this->takeLog(),
              ElementsAre(select, std::string(TypeParam::kFill) + " 8"));
  EXPECT_TRUE(second.copyIn(**memory, 0, bytes));
  EXPECT_THAT(this->takeLog(), ElementsAre(select, TypeParam::copyIn(8)));
  EXPECT_TRUE(second.copyOut(bytes, **memory, 0));
  EXPECT_THAT(this->takeLog(),
              ElementsAre(select, TypeParam::copyOut(8), select,
                          this->name("StreamSynchronize")));
}
