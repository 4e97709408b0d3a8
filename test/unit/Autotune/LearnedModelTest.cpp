//===- LearnedModelTest.cpp -----------------------------------------------===//
//
// Part of Tarpon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tarpon/Autotune/Learn/LearnedModel.h"

#include "LearnedModels.h"
#include "TestDirectory.h"
#include "tarpon/Autotune/Learn/LearnedRanker.h"
#include "tarpon/Runtime/Sha256.h"
#include "tarpon/Targets/Host/HostTarget.h"

#include "gmock/gmock.h"
#include "gtest/gtest.h"

#include <array>
#include <cstring>

using namespace tarpon;
using namespace tarpon::test;
using testing::AnyOf;
using testing::HasSubstr;

namespace {

class LearnedModelTest : public testing::Test {
protected:
  TargetInfo target = *getHostTarget(1);

  static const std::string &getBytes() {
    static const std::string bytes = [] {
      LearnedModel model = makeModel({*getHostTarget(1)});
      model.split = "a-split";
      model.heldOut = {{"conv2d f32 nhwc", 7, 0.95, 0.8125, 1}};
      model.heldOutCpus = {{"all", 3, 0.9, 0.75, 0}};
      return model.serialize();
    }();
    return bytes;
  }

  /// The bytes with another number for the first of these counts.
  static std::string replaceCount(const std::string &name,
                                  const std::string &value) {
    constexpr size_t kLengthAt = 12, kTextAt = 16, kDigestBytes = 32;
    std::string bytes = getBytes();
    bytes.resize(bytes.size() - kDigestBytes);
    size_t at = bytes.find("\"" + name + "\":");
    EXPECT_NE(at, std::string::npos);
    at += name.size() + 3;
    size_t end = bytes.find_first_not_of("0123456789", at);
    uint32_t length;
    std::memcpy(&length, &bytes[kLengthAt], sizeof(length));
    EXPECT_LT(end, kTextAt + length);
    length += static_cast<uint32_t>(value.size() - (end - at));
    std::memcpy(&bytes[kLengthAt], &length, sizeof(length));
    bytes.replace(at, end - at, value);
    std::array<uint8_t, kDigestBytes> digest =
        runtime::Sha256().update(bytes).finish();
    return bytes + std::string(digest.begin(), digest.end());
  }

  static std::string getFault(llvm::StringRef bytes) {
    auto model = LearnedModel::parse(bytes, "here");
    return model ? "" : model.message();
  }
};

} // namespace

TEST_F(LearnedModelTest, ComesBackAsItWas) {
  auto model = LearnedModel::parse(getBytes(), "here");
  ASSERT_TRUE(model) << model.message();
  EXPECT_EQ(model->serialize(), getBytes());
  EXPECT_EQ(model->madeBy.target, JournalContext::forTarget(target).target);
  EXPECT_EQ(model->problems, 54);
  EXPECT_EQ(model->kinds.at("conv2d f32 nhwc"), 54);
  ASSERT_EQ(model->heldOut.size(), 1u);
  EXPECT_EQ(model->heldOut[0].tenth, 0.8125);
  EXPECT_EQ(model->heldOut[0].unmeasured, 1);
  ASSERT_EQ(model->heldOutCpus.size(), 1u);
  EXPECT_EQ(model->heldOutCpus[0].kind, "all");
  EXPECT_EQ(model->heldOutCpus[0].mean, 0.9);
  EXPECT_EQ(model->targets.at(model->madeBy.target), 54);
  LearnedModel made = makeModel({target});
  std::vector<float> row(model->space.configColumns(), 1);
  EXPECT_EQ(made.configs.predict(row), model->configs.predict(row));
}

TEST_F(LearnedModelTest, DamageIsSaidInOneSentence) {
  const std::string &bytes = getBytes();
  EXPECT_THAT(getFault(""), HasSubstr("in here is not used: it is no model"));
  EXPECT_THAT(getFault("TPNMODEL"), HasSubstr("damaged"));
  for (size_t length = 8; length < bytes.size(); length += 997)
    EXPECT_THAT(getFault(llvm::StringRef(bytes).take_front(length)),
                HasSubstr("is not used"))
        << length;
  for (size_t place = 12; place < bytes.size(); place += 997) {
    std::string flipped = bytes;
    flipped[place] = static_cast<char>(flipped[place] ^ 4);
    EXPECT_THAT(getFault(flipped), HasSubstr("checksum")) << place;
  }
  // Counts that no file can hold, under a checksum that fits.
  for (const char *count : {"trees", "nodes"})
    for (const char *value : {"9223372036854775807", "1000000000000", "-1"})
      EXPECT_THAT(getFault(replaceCount(count, value)),
                  AnyOf(HasSubstr("damaged: a forest is cut off"),
                        HasSubstr("damaged: a forest does not fit")))
          << count << " " << value;
  std::string newer = bytes;
  newer[8] = 99;
  EXPECT_THAT(getFault(newer), HasSubstr("of version 99"));
}

