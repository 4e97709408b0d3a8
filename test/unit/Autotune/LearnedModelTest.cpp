//===- LearnedModelTest.cpp -----------------------------------------------===//
//
// Part of Tarpon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tarpon/Autotune/Learn/LearnedModel.h"

#include "LearnedModels.h"
#include "TestDirectory.h"
#include "tarpon/Targets/Host/HostTarget.h"

#include "gmock/gmock.h"
#include "gtest/gtest.h"

using namespace tarpon;
using namespace tarpon::test;
using testing::HasSubstr;

namespace {

class LearnedModelTest : public testing::Test {
protected:
  TargetInfo target = *getHostTarget(1);

  static const std::string &getBytes() {
    static const std::string bytes = [] {
      LearnedModel model = makeModel(*getHostTarget(1));
      model.split = "a-split";
      model.heldOut = {{"conv2d f32 nhwc", 7, 0.95, 0.8125, 1}};
      return model.serialize();
    }();
    return bytes;
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
  LearnedModel made = makeModel(target);
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
  std::string newer = bytes;
  newer[8] = 99;
  EXPECT_THAT(getFault(newer), HasSubstr("of version 99"));
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
