//===- MachineTest.cpp - The machine of a worker --------------------------===//
//
// Part of Tarpon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Machine.h"

#include "tarpon/Fleet/Worker.h"

#include "gtest/gtest.h"

#include <filesystem>
#include <fstream>
#include <sys/prctl.h>
#include <thread>

using namespace tarpon::fleet;

TEST(MachineTest, aCoreThatIsNotThereIsRefused) {
  // Pins a thread of its own: the other tests need all cores.
  std::thread([] {
    int last = getCores().back();
    EXPECT_TRUE(pinToCores({}));
    EXPECT_TRUE(pinToCores({last}));
    for (int core : {last + 1, 999, 100000, -1}) {
      auto status = pinToCores({last, core});
      ASSERT_FALSE(status) << core;
      EXPECT_EQ(status.message(),
                "this process may not run on core " + std::to_string(core));
    }
  }).join();
}

TEST(MachineTest, theDriversVersionIsThatOfItsModule) {
  std::string folder = testing::TempDir() + "/tarpon-modules";
  for (const char *module : {"nvidia", "amdgpu"}) {
    std::filesystem::create_directories(folder + "/" + module);
    std::ofstream(folder + "/" + module + "/version") << module << " 570.1\n";
  }
  EXPECT_EQ(getDriverVersion("sm_90a:cu=132", folder), "nvidia 570.1");
  EXPECT_EQ(getDriverVersion("gfx942:cu=304", folder), "amdgpu 570.1");
  EXPECT_EQ(getDriverVersion("host", folder), "");
  std::filesystem::remove_all(folder);
  EXPECT_EQ(getDriverVersion("sm_90a:cu=132", folder), "");
}

TEST(MachineTest, aProcessWithCredentialsIsHidden) {
  hideProcess();
  EXPECT_EQ(prctl(PR_GET_DUMPABLE), 0);
  (void)prctl(PR_SET_DUMPABLE, 1);
}
