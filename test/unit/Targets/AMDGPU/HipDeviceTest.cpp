//===- HipDeviceTest.cpp --------------------------------------------------===//
//
// Part of Tarpon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The rest is in StreamDeviceTest.cpp.
//
//===----------------------------------------------------------------------===//

#include "../GPU/HipMachine.h"

#include "gmock/gmock.h"
#include "gtest/gtest.h"

#include <cstdlib>
#include <dlfcn.h>

using namespace tarpon;
using testing::HasSubstr;
using testing::Not;
using testing::StartsWith;
namespace fs = std::filesystem;

namespace {

/// A machine with the stand-in library.
class HipDeviceTest : public testing::Test, protected test::HipMachine {
protected:
  HipDeviceTest() {
    unsetenv("FAKE_HIP_LOG");
    setenv("FAKE_HIP_GPUS", "1", 1);
    unsetenv("FAKE_HIP_FAIL");
  }
};

} // namespace

TEST_F(HipDeviceTest, DevicesAreNamedByTheDriver) {
  setenv("FAKE_HIP_GPUS", "2", 1);
  auto first = openHipDevice({}, options);
  ASSERT_TRUE(first) << first.message();
  EXPECT_EQ((*first)->target(), "gfx942:cu=304");
  EXPECT_EQ((*first)->name(), "AMD Instinct");
  auto second = openHipDevice({"", 1}, options);
  ASSERT_TRUE(second) << second.message();
  EXPECT_EQ((*second)->target(), "gfx90a:cu=304");
  // Equal ones are told apart by their place.
  EXPECT_EQ((*first)->identity(), "0000:c1:00.0");
  EXPECT_EQ((*second)->identity(), "0000:c2:00.0");
  setenv("FAKE_HIP_FAIL", "hipDeviceGetPCIBusId", 1);
  EXPECT_THAT(openHipDevice({}, options).message(),
              HasSubstr("hipDeviceGetPCIBusId has failed"));
}

TEST_F(HipDeviceTest, GpuThatTheDriverDoesNotKnow) {
  fs::remove_all(folder.path / "nodes" / "1");
  auto device = openHipDevice({}, options);
  ASSERT_FALSE(device);
  EXPECT_THAT(device.message(), HasSubstr("has none at PCI bus 0:193:0"));
}

TEST_F(HipDeviceTest, NoGpuIsOneSentence) {
  setenv("FAKE_HIP_GPUS", "0", 1);
  EXPECT_EQ(openHipDevice({}, options).message(),
            "HIP finds no GPU on this machine; models can be compiled for AMD "
            "GPUs, but not run on one");
}

TEST_F(HipDeviceTest, LibraryThatLacksAFunction) {
  options.library = "libm.so.6";
  EXPECT_EQ(openHipDevice({}, options).message(),
            "the HIP runtime has no function hipInit: it is older than ROCm 5");
  options.library = "/nowhere/libamdhip64.so";
  EXPECT_THAT(openHipDevice({}, options).message(),
              StartsWith("the HIP runtime cannot be loaded: /nowhere/"));
}

/// With Debian's libamdhip64-5 or without it: either sentence.
TEST(HipDeviceOfThisMachine, SaysWhatIsMissing) {
  unsetenv("TARPON_HIP_LIBRARY");
  auto device = openHipDevice();
  if (device)
    GTEST_SKIP() << "there is a GPU";
  bool hasLibrary = false;
  for (const char *name : {"libamdhip64.so.7", "libamdhip64.so.6",
                           "libamdhip64.so.5", "libamdhip64.so"})
    hasLibrary |= dlopen(name, RTLD_NOW | RTLD_LOCAL) != nullptr;
  EXPECT_THAT(device.message(),
              StartsWith(hasLibrary ? "HIP finds no GPU on this machine; "
                                    : "the HIP runtime (libamdhip64.so) is not "
                                      "installed; "));
  EXPECT_THAT(device.message(), Not(HasSubstr("\n")));
}
