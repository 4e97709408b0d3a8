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

TEST(MachineTest, siblingsShareACore) {
  std::string folder = testing::TempDir() + "/tarpon-cpus";
  const char *lists[] = {"0,3", "1-2", "1-2", "0,3"};
  for (int core = 0; core < 4; ++core) {
    std::string cpu = folder + "/cpu" + std::to_string(core) + "/topology";
    std::filesystem::create_directories(cpu);
    std::ofstream(cpu + "/thread_siblings_list") << lists[core] << "\n";
  }
  using Groups = std::vector<std::vector<int>>;
  EXPECT_EQ(groupSiblings({0, 1, 2, 3}, folder), (Groups{{0, 3}, {1, 2}}));
  // This process may not run on one of them.
  EXPECT_EQ(groupSiblings({0, 2}, folder), (Groups{{0}, {2}}));
  std::filesystem::remove_all(folder);
  EXPECT_EQ(groupSiblings({0, 3}, folder), (Groups{{0}, {3}}));
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
