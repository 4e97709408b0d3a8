//===- CpuQuotaTest.cpp - Tests of the quota of CPU time ------------------===//
//
// Part of Tarpon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "CpuQuota.h"
#include "TestPackages.h"

using namespace tarpon::runtime;
using namespace tarpon::runtime::test;

namespace {

/// Control groups in a folder of the test.
class CpuQuotaTest : public testing::Test {
protected:
  TempFolder folder;

  void write(const std::string &name, const std::string &text) {
    std::filesystem::path path = folder.file(name);
    std::filesystem::create_directories(path.parent_path());
    std::ofstream(path) << text;
  }
  std::optional<int> count() const {
    return CpuQuota(folder.file("list"), folder.file("root")).count();
  }
};

} // namespace

TEST_F(CpuQuotaTest, IsTheGroupsOwn) {
  write("list", "0::/user/job\n");
  write("root/user/job/cpu.max", "200000 100000\n");
  EXPECT_EQ(count(), 2);
  write("root/user/job/cpu.max", "max 100000\n");
  EXPECT_EQ(count(), std::nullopt);
}

TEST_F(CpuQuotaTest, IsThatOfAGroupAboveIfSmaller) {
  write("list", "0::/user/job\n");
  write("root/user/job/cpu.max", "800000 100000\n");
  write("root/user/cpu.max", "300000 100000\n");
  write("root/cpu.max", "400000 100000\n");
  EXPECT_EQ(count(), 3);
}

/// A container sees the host's path, and its own folder as the root.
TEST_F(CpuQuotaTest, IsThatOfTheRootInAContainer) {
  write("list", "0::/kubepods/pod/id\n");
  write("root/cpu.max", "400000 100000\n");
  EXPECT_EQ(count(), 4);
}

/// A thread for half a core would be stopped half of the time.
TEST_F(CpuQuotaTest, CountsWholeCoresButAtLeastOne) {
  write("list", "0::/\n");
  write("root/cpu.max", "250000 100000\n");
  EXPECT_EQ(count(), 2);
  write("root/cpu.max", "50000 100000\n");
  EXPECT_EQ(count(), 1);
}

TEST_F(CpuQuotaTest, ReadsTheFirstVersion) {
  write("list", "5:cpuset:/x\n4:cpu,cpuacct:/job\n0::/\n");
  write("root/cpu/job/cpu.cfs_quota_us", "600000\n");
  write("root/cpu/job/cpu.cfs_period_us", "200000\n");
  EXPECT_EQ(count(), 3);
  write("root/cpu/job/cpu.cfs_quota_us", "-1\n");
  EXPECT_EQ(count(), std::nullopt);
}

TEST_F(CpuQuotaTest, IsNoneWithoutGroups) {
  EXPECT_EQ(count(), std::nullopt);
  write("list", "garbage\n0::/\n");
  write("root/cpu.max", "a lot\n");
  EXPECT_EQ(count(), std::nullopt);
}
