//===- StoreRecoveryTest.cpp - Damaged stores are set aside ---------------===//
//
// Part of Tarpon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "StoreTestFiles.h"
#include "TestDirectory.h"
#include "tarpon/Autotune/Store/StoreAdmin.h"

#include "gmock/gmock.h"
#include "gtest/gtest.h"

#include <algorithm>
#include <csignal>
#include <fcntl.h>
#include <sqlite3.h>
#include <sys/wait.h>
#include <unistd.h>

using namespace tarpon;
using namespace tarpon::test;
using testing::HasSubstr;
using testing::StartsWith;

namespace {

class StoreRecoveryTest : public testing::Test {
protected:
  TestDirectory directory;
  std::string path = directory.file("host.journal");
  std::string aside = path + ".damaged-1";
  std::string problem = getNumberedProblem(0);

  std::unique_ptr<Journal> open() {
    auto journal = Journal::open(path, kStoreContext);
    EXPECT_TRUE(journal) << journal.message();
    return journal ? std::move(*journal) : nullptr;
  }

  /// Opens the store and closes it again; what that says on stderr.
  std::string openAndListen() {
    testing::internal::CaptureStderr();
    open();
    return testing::internal::GetCapturedStderr();
  }

  void expectOneRemark(const std::string &text,
                       const std::string &place) const {
    EXPECT_THAT(text, StartsWith("remark: journal " + path + " is damaged: "));
    EXPECT_THAT(text, HasSubstr("; it was set aside as " + place +
                                ", and a new one is begun\n"));
    EXPECT_EQ(std::count(text.begin(), text.end(), '\n'), 1) << text;
  }

  /// Leaves the file and its size, and nothing of its contents but the head.
  void spoil(size_t from = 4096) const {
    int file = ::open(path.c_str(), O_WRONLY);
    if (file < 0)
      FAIL() << "cannot open " << path;
    off_t size = lseek(file, 0, SEEK_END);
    ASSERT_GT(size, off_t(from));
    std::string junk(size - from, '\x5a');
    ASSERT_EQ(pwrite(file, junk.data(), junk.size(), from),
              ssize_t(junk.size()));
    close(file);
  }

  size_t countRows() { return open()->getMeasurements(problem).size(); }
};

} // namespace

/// A reader cannot take back what a killed process wrote without writing.
TEST_F(StoreRecoveryTest, ReadersTakeBackWhatAKilledProcessWrote) {
  runAndKill([&] {
    sqlite3 *database = nullptr;
    sqlite3_open(path.c_str(), &database);
    // A cache of one page has the transaction write to the file at once.
    sqlite3_exec(database,
                 "PRAGMA cache_size = 1; BEGIN IMMEDIATE;"
                 "CREATE TABLE pages (bytes); WITH RECURSIVE n(i) AS (SELECT 1 "
                 "UNION ALL SELECT i + 1 FROM n WHERE i < 99) INSERT INTO "
                 "pages SELECT randomblob(4000) FROM n",
                 nullptr, nullptr, nullptr);
  });
  ASSERT_TRUE(hasFile(path + "-journal"));
  auto admin = StoreAdmin::openForReading(path);
  ASSERT_TRUE(admin) << admin.message();
  EXPECT_TRUE((*admin)->check());
}

TEST_F(StoreRecoveryTest, DamagedFileIsSetAsideAndANewOneBegun) {
  std::string text = "this is no database, " + std::string(5000, 'x');
  writeText(path, text);
  expectOneRemark(openAndListen(), aside);
  EXPECT_EQ(readText(aside), text);
  EXPECT_EQ(openAndListen(), "");
  ASSERT_TRUE(open()->record(makeNumbered(problem, 1)));
  EXPECT_EQ(countRows(), 1u);
  // Another time, another name.
  writeText(path, "short");
  expectOneRemark(openAndListen(), path + ".damaged-2");
  EXPECT_EQ(readText(path + ".damaged-2"), "short");
  EXPECT_EQ(readText(aside), text);
  EXPECT_EQ(countRows(), 0u);
}

TEST_F(StoreRecoveryTest, LogsStayWithTheDamagedFile) {
  fillStore(path, 1, 300);
  runAndKill([&] {
    for (int i = 300; i < 310; ++i)
      (void)open()->record(makeNumbered(problem, i));
    auto journal = open();
    (void)journal->record(makeNumbered(problem, 400));
    raise(SIGKILL);
  });
  spoil();
  std::string file = readText(path), log = readText(path + "-wal");
  ASSERT_FALSE(log.empty());
  expectOneRemark(openAndListen(), aside);
  EXPECT_EQ(readText(aside), file);
  EXPECT_EQ(readText(aside + "-wal"), log);
  EXPECT_EQ(countRows(), 0u);
  ASSERT_TRUE(open()->record(makeNumbered(problem, 1)));
  EXPECT_EQ(queryStore(path, "PRAGMA integrity_check"), "ok");
  EXPECT_EQ(readText(aside + "-wal"), log);
}

