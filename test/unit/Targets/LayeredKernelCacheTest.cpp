//===- LayeredKernelCacheTest.cpp - A user's kernels over installed ones --===//
//
// Part of Tarpon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tarpon/Targets/Cache/LayeredKernelCache.h"
#include "tarpon/Targets/Host/HostBackend.h"

#include "TestKernel.h"

#include <cstdlib>
#include <fcntl.h>
#include <filesystem>
#include <fstream>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <random>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

using namespace tarpon;
using namespace tarpon::test;
using testing::HasSubstr;
namespace fs = std::filesystem;

namespace {

class LayeredKernelCacheTest : public testing::Test {
protected:
  void SetUp() override {
    std::string pattern = testing::TempDir() + "tarpon-layers-XXXXXX";
    ASSERT_TRUE(mkdtemp(pattern.data()));
    folder = pattern;
    options.userDirectory = folder / "user";
    options.systemDirectory = folder / "system";
  }
  void TearDown() override { fs::remove_all(folder); }

  LayeredKernelCache open() { return LayeredKernelCache(options, target); }

  static std::string getDigest(int index) {
    std::string digest = std::to_string(index);
    return std::string(64 - digest.size(), 'a') + digest;
  }

  /// Nothing that could be compressed, so that sizes are known.
  static std::vector<char> getBytes(int seed, size_t size = 10000) {
    std::mt19937 random(seed);
    std::vector<char> bytes(size);
    for (char &byte : bytes)
      byte = static_cast<char>(random());
    return bytes;
  }

  fs::path getFile(int index) const {
    std::string digest = getDigest(index);
    return fs::path(options.userDirectory) / getKernelFolderName(target) /
           "kernels" / digest.substr(0, 2) / digest;
  }

  /// Sets the time of a file's last use.
  static void setAge(const fs::path &file, time_t seconds) {
    timespec times[2] = {{time(nullptr) - seconds, 0},
                         {time(nullptr) - seconds, 0}};
    ASSERT_EQ(utimensat(AT_FDCWD, file.c_str(), times, 0), 0) << file;
  }

  static time_t getAge(const fs::path &file) {
    struct stat status = {};
    EXPECT_EQ(stat(file.c_str(), &status), 0) << file;
    return time(nullptr) - status.st_mtime;
  }

  static uintmax_t getTotal(const fs::path &root) {
    uintmax_t total = 0;
    for (const fs::directory_entry &entry :
         fs::recursive_directory_iterator(root))
      if (entry.is_regular_file())
        total += entry.file_size();
    return total;
  }

