//===- MIOpenFileTest.cpp -------------------------------------------------===//
//
// Part of Tarpon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tarpon/Autotune/MIOpen/MIOpenFile.h"

#include "tarpon/Driver/DriverLine.h"

#include "TestDirectory.h"

#include "llvm/ADT/SmallVector.h"

#include "gmock/gmock.h"
#include "gtest/gtest.h"

#include <sqlite3.h>

using namespace tarpon;
using namespace tarpon::miopen;
using namespace tarpon::test;
using testing::ElementsAre;
using testing::HasSubstr;

namespace {

/// A line with one convolution and one solver.
const char *const kLine =
    "64-56-56-3x3-128-28-28-8-1x1-2x2-1x1-0-NCHW-FP16-F="
    "ConvDirect:0.25,1024,miopenConvolutionFwdAlgoDirect\n";
const char *const kPerfKey =
    "2x64x56x56x1x3x3x1x128x8x1x1x0x2x2x0x1x1x0x0x1xNCHWxFP16xF";

class MIOpenFileTest : public testing::Test {
protected:
  TestDirectory directory;

  runtime::Result<Database> read(const std::string &name,
                                 const std::string &text) {
    writeText(directory.file(name), text);
    return readDatabase(directory.file(name));
  }

  /// Runs statements on a new SQLite file.
  std::string makeSqlite(const std::string &name, const std::string &sql) {
    std::string path = directory.file(name);
    sqlite3 *database = nullptr;
    sqlite3_open(path.c_str(), &database);
    EXPECT_EQ(sqlite3_exec(database, sql.c_str(), nullptr, nullptr, nullptr),
              SQLITE_OK)
        << sqlite3_errmsg(database);
    sqlite3_close(database);
    return path;
  }
};

/// Tarpon's key of a problem in a find DB, or why there is none.
std::string pose(llvm::StringRef key) {
  auto parsed = parseFindKey(key);
  if (!parsed)
    return "malformed: " + parsed.message();
  auto posed = poseProblem(*parsed);
  return posed ? posed->problem.key() : "not posed: " + posed.message();
}

std::string posePerf(llvm::StringRef key) {
  auto parsed = parsePerfKey(key);
  if (!parsed)
    return "malformed: " + parsed.message();
  auto posed = poseProblem(*parsed);
  return posed ? posed->problem.key() : "not posed: " + posed.message();
}

} // namespace

//===----------------------------------------------------------------------===//
// Names
//===----------------------------------------------------------------------===//

TEST_F(MIOpenFileTest, NamesSayArchitectureAndComputeUnits) {
  struct {
    const char *name, *arch;
    int64_t units;
    Format format;
    bool isConvolution;
  } cases[] = {
      {"gfx90a68.HIP.fdb.txt", "gfx90a", 0x68, Format::FindText, true},
      {"gfx942130.HIP.fdb.txt", "gfx942", 0x130, Format::FindText, true},
      {"gfx1030_36.HIP.fdb.txt", "gfx1030", 36, Format::FindText, true},
      {"gfx906_60.HIP.2_11_0_993628deb.ufdb.txt", "gfx906", 60,
       Format::FindText, true},
      {"gfx1030_.HIP.3_4_0_.ufdb.txt", "gfx1030", 0, Format::FindText, true},
      {"gfx906_nosramecc_60.OpenCL.fdb.txt", "gfx906_nosramecc", 60,
       Format::FindText, true},
      {"gfx90a_sramecc_xnack6e.HIP.fdb.txt", "gfx90a_sramecc_xnack", 0x6e,
       Format::FindText, true},
      {"gfx90878.db", "gfx908", 0x78, Format::PerfSqlite, true},
      {"gfx1030_36_1.1.0.udb", "gfx1030", 36, Format::PerfSqlite, true},
      {"gfx90a68_1.1.0.udb", "gfx90a", 0x68, Format::PerfSqlite, true},
      {"gfx1103_12.db.txt", "gfx1103", 12, Format::PerfText, true},
      {"gfx90a68.HIP.3_4_0_.udb.txt", "gfx90a", 0x68, Format::PerfText, true},
      {"batchnorm_gfx90a68.db.txt", "gfx90a", 0x68, Format::PerfText, false},
      {"gfx90a68.HIP.3_4_0_.fusion.ufdb.txt", "gfx90a", 0x68, Format::FindText,
       false},
      {"mine.fdb.txt", "", 0, Format::FindText, true},
  };
  for (const auto &expected : cases) {
    auto file = parseFileName(std::string("some/folder/") + expected.name);
    ASSERT_TRUE(file) << expected.name;
    EXPECT_EQ(file->name, expected.name);
    EXPECT_EQ(file->arch, expected.arch) << expected.name;
    EXPECT_EQ(file->computeUnits, expected.units) << expected.name;
    EXPECT_EQ(file->format, expected.format) << expected.name;
    EXPECT_EQ(file->isConvolution, expected.isConvolution) << expected.name;
  }
  EXPECT_FALSE(parseFileName("gfx90a68.kdb"));
  EXPECT_FALSE(parseFileName("gfx90a68.txt"));
}

