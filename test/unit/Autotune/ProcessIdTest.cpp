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
#include <filesystem>
#include <fstream>
#include <string>
#include <sys/wait.h>
#include <unistd.h>

using namespace tarpon;

/// Returns what a process writes about itself before it is killed.
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

TEST(ProcessIdTest, KilledProcessIsGone) {
  std::string id = runAndKill([] { return getProcessId(); });
  EXPECT_TRUE(isProcessGone(id));
}

/// scripts/inject-faults runs this test with everything failing that it opens
/// and reads: who cannot see a process must not take it for gone, and who could
/// not write down when it began is not known to be gone either.
TEST(ProcessIdTest, NobodyIsGoneWhoRuns) {
  EXPECT_FALSE(isProcessGone(getProcessId()));
}

TEST(ProcessIdTest, NothingIsKnownOfOtherPlaces) {
  std::string id = "elsewhere" + getProcessId();
  EXPECT_FALSE(isProcessGone(id));
  EXPECT_FALSE(isProcessGone(""));
}

TEST(ProcessIdTest, OldThingsOfUnknownProcessesAreAbandoned) {
  std::string elsewhere = "elsewhere" + getProcessId();
  EXPECT_FALSE(hasProcessAbandoned(elsewhere, /*isOld=*/false));
  EXPECT_TRUE(hasProcessAbandoned(elsewhere, /*isOld=*/true));
  EXPECT_FALSE(hasProcessAbandoned(getProcessId(), /*isOld=*/true));
  std::string killed = runAndKill([] { return getProcessId(); });
  EXPECT_TRUE(hasProcessAbandoned(killed, /*isOld=*/false));
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

/// Where the folders of killed runs lie, and what one of them would be called.
static std::filesystem::path getOrphanPath() {
  auto directory = TempDirectory::create();
  EXPECT_TRUE(directory) << directory.message();
  std::filesystem::path parent = std::filesystem::path((*directory)->file("x"))
                                     .parent_path()
                                     .parent_path();
  return parent /
         ("tarpon-" + runAndKill([] { return getProcessId(); }) + "-planted");
}

/// Anybody may plant a link of such a name in a folder that all users write to.
TEST(TempDirectoryTest, LinksOfThatNameAreNotFollowed) {
  namespace fs = std::filesystem;
  std::string home = testing::TempDir() + "tarpon-home-XXXXXX";
  ASSERT_TRUE(mkdtemp(home.data()));
  std::ofstream(home + "/thesis") << "two years";
  fs::path link = getOrphanPath();
  fs::create_directory_symlink(home, link);
  auto next = TempDirectory::create();
  EXPECT_TRUE(fs::exists(home + "/thesis"));
  EXPECT_TRUE(fs::is_symlink(link));
  fs::remove(link);
  fs::remove_all(home);
}

/// Links within a folder that is removed are removed, not followed.
TEST(TempDirectoryTest, LinksWithinAreNotFollowed) {
  namespace fs = std::filesystem;
  std::string home = testing::TempDir() + "tarpon-home-XXXXXX";
  ASSERT_TRUE(mkdtemp(home.data()));
  std::ofstream(home + "/thesis") << "two years";
  fs::path orphan = getOrphanPath();
  fs::create_directory(orphan);
  fs::create_directory_symlink(home, orphan / "link");
  auto next = TempDirectory::create();
  EXPECT_FALSE(fs::exists(orphan));
  EXPECT_TRUE(fs::exists(home + "/thesis"));
  fs::remove_all(home);
}

TEST(TempDirectoryTest, FoldersOfOtherUsersStay) {
  namespace fs = std::filesystem;
  if (geteuid() != 0)
    GTEST_SKIP() << "only root can make a folder of another user's";
  fs::path foreign = getOrphanPath();
  fs::create_directory(foreign);
  ASSERT_EQ(chown(foreign.c_str(), 12345, 12345), 0);
  auto next = TempDirectory::create();
  EXPECT_TRUE(fs::exists(foreign));
  fs::remove_all(foreign);
}
