//===- LinkerTest.cpp - Objects to a shared object, by lld ----------------===//
//
// Part of Tarpon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tarpon/Targets/Linker/Linker.h"

#include <chrono>
#include <cstdlib>
#include <fcntl.h>
#include <filesystem>
#include <fstream>
#include <gtest/gtest.h>
#include <sched.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <thread>
#include <unistd.h>

using namespace tarpon;
namespace fs = std::filesystem;

/// Opens a pipe for writing once somebody reads from it; -1 after ten seconds.
static int openOnceRead(const fs::path &pipe) {
  for (int i = 0; i < 1000; ++i) {
    int descriptor = open(pipe.c_str(), O_WRONLY | O_NONBLOCK);
    if (descriptor >= 0)
      return descriptor;
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
  }
  return -1;
}

/// A colleague who can write to the folder could exchange an object.
TEST(LinkerTest, ObjectsLieWhereNobodyElseCanWrite) {
  std::string root = testing::TempDir() + "tarpon-linker-XXXXXX";
  ASSERT_TRUE(mkdtemp(root.data()));
  fs::path pipe = root + "/script", parent = root + "/parent";
  ASSERT_EQ(mkfifo(pipe.c_str(), 0600), 0);
  fs::create_directory(parent);
  setenv("TMPDIR", parent.c_str(), 1);
  mode_t before = umask(0);
  // lld waits for its version script while we look.
  std::thread linker([&] {
    std::string option = "--version-script=" + pipe.string();
    (void)linkSharedObject({}, {option});
  });
  int descriptor = openOnceRead(pipe);
  ASSERT_GE(descriptor, 0) << "lld does not read its version script";
  int folders = 0;
  for (const fs::directory_entry &entry : fs::directory_iterator(parent)) {
    ++folders;
    EXPECT_EQ(static_cast<int>(entry.status().permissions()), 0700);
  }
  EXPECT_EQ(folders, 1);
  close(descriptor);
  linker.join();
  umask(before);
  unsetenv("TMPDIR");
  EXPECT_TRUE(fs::is_empty(parent));
  fs::remove_all(root);
}

/// Links on a disk without room, which is this process's own.
static int linkOnFullDisk(const fs::path &disk) {
  constexpr int kCannotMount = 2;
  if (unshare(CLONE_NEWNS) != 0 ||
      mount("none", "/", nullptr, MS_REC | MS_PRIVATE, nullptr) != 0 ||
      mount("tmpfs", disk.c_str(), "tmpfs", 0, "size=4k") != 0)
    return kCannotMount;
  fs::path filler = disk / "filler";
  std::ofstream(filler) << std::string(4096, 'x');
  setenv("TMPDIR", disk.c_str(), 1);
  // The output holds the file's bytes.
  auto linked = linkSharedObject(
      {}, {"-melf_x86_64", "--format=binary", filler.string()});
  return linked && linked->size() > 4096 ? 0 : 1;
}

/// LLVM would end the process: it maps output files without reserving room.
TEST(LinkerTest, AFullDiskDoesNotEndTheProcess) {
  std::string disk = testing::TempDir() + "tarpon-disk-XXXXXX";
  ASSERT_TRUE(mkdtemp(disk.data()));
  pid_t child = fork();
  ASSERT_GE(child, 0);
  if (child == 0)
    _exit(linkOnFullDisk(disk));
  int status = 0;
  ASSERT_EQ(waitpid(child, &status, 0), child);
  fs::remove_all(disk);
  ASSERT_TRUE(WIFEXITED(status)) << "signal " << WTERMSIG(status);
  if (WEXITSTATUS(status) == 2)
    GTEST_SKIP() << "mounting a disk needs root";
  EXPECT_EQ(WEXITSTATUS(status), 0);
}

TEST(LinkerTest, AnErrorLeavesNobodyWaiting) {
  auto linked = linkSharedObject({}, {"--version-script=/none"});
  ASSERT_FALSE(linked);
  EXPECT_NE(linked.message().find("/none"), std::string::npos)
      << linked.message();
}