TEST_F(LearnedModelTest, StoresOfOtherCpusAreRead) {
  std::string path =
      std::string(TARPON_SHIPPED_STORE) + "/x86-64-znver4-512.journal";
  std::vector<std::string> skipped;
  auto problems = readStoreOfAnyCpu(path, target, {}, skipped);
  ASSERT_TRUE(problems) << problems.message();
  ASSERT_GT(problems->size(), 400u);
  for (const MeasuredProblem &problem : *problems) {
    EXPECT_EQ(problem.targetName, "x86-64/znver4/512/2c4b9a78");
    EXPECT_EQ(problem.target->cpu, "znver4");
    EXPECT_EQ(problem.target->lanes(), 16);
  }
  EXPECT_FALSE(readStoreOfAnyCpu(path + ".none", target, {}, skipped));
  EXPECT_THAT(getNamedCpu("x86-64/znver4/256/2c4b9a78", 1).message(),
              HasSubstr("have vectors of 256 bits, and znver4 has 512"));
  EXPECT_THAT(getNamedCpu("gfx1100", 1).message(),
              HasSubstr("is not the name"));
  EXPECT_THAT(getNamedCpu("x86-64/z80/512/0", 1).message(),
              HasSubstr("unknown CPU 'z80'"));
  TargetInfo caches = target;
  readCacheSizes("16K/256K/4096K", caches);
  EXPECT_EQ(caches.traits->printCacheSizes(caches), "16K/256K/4096K");
  readCacheSizes("", caches);
  EXPECT_EQ(caches.l2Bytes, 256 << 10);
}

// The system store's model of Zen 4 was trained by a build that wrote
// version 1.
TEST_F(LearnedModelTest, ModelsOfVersion1AreRead) {
  TargetInfo zen4 = *getCpuTarget("znver4", 1);
  readCacheSizes("32K/1024K/32768K", zen4);
  JournalContext context = JournalContext::forTarget(zen4);
  context.target = "x86-64/znver4/512/2c4b9a78";
  auto store = Journal::openReadOnly(std::string(TARPON_SHIPPED_STORE) +
                                         "/x86-64-znver4-512.journal",
                                     context);
  ASSERT_TRUE(store) << store.message();
  std::optional<std::string> bytes = (*store)->getModel();
  ASSERT_TRUE(bytes);
  ASSERT_EQ((*bytes)[8], 1);
  auto model = LearnedModel::parse(*bytes, "here");
  ASSERT_TRUE(model) << model.message();
  EXPECT_EQ(model->targets.at(context.target), model->problems);
  EXPECT_TRUE(model->heldOutCpus.empty());

  // The store has the tuned choices of what the model was trained on.
  LearnedRanker ranker(*model);
  auto problems = readMeasuredProblems(
      **store, context, std::make_shared<const TargetInfo>(zen4), {});
  ASSERT_GT(problems.size(), 400u);
  size_t same = 0;
  for (const MeasuredProblem &problem : problems) {
    Solution first = ranker.rank(problem.problem, zen4).front();
    same += first.solver == problem.tuned.solver;
  }
  EXPECT_GT(same, problems.size() * 3 / 4);

  // It is written as version 2 and answers as before.
  auto again = LearnedModel::parse(model->serialize(), "here");
  ASSERT_TRUE(again) << again.message();
  EXPECT_EQ(again->serialize(), model->serialize());
}

TEST_F(LearnedModelTest, AJournalKeepsTheLastOneOfATarget) {
  TestDirectory directory;
  JournalContext context = JournalContext::forTarget(target);
  std::string path = directory.file("s.journal");
  auto journal = Journal::open(path, context);
  ASSERT_TRUE(journal) << journal.message();
  EXPECT_FALSE((*journal)->getModel());
  std::string first("a\0b", 3);
  ASSERT_TRUE((*journal)->recordModel(first));
  EXPECT_EQ((*journal)->getModel(), first);
  ASSERT_TRUE((*journal)->recordModel(getBytes()));
  EXPECT_EQ((*journal)->getModel(), getBytes());

  JournalContext other = context;
  other.threads = 2;
  EXPECT_FALSE((*Journal::open(path, other))->getModel());
  other = context;
  other.tarpon = "0.0.1+older";
  EXPECT_EQ((*Journal::open(path, other))->getModel(), getBytes());
  journal->reset();
  auto shipped = Journal::openReadOnly(path, context);
  ASSERT_TRUE(shipped) << shipped.message();
  EXPECT_EQ((*shipped)->getModel(), getBytes());
}
