//===- LocalWorkersTest.cpp - Who runs on which cores ---------------------===//
//
// Part of Tarpon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tarpon/Fleet/LocalWorkers.h"

#include "Machine.h"

#include "gmock/gmock.h"
#include "gtest/gtest.h"

#include <csignal>
#include <memory>
#include <sys/syscall.h>
#include <unistd.h>

using namespace tarpon::fleet;
using Words = std::vector<std::string>;

/// The processes that got a signal from this program.
static std::vector<pid_t> signalled;

/// Stands in for the C library's.
extern "C" int kill(pid_t process, int signal) noexcept {
  signalled.push_back(process);
  return static_cast<int>(syscall(SYS_kill, process, signal));
}

/// What is appended to the command of each worker, given the cores that it
/// asks for.
static std::vector<Words> assignTo(const std::vector<int64_t> &wanted,
                                   const std::vector<std::vector<int>> &free) {
  std::vector<LocalWorker> workers;
  for (int64_t cores : wanted)
    workers.push_back({{}, cores});
  assignCores(workers, free);
  std::vector<Words> words;
  for (const LocalWorker &worker : workers)
    words.push_back(worker.command);
  return words;
}

TEST(LocalWorkersTest, BuildersRunWhereNobodyMeasures) {
  EXPECT_THAT(
      assignTo({0, 0, 2, 1}, {{0}, {1}, {2}, {5}, {7}}),
      testing::ElementsAre(Words{"--cores", "0,1"}, Words{"--cores", "0,1"},
                           Words{"--cores", "5,7"}, Words{"--cores", "2"}));
}

TEST(LocalWorkersTest, WorkersThatShareCoresTakeTurns) {
  EXPECT_THAT(assignTo({0, 2}, {{0}, {1}}),
              testing::ElementsAre(Words{"--cores", "0,1", "--take-turns"},
                                   Words{"--cores", "0,1", "--take-turns"}));
  EXPECT_THAT(assignTo({0, 1}, {{3}}),
              testing::ElementsAre(Words{"--cores", "3", "--take-turns"},
                                   Words{"--cores", "3", "--take-turns"}));
  EXPECT_THAT(assignTo({0, 1, 1}, {{0}, {1}}),
              testing::ElementsAre(Words{"--cores", "0", "--take-turns"},
                                   Words{"--cores", "1", "--take-turns"},
                                   Words{"--cores", "0", "--take-turns"}));
}

TEST(LocalWorkersTest, MoreThreadsThanCoresGetAllOfThem) {
  EXPECT_THAT(assignTo({4}, {{0}, {1}}),
              testing::ElementsAre(Words{"--cores", "0,1", "--take-turns"}));
}

TEST(LocalWorkersTest, UnknownCoresAreLeftToTheSystem) {
  EXPECT_THAT(assignTo({0, 1}, {}), testing::ElementsAre(Words{}, Words{}));
}

TEST(LocalWorkersTest, NobodyRunsOnASiblingOfACoreThatMeasures) {
  std::vector<std::vector<int>> smt = {{0, 4}, {1, 5}, {2, 6}, {3, 7}};
  EXPECT_THAT(assignTo({0, 1}, smt),
              testing::ElementsAre(Words{"--cores", "0,1,2,4,5,6"},
                                   Words{"--cores", "3"}));
  // Neither do its own threads, as long as there are enough cores.
  EXPECT_THAT(assignTo({0, 2, 1}, smt),
              testing::ElementsAre(Words{"--cores", "0,4"},
                                   Words{"--cores", "2,3"},
                                   Words{"--cores", "1"}));
  EXPECT_THAT(
      assignTo({0, 4}, smt),
      testing::ElementsAre(Words{"--cores", "0,1,2,3,4,5,6,7", "--take-turns"},
                           Words{"--cores", "0,1,2,3", "--take-turns"}));
  EXPECT_THAT(
      assignTo({0, 6}, smt),
      testing::ElementsAre(Words{"--cores", "0,1,2,3,4,5,6,7", "--take-turns"},
                           Words{"--cores", "0,1,2,3,4,5", "--take-turns"}));
}

/// The number of a process that has ended may be another one's.
TEST(LocalWorkersTest, OnlyLivingWorkersAreSignalled) {
  std::vector<LocalWorker> workers;
  for (const char *script : {"exit 0", "sleep 0.5; exit 3", "exec sleep 60"})
    workers.push_back({{"/bin/sh", "-c", script, "sh"}, 0});
  signalled.clear();
  auto ended = runLocalWorkers(std::move(workers), [] {}, [](int) {});
  std::signal(SIGINT, SIG_DFL);
  std::signal(SIGTERM, SIG_DFL);
  ASSERT_FALSE(ended);
  EXPECT_EQ(ended.message(), "a worker has failed: exit status 3");
  EXPECT_EQ(signalled.size(), 1U);
}

/// One would measure where the other compiles.
TEST(LocalWorkersTest, WorkersOfTwoProcessesWaitForEachOther) {
  int core = getCores().front();
  auto lock = std::make_unique<DeviceLock>("core " + std::to_string(core));
  ASSERT_TRUE(lock->tryTake());
  std::vector<int> busy;
  auto release = [&](int number) {
    busy.push_back(number);
    lock.reset();
  };
  std::vector<LocalWorker> workers = {{{"/bin/sh", "-c", "exit 0", "sh"}, 0}};
  auto ended = runLocalWorkers(std::move(workers), [] {}, release);
  std::signal(SIGINT, SIG_DFL);
  std::signal(SIGTERM, SIG_DFL);
  EXPECT_TRUE(ended) << ended.message();
  EXPECT_EQ(busy, std::vector<int>{core});
}
