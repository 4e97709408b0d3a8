//===- TuningPageTest.cpp - A tuning file as a page ---------------------===//
//
// Part of Tarpon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tarpon/Report/TuningPage.h"

#include "tarpon/Autotune/Choice/TuningFile.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <limits>

using namespace tarpon;
using runtime::Precision;
using testing::AllOf;
using testing::HasSubstr;
using testing::Not;

namespace {

/// Text that closes elements and attributes, and turns the direction of
/// writing.
const std::string kHostile =
    "</td></svg><script>alert(1)</script>\"'><img src=x onerror=alert(2)>"
    "\x1b[2J\r\n\xe2\x80\xae\xff{0}%s&amp;";

LayerRecord makeLayer(const std::string &name, double milliseconds) {
  LayerRecord layer;
  layer.name = name;
  layer.problem = "relu(1x8x4x4xf32)->1x8x4x4xf32";
  layer.solver = "elementwise-v1";
  layer.source = "measured";
  layer.timing = {milliseconds, 0.001, 30, 1e-6};
  return layer;
}

CandidateRecord makeCandidate(Precision dtype, double error,
                              double milliseconds) {
  CandidateRecord candidate;
  candidate.choice.dtype = dtype;
  candidate.accuracy = {error, 0.05, error <= 0.05};
  candidate.pipeline = {milliseconds, 0.001, 50};
  candidate.layers = {makeLayer("first", milliseconds / 4),
                      makeLayer("second", milliseconds / 2)};
  return candidate;
}

CandidateRecord makeFailed(const std::string &failure) {
  CandidateRecord candidate;
  candidate.choice.dtype = Precision::I8;
  candidate.failure = failure;
  return candidate;
}

CandidateRecord makeMixed() {
  CandidateRecord candidate = makeCandidate(Precision::I8, 0.01, 2);
  candidate.choice = makeRegionChoice({{Precision::F32, {Layout::NHWC}},
                                       {Precision::I8, {Layout::NHWC}},
                                       {Precision::I8, {Layout::NCHW}}},
                                      Fusion::On);
  candidate.prediction = {1.5, 0.02, 0.25};
  return candidate;
}

TuningFile makeFile(std::vector<CandidateRecord> candidates) {
  TuningFile file;
  file.model = {std::string(64, 'a'), "net", {{"data", {1, 3, 8, 8}}}};
  file.target = {"x86-64", "znver5", {"avx2"}, 2, "32K/512K/1024K"};
  file.toolchain = {"0.1.0", "22.1.8"};
  file.knobs = {"pick", "nhwc", "on", "pick"};
  file.calibration = {"generated", 4, "abc"};
  file.candidates = std::move(candidates);
  return file;
}

/// Three candidates on the front, one that is not, one over the budget and one
/// that failed.
TuningFile makeFile() {
  return makeFile({makeCandidate(Precision::F32, 1e-7, 8),
                   makeCandidate(Precision::F16, 1e-3, 5),
                   makeCandidate(Precision::BF16, 3e-3, 6),
                   makeCandidate(Precision::I8, 0.2, 1),
                   makeFailed("it is out of order"), makeMixed()});
}

std::string print(const TuningFile &file) {
  std::string text;
  llvm::raw_string_ostream os(text);
  printTuningPage(file, os);
  return text;
}

size_t count(llvm::StringRef text, llvm::StringRef part) {
  return text.count(part);
}

/// Fails unless every element that is opened is closed, and no number is none.
void expectSound(const std::string &page) {
  for (std::string element :
       {"table", "svg", "tr", "td", "th", "h2", "p", "title", "text", "ul",
        "li", "span", "g", "rect", "style", "code"})
    EXPECT_EQ(count(page, "<" + element + ">") +
                  count(page, "<" + element + " "),
              count(page, "</" + element + ">"))
        << element;
  for (const char *number :
       {"\"nan", "\"inf", "\"-nan", "\"-inf", ">nan", ">inf"})
    EXPECT_THAT(page, Not(HasSubstr(number)));
  EXPECT_EQ(count(page, "\"") % 2, 0u);
}

/// Every text of the file is hostile.
TuningFile makeHostile() {
  TuningFile file = makeFile();
  file.model.name = file.model.sha256 = kHostile;
  file.model.inputs = {{kHostile, {1}}};
  file.target = {kHostile, kHostile, {kHostile}, 1, kHostile};
  file.toolchain = {kHostile, kHostile};
  file.knobs = {kHostile, kHostile, kHostile, kHostile};
  file.calibration = {kHostile, 1, kHostile};
  file.progress = {{1, 8, kHostile}};
  for (CandidateRecord &candidate : file.candidates) {
    for (LayerRecord &layer : candidate.layers)
      layer.name = layer.problem = layer.solver = layer.source =
          kHostile + layer.name;
    for (size_t i = 0; i <= candidate.choice.regions.size(); ++i)
      candidate.ranges.push_back({kHostile});
    if (!candidate.failure.empty())
      candidate.failure = kHostile;
    else
      candidate.accuracy->metric = {kHostile, 1, 0.5, 0.1};
  }
  return file;
}

} // namespace

