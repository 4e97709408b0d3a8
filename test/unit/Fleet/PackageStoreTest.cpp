//===- PackageStoreTest.cpp - Packages by digest --------------------------===//
//
// Part of Tarpon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "FleetTestDatabase.h"

#include "tarpon/Fleet/PackageStore.h"
#include "tarpon/Fleet/Session.h"

#include <chrono>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <set>

using namespace tarpon::fleet;
using namespace tarpon::fleet::test;

namespace {

class PackageStoreTest : public FleetTest {
protected:
  void SetUp() override {
    FleetTest::SetUp();
    if (IsSkipped())
      return;
    lease.job = addJob(addSession("L", "host"), addProblem("a"));
    shared = testing::TempDir() + "/tarpon-packages-" + GetParam();
    std::filesystem::create_directories(shared);
    path = shared + "/input";
    // More than one part, with every byte.
    for (int i = 0; i < (9 << 20); ++i)
      bytes += static_cast<char>(i * 7);
    std::ofstream(path, std::ios::binary) << bytes;
  }

  void TearDown() override {
    std::filesystem::remove_all(shared);
    FleetTest::TearDown();
  }

  void put(PackageStore &store) {
    auto digest = store.stage(lease, path);
    ASSERT_TRUE(digest) << digest.message();
    lease.package = *digest;
    auto status = store.record(lease, *digest);
    ASSERT_TRUE(status) << status.message();
  }

  std::string read(const std::string &file) {
    std::ifstream stream(file, std::ios::binary);
    return {std::istreambuf_iterator<char>(stream), {}};
  }

  Lease lease;
  std::string shared, path, bytes;
};

} // namespace

TEST_P(PackageStoreTest, bytesComeBackFromTheDatabase) {
  PackageStore store(*database, "");
  put(store);
  auto status = store.fetch(lease, path + "2");
  ASSERT_TRUE(status) << status.message();
  EXPECT_TRUE(read(path + "2") == bytes);
  EXPECT_TRUE(store.drop(lease));
  EXPECT_FALSE(store.fetch(lease, path + "2"));
}

TEST_P(PackageStoreTest, bytesComeBackFromAFolder) {
  PackageStore store(*database, shared);
  put(store);
  EXPECT_EQ(getInteger("SELECT count(*) FROM package_part"), 0);
  auto status = store.fetch(lease, path + "2");
  ASSERT_TRUE(status) << status.message();
  EXPECT_TRUE(read(path + "2") == bytes);
  EXPECT_TRUE(store.drop(lease));
  EXPECT_FALSE(store.fetch(lease, path + "2"));
}

TEST_P(PackageStoreTest, changedBytesAreRefused) {
  PackageStore store(*database, "");
  put(store);
  run("UPDATE package_part SET base64 = 'AAAA' WHERE part = 1", {});
  auto status = store.fetch(lease, path + "2");
  ASSERT_FALSE(status);
  EXPECT_NE(status.message().find("is not what the builder recorded"),
            std::string::npos)
      << status.message();
  EXPECT_FALSE(std::filesystem::exists(path + "2"));
}

TEST_P(PackageStoreTest, aPackageOfAnotherJobIsRefused) {
  PackageStore store(*database, "");
  put(store);
  Lease other = lease;
  other.job = addJob(lease.session ? lease.session : 1, addProblem("b"));
  auto status = store.fetch(other, path + "2");
  ASSERT_FALSE(status);
  EXPECT_NE(status.message().find("was recorded by no builder for this job"),
            std::string::npos)
      << status.message();
}

/// A label that is deleted takes its packages along, and so are files removed
/// that no job names.
TEST_P(PackageStoreTest, aDeletedLabelLeavesNoPackage) {
  run("UPDATE setting SET value = :p1 WHERE name = 'packages'", {shared});
  auto list = [&] {
    std::set<std::string> names;
    for (const auto &entry : std::filesystem::directory_iterator(shared))
      names.insert(entry.path().filename().string());
    return names;
  };
  PackageStore store(*database, shared);
  put(store);
  lease.job = addJob(addSession("M", "host"), addProblem("b"));
  put(store);
  std::string other = lease.package + "-" + std::to_string(lease.job);
  run("UPDATE job SET package = :p1 WHERE id = :p2",
      {lease.package, lease.job});
  for (const char *name : {"old-7.candidates", "new-7.candidates", "old.txt"})
    std::ofstream(shared + "/" + name) << "x";
  for (const std::string &name :
       {std::string("old-7.candidates"), std::string("old.txt"),
        other + ".candidates"})
    std::filesystem::last_write_time(
        shared + "/" + name,
        std::filesystem::file_time_type::clock::now() - std::chrono::hours(2));
  auto deleted = deleteLabel(*database, "L");
  ASSERT_TRUE(deleted) << deleted.message();
  EXPECT_EQ(list(), (std::set<std::string>{"input", "new-7.candidates",
                                           "old.txt", other + ".candidates"}));
  EXPECT_EQ(getInteger("SELECT count(*) FROM package"), 1);
  deleted = deleteLabel(*database, "M");
  ASSERT_TRUE(deleted) << deleted.message();
  EXPECT_EQ(list(),
            (std::set<std::string>{"input", "new-7.candidates", "old.txt"}));
  EXPECT_EQ(getInteger("SELECT count(*) FROM package"), 0);
}

/// Nobody measures them any more, and a retry compiles them anew.
TEST_P(PackageStoreTest, packagesOfFailedJobsAreSwept) {
  int64_t session = addSession("M", "host");
  for (const char *state : {"waiting", "failed", "aborted"})
    for (const char *folder : {"", shared.c_str()}) {
      run("UPDATE setting SET value = :p1 WHERE name = 'packages'",
          {std::string(folder)});
      lease.job = addJob(session, addProblem(state + std::string(folder)));
      PackageStore store(*database, folder);
      put(store);
      run("UPDATE job SET package = :p1, state = :p2 WHERE id = :p3",
          {lease.package, std::string(state), lease.job});
      for (const auto &entry : std::filesystem::directory_iterator(shared))
        std::filesystem::last_write_time(
            entry, std::filesystem::file_time_type::clock::now() -
                       std::chrono::hours(2));
      auto swept = sweepPackages(*database);
      ASSERT_TRUE(swept) << swept.message();
      bool isOver = state != std::string("waiting");
      EXPECT_EQ(*swept > 0, isOver) << state << " " << folder;
      EXPECT_EQ(static_cast<bool>(store.fetch(lease, path + "2")), !isOver);
    }
}

INSTANTIATE_FLEET_TEST(PackageStoreTest);
