//===- BundleFileTest.cpp -------------------------------------------------===//
//
// Part of Tarpon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Files of bundles, whoever wrote them.
//
//===----------------------------------------------------------------------===//

#include "TestDirectory.h"
#include "tarpon/Autotune/Bundle/CandidateBundle.h"

#include "llvm/Support/Program.h"

#include "gmock/gmock.h"
#include "gtest/gtest.h"

#include <csignal>
#include <filesystem>
#include <limits>

#include <sys/resource.h>

using namespace tarpon;
using namespace tarpon::test;
using testing::HasSubstr;
using testing::StartsWith;

static constexpr const char *kProblem = "relu(1x4x8x8xf32)->1x4x8x8xf32";

static CandidateBundle makeBundle() {
  CandidateBundle bundle;
  bundle.problem = kProblem;
  bundle.target = "gfx942:cu=304";
  bundle.kernelVersion = "gpu-codegen-3+0123456789ab";
  bundle.threads = 2;
  bundle.stage = MeasurementStage::Final;
  // Packages may have any bytes, and an odd number of them.
  bundle.reference = std::string("ref\n\0\xff!", 7);
  bundle.candidates = {
      {{kProblem, "gpu-elementwise-v1", "block=64,vector=4"}, 0, 0.25, "", "a"},
      {{kProblem, "gpu-elementwise-v1", ""}, 0, 0, "it spills \"3\" \n", ""},
      {{kProblem, "gpu-naive-v1", ""}, 1 << 20, 1e-9, "", "!<arch>\n"}};
  return bundle;
}

namespace {

class BundleFileTest : public testing::Test {
protected:
  TestDirectory directory;
  std::string path = directory.file("bundle");

  /// The text of a bundle's file.
  std::string write(const CandidateBundle &bundle) {
    auto written = writeBundle(bundle, path);
    EXPECT_TRUE(written) << written.message();
    return readText(path);
  }
  /// The message with which a file is refused.
  std::string getRefusal(const std::string &text) {
    writeText(path, text);
    auto bundle = readBundle(path);
    return bundle ? "it was accepted" : bundle.message();
  }
  /// The message after a part of the manifest was replaced by as much text.
  std::string refuseEdited(const std::string &from, std::string to) {
    std::string text = write(makeBundle());
    size_t at = text.find(from);
    EXPECT_NE(at, std::string::npos) << from;
    EXPECT_LE(to.size(), from.size()) << to;
    to.resize(from.size(), ' ');
    return getRefusal(text.replace(at, from.size(), to));
  }
};

} // namespace

TEST_F(BundleFileTest, ABundleIsReadAsItWasWritten) {
  CandidateBundle bundle = makeBundle();
  write(bundle);
  auto read = readBundle(path);
  ASSERT_TRUE(read) << read.message();
  EXPECT_EQ(read->problem, bundle.problem);
  EXPECT_EQ(read->target, bundle.target);
  EXPECT_EQ(read->kernelVersion, bundle.kernelVersion);
  EXPECT_EQ(read->threads, bundle.threads);
  EXPECT_EQ(read->stage, bundle.stage);
  EXPECT_EQ(read->reference, bundle.reference);
  ASSERT_EQ(read->candidates.size(), bundle.candidates.size());
  for (size_t i = 0; i < bundle.candidates.size(); ++i) {
    const BundledCandidate &a = read->candidates[i], &b = bundle.candidates[i];
    EXPECT_EQ(a.key, b.key);
    EXPECT_EQ(a.workspaceBytes, b.workspaceBytes);
    EXPECT_EQ(a.modelMs, b.modelMs);
    EXPECT_EQ(a.error, b.error);
    EXPECT_EQ(a.package, b.package);
  }
}

/// Messages of compilers are not always text.
TEST_F(BundleFileTest, AnErrorMayHaveAnyBytes) {
  CandidateBundle bundle = makeBundle();
  bundle.candidates[1].error = "bad \xff\xfe \x01";
  write(bundle);
  auto read = readBundle(path);
  ASSERT_TRUE(read) << read.message();
  EXPECT_THAT(read->candidates[1].error, StartsWith("bad "));
}

