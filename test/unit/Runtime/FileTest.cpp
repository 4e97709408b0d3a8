//===- FileTest.cpp - Tests of reading and writing files --------*- C++ -*-===//
//
// Part of Tarpon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tarpon/Runtime/File.h"
#include "TestPackages.h"

#include <gmock/gmock.h>

#include <filesystem>
#include <sys/stat.h>

using namespace tarpon::runtime;
using namespace tarpon::runtime::test;
namespace fs = std::filesystem;

namespace {
class FileTest : public testing::Test {
protected:
  TempFolder folder;
  std::string path = folder.file("x"), other = folder.file("y");
};
} // namespace

TEST_F(FileTest, FindsOneFileUnderAnyName) {
  writeBytes(path, {'x'});
  writeBytes(other, {'x'});
  EXPECT_TRUE(isSameFile(path, path));
  EXPECT_TRUE(isSameFile(path, folder.file("./x")));
  EXPECT_FALSE(isSameFile(path, other));
  fs::create_hard_link(path, folder.file("hard"));
  fs::create_symlink("x", folder.file("soft"));
  EXPECT_TRUE(isSameFile(path, folder.file("hard")));
  EXPECT_TRUE(isSameFile(folder.file("soft"), path));
}

TEST_F(FileTest, ComparesPlacesWithoutAFile) {
  EXPECT_TRUE(isSameFile(path, folder.file("./x")));
  EXPECT_FALSE(isSameFile(path, other));
  EXPECT_TRUE(isSameFile("new", "./new"));
  EXPECT_TRUE(isSameFile("new", (fs::current_path() / "new").string()));
  fs::create_symlink("x", folder.file("dangling"));
  EXPECT_TRUE(isSameFile(path, folder.file("dangling")));
  writeBytes(path, {'x'});
  EXPECT_FALSE(isSameFile(path, other));
}

TEST_F(FileTest, LetsDevicesTakeSeveralOutputs) {
  EXPECT_FALSE(isSameFile("/dev/null", "/dev/null"));
}
