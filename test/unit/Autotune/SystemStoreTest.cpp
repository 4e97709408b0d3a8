//===- SystemStoreTest.cpp ------------------------------------------------===//
//
// Part of Tarpon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tarpon/Autotune/Store/SystemStore.h"

#include "Store/JournalSchema.h"
#include "StoreTestFiles.h"
#include "TestDirectory.h"
#include "tarpon/Autotune/Store/StoreAdmin.h"
#include "tarpon/Targets/Host/HostTarget.h"

#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Path.h"

#include "gmock/gmock.h"
#include "gtest/gtest.h"

#include <cstdlib>

using namespace tarpon;
using namespace tarpon::test;
using testing::HasSubstr;
namespace fs = llvm::sys::fs;

namespace {

class SystemStoreTest : public testing::Test {
protected:
  TestDirectory directory;
  TargetInfo target = *getHostTarget(1);
  std::string folder = directory.file("100% sure? #1");
  std::string path =
      folder + "/" +
      llvm::sys::path::filename(Journal::getDefaultPath(target)).str();

  void SetUp() override { setenv("TARPON_SYSTEM_DB_PATH", folder.c_str(), 1); }
  void TearDown() override { unsetenv("TARPON_SYSTEM_DB_PATH"); }

  Measurement makeRow() {
    Measurement row;
    row.key = {"p", "s-v1", "tile=4"};
    row.status = MeasurementStatus::Ok;
    row.median = 2;
    return row;
  }

  void makeStore() {
    auto journal = Journal::open(path, JournalContext::forTarget(target));
    ASSERT_TRUE(journal) << journal.message();
    ASSERT_TRUE((*journal)->record(makeRow()));
  }

  size_t countFiles() {
    size_t count = 0;
    std::error_code error;
    for (fs::directory_iterator it(folder, error), end; it != end && !error;
         it.increment(error))
      ++count;
    return count;
  }
};

} // namespace

TEST_F(SystemStoreTest, NoneIsNoError) {
  ASSERT_FALSE(fs::create_directories(folder));
  auto store = openSystemStore(target);
  ASSERT_TRUE(store) << store.message();
  EXPECT_EQ(*store, nullptr);
}

TEST_F(SystemStoreTest, FolderThatIsNamedHasToBeThere) {
  auto store = openSystemStore(target);
  ASSERT_FALSE(store);
  EXPECT_EQ(store.message(),
            "the system store is ignored: there is no folder " + folder +
                ", which TARPON_SYSTEM_DB_PATH names");
}

TEST_F(SystemStoreTest, IsReadAndNeverWritten) {
  makeStore();
  std::string bytes = readText(path);
  ASSERT_FALSE(fs::setPermissions(path, fs::owner_read));
  auto store = openSystemStore(target);
  ASSERT_TRUE(store) << store.message();
  ASSERT_TRUE(*store);
  auto rows = (*store)->getMeasurements("p");
  ASSERT_EQ(rows.size(), 1u);
  EXPECT_TRUE(rows[0].isSystem);
  EXPECT_TRUE(rows[0].isEarlier);
  auto status = (*store)->record(makeRow());
  ASSERT_FALSE(status);
  EXPECT_THAT(status.message(), HasSubstr("readonly"));
  EXPECT_FALSE((*store)->forgetProblem("p"));
  EXPECT_FALSE(hasFinding(**store, "p", Finding::Found));
  EXPECT_EQ(countFiles(), 1u);
  EXPECT_EQ(readText(path), bytes);
}

TEST_F(SystemStoreTest, HoldsForEveryBuild) {
  JournalContext other = JournalContext::forTarget(target);
  other.tarpon = "0.0.1+0123456789ab";
  other.llvm = "1.2.3";
  {
    auto journal = Journal::open(path, other);
    ASSERT_TRUE(journal) << journal.message();
    ASSERT_TRUE((*journal)->record(makeRow()));
  }
  auto user = Journal::open(path, JournalContext::forTarget(target));
  ASSERT_TRUE(user) << user.message();
  EXPECT_TRUE((*user)->getMeasurements("p").empty());
  EXPECT_TRUE((*user)->describeStale());
  auto store = openSystemStore(target);
  ASSERT_TRUE(store) << store.message();
  EXPECT_EQ((*store)->getMeasurements("p").size(), 1u);
  EXPECT_FALSE((*store)->describeStale());
}

/// Otherwise each process would migrate its files in memory.
TEST_F(SystemStoreTest, TheShippedOneHasThisSchema) {
  size_t count = 0;
  std::error_code error;
  for (fs::directory_iterator it(TARPON_SHIPPED_STORE, error), end;
       it != end && !error; it.increment(error)) {
    const std::string &file = it->path();
    EXPECT_EQ(queryStore(file, "PRAGMA user_version"),
              std::to_string(getJournalVersion()))
        << "run scripts/make-system-store --migrate";
    EXPECT_EQ(queryStore(file, "PRAGMA journal_mode"), "delete");
    auto store = StoreAdmin::openForReading(file);
    ASSERT_TRUE(store) << store.message();
    EXPECT_TRUE((*store)->check()) << (*store)->check().message();
    EXPECT_GT((*store)->getStats()->measurements, 500);
    ++count;
  }
  EXPECT_EQ(count, 2u);
}

TEST_F(SystemStoreTest, DamageIsOneSentence) {
  makeStore();
  std::string bytes = readText(path);
  for (size_t size : {size_t(0), size_t(100), bytes.size() / 2}) {
    writeText(path, bytes.substr(0, size));
    auto store = openSystemStore(target);
    ASSERT_FALSE(store) << size;
    EXPECT_THAT(store.message(),
                testing::StartsWith("the system store is ignored: "));
    EXPECT_THAT(store.message(), HasSubstr(path));
    EXPECT_THAT(store.message(), testing::Not(HasSubstr("USER_DB")));
  }
  writeText(path, std::string(8192, 'x'));
  EXPECT_FALSE(openSystemStore(target));
}