TEST_F(BundleFileTest, OtherToolsReadTheArchive) {
  auto ar = llvm::sys::findProgramByName("ar");
  if (!ar)
    GTEST_SKIP() << "there is no ar";
  write(makeBundle());
  std::string out = directory.file("out");
  ASSERT_EQ(llvm::sys::ExecuteAndWait(*ar, {*ar, "t", path}, std::nullopt,
                                      {std::nullopt, out, std::nullopt}),
            0);
  EXPECT_EQ(readText(out), "manifest.json\nreference.tpn\n0.tpn\n2.tpn\n");
}

TEST_F(BundleFileTest, EveryTruncatedFileIsRefused) {
  std::string text = write(makeBundle());
  for (size_t size = 0; size < text.size(); ++size)
    EXPECT_THAT(getRefusal(text.substr(0, size)),
                StartsWith(size < 8 ? "'" + path + "' is not a bundle"
                                    : "bundle '" + path + "' is damaged: "))
        << size;
}

/// Whatever is accepted has all that a bundle has.
TEST_F(BundleFileTest, DamagedFilesAreRefusedOrWhole) {
  std::string text = write(makeBundle());
  uint64_t state = 1;
  auto draw = [&](size_t end) {
    state = state * 6364136223846793005u + 1442695040888963407u;
    return static_cast<size_t>(state >> 33) % end;
  };
  int accepted = 0;
  for (int round = 0; round < 3000; ++round) {
    std::string damaged = text;
    for (size_t count = 1 + draw(3); count > 0; --count)
      damaged[draw(damaged.size())] = static_cast<char>(draw(256));
    writeText(path, damaged);
    auto bundle = readBundle(path);
    if (!bundle) {
      EXPECT_THAT(bundle.message(), HasSubstr(path));
      continue;
    }
    ++accepted;
    EXPECT_FALSE(bundle->candidates.empty() || bundle->reference.empty());
    for (const BundledCandidate &candidate : bundle->candidates)
      EXPECT_NE(candidate.error.empty(), candidate.package.empty());
  }
  // Some bytes are those of packages, which others check.
  EXPECT_GT(accepted, 0);
  EXPECT_LT(accepted, 3000);
}

TEST_F(BundleFileTest, EveryFieldIsChecked) {
  for (auto [from, to, fault] :
       {std::tuple("\"tarpon.bundle/1\"", "\"tarpon.bundle/2\"",
                   "schema: expected tarpon.bundle/1"),
        {"\"tarpon.bundle/1\"", "1", "schema: expected a string"},
        {"\"relu(1x4x8x8xf32)->1x4x8x8xf32\"", "\"relu(1x4\"", "problem: "},
        {"\"relu(1x4x8x8xf32)->1x4x8x8xf32\"",
         "\"relu(1x4x8x8xf32)->  1x4x8x8\"", "problem: "},
        {"\"gfx942:cu=304\"", "\"\"", "target: expected a name"},
        {"\"gfx942:cu=304\"", "\"gfx942\\n\"", "target: expected a name"},
        {"\"gfx942:cu=304\"", "[]", "target: expected a string"},
        {"\"gpu-codegen-3+0123456789ab\"", "\"a b\"",
         "kernel_version: expected a name"},
        {"\"threads\": 2", "\"threads\": 0", "threads: expected a number"},
        {"\"threads\": 2", "\"threads\":-1", "threads: expected a number"},
        {"\"threads\": 2", "\"thread\": 2", "threads: expected an integer"},
        {"\"stage\": \"final\"", "\"stage\": \"finao\"",
         "stage: expected race or final"},
        {"\"solver\": \"gpu-naive-v1\"", "\"solver\": \"gpu naive-v\"",
         "candidates[2]: solver: expected a name"},
        {"\"block=64,vector=4\"", "\"block=64,vector\"",
         "candidates[0]: config: expected a perf config"},
        {"\"block=64,vector=4\"", "\"\"", "candidates[1]: it is there twice"},
        {"\"workspace_bytes\": 1048576", "\"workspace_bytes\": -1",
         "candidates[2]: workspace_bytes: expected a number from 0 on"},
        {"\"workspace_bytes\": 1048576", "\"workspace_bytes\": 1.5",
         "candidates[2]: workspace_bytes: expected an integer"},
        {"\"model_ms\": 0.25", "\"model_ms\": -1",
         "candidates[0]: model_ms: expected a number from 0 on"},
        {"\"model_ms\": 0.25", "\"model_ms\":1e999",
         "manifest.json: it is not a JSON object"},
        {"\"model_ms\": 0.25", "\"model_ms\":null",
         "candidates[0]: model_ms: expected a number"},
        {"\"error\": \"it spills", "\"error\": 1, \"a\": \"",
         "candidates[1]: error: expected a string"},
        {"\"error\": \"it spills \\\"3\\\" \\n\"", "\"error\": \"\"",
         "candidates[1]: error: expected a text"},
        {"\"error\"", "\"other\"", "1.tpn is missing"},
        {"\"candidates\"", "\"contenders\"", "candidates: expected a list"},
        {"{", "[", "manifest.json: it is not a JSON object"}})
    EXPECT_THAT(refuseEdited(from, to), HasSubstr(fault)) << to;
}