//===----------------------------------------------------------------------===//
// Keys
//===----------------------------------------------------------------------===//

TEST_F(MIOpenFileTest, FindKeysAreProblems) {
  EXPECT_EQ(pose("64-56-56-3x3-128-28-28-8-1x1-2x2-1x1-0-NCHW-FP16-F"),
            "conv(8x64x56x56xf16, 128x64x3x3xf16:const)->8x128x28x28xf16 "
            "{dilations=1,1 group=1 pads=1,1,1,1 strides=2,2}");
  // In backward passes, the first size is that of the forward pass's result.
  EXPECT_EQ(pose("128-28-28-3x3-64-56-56-8-1x1-2x2-1x1-0-NCHW-FP32-B_g2"),
            "conv_transpose(8x128x28x28xf32, 128x32x3x3xf32:const)->"
            "8x64x56x56xf32 {dilations=1,1 group=2 output_padding=1,1 "
            "pads=1,1,1,1 strides=2,2}");
  EXPECT_EQ(pose("128-28-28-3x3-64-56-56-8-1x1-2x2-1x1-0-NCHW-BF16-W"),
            "conv_backward_weights(8x64x56x56xbf16, 8x128x28x28xbf16)->"
            "128x64x3x3xbf16 {dilations=1,1 group=1 pads=1,1,1,1 "
            "strides=2,2}");
  EXPECT_EQ(pose("4-5-6-7-3x3x3-8-5-6-7-1-1x1x1-1x1x1-1x1x1-0-NCDHW-FP32-F"),
            "conv(1x4x5x6x7xf32, 8x4x3x3x3xf32:const)->1x8x5x6x7xf32 "
            "{dilations=1,1,1 group=1 pads=1,1,1,1,1,1 strides=1,1,1}");
  EXPECT_EQ(pose("4-6-7-1x1-8-6-7-1-0x0-1x1-1x1-0-NHWC-NHWC-NHWC-FP32-F"),
            "conv(1x4x6x7xf32:nhwc, 8x4x1x1xf32:const)->1x8x6x7xf32:nhwc "
            "{dilations=1,1 group=1 pads=0,0,0,0 strides=1,1}");
  EXPECT_EQ(pose("4-6-7-1x1-8-6-7-1-0x0-1x1-1x1-0-NCHW-INT8INT8FP32-F"),
            "conv(1x4x6x7xi8q, 8x4x1x1xi8q:const)->1x8x6x7xf32 "
            "{dilations=1,1 group=1 pads=0,0,0,0 strides=1,1}");
}

/// The layouts of a backward pass are the other way round, too.
TEST_F(MIOpenFileTest, LayoutsOfBackwardPasses) {
  EXPECT_EQ(pose("8-6-7-1x1-4-6-7-1-0x0-1x1-1x1-0-NHWC-NHWC-NCHW-FP32-B"),
            "conv_transpose(1x8x6x7xf32:nhwc, 8x4x1x1xf32:const)->"
            "1x4x6x7xf32 {dilations=1,1 group=1 output_padding=0,0 "
            "pads=0,0,0,0 strides=1,1}");
}

