//===- FileTest.cpp - Tests of reading and writing files --------*- C++ -*-===//
//
// Part of Tarpon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tarpon/Runtime/File.h"
#include "TestPackages.h"
#include "tarpon/Runtime/TemporaryFile.h"

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

  static Status write(const std::string &where, const std::string &text) {
    return writeFileAtomically(where, {text});
  }
  static std::string read(const std::string &where) {
    Result<InputFile> file = InputFile::open(where);
    if (!file)
      return file.message();
    std::string text(static_cast<size_t>(file->size()), ' ');
    Status status = file->read(0, text);
    return status ? text : status.message();
  }
  /// Counts the entries of the folder: no temporary file must be left behind.
  int64_t countEntries() const {
    return std::distance(fs::directory_iterator(fs::path(path).parent_path()),
                         fs::directory_iterator());
  }
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

TEST_F(FileTest, ReplacesWhole) {
  ASSERT_TRUE(write(path, "longer"));
  ASSERT_TRUE(writeFileAtomically(path, {std::string("a"), std::string("b")}));
  EXPECT_EQ(read(path), "ab");
  EXPECT_EQ(countEntries(), 1);
}

/// In a folder that others can write to, somebody has put links under all names
/// that a temporary file of this process used to have.
TEST_F(FileTest, FollowsNoLinkThatWasPlanted) {
  ASSERT_TRUE(write(other, "a victim's"));
  std::string prefix = path + ".tmp-" + std::to_string(getpid()) + "-";
  for (int i = 0; i < 1000; ++i)
    fs::create_symlink("y", prefix + std::to_string(i));
  ASSERT_TRUE(write(path, "text"));
  EXPECT_EQ(read(other), "a victim's");
  EXPECT_FALSE(fs::is_symlink(path));
  EXPECT_EQ(read(path), "text");
  EXPECT_EQ(countEntries(), 1002);
}

TEST_F(FileTest, RemovesWhatAKilledProcessHasLeft) {
  writeBytes(path + ".tmp-0123456789abcdef", {'l', 'o'});
  ASSERT_TRUE(write(path, "new"));
  EXPECT_EQ(read(path), "new");
  EXPECT_EQ(countEntries(), 1);
}

TEST_F(FileTest, LeavesAloneWhatIsBeingWritten) {
  TemporaryFile file(path);
  ASSERT_EQ(file.open(0600), 0);
  ASSERT_TRUE(write(path, "another"));
  EXPECT_EQ(countEntries(), 2);
  ASSERT_EQ(file.replaceTarget(), 0);
  EXPECT_EQ(read(path), "");
  EXPECT_EQ(countEntries(), 1);
}

TEST_F(FileTest, LeavesAloneWhatHasAnotherName) {
  const char *names[] = {"x.tmp-0123456789abcde", "x.tmp-0123456789abcdefg",
                         "x.tmp-0123456789abcdeg", "y.tmp-0123456789abcdef",
                         "x-0123456789abcdef"};
  for (const char *name : names)
    writeBytes(folder.file(name), {'x'});
  fs::create_symlink("x", folder.file("x.tmp-fedcba9876543210"));
  ASSERT_TRUE(write(path, "new"));
  EXPECT_EQ(countEntries(), 1 + 5 + 1);
}

TEST_F(FileTest, RemovesATemporaryFileThatIsNotFinished) {
  {
    TemporaryFile file(path);
    ASSERT_EQ(file.open(0600), 0);
    EXPECT_EQ(countEntries(), 1);
  }
  EXPECT_EQ(countEntries(), 0);
}

TEST_F(FileTest, KeepsTheMode) {
  ASSERT_TRUE(write(path, "secret"));
  for (mode_t mode : {0600, 0640, 0755}) {
    ASSERT_EQ(chmod(path.c_str(), mode), 0);
    ASSERT_TRUE(write(path, "new"));
    struct stat info;
    ASSERT_EQ(stat(path.c_str(), &info), 0);
    EXPECT_EQ(info.st_mode & 07777, mode);
  }
}

TEST_F(FileTest, WritesThroughLinks) {
  fs::create_directory(folder.file("sub"));
  fs::create_symlink("sub/link", folder.file("outer"));
  fs::create_symlink("../x", folder.file("sub/link"));
  // Through links whose file is yet to be made, and through them again.
  for (const char *text : {"first", "second"}) {
    ASSERT_TRUE(write(folder.file("outer"), text));
    EXPECT_EQ(read(path), text);
    EXPECT_TRUE(fs::is_symlink(folder.file("outer")));
    EXPECT_TRUE(fs::is_symlink(folder.file("sub/link")));
  }
}

TEST_F(FileTest, RefusesLinksInACircle) {
  fs::create_symlink("y", path);
  fs::create_symlink("x", other);
  Status status = write(path, "text");
  ASSERT_FALSE(status);
  EXPECT_EQ(status.message(),
            "cannot write '" + path + "': Too many levels of symbolic links");
}

TEST_F(FileTest, RefusesWhatIsNoRegularFile) {
  ASSERT_EQ(mkfifo(path.c_str(), 0600), 0);
  fs::create_symlink("x", other);
  for (const std::string &where :
       {path, other, fs::path(path).parent_path().string(),
        std::string("/dev/zero")}) {
    Status status = write(where, "text");
    ASSERT_FALSE(status) << where;
    EXPECT_EQ(status.message(),
              "cannot write '" + where + "': not a regular file");
  }
  EXPECT_TRUE(fs::is_fifo(path));
  EXPECT_TRUE(fs::is_symlink(other));
  EXPECT_EQ(countEntries(), 2);
}

TEST_F(FileTest, WritesToDevices) {
  EXPECT_TRUE(write("/dev/null", "nothing"));
  EXPECT_TRUE(fs::is_character_file("/dev/null"));
  fs::create_symlink("/dev/null", path);
  EXPECT_TRUE(write(path, "nothing"));
  testing::internal::CaptureStdout();
  ASSERT_TRUE(write("/dev/stdout", "one, "));
  ASSERT_TRUE(write("/dev/stdout", "two"));
  EXPECT_EQ(testing::internal::GetCapturedStdout(), "one, two");
}
