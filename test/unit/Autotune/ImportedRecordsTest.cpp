//===- ImportedRecordsTest.cpp --------------------------------------------===//
//
// Part of Tarpon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tarpon/Autotune/Store/ImportedRecords.h"
#include "tarpon/Autotune/Store/Journal.h"

#include "TestDirectory.h"

#include "gmock/gmock.h"
#include "gtest/gtest.h"

#include <csignal>
#include <sys/wait.h>
#include <unistd.h>

using namespace tarpon;
using namespace tarpon::test;
using miopen::Database;
using miopen::Record;
using testing::HasSubstr;

namespace {

const char *const kKey = "64-56-56-3x3-128-28-28-8-1x1-2x2-1x1-0-NCHW-FP16-F";
const char *const kProblem =
    "conv(8x64x56x56xf16, 128x64x3x3xf16:const)->8x128x28x28xf16 "
    "{dilations=1,1 group=1 pads=1,1,1,1 strides=2,2}";
const char *const kStrange = "4-6-7-1x1-8-6-7-1-0x0-1x1-1x1-0-NCHW-FP64-F";

Database makeDatabase(const std::string &name, std::vector<Record> records) {
  return {*miopen::parseFileName(name), std::move(records), {}};
}

Record makeRecord(const std::string &key, double milliseconds) {
  return {key,
          {{"Slow", "miopenConvolutionFwdAlgoGEMM", milliseconds * 3, 128, ""},
           {"Fast", "miopenConvolutionFwdAlgoDirect", milliseconds, 0, ""}}};
}

class ImportedRecordsTest : public testing::Test {
protected:
  TestDirectory directory;
  std::string path = directory.file("host.journal");

  std::unique_ptr<ImportedRecords> open() {
    auto records = ImportedRecords::openForWriting(path);
    EXPECT_TRUE(records) << records.message();
    return records ? std::move(*records) : nullptr;
  }
};

} // namespace

TEST_F(ImportedRecordsTest, KeepsRecordsInOrder) {
  Database database =
      makeDatabase("gfx90a68.HIP.fdb.txt",
                   {makeRecord(kStrange, 1.0 / 3), makeRecord(kKey, -2)});
  auto summary = open()->add(database);
  ASSERT_TRUE(summary) << summary.message();
  EXPECT_EQ(summary->problems, 2);
  EXPECT_EQ(summary->solutions, 4);
  EXPECT_EQ(summary->posed, 1);
  EXPECT_EQ(summary->reasons.at("its data type is FP64"), 1);
  auto read = open()->get("gfx90a68.HIP.fdb.txt");
  ASSERT_TRUE(read) << read.message();
  EXPECT_EQ(read->records, database.records);
  EXPECT_EQ(read->file.arch, "gfx90a");
  EXPECT_EQ(read->file.computeUnits, 0x68);
}

TEST_F(ImportedRecordsTest, ProblemsAreTarponsOwnWhereTheyCanBe) {
  ASSERT_TRUE(open()->add(makeDatabase(
      "gfx90a68.HIP.fdb.txt", {makeRecord(kKey, 1), makeRecord(kStrange, 1)})));
  std::vector<std::string> problems;
  ASSERT_TRUE(open()->visit(
      "", [&](const ImportedSource &, const ImportedProblem &problem) {
        problems.push_back(problem.problem);
      }));
  EXPECT_EQ(problems, (std::vector<std::string>{kProblem, ""}));
}

