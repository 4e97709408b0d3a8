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
#include <gtest/gtest.h>
#include <sys/stat.h>
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