TEST_F(MIOpenFileTest, WhatCannotBePosedHasAReason) {
  EXPECT_EQ(pose("4-6-7-1x1-8-6-7-1-0x0-1x1-1x1-0-NCHW-FP64-F"),
            "not posed: its data type is FP64");
  EXPECT_EQ(pose("4-6-7-1x1-8-6-7-1-0x0-1x1-1x1-0-NCHW-INT8INT8INT32-F"),
            "not posed: its data type is INT8INT8INT32");
  EXPECT_EQ(pose("4-6-7-1x1-8-6-7-1-0x0-1x1-1x1-0-NCHW-FP32-F_ciFP8_cwFP8"),
            "not posed: it casts its data");
  EXPECT_EQ(pose("4-6-7-1x1-8-6-7-1-0x0-1x1-1x1-1-NCHW-FP32-F"),
            "not posed: it has a bias");
  EXPECT_EQ(pose("4-6-7-1x1-8-9-9-1-0x0-1x1-1x1-0-NCHW-FP32-F"),
            "not posed: its result is not of the size that follows from its "
            "window");
  EXPECT_THAT(pose("4-6-7-1x1-8-6-7-1-0x0-1x1-1x1-0-CHWNc4-FP32-F"),
              HasSubstr("not posed: the layout 'CHWNc4' is not supported"));
  EXPECT_THAT(pose("4-6-7-1x1-8-6-7-1-0x0-1x1-1x1-0-NCHW-FP32-F_g3"),
              HasSubstr("not posed: a convolution has 3 groups"));
}

TEST_F(MIOpenFileTest, MalformedFindKeys) {
  for (const char *key :
       {"", "x", "64-56-56", "a-6-7-1x1-8-6-7-1-0x0-1x1-1x1-0-NCHW-FP32-F",
        "4-6-7-1x1x1-8-6-7-1-0x0-1x1-1x1-0-NCHW-FP32-F",
        "4-6-7-1x1-8-6-7-1-0x0-1x1-1x1-0-NCHW-FP31-F",
        "4-6-7-1x1-8-6-7-1-0x0-1x1-1x1-0-NCHW-FP32FP32-F",
        "4-6-7-1x1-8-6-7-1-0x0-1x1-1x1-0-NCHW-FP32-G",
        "4-6-7-1x1-8-6-7-1-0x0-1x1-1x1-0-NCHW-FP32-F_q2",
        "4-6-7-1x1-8-6-7-1-0x0-1x1-1x1-0-NCHW-NCHW-FP32-F",
        "4-6-7-1x1-8-6-7-1-0x0-1x1-1x1-0--FP32-F",
        "99999999999-6-7-1x1-8-6-7-1-0x0-1x1-1x1-0-NCHW-FP32-F",
        "4-6-7-1x1-8-6-7-1--1x0-1x1-1x1-0-NCHW-FP32-F"})
    EXPECT_THAT(pose(key), HasSubstr("malformed: its key has ")) << key;
}

TEST_F(MIOpenFileTest, PerfKeysAreProblems) {
  EXPECT_EQ(posePerf(kPerfKey),
            "conv(8x64x56x56xf16, 128x64x3x3xf16:const)->8x128x28x28xf16 "
            "{dilations=1,1 group=1 pads=1,1,1,1 strides=2,2}");
  // Height and width stand before the depth.
  EXPECT_EQ(posePerf("3x4x6x7x5x1x1x3x8x1x0x0x1x1x1x1x1x1x1x0x1xNCDHWxFP32xF"),
            "conv(1x4x5x6x7xf32, 8x4x3x1x1xf32:const)->1x8x5x6x7xf32 "
            "{dilations=1,1,1 group=1 pads=1,0,0,1,0,0 strides=1,1,1}");
  EXPECT_EQ(
      posePerf("2x8x6x7x1x3x3x1x4x1x0x0x0x1x1x0x1x1x0x0x1xNCHWxFP32xB"),
      "conv_transpose(1x8x6x7xf32, 8x4x3x3xf32:const)->1x4x8x9xf32 "
      "{dilations=1,1 group=1 output_padding=0,0 pads=0,0,0,0 strides=1,1}");
  EXPECT_EQ(posePerf("2x8x6x7x1x3x3x1x4x1x0x0x0x2x2x0x1x1x0x0x1xNCHWxFP32xW"),
            "not posed: its key does not say how large the image is");
  EXPECT_EQ(posePerf("2x8x6"), "malformed: its key has 3 fields, expected 24");
  EXPECT_EQ(posePerf("4x8x6x7x1x3x3x1x4x1x0x0x0x2x2x0x1x1x0x0x1xNCHWxFP32xW"),
            "malformed: its key has 4 dimensions, expected 2 or 3");
}

