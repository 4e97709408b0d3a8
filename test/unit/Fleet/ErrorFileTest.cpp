//===- ErrorFileTest.cpp - The errors that a builder writes ---------------===//
//
// Part of Tarpon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "ErrorFile.h"

#include <cstdlib>
#include <functional>
#include <gtest/gtest.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

using namespace tarpon::fleet;
using tarpon::runtime::kMostOutputBytes;
using tarpon::runtime::OutputTail;

namespace {

class ErrorFileTest : public testing::Test {
protected:
  /// Runs `work` in a process with these errors, until it ends.
  void inProcess(const std::function<void()> &work) {
    pid_t process = fork();
    if (process == 0) {
      errors.redirect();
      work();
      std::abort();
    }
    waitpid(process, nullptr, 0);
  }

  /// The process writes so many times the text.
  static void write(const std::string &text, int times = 1) {
    for (int i = 0; i < times; ++i)
      (void)!::write(STDERR_FILENO, text.data(), text.size());
  }

  std::atomic<int64_t> &taken =
      *new (mmap(nullptr, sizeof(std::atomic<int64_t>), PROT_READ | PROT_WRITE,
                 MAP_SHARED | MAP_ANONYMOUS, -1, 0)) std::atomic<int64_t>(0);
  ErrorFile errors{taken};
};

} // namespace

TEST_F(ErrorFileTest, WhatWasWrittenOutlivesItsProcess) {
  inProcess([&] {
    write("of another job\n");
    (void)errors.take();
    write("before\nthe end");
  });
  EXPECT_EQ(errors.take().text, "before\nthe end");
  EXPECT_EQ(errors.take().text, "");
}

TEST_F(ErrorFileTest, TheEndIsKept) {
  std::string line(1023, 'a');
  inProcess([&] {
    write(line + "\n", 100);
    write("end\n");
  });
  OutputTail tail = errors.take();
  EXPECT_EQ(tail.text.size(), kMostOutputBytes);
  EXPECT_EQ(tail.cutBytes, int64_t(100 * 1024 + 4 - kMostOutputBytes));
  EXPECT_EQ(tail.text.substr(tail.text.size() - 4), "end\n");
}

/// The terminal gets whole lines, and nothing that would control it.
TEST_F(ErrorFileTest, LinesAreShownOnceAndEscaped) {
  testing::internal::CaptureStderr();
  inProcess([&] { write("\x1b[31mred\nhalf"); });
  errors.show();
  errors.show();
  EXPECT_EQ(testing::internal::GetCapturedStderr(), "\\x1b[31mred\n");
  testing::internal::CaptureStderr();
  errors.showAll();
  EXPECT_EQ(testing::internal::GetCapturedStderr(), "half\n");
}

TEST_F(ErrorFileTest, MemoryIsBounded) {
  testing::internal::CaptureStderr();
  std::string line(16383, 'a');
  for (int i = 0; i < 64; ++i) {
    inProcess([&] { write(line + "\n", 64); });
    errors.show();
  }
  // A megabyte each, of which the end is shown.
  EXPECT_LT(testing::internal::GetCapturedStderr().size(),
            65 * kMostOutputBytes);
  EXPECT_LT(errors.countHeldBytes(), int64_t(4) << 20);
  EXPECT_EQ(errors.take().text.substr(0, 3), "aaa");
}

TEST(QuoteErrorsTest, LinesAreNoneOfTheLogs) {
  EXPECT_EQ(quoteErrors("the builder", {"", 0}), "");
  EXPECT_EQ(quoteErrors("the builder", {"--- attempt 1\n\nend", 0}),
            "the builder wrote:\n| --- attempt 1\n| \n| end\n");
  EXPECT_EQ(quoteErrors("the builder", {"b\n", 7}),
            "the builder wrote:\n(7 bytes before this were left out)\n| b\n");
}
