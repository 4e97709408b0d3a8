//===- ProcessIdTest.cpp --------------------------------------------------===//
//
// Part of Tarpon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Store/ProcessId.h"
#include "Search/TempDirectory.h"

#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Path.h"

#include "gtest/gtest.h"

#include <csignal>
#include <string>
#include <sys/wait.h>
#include <unistd.h>

using namespace tarpon;

/// What a process says of itself before it is killed.
template <typename Fn>
static std::string runAndKill(Fn body) {
  int ends[2];
  if (pipe(ends) != 0)
    return "";
  pid_t child = fork();
  if (child == 0) {
    std::string text = body();
    if (write(ends[1], text.data(), text.size()) < 0)
      _exit(1);
    raise(SIGKILL);
  }
  close(ends[1]);
  waitpid(child, nullptr, 0);
  char text[512];
  ssize_t length = read(ends[0], text, sizeof(text));
  close(ends[0]);
  return std::string(text, length > 0 ? length : 0);
}

TEST(ProcessIdTest, ThisProcessIsAlive) {
  EXPECT_TRUE(isProcessAlive(getProcessId()));
  EXPECT_FALSE(isProcessGone(getProcessId()));
}

TEST(ProcessIdTest, KilledProcessIsGone) {
  std::string id = runAndKill([] { return getProcessId(); });
  EXPECT_FALSE(isProcessAlive(id));
  EXPECT_TRUE(isProcessGone(id));
}

TEST(ProcessIdTest, NothingIsKnownOfOtherPlaces) {
  std::string id = "elsewhere" + getProcessId();
  EXPECT_FALSE(isProcessAlive(id));
  EXPECT_FALSE(isProcessGone(id));
  EXPECT_FALSE(isProcessGone(""));
}

TEST(TempDirectoryTest, IsRemovedAtTheEndOrByTheNextRun) {
  std::string path;
  {
    auto directory = TempDirectory::create();
    ASSERT_TRUE(directory) << directory.message();
    path = llvm::sys::path::parent_path((*directory)->file("x")).str();
    EXPECT_TRUE(llvm::sys::fs::is_directory(path));
  }
  EXPECT_FALSE(llvm::sys::fs::exists(path));
  path = runAndKill([] {
    // Not gone at the end of this scope.
    static auto directory = TempDirectory::create();
    return (*directory)->file("x");
  });
  path = llvm::sys::path::parent_path(path).str();
  EXPECT_TRUE(llvm::sys::fs::is_directory(path));
  auto next = TempDirectory::create();
  EXPECT_FALSE(llvm::sys::fs::exists(path));
}