/// The line of a problem asks MIOpen's driver, and ours, for that very problem.
TEST_F(MIOpenFileTest, DriverLinesAskForTheProblem) {
  for (const char *key :
       {"64-56-56-3x3-128-28-28-8-1x1-2x2-1x1-0-NCHW-FP16-F",
        "128-28-28-3x3-64-56-56-8-1x1-2x2-1x1-0-NCHW-FP32-B_g2",
        "128-28-28-3x3-64-56-56-8-1x1-2x2-1x1-0-NCHW-BF16-W",
        "4-6-7-1x1-8-6-7-1-0x0-1x1-1x1-0-NHWC-NHWC-NHWC-FP32-F",
        "8-6-7-1x1-4-6-7-1-0x0-1x1-1x1-0-NHWC-NHWC-NCHW-FP32-B",
        "4-6-7-1x1-8-6-7-1-0x0-1x1-1x1-0-NCHW-INT8INT8FP32-F",
        "4-9-9-9-3x2x1-8-4-10-9-1-1x1x0-2x1x1-2x1x1-0-NCDHW-FP32-F"}) {
    auto parsed = parseFindKey(key);
    ASSERT_TRUE(parsed) << parsed.message();
    auto posed = poseProblem(*parsed);
    ASSERT_TRUE(posed) << key << ": " << posed.message();
    llvm::SmallVector<llvm::StringRef> parts;
    llvm::StringRef(posed->driverLine).split(parts, ' ');
    std::vector<std::string> words(parts.begin(), parts.end());
    auto line = parseDriverLine(words);
    ASSERT_TRUE(line) << posed->driverLine << ": " << line.message();
    ASSERT_EQ(line->tasks.size(), 1u);
    EXPECT_EQ(line->tasks[0].problem.key(), posed->problem.key());
  }
}

//===----------------------------------------------------------------------===//
// Find DBs
//===----------------------------------------------------------------------===//

TEST_F(MIOpenFileTest, ReadsFindDBs) {
  auto database =
      read("gfx90a68.HIP.fdb.txt",
           std::string(kLine) +
               "8-6-7-1x1-4-6-7-1-0x0-1x1-1x1-0-NCHW-FP32-B="
               "GemmBwd:1.5e-05,0,miopenConvolutionBwdDataAlgoGEMM;"
               "ConvX<3-2>:-2,77,miopenConvolutionBwdDataAlgoWinograd\r\n\n");
  ASSERT_TRUE(database) << database.message();
  EXPECT_EQ(database->faults.malformed, 0);
  EXPECT_EQ(database->faults.duplicates, 0);
  EXPECT_THAT(
      database->records,
      ElementsAre(Record{"64-56-56-3x3-128-28-28-8-1x1-2x2-1x1-0-NCHW-FP16-F",
                         {{"ConvDirect", "miopenConvolutionFwdAlgoDirect", 0.25,
                           1024, ""}}},
                  Record{"8-6-7-1x1-4-6-7-1-0x0-1x1-1x1-0-NCHW-FP32-B",
                         {{"GemmBwd", "miopenConvolutionBwdDataAlgoGEMM",
                           1.5e-05, 0, ""},
                          {"ConvX<3-2>", "miopenConvolutionBwdDataAlgoWinograd",
                           -2.0, 77, ""}}}));
}

TEST_F(MIOpenFileTest, ReadsTheFormBeforeVersionTwo) {
  auto database =
      read("gfx900_64.fdb.txt",
           "4-6-7-1x1-8-6-7-1-0x0-1x1-1x1-0-NCHW-FP32-F="
           "miopenConvolutionFwdAlgoGEMM:gemm,0.5,64,rocBlas,4x6x7\n");
  ASSERT_TRUE(database) << database.message();
  ASSERT_EQ(database->records.size(), 1u);
  EXPECT_THAT(database->records[0].solutions,
              ElementsAre(Solution{"gemm", "miopenConvolutionFwdAlgoGEMM", 0.5,
                                   64, ""}));
}

