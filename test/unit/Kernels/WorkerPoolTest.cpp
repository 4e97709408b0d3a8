//===- WorkerPoolTest.cpp -------------------------------------------------===//
//
// Part of Tarpon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "WorkerPool.h"

#include "gmock/gmock.h"
#include "gtest/gtest.h"

#include <csignal>
#include <map>
#include <unistd.h>

using namespace tarpon::test;
using testing::ElementsAre;
using testing::Pair;
using testing::StartsWith;

namespace {

/// Item 1 crashes, 3 hangs, 5 exits, and 6 ends its process after its answer.
WorkResult doItem(size_t item) {
  if (item == 1)
    std::raise(SIGKILL);
  if (item == 3)
    pause();
  if (item == 5)
    _exit(7);
  return {"item\n" + std::to_string(item), item == 6};
}

std::map<size_t, std::string> runAll(size_t processes) {
  std::map<size_t, std::string> results;
  WorkerPool(processes, std::chrono::milliseconds(300))
      .run(
          9, [] { return doItem; },
          [&](size_t item, const std::string &text) {
            EXPECT_FALSE(results.contains(item)) << item;
            results[item] = text;
          });
  return results;
}

} // namespace

/// With one process, the items after a bad one need a new one.
TEST(WorkerPool, BadItemsAreLostAlone) {
  for (size_t processes : {1, 3, 20})
    EXPECT_THAT(
        runAll(processes),
        ElementsAre(Pair(0, "item 0"),
                    Pair(1, StartsWith("its process died of signal 9")),
                    Pair(2, "item 2"), Pair(3, "its process took too long"),
                    Pair(4, "item 4"),
                    Pair(5, "its process exited with status 7"),
                    Pair(6, "item 6"), Pair(7, "item 7"), Pair(8, "item 8")))
        << processes;
}

TEST(WorkerPool, ProcessesServeManyItems) {
  std::map<std::string, int> counts;
  WorkerPool(2, std::chrono::seconds(60))
      .run(
          50,
          [] {
            return [](size_t) { return WorkResult{std::to_string(getpid())}; };
          },
          [&](size_t, const std::string &text) { ++counts[text]; });
  EXPECT_EQ(counts.size(), 2u);
}