TEST_F(StoreRecoveryTest, EmptiedFileIsSetAsideWithItsLog) {
  runAndKill([&] {
    auto journal = open();
    (void)journal->record(makeNumbered(problem, 1));
    raise(SIGKILL);
  });
  std::string log = readText(path + "-wal");
  ASSERT_FALSE(log.empty());
  writeText(path, "");
  expectOneRemark(openAndListen(), aside);
  EXPECT_EQ(readText(aside + "-wal"), log);
  EXPECT_EQ(countRows(), 0u);
}

TEST_F(StoreRecoveryTest, WhoFindsDamageTogetherReplacesOnce) {
  for (int round = 1; round <= 5; ++round) {
    fillStore(path, 1, 200);
    spoil();
    constexpr int kProcesses = 6, kRows = 5;
    std::vector<pid_t> children;
    testing::internal::CaptureStderr();
    for (int process = 0; process < kProcesses; ++process) {
      pid_t child = fork();
      if (child == 0) {
        auto journal = Journal::open(path, kStoreContext);
        bool isFine = static_cast<bool>(journal);
        for (int i = 0; isFine && i < kRows; ++i)
          isFine = static_cast<bool>(
              (*journal)->record(makeNumbered(problem, process * 100 + i)));
        _exit(isFine ? 0 : 1);
      }
      children.push_back(child);
    }
    for (pid_t child : children) {
      int status = -1;
      waitpid(child, &status, 0);
      EXPECT_EQ(status, 0);
    }
    std::string number = std::to_string(round);
    expectOneRemark(testing::internal::GetCapturedStderr(),
                    path + ".damaged-" + number);
    EXPECT_TRUE(hasFile(path + ".damaged-" + number));
    EXPECT_FALSE(hasFile(path + ".damaged-" + std::to_string(round + 1)));
    EXPECT_EQ(countRows(), size_t(kProcesses * kRows));
    EXPECT_EQ(queryStore(path, "PRAGMA integrity_check"), "ok");
  }
}

TEST_F(StoreRecoveryTest, WhoWritesToAStoreThatWasSetAsideGoesToTheNewOne) {
  auto first = open();
  ASSERT_TRUE(first->record(makeNumbered(problem, 1)));
  ASSERT_EQ(rename(path.c_str(), (path + ".gone").c_str()), 0);
  ASSERT_EQ(rename((path + "-wal").c_str(), (path + ".gone-wal").c_str()), 0);
  unlink((path + "-shm").c_str());
  auto second = open();
  ASSERT_TRUE(second->record(makeNumbered(problem, 2)));
  ASSERT_TRUE(first->record(makeNumbered(problem, 3)));
  first.reset();
  second.reset();
  EXPECT_EQ(countRows(), 2u);
  EXPECT_EQ(queryStore(path, "PRAGMA integrity_check"), "ok");
}

TEST_F(StoreRecoveryTest, DamageThatAWriteShowsIsMendedThen) {
  fillStore(path, 1, 300);
  auto journal = open();
  // A write of somebody else's makes SQLite forget what it has read.
  ASSERT_TRUE(runInProcess([&] {
    return queryStore(path, "INSERT INTO finding (problem, target, threads, "
                            "tarpon, llvm, kind, run) VALUES ('x', '', 1, '', "
                            "'', 'found', '')") == "";
  }));
  spoil();
  testing::internal::CaptureStderr();
  EXPECT_TRUE(journal->record(makeNumbered(problem, 1)));
  expectOneRemark(testing::internal::GetCapturedStderr(), aside);
  EXPECT_EQ(journal->getMeasurements(problem).size(), 1u);
  journal.reset();
  EXPECT_EQ(countRows(), 1u);
}

TEST_F(StoreRecoveryTest, DamageOfALargeFileShowsWhenItIsRead) {
  fillStore(path, 1, 50);
  // Many times as much as is looked through.
  ASSERT_EQ(queryStore(path, "CREATE TABLE filler (x); INSERT INTO filler "
                             "VALUES (zeroblob(20000000))"),
            "");
  spoil(4 * 4096);
  testing::internal::CaptureStderr();
  auto journal = open();
  EXPECT_EQ(testing::internal::GetCapturedStderr(), "");
  testing::internal::CaptureStderr();
  EXPECT_EQ(findWrongAnswer(*journal, 1), "");
  expectOneRemark(testing::internal::GetCapturedStderr(), aside);
  EXPECT_EQ(journal->getMeasurements(problem).size(), 0u);
  ASSERT_TRUE(journal->record(makeNumbered(problem, 1)));
  journal.reset();
  EXPECT_EQ(countRows(), 1u);
}