TEST_F(ImportedRecordsTest, ALaterImportReplacesItsProblemsAndNoOthers) {
  const std::string name = "gfx90a68.HIP.fdb.txt";
  ASSERT_TRUE(open()->add(
      makeDatabase(name, {makeRecord(kKey, 1), makeRecord(kStrange, 2)})));
  ASSERT_TRUE(open()->add(
      makeDatabase("gfx1030_36.HIP.fdb.txt", {makeRecord(kKey, 5)})));
  Record replaced = {kKey,
                     {{"Only", "miopenConvolutionFwdAlgoDirect", 7.0, 0, ""}}};
  ASSERT_TRUE(open()->add(makeDatabase(name, {replaced})));
  EXPECT_EQ(open()->get(name)->records,
            (std::vector<Record>{replaced, makeRecord(kStrange, 2)}));
  EXPECT_EQ(open()->get("gfx1030_36.HIP.fdb.txt")->records,
            (std::vector<Record>{makeRecord(kKey, 5)}));
  auto sources = open()->getSources();
  ASSERT_EQ(sources->size(), 2u);
  EXPECT_EQ((*sources)[1].problems, 2);
  EXPECT_EQ((*sources)[1].solutions, 3);
  EXPECT_EQ((*sources)[1].posed, 1);
}

/// Nothing that looks for a solution sees them.
TEST_F(ImportedRecordsTest, AreNeverServed) {
  const JournalContext context = {"x86-64/znver5/512", 2, "0.1.0", "22.1.8"};
  ASSERT_TRUE(Journal::open(path, context));
  ASSERT_TRUE(open()->add(
      makeDatabase("gfx90a68.HIP.fdb.txt", {makeRecord(kKey, 0.001)})));
  auto journal = Journal::open(path, context);
  ASSERT_TRUE(journal) << journal.message();
  EXPECT_FALSE((*journal)->getBest(kProblem));
  EXPECT_TRUE((*journal)->getMeasurements(kProblem).empty());
}

TEST_F(ImportedRecordsTest, AreRemovedByName) {
  ASSERT_TRUE(
      open()->add(makeDatabase("gfx90a68.HIP.fdb.txt", {makeRecord(kKey, 1)})));
  ASSERT_TRUE(open()->add(
      makeDatabase("gfx1030_36.HIP.fdb.txt", {makeRecord(kKey, 5)})));
  EXPECT_EQ(*open()->remove("gfx90a68.HIP.fdb.txt"), 1);
  EXPECT_EQ(open()->get("gfx90a68.HIP.fdb.txt").message(),
            "journal " + path +
                " holds no records of 'gfx90a68.HIP.fdb.txt', only of "
                "'gfx1030_36.HIP.fdb.txt'");
  EXPECT_FALSE(open()->remove("gfx90a68.HIP.fdb.txt"));
  EXPECT_EQ(open()->getSources()->size(), 1u);
}

TEST_F(ImportedRecordsTest, AJournalWithoutThemHasNone) {
  auto records = open();
  EXPECT_TRUE(records->getSources()->empty());
  EXPECT_EQ(records->get("x.db").message(),
            "journal " + path +
                " holds no records of 'x.db', nothing was imported");
  EXPECT_FALSE(records->remove("x.db"));
  EXPECT_EQ(ImportedRecords::openForReading(directory.file("none")).message(),
            "there is no journal " + directory.file("none"));
}

/// All or nothing, whenever the process is killed.
TEST_F(ImportedRecordsTest, AKilledImportLeavesWhatWasThere) {
  const std::string name = "gfx90a68.HIP.fdb.txt";
  ASSERT_TRUE(open()->add(makeDatabase(name, {makeRecord(kKey, 1)})));
  std::vector<Record> many;
  for (int channels = 1; channels <= 20000; ++channels)
    many.push_back(makeRecord(std::to_string(channels) +
                                  "-6-7-1x1-8-6-7-1-0x0-1x1-1x1-0-NCHW-FP32-F",
                              1));
  for (int delayMs : {1, 5, 20, 60, 150}) {
    pid_t child = fork();
    if (child == 0) {
      auto ignored = open()->add(makeDatabase(name, many));
      _exit(ignored ? 0 : 1);
    }
    usleep(delayMs * 1000);
    kill(child, SIGKILL);
    waitpid(child, nullptr, 0);
    auto read = open()->get(name);
    ASSERT_TRUE(read) << read.message();
    EXPECT_THAT(read->records.size(), testing::AnyOf(1u, 20001u)) << delayMs;
  }
}
