//===- ReleaseReportTest.cpp - Reports of hostile text --------------------===//
//
// Part of Tarpon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "ResultsFixture.h"

#include "tarpon/Fleet/ReleaseReport.h"

#include "llvm/ADT/StringExtras.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

using namespace tarpon;
using namespace tarpon::fleet;
using namespace tarpon::fleet::test;
using testing::HasSubstr;
using testing::Not;

namespace {

/// Text that closes elements and attributes, colours a terminal, turns the
/// direction of writing and ends a statement.
const std::string kHostile =
    "</td><script>alert(1)</script>\"'><img src=x onerror=alert(2)>"
    "\x1b[2J\x1b]0;title\x07\r\n\xe2\x80\xae';DROP TABLE release;--&amp;";

class ReleaseReportTest : public ResultsTest {
protected:
  /// A difference whose every text is hostile.
  ReleaseDiff makeHostile() {
    std::vector<int64_t> keys = {addProblem(kHostile + "1"),
                                 addProblem(kHostile + "2"),
                                 addProblem(kHostile + "3")};
    int64_t old = addSession(kHostile, kHostile);
    int64_t now = addSession(kHostile + "new", kHostile);
    run("UPDATE session SET device = :p1 WHERE id = :p2",
        {kHostile + "gpu", now});
    addMeasurement({old, keys[0], 1, kHostile, kHostile});
    addMeasurement({old, keys[1], 1, kHostile, kHostile});
    addMeasurement({now, keys[1], 2, kHostile + "b", kHostile});
    addMeasurement({now, keys[2], 1, kHostile, kHostile});
    addEndedJob(now, keys[0], "failed", kHostile);
    addEndedJob(old, keys[2], "failed", kHostile);
    return diff("label:" + kHostile + "new", "label:" + kHostile);
  }
};

bool isPlain(llvm::StringRef text) {
  return llvm::all_of(text,
                      [](char c) { return c == '\n' || llvm::isPrint(c); });
}

std::string print(const ReleaseDiff &diff) {
  std::string text;
  llvm::raw_string_ostream os(text);
  printDiff(diff, 100, os);
  return text;
}

std::string makePage(const ReleaseDiff &diff, size_t limit = 100) {
  std::string text;
  llvm::raw_string_ostream os(text);
  printPage(diff, limit, os);
  return text;
}

} // namespace

TEST_P(ReleaseReportTest, hostileTextDoesNotReachTheTerminal) {
  std::string text = print(makeHostile());
  EXPECT_TRUE(isPlain(text)) << text;
  EXPECT_THAT(text, HasSubstr("\\x1b[2J"));
  // The texts have no line break of their own.
  EXPECT_EQ(llvm::StringRef(text).count('\n'), 14u) << text;
}

TEST_P(ReleaseReportTest, hostileTextChangesNoPage) {
  std::string page = makePage(makeHostile());
  EXPECT_TRUE(isPlain(page));
  EXPECT_THAT(page, Not(HasSubstr("<script")));
  EXPECT_THAT(page, Not(HasSubstr("<img")));
  EXPECT_THAT(page, HasSubstr("&lt;script&gt;"));
  EXPECT_THAT(page, HasSubstr("&amp;amp;"));
  EXPECT_EQ(llvm::StringRef(page).count('"') % 2, 0u);
  for (const char *element : {"table", "svg", "tr", "td", "h2", "p", "title"}) {
    std::string open = "<" + std::string(element);
    EXPECT_EQ(llvm::StringRef(page).count(open + ">") +
                  llvm::StringRef(page).count(open + " "),
              llvm::StringRef(page).count("</" + std::string(element) + ">"))
        << element;
  }
}

TEST_P(ReleaseReportTest, thePageNeedsNothingElse) {
  int64_t key = addProblem("a");
  addLabel("old", "host", {key});
  addMeasurement({addLabel("new", "host", {key}), key, 0.5});
  std::string page = makePage(diff("label:new", "label:old"));
  for (const char *reference :
       {"http:", "https:", "src=", "href=", "url(", "@import"})
    EXPECT_THAT(page, Not(HasSubstr(reference)));
  EXPECT_THAT(page, HasSubstr("default-src 'none'; style-src 'unsafe-inline'"));
  EXPECT_THAT(page, HasSubstr("prefers-color-scheme: dark"));
  EXPECT_THAT(page, HasSubstr("Times now over times before"));
  EXPECT_THAT(page, HasSubstr("Problems that a solver is best at"));
}

TEST_P(ReleaseReportTest, jsonKeepsTheTextAsItIs) {
  nlohmann::json json = toJson(makeHostile());
  auto again = nlohmann::json::parse(json.dump());
  EXPECT_EQ(again["newer"], "label:" + kHostile + "new");
  EXPECT_EQ(again["lost"][0]["problem"], kHostile + "1");
  EXPECT_EQ(again["lost"][0]["reason"], kHostile);
  EXPECT_EQ(again["gained"][0]["problem"], kHostile + "3");
  EXPECT_EQ(again["changes"][0]["verdict"], "slower");
  EXPECT_EQ(again["changes"][0]["same_solution"], false);
  EXPECT_EQ(again["sessions"][0]["newer"], kHostile + "gpu");
  EXPECT_EQ(again["wins"][kHostile]["older"], 2);
}

TEST_P(ReleaseReportTest, longTablesAreCut) {
  std::vector<int64_t> keys;
  for (int i = 0; i < 30; ++i)
    keys.push_back(addProblem("problem " + std::to_string(i)));
  addLabel("old", "host", {keys[0]});
  addLabel("new", "host", keys);
  release("1", "", "old");
  release("2", "1", "new");
  std::string page = makePage(diff("2", "1"), 10);
  EXPECT_THAT(page, HasSubstr("Problems gained (29)"));
  EXPECT_THAT(page, HasSubstr("19 more"));
}

TEST_P(ReleaseReportTest, nothingDiffers) {
  addLabel("L", "host", {addProblem("a")});
  release("1", "", "L");
  std::string text = print(diff("1", "1"));
  EXPECT_THAT(text, HasSubstr("1 compared with 1: 0 lost, 0 gained"));
  EXPECT_THAT(makePage(diff("1", "1")), Not(HasSubstr("Times now over")));
}

INSTANTIATE_FLEET_TEST(ReleaseReportTest);