TEST_F(BundleFileTest, NoCandidatesAreRefused) {
  CandidateBundle bundle = makeBundle();
  bundle.candidates.clear();
  EXPECT_THAT(getRefusal(write(bundle)),
              HasSubstr("manifest.json: candidates: expected a list"));
}

TEST_F(BundleFileTest, EveryMemberIsThereOnce) {
  for (auto [from, to, fault] :
       {std::tuple("manifest.json/", "manifest.jsoo/",
                   "there is no manifest.json"),
        {"reference.tpn/", "reference.tpm/", "there is no reference.tpn"},
        {"0.tpn/", "3.tpn/", "0.tpn is missing"},
        {"2.tpn/", "0.tpn/", "the member '0.tpn' is there twice"},
        {"2.tpn/", "1.tpn/",
         "1.tpn is there, although it could not be compiled"}})
    EXPECT_THAT(refuseEdited(from, to), HasSubstr(fault)) << to;
  std::string text = write(makeBundle());
  std::string more = text.substr(text.find("0.tpn/"), 60 + 2);
  more[0] = '7';
  EXPECT_THAT(getRefusal(text + more),
              HasSubstr("there are members that no candidate has"));
}

/// The members of a thin archive are other files, wherever they are.
TEST_F(BundleFileTest, ThinArchivesAreRefused) {
  std::string text = write(makeBundle());
  text.replace(0, 8, "!<thin>\n");
  EXPECT_EQ(getRefusal(text), "'" + path + "' is not a bundle of candidates");
}

TEST_F(BundleFileTest, WhatIsNoFileIsRefused) {
  for (const std::string &name :
       {directory.file("none"), directory.path(), std::string("/dev/zero")}) {
    auto bundle = readBundle(name);
    ASSERT_FALSE(bundle) << name;
    EXPECT_THAT(bundle.message(), HasSubstr(name));
  }
}

/// A full disk looks the same.
TEST_F(BundleFileTest, AFileIsCompleteOrNotThere) {
  CandidateBundle bundle = makeBundle();
  std::string before = write(bundle);
  bundle.reference.assign(1 << 16, 'x');
  rlimit old = {};
  getrlimit(RLIMIT_FSIZE, &old);
  rlimit small = {1 << 12, old.rlim_max};
  std::signal(SIGXFSZ, SIG_IGN);
  setrlimit(RLIMIT_FSIZE, &small);
  auto written = writeBundle(bundle, path);
  auto elsewhere = writeBundle(bundle, directory.file("none/bundle"));
  setrlimit(RLIMIT_FSIZE, &old);
  std::signal(SIGXFSZ, SIG_DFL);
  ASSERT_FALSE(written);
  EXPECT_EQ(written.message(), "cannot write '" + path + "': File too large");
  ASSERT_FALSE(elsewhere);
  EXPECT_THAT(elsewhere.message(), HasSubstr("none/bundle': No such file"));
  EXPECT_EQ(readText(path), before);
  // Nor is anything else left behind.
  std::filesystem::directory_iterator files(directory.path());
  EXPECT_EQ(std::distance(begin(files), end(files)), 1);
}