TEST(TuningPageTest, thePageNeedsNothingElse) {
  std::string page = print(makeFile());
  expectSound(page);
  for (const char *reference :
       {"http:", "https:", "src=", "href=", "url(", "@import", "<script"})
    EXPECT_THAT(page, Not(HasSubstr(reference)));
  EXPECT_THAT(page, HasSubstr("default-src 'none'; style-src 'unsafe-inline'"));
  EXPECT_THAT(page, HasSubstr("prefers-color-scheme: dark"));
  EXPECT_EQ(page, print(makeFile()));
}

TEST(TuningPageTest, factsComeFirst) {
  std::string page = print(makeFile());
  for (const char *fact :
       {"Tuning of net", "data 1x3x8x8", "x86-64", "avx2", "znver5",
        "caches 32K/512K/1024K", "Tarpon 0.1.0", "LLVM 22.1.8",
        "dtype pick, layout nhwc, fusion on, ranges pick",
        "generated, 4 samples", "6 candidates, 4 on the front",
        "The winner is #0 fp32/nchw: 8 ms, with an error of 1.00e-07."})
    EXPECT_THAT(page, HasSubstr(fact));
}

TEST(TuningPageTest, candidatesDifferByShape) {
  std::string page = print(makeFile());
  size_t legend = 1;
  EXPECT_EQ(count(page, "class=\"mark within filled\""), 3 + legend);
  EXPECT_EQ(count(page, "class=\"mark within\""), 1 + legend);
  EXPECT_EQ(count(page, "class=\"mark over filled\""), 1u);
  EXPECT_EQ(count(page, "class=\"mark over\""), legend);
  EXPECT_EQ(count(page, "class=\"mark failed\""), legend);
  EXPECT_EQ(count(page, "class=\"ring\""), 1 + legend);
  EXPECT_EQ(count(page, "<path class=\"front\""), 1u);
  for (const char *label : {">0: int8/nchw<", ">1: mixed/mixed<",
                            ">2: fp16/nchw<", ">3: fp32/nchw<"})
    EXPECT_THAT(page, HasSubstr(label));
  EXPECT_THAT(page, HasSubstr("#3 int8/nchw: 1 ms, error 2.00e-01 of 5.00e-02, "
                              "--point 0, over the error budget"));
  EXPECT_THAT(page, HasSubstr("<li>#4 int8/nchw: it is out of order</li>"));
}

TEST(TuningPageTest, failedCandidatesMayHaveAPlace) {
  TuningFile file = makeFile();
  file.candidates[2].failure = "it does not fit";
  std::string page = print(file);
  EXPECT_EQ(count(page, "class=\"mark failed\""), 2u);
  EXPECT_THAT(page, Not(HasSubstr("<li>#2")));
  EXPECT_THAT(page, HasSubstr("<td class=\"judgement\">it does not fit</td>"));
}

TEST(TuningPageTest, theTableHasPredictionsIfThereAreAny) {
  TuningFile file = makeFile();
  std::string page = print(file);
  EXPECT_THAT(page, HasSubstr("<th class=\"number\">predicted ms</th>"));
  EXPECT_THAT(page, HasSubstr("<td class=\"number\">1.5 &plusmn; 0.25</td>"
                              "<td class=\"number\">2.00e-02</td>"));
  file.candidates.pop_back();
  EXPECT_THAT(print(file), Not(HasSubstr("predicted")));
  file.candidates[0].pipeline->samples = 0;
  EXPECT_THAT(print(file), HasSubstr("8 (model)"));
}