TEST_F(MIOpenFileTest, MalformedLinesAreCountedAndReportedOnce) {
  const std::string key = "4-6-7-1x1-8-6-7-1-0x0-1x1-1x1-0-NCHW-FP32-F";
  const std::string algorithm = "miopenConvolutionFwdAlgoDirect";
  std::vector<std::string> bad = {
      "no key",
      "=A:1,0," + algorithm,
      key + "=",
      key + "=A",
      key + "=A:1,0",
      key + "=A:x,0," + algorithm,
      key + "=A:nan,0," + algorithm,
      key + "=A:1,-1," + algorithm,
      key + "=A:1,0,miopenConvolutionFwdAlgoMagic",
      key + "=A:1,0,miopenConvolutionBwdWeightsAlgoFFT",
      key + "=:1,0," + algorithm,
      key + "=" + algorithm + ":A,1",
      "\x01\x02=\x7f:1,0," + algorithm,
  };
  std::string text = kLine;
  for (const std::string &line : bad)
    text += line + "\n";
  auto database = read("gfx90a68.HIP.fdb.txt", text);
  ASSERT_TRUE(database) << database.message();
  EXPECT_EQ(database->records.size(), 1u);
  EXPECT_EQ(database->faults.describe(Format::FindText),
            "13 of 14 lines are malformed, the first is line 2: it has no key "
            "with a '=' behind it");
  // The readable part of a line is kept, as in MIOpen.
  database = read("gfx90a68.HIP.fdb.txt",
                  key + "=A:1,0;B:2,0," + algorithm + ";C:x,0," + algorithm);
  ASSERT_TRUE(database);
  ASSERT_EQ(database->records.size(), 1u);
  EXPECT_EQ(database->records[0].solutions.size(), 1u);
  EXPECT_EQ(database->faults.describe(Format::FindText),
            "1 of 1 lines are malformed, the first is line 1: the item of 'A' "
            "has 2 fields, expected 3");
}

TEST_F(MIOpenFileTest, TheFirstOfDuplicatesCounts) {
  const std::string key = "4-6-7-1x1-8-6-7-1-0x0-1x1-1x1-0-NCHW-FP32-F";
  const std::string tail = ",0,miopenConvolutionFwdAlgoDirect";
  auto database =
      read("gfx90a68.HIP.fdb.txt", key + "=A:1" + tail + ";A:2" + tail + "\n" +
                                       key + "=B:3" + tail + "\n");
  ASSERT_TRUE(database);
  EXPECT_EQ(database->faults.malformed, 0);
  EXPECT_EQ(database->faults.duplicates, 2);
  ASSERT_EQ(database->records.size(), 1u);
  ASSERT_EQ(database->records[0].solutions.size(), 1u);
  EXPECT_EQ(database->records[0].solutions[0].milliseconds, 1.0);
}

TEST_F(MIOpenFileTest, AFileOfNothingElseIsNoDatabase) {
  auto database = read("gfx90a68.HIP.fdb.txt", "hello\nworld\n");
  ASSERT_FALSE(database);
  EXPECT_EQ(database.message(),
            "'" + directory.file("gfx90a68.HIP.fdb.txt") +
                "' is no database of MIOpen: 2 of 2 lines are malformed, the "
                "first is line 1: it has no key with a '=' behind it");
  EXPECT_TRUE(read("gfx90a68.HIP.fdb.txt", ""));
  EXPECT_FALSE(readDatabase(directory.file("none.fdb.txt")));
}

TEST_F(MIOpenFileTest, KeysOfFusionsAreKept) {
  auto database = read("gfx90a68.HIP.3_4_0_.fusion.ufdb.txt",
                       "1x2x3,whatever=A:1,0,miopenConvolutionFwdAlgoDirect\n");
  ASSERT_TRUE(database) << database.message();
  ASSERT_EQ(database->records.size(), 1u);
  EXPECT_EQ(database->records[0].key, "1x2x3,whatever");
}

