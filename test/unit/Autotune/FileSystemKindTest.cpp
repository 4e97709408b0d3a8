//===- FileSystemKindTest.cpp - Stores on network file systems ------------===//
//
// Part of Tarpon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Store/FileSystemKind.h"

#include "StoreTestFiles.h"
#include "TestDirectory.h"

#include "gmock/gmock.h"
#include "gtest/gtest.h"

#include <csignal>
#include <linux/magic.h>
#include <sys/wait.h>
#include <unistd.h>

using namespace tarpon;
using namespace tarpon::test;

TEST(FileSystemKindTest, KnowsNetworkFileSystems) {
  EXPECT_EQ(classifyFileSystem(NFS_SUPER_MAGIC, ""), "nfs");
  EXPECT_EQ(classifyFileSystem(SMB_SUPER_MAGIC, ""), "smb");
  EXPECT_EQ(classifyFileSystem(0xff534d42, ""), "cifs");
  EXPECT_EQ(classifyFileSystem(V9FS_MAGIC, ""), "9p");
  EXPECT_EQ(classifyFileSystem(AFS_SUPER_MAGIC, ""), "afs");
  EXPECT_EQ(classifyFileSystem(AFS_FS_MAGIC, ""), "afs");
  EXPECT_EQ(classifyFileSystem(CODA_SUPER_MAGIC, ""), "coda");
  EXPECT_EQ(classifyFileSystem(OCFS2_SUPER_MAGIC, ""), "ocfs2");
  EXPECT_EQ(classifyFileSystem(0x0bd00bd0, ""), "lustre");
  for (uint64_t local : std::initializer_list<uint64_t>{
           EXT4_SUPER_MAGIC, XFS_SUPER_MAGIC, BTRFS_SUPER_MAGIC, TMPFS_MAGIC,
           OVERLAYFS_SUPER_MAGIC, MSDOS_SUPER_MAGIC})
    EXPECT_EQ(classifyFileSystem(local, "nfs"), "") << local;
}

TEST(FileSystemKindTest, AsksTheMountOfFuse) {
  EXPECT_EQ(classifyFileSystem(FUSE_SUPER_MAGIC, "fuse.sshfs"), "fuse.sshfs");
  EXPECT_EQ(classifyFileSystem(FUSE_SUPER_MAGIC, "virtiofs"), "virtiofs");
  EXPECT_EQ(classifyFileSystem(FUSE_SUPER_MAGIC, "fuseblk"), "");
  EXPECT_EQ(classifyFileSystem(FUSE_SUPER_MAGIC, "fuse.gocryptfs"), "");
  // Nobody knows: it may be.
  EXPECT_EQ(classifyFileSystem(FUSE_SUPER_MAGIC, ""), "fuse");
}

TEST(FileSystemKindTest, LocalFoldersAreLocal) {
  EXPECT_EQ(findNetworkFileSystem("/proc"), "");
  EXPECT_EQ(findNetworkFileSystem("/none"), "");
}

namespace {

class NetworkStoreTest : public testing::Test {
protected:
  TestDirectory directory;
  std::string path = directory.file("host.journal");
  std::string problem = getNumberedProblem(0);
  std::unique_ptr<ScopedFileSystemProbe> probe =
      std::make_unique<ScopedFileSystemProbe>(
          [](const std::string &) { return "nfs"; });

  std::unique_ptr<Journal> open() {
    auto journal = Journal::open(path, kStoreContext);
    EXPECT_TRUE(journal) << journal.message();
    return journal ? std::move(*journal) : nullptr;
  }
};

} // namespace

TEST_F(NetworkStoreTest, WalIsRefusedAndSaidOnce) {
  testing::internal::CaptureStderr();
  {
    auto journal = open();
    ASSERT_TRUE(journal->record(makeNumbered(problem, 1)));
    EXPECT_FALSE(hasFile(path + "-wal"));
    EXPECT_FALSE(hasFile(path + "-shm"));
    EXPECT_EQ(queryStore(path, "PRAGMA journal_mode"), "delete");
    ASSERT_TRUE(open()->record(makeNumbered(problem, 2)));
  }
  EXPECT_EQ(testing::internal::GetCapturedStderr(),
            "remark: journal " + path +
                " is on a network file system (nfs), so it is written with a "
                "rollback journal, which is slower than the write-ahead log\n");
  EXPECT_EQ(open()->getMeasurements(problem).size(), 2u);
}

TEST_F(NetworkStoreTest, AStoreThatWasLocalLeavesWal) {
  testing::internal::CaptureStderr();
  probe.reset();
  runAndKill([&] {
    auto journal = open();
    (void)journal->record(makeNumbered(problem, 1));
    raise(SIGKILL);
  });
  ASSERT_TRUE(hasFile(path + "-wal"));
  unlink((path + "-shm").c_str());
  probe = std::make_unique<ScopedFileSystemProbe>(
      [](const std::string &) { return "fuse.sshfs"; });
  EXPECT_EQ(open()->getMeasurements(problem).size(), 1u);
  EXPECT_FALSE(hasFile(path + "-wal"));
  EXPECT_FALSE(hasFile(path + "-shm"));
  EXPECT_EQ(queryStore(path, "PRAGMA journal_mode"), "delete");
  // And back.
  probe.reset();
  auto journal = open();
  EXPECT_EQ(journal->getMeasurements(problem).size(), 1u);
  EXPECT_EQ(queryStore(path, "PRAGMA journal_mode"), "wal");
  testing::internal::GetCapturedStderr();
}

TEST_F(NetworkStoreTest, ProcessesTakeTurns) {
  testing::internal::CaptureStderr();
  constexpr int kProcesses = 4, kRows = 25;
  std::vector<pid_t> children;
  for (int process = 0; process < kProcesses; ++process) {
    pid_t child = fork();
    if (child == 0) {
      auto journal = Journal::open(path, kStoreContext);
      bool isFine = static_cast<bool>(journal);
      for (int i = 0; isFine && i < kRows; ++i)
        isFine = static_cast<bool>(
            (*journal)->record(makeNumbered(problem, process * 100 + i)));
      _exit(isFine ? 0 : 1);
    }
    children.push_back(child);
  }
  for (pid_t child : children) {
    int status = -1;
    waitpid(child, &status, 0);
    EXPECT_EQ(status, 0);
  }
  EXPECT_EQ(open()->getMeasurements(problem).size(),
            size_t(kProcesses * kRows));
  testing::internal::GetCapturedStderr();
  EXPECT_EQ(queryStore(path, "PRAGMA integrity_check"), "ok");
}