TEST(TuningPageTest, theLargestLayersAreNamed) {
  TuningFile file = makeFile({makeCandidate(Precision::F32, 0, 20)});
  CandidateRecord &candidate = file.candidates[0];
  candidate.layers.clear();
  for (int i = 0; i < 12; ++i)
    candidate.layers.push_back(makeLayer("layer" + std::to_string(i), 1 + i));
  candidate.layers.push_back(makeLayer("untimed", 0));
  candidate.layers.back().timing.reset();
  candidate.layers.push_back(makeLayer("layer11", 3));
  std::string page = print(file);
  expectSound(page);
  EXPECT_THAT(page, HasSubstr("<span class=\"swatch b1\">1</span> layer11<"));
  EXPECT_THAT(page, HasSubstr("<span class=\"swatch b8\">8</span> layer4<"));
  EXPECT_THAT(page, Not(HasSubstr("layer3<")));
  EXPECT_THAT(page,
              HasSubstr("1 layer11: 15 ms, 19 % of the layers, 2 layers"));
  EXPECT_THAT(page, HasSubstr("2 layer10: 11 ms, 14 % of the layers, "
                              "elementwise-v1"));
  EXPECT_THAT(page, HasSubstr("4 others: 10 ms, 12 % of the layers"));
  EXPECT_THAT(page, HasSubstr("81 ms, 1 not timed"));
  EXPECT_THAT(page, HasSubstr("the whole model: 20 ms"));
}

TEST(TuningPageTest, layersNeedNoTimes) {
  TuningFile file = makeFile();
  for (LayerRecord &layer : file.candidates[0].layers)
    layer.timing.reset();
  std::string page = print(file);
  expectSound(page);
  EXPECT_THAT(page, HasSubstr(">no layer timed<"));
  EXPECT_THAT(page, HasSubstr(">no layers<"));
  for (CandidateRecord &candidate : file.candidates)
    for (LayerRecord &layer : candidate.layers)
      layer.timing.reset();
  page = print(file);
  expectSound(page);
  EXPECT_THAT(page, HasSubstr("No layer has a time of its own"));
}

TEST(TuningPageTest, regionsAreCellsInOrder) {
  TuningFile file = makeFile();
  for (const char *name : {"argument 0", "conv", "relu", "fc"})
    file.candidates.back().ranges.push_back({name});
  std::string page = print(file);
  size_t first = page.find("region 0: fp32/nhwc, conv"),
         second = page.find("region 1: int8/nhwc, relu"),
         third = page.find("region 2: int8/nchw, fc");
  EXPECT_LT(first, second);
  EXPECT_LT(second, third);
  EXPECT_NE(third, std::string::npos);
  EXPECT_THAT(page, HasSubstr("int8/nchw 1, int8/nhwc 1"));
}

TEST(TuningPageTest, layersNameRegionsIfTheyAreAsMany) {
  TuningFile file = makeFile();
  CandidateRecord &mixed = file.candidates.back();
  EXPECT_THAT(print(file), HasSubstr("region 1: int8/nhwc<"));
  mixed.layers.push_back(makeLayer("third", 1));
  mixed.layers.insert(mixed.layers.begin(), makeLayer("convert", 1));
  mixed.layers.front().problem = "convert(1x8x4x4xf32)->1x8x4x4xf16";
  EXPECT_THAT(print(file), HasSubstr("region 1: int8/nhwc, second<"));
}

TEST(TuningPageTest, withoutRegionsASentenceSaysSo) {
  std::string page = print(makeFile({makeCandidate(Precision::F32, 0, 1)}));
  EXPECT_THAT(page, HasSubstr("No candidate chose for each region"));
}

TEST(TuningPageTest, sourcesAreCounted) {
  TuningFile file = makeFile();
  file.candidates[0].layers[0].source = "default";
  file.candidates[0].layers[1].source = "user-db";
  EXPECT_THAT(
      print(file),
      AllOf(HasSubstr(">layers</th><th class=\"number\">measured</th><th "
                      "class=\"number\">user-db</th><th class=\"number\">"
                      "default</th></tr>"),
            HasSubstr("<tr><td class=\"word\">#0 fp32/nchw</td><td class=\""
                      "number\">2</td><td class=\"number\">0</td><td class=\""
                      "number\">1</td><td class=\"number\">1</td></tr>")));
}

