//===- KernelCacheTest.cpp - Compiled kernels on disk ---------------------===//
//
// Part of Tarpon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "TestKernel.h"

#include "tarpon/Targets/Compiler/KernelCache.h"
#include "tarpon/Targets/Host/HostBackend.h"

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <pwd.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

using namespace tarpon;
using namespace tarpon::test;
namespace fs = std::filesystem;

namespace {

class KernelCacheTest : public testing::Test {
protected:
  void SetUp() override {
    std::string pattern = testing::TempDir() + "tarpon-cache-XXXXXX";
    ASSERT_TRUE(mkdtemp(pattern.data()));
    folder = pattern;
  }
  void TearDown() override { fs::remove_all(folder); }

  /// The only file below the folder.
  fs::path findFile() const {
    fs::path found;
    for (const fs::directory_entry &entry :
         fs::recursive_directory_iterator(folder))
      if (entry.is_regular_file()) {
        EXPECT_TRUE(found.empty()) << "a second file: " << entry.path();
        found = entry.path();
      }
    return found;
  }

  fs::path folder;
  const std::string digest = "0123456789abcdef";
  const std::vector<char> bytes = std::vector<char>(10000, 'x');
};

TEST_F(KernelCacheTest, ReadsBackWhatWasWritten) {
  KernelCache cache(folder / "made" / "lazily");
  EXPECT_FALSE(fs::exists(folder / "made"));
  EXPECT_FALSE(cache.read(digest));
  cache.write(digest, bytes);
  EXPECT_EQ(cache.read(digest), bytes);
  cache.write("ffff", {});
  EXPECT_EQ(KernelCache(folder / "made" / "lazily").read("ffff"),
            std::vector<char>());
}

TEST_F(KernelCacheTest, DamageIsAbsence) {
  KernelCache cache(folder);
  cache.write(digest, bytes);
  fs::path file = findFile();
  auto size = fs::file_size(file);
  for (uintmax_t position = 0; position < size; ++position) {
    {
      std::fstream stream(file, std::ios::in | std::ios::out);
      stream.seekg(position);
      char byte = stream.get();
      stream.seekp(position);
      stream.put(byte ^ 1);
    }
    EXPECT_FALSE(cache.read(digest)) << position;
    cache.write(digest, bytes);
    EXPECT_EQ(cache.read(digest), bytes) << position;
  }
  for (uintmax_t length : {uintmax_t(0), uintmax_t(5), size / 2, size - 1}) {
    fs::resize_file(file, length);
    EXPECT_FALSE(cache.read(digest)) << length;
    cache.write(digest, bytes);
  }
}

TEST_F(KernelCacheTest, FailureToWriteIsReportedOnce) {
  std::ofstream(folder / "file") << "not a folder";
  KernelCache cache(folder / "file");
  testing::internal::CaptureStderr();
  cache.write(digest, bytes);
  cache.write(digest, bytes);
  std::string text = testing::internal::GetCapturedStderr();
  EXPECT_EQ(text.find("remark: cannot write to the kernel cache '" +
                      (folder / "file").string() + "': "),
            0u)
      << text;
  EXPECT_EQ(std::count(text.begin(), text.end(), '\n'), 1) << text;
  EXPECT_FALSE(cache.read(digest));
}

static int getMode(const fs::path &path) {
  return static_cast<int>(fs::status(path).permissions());
}

TEST_F(KernelCacheTest, IsOfThisUserAloneWhateverTheUmask) {
  mode_t before = umask(0);
  KernelCache(folder / "new").write(digest, bytes);
  umask(before);
  for (const fs::directory_entry &entry :
       fs::recursive_directory_iterator(folder))
    EXPECT_EQ(getMode(entry), entry.is_directory() ? 0700 : 0600) << entry;
}

TEST_F(KernelCacheTest, AKernelIsNoneInPlaceOfAnother) {
  KernelCache cache(folder);
  cache.write("0123aaaa", {'a'});
  cache.write("0123bbbb", {'b'});
  fs::path place = folder / "kernels" / "01";
  fs::rename(place / "0123aaaa", place / "0123bbbb");
  EXPECT_FALSE(cache.read("0123bbbb"));
}

TEST_F(KernelCacheTest, WhatOthersCanWriteToIsNotRead) {
  KernelCache(folder).write(digest, bytes);
  fs::path file = findFile();
  for (int mode : {0620, 0602}) {
    ASSERT_EQ(chmod(file.c_str(), mode), 0);
    KernelCache cache(folder);
    testing::internal::CaptureStderr();
    EXPECT_FALSE(cache.read(digest));
    EXPECT_FALSE(cache.read(digest));
    EXPECT_EQ(testing::internal::GetCapturedStderr(),
              "remark: no kernels are kept in or taken from '" + file.string() +
                  "', as others could run code by it: other users can write to "
                  "it, which 'chmod go-w' ends\n");
    // It is compiled and written anew, to a file of this user's.
    cache.write(digest, bytes);
    EXPECT_EQ(cache.read(digest), bytes);
  }
  ASSERT_EQ(chmod(folder.c_str(), 0770), 0);
  KernelCache cache(folder);
  testing::internal::CaptureStderr();
  EXPECT_FALSE(cache.read(digest));
  cache.write("other", bytes);
  EXPECT_EQ(testing::internal::GetCapturedStderr(),
            "remark: no kernels are kept in or taken from '" + folder.string() +
                "', as others could run code by it: other users can write to "
                "it, which 'chmod go-w' ends\n");
  EXPECT_EQ(findFile(), file);
  ASSERT_EQ(chmod(folder.c_str(), 0700), 0);
  EXPECT_EQ(KernelCache(folder).read(digest), bytes);
}

TEST_F(KernelCacheTest, LinksAndFilesOfOthersAreNotRead) {
  KernelCache cache(folder);
  cache.write(digest, bytes);
  fs::path file = findFile(), elsewhere = folder / "elsewhere";
  fs::rename(file, elsewhere);
  fs::create_symlink(elsewhere, file);
  EXPECT_FALSE(cache.read(digest));
  fs::remove(file);
  ASSERT_EQ(mkfifo(file.c_str(), 0600), 0);
  EXPECT_FALSE(cache.read(digest));
  fs::remove(file);
  fs::rename(elsewhere, file);
  if (geteuid() != 0)
    GTEST_SKIP() << "only root can make a file of another user's";
  ASSERT_EQ(chown(file.c_str(), 12345, 12345), 0);
  testing::internal::CaptureStderr();
  EXPECT_FALSE(cache.read(digest));
  EXPECT_THAT(testing::internal::GetCapturedStderr(),
              testing::HasSubstr("it belongs to user 12345"));
}

TEST_F(KernelCacheTest, ProcessesDoNotDisturbEachOther) {
  std::vector<pid_t> children;
  for (int i = 0; i < 2; ++i) {
    pid_t child = fork();
    ASSERT_GE(child, 0);
    if (child == 0) {
      KernelCache cache(folder);
      bool isFine = true;
      for (int round = 0; round < 300; ++round) {
        cache.write(digest, bytes);
        isFine &= cache.read(digest) == bytes;
      }
      _exit(isFine ? 0 : 1);
    }
    children.push_back(child);
  }
  for (pid_t child : children) {
    int status;
    ASSERT_EQ(waitpid(child, &status, 0), child);
    EXPECT_EQ(status, 0);
  }
  EXPECT_FALSE(findFile().empty());
}

TEST_F(KernelCacheTest, DefaultDirectoryFollowsTheEnvironment) {
  auto get = [](const char *name) {
    const char *value = std::getenv(name);
    return value ? std::optional<std::string>(value) : std::nullopt;
  };
  auto set = [](const char *name, const std::optional<std::string> &value) {
    if (value)
      setenv(name, value->c_str(), 1);
    else
      unsetenv(name);
  };
  auto own = get("TARPON_CACHE_DIR"), cache = get("XDG_CACHE_HOME"),
       home = get("HOME");
  set("TARPON_CACHE_DIR", "/own");
  set("XDG_CACHE_HOME", "/cache");
  set("HOME", "/home/somebody");
  EXPECT_EQ(KernelCache::defaultDirectory(), "/own");
  set("TARPON_CACHE_DIR", std::nullopt);
  EXPECT_EQ(KernelCache::defaultDirectory(), "/cache/tarpon");
  set("XDG_CACHE_HOME", "");
  EXPECT_EQ(KernelCache::defaultDirectory(), "/home/somebody/.cache/tarpon");
  std::string entry = getpwuid(getuid())->pw_dir;
  for (const std::optional<std::string> &none :
       {std::optional<std::string>(), {""}}) {
    set("HOME", none);
    EXPECT_EQ(KernelCache::defaultDirectory(), entry + "/.cache/tarpon");
  }
  set("TARPON_CACHE_DIR", own);
  set("XDG_CACHE_HOME", cache);
  set("HOME", home);
}

//===----------------------------------------------------------------------===//
// The compiler's use of it
//===----------------------------------------------------------------------===//

TEST_F(KernelCacheTest, CompilerSkipsEmissionWhenCached) {
  TargetInfo target = getTarget("native");
  int emitted = 0;
  KernelSource source{"one", [&](KernelBuilder &b) {
                        ++emitted;
                        b.store(b.cst(1), b.getBuffer(0));
                      }};
  auto get = [&](KernelCompiler &compiler) {
    auto object = compiler.getObject("test-v1", source);
    EXPECT_TRUE(object) << object.message();
    return **object;
  };
  KernelCompiler first =
      makeHostCompiler(target, std::make_shared<KernelCache>(folder));
  std::vector<char> object = get(first);
  EXPECT_EQ(get(first), object);
  EXPECT_EQ(emitted, 1);
  EXPECT_EQ(first.getStatistics().compiled, 1);
  EXPECT_EQ(first.getStatistics().fromMemory, 1);
  EXPECT_GT(first.getStatistics().compileSeconds, 0);

  KernelCompiler second =
      makeHostCompiler(target, std::make_shared<KernelCache>(folder));
  EXPECT_EQ(get(second), object);
  EXPECT_EQ(emitted, 1);
  EXPECT_EQ(second.getStatistics().fromCache, 1);

  // A damaged file is compiled again, to the same bytes, and replaced.
  fs::path file = findFile();
  fs::resize_file(file, fs::file_size(file) / 2);
  KernelCompiler third =
      makeHostCompiler(target, std::make_shared<KernelCache>(folder));
  EXPECT_EQ(get(third), object);
  EXPECT_EQ(emitted, 2);
  KernelCompiler fourth =
      makeHostCompiler(target, std::make_shared<KernelCache>(folder));
  EXPECT_EQ(get(fourth), object);
  EXPECT_EQ(emitted, 2);
}

TEST_F(KernelCacheTest, OtherTargetsAndSolversDoNotShare) {
  auto cache = std::make_shared<KernelCache>(folder);
  int emitted = 0;
  KernelSource source{"one", [&](KernelBuilder &b) {
                        ++emitted;
                        b.store(b.cst(1), b.getBuffer(0));
                      }};
  KernelCompiler native = makeHostCompiler(getTarget("native"), cache);
  KernelCompiler narrow = makeHostCompiler(getTarget("x86-64-v2"), cache);
  for (KernelCompiler *compiler : {&native, &narrow})
    for (const char *solver : {"test-v1", "test-v2"})
      EXPECT_TRUE(compiler->getObject(solver, source));
  EXPECT_EQ(emitted, 4);
}

} // namespace
