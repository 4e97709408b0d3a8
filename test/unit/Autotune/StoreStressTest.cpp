//===- StoreStressTest.cpp - Many processes, and processes that die -------===//
//
// Part of Tarpon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// TARPON_TEST_STRESS_SECONDS and TARPON_TEST_KILLS make these as long as
// scripts/stress-store wants them.
//
//===----------------------------------------------------------------------===//

#include "StoreTestFiles.h"
#include "TestDirectory.h"

#include "gtest/gtest.h"

#include <atomic>
#include <chrono>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <random>
#include <set>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

using namespace tarpon;
using namespace tarpon::test;

namespace {

constexpr int kProcesses = 8;

int getNumber(const char *name, int otherwise) {
  const char *text = std::getenv(name);
  return text ? static_cast<int>(std::strtol(text, nullptr, 10)) : otherwise;
}

/// Memory that processes which are forked share.
template <typename T>
class Shared {
public:
  Shared()
      : data(static_cast<T *>(mmap(nullptr, sizeof(T), PROT_READ | PROT_WRITE,
                                   MAP_SHARED | MAP_ANONYMOUS, -1, 0))) {}
  ~Shared() { munmap(data, sizeof(T)); }
  T *operator->() const { return data; }

private:
  T *data;
};

/// The records that each process was told are written.
struct Recorded {
  std::atomic<int64_t> counts[kProcesses];
};

class StoreStressTest : public testing::Test {
protected:
  static int64_t getId(int process, int64_t number) {
    return number * kProcesses + process;
  }

  /// Every other record is on a problem that all processes share.
  static std::string getProblem(int process, int64_t number) {
    int64_t round = number / 100;
    return getNumberedProblem(static_cast<int>(
        round * (kProcesses + 1) + (number % 2 ? kProcesses : process)));
  }

  /// Records in a loop, and opens the store anew now and then. False at the
  /// first error.
  bool work(int process, const std::function<bool()> &isOver) {
    int64_t number = recorded->counts[process];
    while (!isOver()) {
      auto journal = Journal::open(path, kStoreContext);
      if (!journal) {
        fprintf(stderr, "%s\n", journal.message().c_str());
        return false;
      }
      for (int i = 0; i < 50 && !isOver(); ++i) {
        std::string problem = getProblem(process, number);
        Measurement m = makeNumbered(problem, getId(process, number));
        auto status = (*journal)->recordStarted(m.key, m.stage);
        if (status)
          status = (*journal)->record(m);
        if (!status) {
          fprintf(stderr, "%s\n", status.message().c_str());
          return false;
        }
        recorded->counts[process] = ++number;
        if (number % 16 == 0)
          (void)(*journal)->getMeasurements(problem);
      }
    }
    return true;
  }

  /// Each record that was confirmed is there once, and at most `inFlight` more
  /// of each process.
  void expectNothingLost(int64_t inFlight) {
    auto journal = Journal::open(path, kStoreContext);
    ASSERT_TRUE(journal) << journal.message();
    std::set<int64_t> found;
    int64_t rows = 0;
    int64_t most = 0;
    for (const std::atomic<int64_t> &count : recorded->counts)
      most = std::max<int64_t>(most, count);
    int problems = static_cast<int>((most / 100 + 2) * (kProcesses + 1));
    for (int i = 0; i < problems; ++i)
      for (const Measurement &m :
           (*journal)->getMeasurements(getNumberedProblem(i))) {
        EXPECT_TRUE(isAsNumbered(m)) << m.key.config;
        found.insert(
            std::strtoll(&m.key.config[strlen("tile_m=")], nullptr, 10));
        ++rows;
      }
    EXPECT_EQ(rows, static_cast<int64_t>(found.size()));
    for (int process = 0; process < kProcesses; ++process) {
      int64_t count = recorded->counts[process];
      for (int64_t number = 0; number < count; ++number)
        EXPECT_TRUE(found.erase(getId(process, number)))
            << "process " << process << " has lost record " << number;
    }
    EXPECT_LE(static_cast<int64_t>(found.size()), inFlight);
    EXPECT_EQ(queryStore(path, "PRAGMA integrity_check"), "ok");
    EXPECT_FALSE((*journal)->describeImpossible());
    EXPECT_FALSE(hasFile(path + ".damaged-1"));
  }

  TestDirectory directory;
  std::string path = directory.file("host.journal");
  Shared<Recorded> recorded;
};

} // namespace

TEST_F(StoreStressTest, EightProcessesLoseNothing) {
  auto end = std::chrono::steady_clock::now() +
             std::chrono::seconds(getNumber("TARPON_TEST_STRESS_SECONDS", 1));
  std::vector<pid_t> children;
  for (int process = 0; process < kProcesses; ++process) {
    pid_t child = fork();
    if (child == 0)
      _exit(
          work(process, [&] { return std::chrono::steady_clock::now() > end; })
              ? 0
              : 1);
    children.push_back(child);
  }
  for (pid_t child : children) {
    int status = -1;
    waitpid(child, &status, 0);
    EXPECT_EQ(status, 0);
  }
  int64_t total = 0;
  for (int process = 0; process < kProcesses; ++process) {
    EXPECT_GT(recorded->counts[process], 0) << process;
    total += recorded->counts[process];
  }
  RecordProperty("records", std::to_string(total));
  printf("%lld records\n", static_cast<long long>(total));
  expectNothingLost(0);
}

TEST_F(StoreStressTest, KilledProcessesLoseWhatWasInFlight) {
  std::mt19937 random(3);
  int kills = getNumber("TARPON_TEST_KILLS", 10);
  for (int i = 0; i < kills; ++i) {
    // Two at a time, so that one dies while the other holds locks.
    std::vector<pid_t> children;
    for (int process : {i % kProcesses, (i + 1) % kProcesses}) {
      pid_t child = fork();
      if (child == 0)
        _exit(work(process, [] { return false; }) ? 0 : 1);
      children.push_back(child);
    }
    usleep(1000 + random() % 60000);
    for (pid_t child : children)
      kill(child, SIGKILL);
    for (pid_t child : children) {
      int status = -1;
      waitpid(child, &status, 0);
      EXPECT_TRUE(WIFSIGNALED(status)) << "an error ended it: " << status;
    }
    if (i % 10 != 9 && i != kills - 1)
      continue;
    // A record that was committed and never confirmed was in flight.
    expectNothingLost(2 * kills);
    if (HasFailure())
      return;
  }
}
