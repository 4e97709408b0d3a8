//===- PerfConfigTest.cpp - Tests of the tunable fields of a solver -------===//
//
// Part of Tarpon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tarpon/Problem/PerfConfigJson.h"

#include "gtest/gtest.h"

#include <set>

using namespace tarpon;

TEST(PerfConfig, orderOfSettingDoesNotMatter) {
  PerfConfig listed{{"tile_n", 32}, {"block_m", 2}, {"tile_m", 14}};
  PerfConfig set;
  for (auto [name, value] :
       {std::pair("tile_m", 14), {"tile_n", 32}, {"block_m", 2}})
    set.set(name, value);
  EXPECT_EQ(listed, set);
  EXPECT_EQ(listed.str(), "block_m=2,tile_m=14,tile_n=32");
  EXPECT_EQ(set.str(), listed.str());
  EXPECT_EQ(set.getFields().front().first, "block_m");
}

TEST(PerfConfig, setReplacesWhatIsThere) {
  PerfConfig config{{"tile_m", 14}};
  config.set("tile_m", 7);
  EXPECT_EQ(config.get("tile_m"), 7);
  EXPECT_EQ(config.getFields().size(), 1u);
}

TEST(PerfConfig, namesAreWhole) {
  PerfConfig config{{"tile_m", 14}};
  EXPECT_TRUE(config.has("tile_m"));
  for (llvm::StringRef other : {"", "tile", "tile_m2", "tile_l", "tile_n"})
    EXPECT_FALSE(config.has(other)) << other.str();
}

TEST(PerfConfig, textReadsBack) {
  for (llvm::StringRef text : {"", "tile_m=14", "block_m=2,tile_m=14"}) {
    auto config = PerfConfig::parse(text);
    ASSERT_TRUE(mlir::succeeded(config)) << text.str();
    EXPECT_EQ(config->str(), text);
  }
  for (llvm::StringRef text : {"tile_m", "=1", "tile_m=x", "a=1,a=2"})
    EXPECT_TRUE(mlir::failed(PerfConfig::parse(text))) << text.str();
}

TEST(PerfConfig, areOrderedByNamesThenValues) {
  std::set<PerfConfig> configs = {PerfConfig{{"b", 1}}, PerfConfig{{"a", 9}},
                                  PerfConfig{{"a", 2}, {"b", 0}}, PerfConfig{}};
  std::string texts;
  for (const PerfConfig &config : configs)
    texts += config.str() + ";";
  EXPECT_EQ(texts, ";a=2,b=0;a=9;b=1;");
}

TEST(PerfConfig, jsonReadsBack) {
  PerfConfig config{{"tile_n", 32}, {"tile_m", -14}};
  EXPECT_EQ(toJson(config), "{\"tile_m\": -14, \"tile_n\": 32}");
  EXPECT_EQ(toJson({}), "{}");
  for (const PerfConfig &one : {config, PerfConfig()}) {
    auto back = parseJsonConfig(toJson(one));
    ASSERT_TRUE(back) << back.message();
    EXPECT_EQ(*back, one);
  }
  for (const char *text :
       {"", "[]", "{\"a\": 1.5}", "{\"a\": \"1\"}", "{\"a\": null}", "{"}) {
    auto parsed = parseJsonConfig(text);
    ASSERT_FALSE(parsed) << text;
    EXPECT_EQ(parsed.message(),
              "'" + std::string(text) + "' is no perf config");
  }
}
