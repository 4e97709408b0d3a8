//===- StoreDamageTest.cpp - No damage makes a wrong answer ---------------===//
//
// Part of Tarpon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Stores that are cut off or have bytes that changed. Whatever is done to the
// file: nothing crashes, nothing is served that was not written, and work goes
// on. TARPON_TEST_DAMAGE_ROUNDS sets the number of random damages
// (scripts/stress-store).
//
//===----------------------------------------------------------------------===//

#include "StoreTestFiles.h"
#include "TestDirectory.h"
#include "tarpon/Autotune/Store/StoreAdmin.h"

#include "gmock/gmock.h"
#include "gtest/gtest.h"

#include <algorithm>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <random>
#include <unistd.h>

using namespace tarpon;
using namespace tarpon::test;

namespace {

constexpr int kProblems = 6, kRows = 120;

int getRounds() {
  const char *text = std::getenv("TARPON_TEST_DAMAGE_ROUNDS");
  return text ? static_cast<int>(std::strtol(text, nullptr, 10)) : 45;
}

class StoreDamageTest : public testing::Test {
protected:
  void SetUp() override {
    fillStore(path, kProblems, kRows);
    sound = readText(path);
    ASSERT_GT(sound.size(), 10 * 4096u);
  }

  void clean() {
    for (const char *suffix : {"", "-wal", "-shm", "-journal", ".lock"}) {
      unlink((path + suffix).c_str());
      unlink((path + ".damaged-1" + suffix).c_str());
    }
  }

  /// Checks what every kind of user makes of the store at `path`. `logBytes`
  /// are those of its write-ahead log, if there is one.
  void expectHarmless(const std::string &bytes, const std::string &what,
                      const std::string &logBytes = "") {
    SCOPED_TRACE(what);
    clean();
    writeText(path, bytes);
    if (!logBytes.empty())
      writeText(path + "-wal", logBytes);
    testing::internal::CaptureStderr();
    if (logBytes.empty())
      readAsSystemStore();
    readAsAdministrator();
    useAsUserStore();
    std::string text = testing::internal::GetCapturedStderr();
    EXPECT_LE(std::count(text.begin(), text.end(), '\n'), 1) << text;
    // Nothing is lost: what was set aside is what was there.
    if (hasFile(path + ".damaged-1")) {
      ++setAside;
      EXPECT_EQ(readText(path + ".damaged-1"), bytes);
    }
  }

  void readAsSystemStore() {
    auto system = Journal::openReadOnly(path, kStoreContext);
    if (!system) {
      EXPECT_FALSE(system.message().empty());
      return;
    }
    EXPECT_EQ(findWrongAnswer(**system, kProblems), "");
    (void)(*system)->describeStale();
    (void)(*system)->describeImpossible();
  }

  void readAsAdministrator() {
    auto store = StoreAdmin::openForReading(path);
    if (!store)
      return;
    (void)(*store)->check();
    (void)(*store)->getStats();
    auto solutions = (*store)->getBestSolutions();
    if (solutions)
      for (const BestSolution &best : *solutions) {
        const Measurement &m = best.measurement;
        Measurement wanted = makeNumbered(
            m.key.problem,
            std::strtoll(&m.key.config[strlen("tile_m=")], nullptr, 10));
        EXPECT_EQ(m.key, wanted.key);
        EXPECT_EQ(m.median, wanted.median);
      }
  }

  /// Damage that only concerns what may not be opened at all, a version or an
  /// id, is an error of one sentence.
  void useAsUserStore() {
    auto journal = Journal::open(path, kStoreContext);
    if (!journal) {
      ++refused;
      EXPECT_THAT(journal.message(), testing::HasSubstr(path));
      return;
    }
    EXPECT_EQ(findWrongAnswer(**journal, kProblems), "");
    std::string problem = getNumberedProblem(2);
    auto recorded = (*journal)->record(makeNumbered(problem, 1000));
    EXPECT_TRUE(recorded) << recorded.message();
    EXPECT_EQ(findWrongAnswer(**journal, kProblems), "");
    size_t rows = (*journal)->getMeasurements(problem).size();
    EXPECT_GE(rows, 1u);
    served += rows;
  }

  TestDirectory directory;
  std::string path = directory.file("host.journal"), sound;
  size_t setAside = 0, refused = 0, served = 0;
};

} // namespace

TEST_F(StoreDamageTest, CutOffAtEveryPage) {
  expectHarmless(sound, "whole");
  EXPECT_EQ(setAside, 0u);
  EXPECT_EQ(served, kRows / kProblems + 1u);
  for (size_t size = 0; size < sound.size(); size += 4096)
    expectHarmless(sound.substr(0, size), std::to_string(size) + " bytes");
  EXPECT_EQ(refused, 0u);
  EXPECT_EQ(setAside, sound.size() / 4096 - 1);
}

TEST_F(StoreDamageTest, CutOffAnywhere) {
  std::mt19937_64 random(5);
  for (int round = 0; round < getRounds() / 3; ++round) {
    size_t size = random() % sound.size();
    expectHarmless(sound.substr(0, size), std::to_string(size) + " bytes");
  }
}

TEST_F(StoreDamageTest, BytesThatChanged) {
  std::mt19937_64 random(7);
  for (int round = 0; round < getRounds(); ++round) {
    std::string bytes = sound;
    int count = 1 << random() % 6;
    for (int i = 0; i < count; ++i)
      bytes[random() % bytes.size()] = static_cast<char>(random());
    expectHarmless(bytes, "round " + std::to_string(round));
  }
  // Random bytes do not always hit something, but they often do.
  EXPECT_GT(setAside, size_t(getRounds()) / 20);
  EXPECT_LT(refused, size_t(getRounds()) / 20 + 2);
}

TEST_F(StoreDamageTest, BytesOfRowsThatChanged) {
  // Within the texts and numbers of rows, where SQLite itself notices nothing.
  std::mt19937_64 random(9);
  size_t first = sound.find("conv-igemm-v1");
  ASSERT_NE(first, std::string::npos);
  for (int round = 0; round < getRounds(); ++round) {
    std::string bytes = sound;
    size_t at = 0;
    for (auto skip = random() % kRows; skip > 0; --skip)
      at = bytes.find("conv-igemm-v1", at + 1);
    at = std::min(at + random() % 200, bytes.size() - 1);
    bytes[at] = static_cast<char>(bytes[at] ^ (1 << random() % 8));
    expectHarmless(bytes, "byte " + std::to_string(at));
  }
}

TEST_F(StoreDamageTest, DamagedLogs) {
  clean();
  writeText(path, sound);
  runAndKill([&] {
    auto journal = Journal::open(path, kStoreContext);
    for (int i = 200; i < 230; ++i)
      (void)(*journal)->record(makeNumbered(getNumberedProblem(i % 5), i));
    raise(SIGKILL);
  });
  std::string file = readText(path), log = readText(path + "-wal");
  ASSERT_GT(log.size(), 10 * 4096u);
  expectHarmless(file, "whole", log);
  for (size_t size = 4096; size < log.size(); size += 4096)
    expectHarmless(file, "log of " + std::to_string(size), log.substr(0, size));
  std::mt19937_64 random(11);
  for (int round = 0; round < getRounds() / 3; ++round) {
    std::string bytes = log;
    for (int i = 0; i < 4; ++i)
      bytes[random() % bytes.size()] = static_cast<char>(random());
    expectHarmless(file, "round " + std::to_string(round), bytes);
  }
  // The log takes precedence over the file: a log that no longer fits leaves
  // the file.
  EXPECT_EQ(refused, 0u);
}