/// Whatever is at the end of a file: no crash, and only whole items count.
TEST_F(MIOpenFileTest, TruncatedAnywhere) {
  const std::string line = kLine;
  for (size_t size = 0; size < line.size(); ++size) {
    auto database = read("gfx90a68.HIP.fdb.txt", line + line.substr(0, size));
    ASSERT_TRUE(database) << size;
    EXPECT_EQ(database->records.size(), 1u) << size;
  }
}

//===----------------------------------------------------------------------===//
// Perf DBs
//===----------------------------------------------------------------------===//

TEST_F(MIOpenFileTest, ReadsPerfDBsInText) {
  auto database = read("gfx90a68.db.txt", std::string(kPerfKey) +
                                              "=ConvA:8,64,2;ConvB:Cfg<1, 2>: "
                                              "Default\n" +
                                              kPerfKey + "x=ConvA:1\n");
  ASSERT_TRUE(database) << database.message();
  ASSERT_EQ(database->records.size(), 1u);
  EXPECT_EQ(database->records[0].key, kPerfKey);
  EXPECT_THAT(database->records[0].solutions,
              ElementsAre(Solution{"ConvA", "", std::nullopt, 0, "8,64,2"},
                          Solution{"ConvB", "", std::nullopt, 0,
                                   "Cfg<1, 2>: Default"}));
  EXPECT_EQ(database->faults.malformed, 1);
}

TEST_F(MIOpenFileTest, PerfDBsKeepTheirRecordsInEitherForm) {
  const std::string volume =
      "3x4x6x7x5x1x1x3x8x1x0x0x1x1x1x1x1x1x1x0x1xNCDHWxFP32xF";
  auto text = read("gfx90a68.db.txt", std::string(kPerfKey) +
                                          "=ConvA:8,64,2;ConvB:1\n" + volume +
                                          "=ConvA:Cfg<1>\n");
  ASSERT_TRUE(text);
  ASSERT_TRUE(writeDatabase(directory.file("gfx90a68.db"), *text));
  auto sqlite = readDatabase(directory.file("gfx90a68.db"));
  ASSERT_TRUE(sqlite) << sqlite.message();
  EXPECT_EQ(sqlite->records, text->records);
  ASSERT_TRUE(writeDatabase(directory.file("gfx90a68.udb.txt"), *sqlite));
  EXPECT_EQ(readText(directory.file("gfx90a68.udb.txt")),
            readText(directory.file("gfx90a68.db.txt")));
}

TEST_F(MIOpenFileTest, RowsWithoutAProblemAreMalformed) {
  auto text = read("gfx90a68.db.txt", std::string(kPerfKey) + "=ConvA:8\n");
  std::string path = directory.file("gfx90a68.db");
  ASSERT_TRUE(writeDatabase(path, *text));
  makeSqlite("gfx90a68.db", "INSERT INTO perf_db (solver, config, params) "
                            "VALUES ('ConvB', 99, '1'), ('', 1, '2')");
  auto database = readDatabase(path);
  ASSERT_TRUE(database) << database.message();
  EXPECT_EQ(database->records, text->records);
  EXPECT_EQ(database->faults.describe(Format::PerfSqlite),
            "2 of 3 rows are malformed, the first is row 2: '' is no name of a "
            "solver");
}

TEST_F(MIOpenFileTest, OtherSqliteFilesAreNoPerfDBs) {
  std::string path = makeSqlite("gfx90a68.db", "CREATE TABLE t (x)");
  EXPECT_EQ(readDatabase(path).message(),
            "cannot read '" + path +
                "' as a perf DB of MIOpen: no such table: perf_db");
  auto database = read("gfx1030_36.db", "this is no database of any kind");
  ASSERT_FALSE(database);
  EXPECT_THAT(database.message(), HasSubstr("file is not a database"));
  EXPECT_FALSE(readDatabase(directory.file("gfx900_64.db")));
}

TEST_F(MIOpenFileTest, FindAndPerfDBsAreNotMixedUp) {
  auto database = read("gfx90a68.HIP.fdb.txt", kLine);
  ASSERT_TRUE(database);
  auto status = writeDatabase(directory.file("gfx90a68.db.txt"), *database);
  ASSERT_FALSE(status);
  EXPECT_EQ(status.message(), "cannot write gfx90a68.HIP.fdb.txt to '" +
                                  directory.file("gfx90a68.db.txt") +
                                  "', which is named as a perf DB");
}