  fs::path folder;
  KernelCacheOptions options;
  TargetInfo target = getTarget("native");
};

TEST_F(LayeredKernelCacheTest, TheUsersKernelGoesFirst) {
  LayeredKernelCache cache = open();
  EXPECT_FALSE(cache.read(getDigest(1)));
  KernelCache installed(options.systemDirectory + "/" +
                        getKernelFolderName(target));
  installed.write(getDigest(1), {'s'});
  EXPECT_EQ(cache.read(getDigest(1)), std::vector<char>{'s'});
  // Installed kernels are not copied.
  EXPECT_FALSE(fs::exists(options.userDirectory));
  cache.write(getDigest(1), {'u'});
  EXPECT_EQ(cache.read(getDigest(1)), std::vector<char>{'u'});
  EXPECT_EQ(installed.read(getDigest(1)), std::vector<char>{'s'});
  // Damage is absence.
  fs::resize_file(getFile(1), 20);
  EXPECT_EQ(cache.read(getDigest(1)), std::vector<char>{'s'});
}

TEST_F(LayeredKernelCacheTest, DamagedInstalledKernelsAreAbsent) {
  KernelCache installed(options.systemDirectory + "/" +
                        getKernelFolderName(target));
  installed.write(getDigest(1), getBytes(1));
  fs::path file = options.systemDirectory /
                  getFile(1).lexically_relative(options.userDirectory);
  LayeredKernelCache cache = open();
  ASSERT_EQ(cache.read(getDigest(1)), getBytes(1));
  for (uintmax_t position = 0; position < fs::file_size(file); position += 97) {
    auto flip = [&] {
      std::fstream stream(file, std::ios::in | std::ios::out);
      stream.seekg(position);
      char byte = stream.get();
      stream.seekp(position);
      stream.put(byte ^ 4);
    };
    flip();
    EXPECT_FALSE(cache.read(getDigest(1))) << position;
    flip();
  }
  EXPECT_EQ(cache.read(getDigest(1)), getBytes(1));
  fs::resize_file(file, fs::file_size(file) / 2);
  EXPECT_FALSE(cache.read(getDigest(1)));
}

TEST_F(LayeredKernelCacheTest, UseIsNotedInTheFilesTime) {
  LayeredKernelCache cache = open();
  cache.write(getDigest(1), {'x'});
  setAge(getFile(1), 100000);
  EXPECT_GT(getAge(getFile(1)), 90000);
  EXPECT_TRUE(cache.read(getDigest(1)));
  EXPECT_LT(getAge(getFile(1)), 1000);
  // Not at every use.
  setAge(getFile(1), 1800);
  EXPECT_TRUE(cache.read(getDigest(1)));
  EXPECT_GT(getAge(getFile(1)), 1000);
}

TEST_F(LayeredKernelCacheTest, LeastRecentlyUsedLeave) {
  options.limitBytes = 100000;
  LayeredKernelCache cache = open();
  for (int i = 0; i < 8; ++i)
    cache.write(getDigest(i), getBytes(i));
  // The order of use is not that of writing; number 0 is used again.
  for (int i = 0; i < 8; ++i)
    setAge(getFile(i), 50000 + (i % 2 ? 10000 : 0) + i * 100);
  EXPECT_TRUE(cache.read(getDigest(0)));
  for (int i = 8; i < 10; ++i)
    cache.write(getDigest(i), getBytes(i));
  // The tenth exceeds the limit; the two that were used longest ago make room
  // for an eighth of it.
  for (int i = 0; i < 10; ++i)
    EXPECT_EQ(cache.read(getDigest(i)).has_value(), i != 7 && i != 5) << i;
  EXPECT_LE(getTotal(options.userDirectory), 100000u);
}

TEST_F(LayeredKernelCacheTest, EveryBuildCountsAndOtherFilesStay) {
  options.limitBytes = 50000;
  std::string old(64, 'b');
  // Files of another build, of an older version, and of dead processes of both.
  fs::path other =
      fs::path(options.userDirectory) / "x86-64-other" / "kernels" / "bb" / old;
  fs::path older = fs::path(options.userDirectory) / "kernels" / "bb" / old;
  fs::path temporary = older.string() + ".tmp-0123456789abcdef";
  fs::path olderTemporary = older.string() + ".12345678.tmp";
  fs::path foreign = older.parent_path() / "notes.txt";
  for (const fs::path &file :
       {other, older, temporary, olderTemporary, foreign}) {
    fs::create_directories(file.parent_path());
    std::ofstream(file) << std::string(30000, 'x');
    setAge(file, 100000);
  }
  open().write(getDigest(1), getBytes(1));
  EXPECT_FALSE(fs::exists(temporary) || fs::exists(olderTemporary));
  EXPECT_EQ(fs::exists(other) + fs::exists(older), 1);
  EXPECT_TRUE(fs::exists(foreign));
  open().write(getDigest(2), getBytes(2));
  EXPECT_FALSE(fs::exists(other) || fs::exists(older));
  EXPECT_TRUE(fs::exists(foreign));
  EXPECT_TRUE(open().read(getDigest(2)));
}

TEST_F(LayeredKernelCacheTest, NoLimitKeepsAll) {
  options.limitBytes = 0;
  for (int i = 0; i < 20; ++i)
    open().write(getDigest(i), getBytes(i));
  for (int i = 0; i < 20; ++i)
    EXPECT_TRUE(open().read(getDigest(i)));
  EXPECT_FALSE(fs::exists(options.userDirectory + "/usage"));
}

TEST_F(LayeredKernelCacheTest, DamagedUsageIsCountedAgain) {
  options.limitBytes = 50000;
  fs::path usage = options.userDirectory + "/usage";
  for (const char *text :
       {"", "1", "-5\n", "nonsense\n", "99999999999999999999\n"}) {
    for (int i = 0; i < 4; ++i)
      open().write(getDigest(i), getBytes(i));
    std::ofstream(usage) << text;
    for (int i = 4; i < 6; ++i)
      open().write(getDigest(i), getBytes(i));
    uintmax_t total = getTotal(options.userDirectory);
    EXPECT_LE(total, 51000u) << text;
    EXPECT_GE(total, 30000u) << text;
  }
}

TEST_F(LayeredKernelCacheTest, ProcessesShareTheLimit) {
  options.limitBytes = 200000;
  std::vector<pid_t> children;
  for (int process = 0; process < 4; ++process) {
    pid_t child = fork();
    ASSERT_GE(child, 0);
    if (child == 0) {
      LayeredKernelCache cache = open();
      bool isRight = true;
      for (int i = 0; i < 100; ++i) {
        int index = (process * 37 + i) % 100;
        auto known = cache.read(getDigest(index));
        isRight &= !known || known == getBytes(index);
        if (!known)
          cache.write(getDigest(index), getBytes(index));
      }
      _exit(isRight ? 0 : 1);
    }
    children.push_back(child);
  }
  for (pid_t child : children) {
    int status = -1;
    waitpid(child, &status, 0);
    EXPECT_EQ(status, 0);
  }
  uintmax_t total = getTotal(options.userDirectory);
  EXPECT_LE(total, 200100u);
  EXPECT_GE(total, 100000u);
}

TEST_F(LayeredKernelCacheTest, ExportServesAsSystemCache) {
  KernelSource source{
      "one", [](KernelBuilder &b) { b.store(b.cst(1), b.getBuffer(0)); }};
  KernelCompiler first = makeHostCompiler(
      target, std::make_shared<LayeredKernelCache>(options, target));
  auto object = first.getObject("test-v1", source);
  ASSERT_TRUE(object) << object.message();
  // Another target's kernel is not exported.
  TargetInfo narrow = getTarget("x86-64-v2");
  LayeredKernelCache(options, narrow).write(getDigest(7), getBytes(7));
  open().write(getDigest(8), getBytes(8));
  fs::resize_file(getFile(8), 100);

  // A group of users may share what they make; kernels are not taken from
  // there.
  mode_t before = umask(0);
  auto exported =
      exportKernels(target, options.userDirectory, options.systemDirectory);
  umask(before);
  ASSERT_TRUE(exported) << exported.message();
  EXPECT_EQ(exported->kernels, 1);
  EXPECT_EQ(exported->damaged, 1);
  EXPECT_EQ(static_cast<uintmax_t>(exported->bytes),
            getTotal(options.systemDirectory));

  options.userDirectory = folder / "empty";
  KernelCompiler second = makeHostCompiler(
      target, std::make_shared<LayeredKernelCache>(options, target));
  auto again = second.getObject("test-v1", source);
  ASSERT_TRUE(again) << again.message();
  EXPECT_EQ(**again, **object);
  EXPECT_EQ(second.getStatistics().compiled, 0);
  EXPECT_EQ(second.getStatistics().fromCache, 1);
  EXPECT_FALSE(fs::exists(options.userDirectory));

  auto none = exportKernels(target, options.userDirectory, folder / "out");
  ASSERT_FALSE(none);
  EXPECT_THAT(none.message(), HasSubstr("there are no kernels of this build"));
  EXPECT_FALSE(fs::exists(folder / "out"));
}

TEST_F(LayeredKernelCacheTest, FolderNamesTellTargetsApart) {
  EXPECT_EQ(getKernelFolderName(target), getKernelFolderName(target));
  EXPECT_NE(getKernelFolderName(target),
            getKernelFolderName(getTarget("x86-64-v2")));
  TargetInfo fewer = target;
  fewer.features.pop_back();
  EXPECT_NE(getKernelFolderName(target), getKernelFolderName(fewer));
  TargetInfo threads = target;
  threads.threads += 1;
  EXPECT_EQ(getKernelFolderName(target), getKernelFolderName(threads));
  EXPECT_EQ(getKernelFolderName(target).find('/'), std::string::npos);
}

TEST_F(LayeredKernelCacheTest, EnvironmentSaysWhereAndHowMuch) {
  setenv("TARPON_CACHE_DIR", "/own", 1);
  setenv("TARPON_SYSTEM_CACHE_DIR", "/installed", 1);
  setenv("TARPON_CACHE_LIMIT", "5", 1);
  KernelCacheOptions found = KernelCacheOptions::fromEnvironment();
  EXPECT_EQ(found.userDirectory, "/own");
  EXPECT_EQ(found.systemDirectory, "/installed");
  EXPECT_EQ(found.limitBytes, 5 << 20);
  setenv("TARPON_CACHE_LIMIT", "0", 1);
  EXPECT_EQ(KernelCacheOptions::fromEnvironment().limitBytes, 0);
  testing::internal::CaptureStderr();
  for (const char *text : {"-1", "1G", "99999999999999"}) {
    setenv("TARPON_CACHE_LIMIT", text, 1);
    EXPECT_EQ(KernelCacheOptions::fromEnvironment().limitBytes,
              kDefaultCacheLimitBytes);
  }
  std::string text = testing::internal::GetCapturedStderr();
  EXPECT_EQ(text, "remark: TARPON_CACHE_LIMIT='-1' is no number of MiB, so the "
                  "limit of the kernel cache is the default of 1024\n");
  unsetenv("TARPON_CACHE_LIMIT");
  unsetenv("TARPON_SYSTEM_CACHE_DIR");
  unsetenv("TARPON_CACHE_DIR");
  EXPECT_THAT(getSystemKernelDirectory(), HasSubstr("/share/tarpon/kernels"));
}

} // namespace