TEST_F(StoreRecoveryTest, ForeignFilesAreLeftAlone) {
  queryStore(path, "CREATE TABLE t (x); INSERT INTO t VALUES (5)");
  std::string text = readText(path);
  auto journal = Journal::open(path, kStoreContext);
  ASSERT_FALSE(journal);
  EXPECT_EQ(journal.message(), "file " + path + " is not a journal of tarpon");
  EXPECT_EQ(readText(path), text);
  queryStore(path, "PRAGMA application_id = 77");
  text = readText(path);
  EXPECT_FALSE(Journal::open(path, kStoreContext));
  EXPECT_EQ(readText(path), text);
  EXPECT_FALSE(hasFile(aside));
}

TEST_F(StoreRecoveryTest, OurTablesUnderAnotherIdAreDamage) {
  fillStore(path, 1, 3);
  queryStore(path, "PRAGMA application_id = 77");
  expectOneRemark(openAndListen(), aside);
  EXPECT_EQ(queryStore(aside, "SELECT count(*) FROM measurement"), "3");
}

TEST_F(StoreRecoveryTest, AdministrationLeavesDamageAlone) {
  writeText(path, "text");
  for (auto openStore :
       {&StoreAdmin::openForReading, &StoreAdmin::openForWriting}) {
    auto store = openStore(path);
    ASSERT_FALSE(store);
    EXPECT_THAT(store.message(), HasSubstr("is damaged: "));
    EXPECT_THAT(store.message(), HasSubstr("; move it away"));
  }
  EXPECT_EQ(readText(path), "text");
}

//===----------------------------------------------------------------------===//
// Checksums of rows
//===----------------------------------------------------------------------===//

TEST_F(StoreRecoveryTest, RowsThatAreNotWhatWasWrittenAreIgnored) {
  fillStore(path, 2, 20);
  queryStore(path, "UPDATE measurement SET median = median / 2 WHERE id = 3; "
                   "UPDATE measurement SET checksum = NULL WHERE id = 5; "
                   "UPDATE finding SET kind = 'verified' WHERE id = 1; "
                   "UPDATE pipeline SET accuracy = 0 WHERE id = 2");
  auto journal = open();
  EXPECT_EQ(findWrongAnswer(*journal, 2), "");
  EXPECT_EQ(journal->getMeasurements(problem).size(), 8u);
  EXPECT_FALSE(hasFinding(*journal, problem, Finding::Found));
  EXPECT_FALSE(hasFinding(*journal, problem, Finding::Verified));
  EXPECT_FALSE(journal->getPipeline(makeNumberedPipeline(1).key));
  EXPECT_TRUE(journal->getPipeline(makeNumberedPipeline(2).key));
  EXPECT_EQ(*journal->describeImpossible(),
            "journal " + path +
                ": 4 records do not fit their checksum and are ignored");
  auto store = StoreAdmin::openForWriting(path);
  ASSERT_TRUE(store) << store.message();
  auto status = (*store)->check();
  ASSERT_FALSE(status);
  EXPECT_THAT(status.message(), HasSubstr("4 rows do not fit their checksum"));
  ASSERT_TRUE((*store)->prune(/*isDryRun=*/false));
  EXPECT_FALSE(open()->describeImpossible());
}

TEST_F(StoreRecoveryTest, EveryColumnCounts) {
  Measurement m = makeNumbered(problem, 1);
  // Empty texts hide nothing of what stands before them.
  m.key.config = m.detail = "";
  for (const char *change :
       {"problem = problem || 'x'", "solver = 'igemm-v1'", "config = 'a'",
        "target = 'x86'", "threads = 1", "tarpon = '0.1.1'", "llvm = '23'",
        "origin = 'final'", "status = 'wrong'", "samples = '[1]'",
        "median = 0.5", "mad = NULL", "max_error = 1", "relative_l2 = 1",
        "workspace = 8", "rounds = 7", "detail = 'a'", "run = 'me'",
        "time = ''"}) {
    path = directory.file(std::string(change).substr(0, 5) + ".journal");
    ASSERT_TRUE(open()->record(m));
    EXPECT_FALSE(open()->describeImpossible());
    ASSERT_EQ(queryStore(path, std::string("UPDATE measurement SET ") + change),
              "");
    EXPECT_TRUE(open()->describeImpossible()) << change;
  }
}

/// What is renamed alone must not have its records in a log.
TEST_F(StoreRecoveryTest, SealsWhatNobodyHasOpen) {
  std::unique_ptr<Journal> journal = open();
  ASSERT_TRUE(journal->record(makeNumbered(problem, 1)));
  EXPECT_THAT(sealStore(path).message(), StartsWith("cannot write " + path));
  journal.reset();
  ASSERT_TRUE(sealStore(path));
  EXPECT_NE(access((path + "-wal").c_str(), F_OK), 0);
  EXPECT_EQ(countRows(), 1u);
}