TEST(TuningPageTest, oneCandidateIsEnough) {
  std::string page = print(makeFile({makeCandidate(Precision::F32, 0, 3)}));
  expectSound(page);
  EXPECT_THAT(page, HasSubstr("1 candidate, 1 on the front"));
  EXPECT_THAT(page, HasSubstr(">0: fp32/nchw<"));
  EXPECT_THAT(page, HasSubstr("with an error of 0."));
}

TEST(TuningPageTest, aCandidateNeedsNeitherTimeNorErrorNorLayers) {
  std::string page = print(makeFile({CandidateRecord()}));
  expectSound(page);
  EXPECT_THAT(page, HasSubstr("No candidate has both a time and an error"));
  EXPECT_THAT(page, HasSubstr("<li>#0 fp32/nchw: was not measured</li>"));
}

TEST(TuningPageTest, numbersOfAnySizeHaveAPlace) {
  constexpr double kMax = std::numeric_limits<double>::max(),
                   kMin = std::numeric_limits<double>::denorm_min();
  expectSound(print(makeFile({makeCandidate(Precision::F32, 0, 0)})));
  expectSound(print(makeFile({makeCandidate(Precision::F32, kMin, kMin),
                              makeCandidate(Precision::F16, 0, kMax),
                              makeCandidate(Precision::I8, kMax, 0)})));
  TuningFile file = makeFile();
  for (CandidateRecord &candidate : file.candidates)
    for (LayerRecord &layer : candidate.layers)
      layer.timing->median = kMax;
  expectSound(print(file));
}

TEST(TuningPageTest, hostileTextChangesNothing) {
  std::string page = print(makeHostile());
  expectSound(page);
  EXPECT_TRUE(
      llvm::all_of(page, [](char c) { return c == '\n' || llvm::isPrint(c); }));
  EXPECT_THAT(page, Not(HasSubstr("<script")));
  EXPECT_THAT(page, Not(HasSubstr("<img")));
  EXPECT_THAT(page, HasSubstr("&lt;script&gt;"));
  EXPECT_THAT(page, HasSubstr("&amp;amp;"));
  EXPECT_THAT(page, HasSubstr("\\x1b[2J\\x0d\\x0a\\xe2\\x80\\xae\\xff{0}%s"));
}

TEST(TuningPageTest, aFileWithManyCandidatesIsReadable) {
  std::vector<CandidateRecord> candidates;
  for (int i = 1; i <= 40; ++i)
    candidates.push_back(
        makeCandidate(Precision::F16, 1e-4 * i, 5 - 0.001 * i));
  std::string page = print(makeFile(std::move(candidates)));
  expectSound(page);
  // Where names find no room, the points of the front have their numbers.
  EXPECT_THAT(page, HasSubstr(">39: fp16/nchw<"));
  EXPECT_EQ(count(page, "point\">"), 41u);
}

TEST(TuningPageTest, progressIsDrawnFromPlanToPlan) {
  TuningFile file = makeFile();
  EXPECT_THAT(print(file), HasSubstr("does not tell how its search went"));
  file.progress = {{2, 8, "fp32/nhwc"}, {5.5, 5, "fp16/nhwc"}};
  std::string page = print(file);
  expectSound(page);
  EXPECT_THAT(page, HasSubstr("fp32/nhwc: 8 ms after 2 s"));
  EXPECT_THAT(page, HasSubstr("fp16/nhwc: 5 ms after 5.5 s"));
}

TEST(TuningPageTest, ShowsTheMetricThatDecided) {
  TuningFile file = makeFile();
  EXPECT_THAT(print(file), Not(HasSubstr(">allowed</th>")));
  AccuracyRecord &accuracy = *file.candidates[3].accuracy;
  accuracy.budget.reset();
  accuracy.metric = {"top-1", 0.75, 0.5, 0.125};
  std::string page = print(file);
  expectSound(page);
  EXPECT_THAT(page, HasSubstr(">allowed</th>"));
  EXPECT_THAT(page, HasSubstr("<td class=\"number\">2.50e-01</td><td "
                              "class=\"number\">1.25e-01</td>"));
  EXPECT_THAT(page, HasSubstr("a drop of 0.2500 in top-1 of 0.7500"));
  EXPECT_THAT(page, HasSubstr("its metric drops too much"));
}
