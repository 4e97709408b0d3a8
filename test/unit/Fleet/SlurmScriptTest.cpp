//===- SlurmScriptTest.cpp - Workers as jobs of Slurm ---------------------===//
//
// Part of Tarpon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tarpon/Fleet/SlurmScript.h"

#include <gtest/gtest.h>

using namespace tarpon::fleet;

static SlurmArray makeArray() {
  SlurmArray array;
  array.label = "a/b c";
  array.workers = 3;
  array.logs = "/logs";
  array.command = {"graph-opt", "fleet", "it's $HOME"};
  return array;
}

TEST(SlurmScript, wordsAreQuoted) {
  auto script = writeSlurmScript(makeArray());
  ASSERT_TRUE(script) << script.message();
  for (const char *line :
       {"#!/bin/sh\n", "#SBATCH --job-name=tarpon-a_b_c-build\n",
        "#SBATCH --array=1-3\n", "#SBATCH --output=/logs/%x-%A_%a.log\n",
        "\nexec 'graph-opt' 'fleet' 'it'\\''s $HOME'\n"})
    EXPECT_NE(script->find(line), std::string::npos) << line << *script;
  // A worker finds the database that an address without a host means.
  for (const char *name :
       {"PGHOST", "PGPORT", "PGUSER", "PGDATABASE", "PGSERVICE"})
    EXPECT_NE(script->find(std::string(",") + name + ","), std::string::npos)
        << name;
  // No password of whoever submits it travels along.
  EXPECT_NE(script->find("#SBATCH --export=HOME,"), std::string::npos);
  EXPECT_EQ(script->find("PGPASSWORD"), std::string::npos);
}

TEST(SlurmScript, valuesThatWouldBeLinesAreRefused) {
  std::string SlurmArray::*fields[] = {
      &SlurmArray::gres, &SlurmArray::constraint, &SlurmArray::partition,
      &SlurmArray::logs};
  for (std::string SlurmArray::*field : fields)
    for (const char *value : {"gpu:x\necho pwned", "my logs", "a\x1b[31m"}) {
      SlurmArray array = makeArray();
      array.*field = value;
      auto script = writeSlurmScript(array);
      ASSERT_FALSE(script) << value;
      EXPECT_EQ(script.message().find('\x1b'), std::string::npos);
    }
  SlurmArray array = makeArray();
  array.command.push_back("two\nlines");
  EXPECT_FALSE(writeSlurmScript(array));
}

TEST(SlurmScript, evaluatorsHaveWholeCores) {
  constexpr const char *kWhole = "#SBATCH --threads-per-core=1\n";
  SlurmArray array = makeArray();
  array.phase = Phase::Measure;
  EXPECT_NE(writeSlurmScript(array)->find(kWhole), std::string::npos);
  array.phase = Phase::Compile;
  EXPECT_EQ(writeSlurmScript(array)->find(kWhole), std::string::npos);
}

TEST(SlurmScript, evaluatorsOfGpusAskForOne) {
  Session session;
  session.target = "gfx942:cu=304";
  EXPECT_EQ(getGres(session), "gpu:gfx942:1");
  session.target = "sm_90a:cu=132:bw=4800";
  EXPECT_EQ(getGres(session), "gpu:sm_90a:1");
  session.target = "znver4";
  EXPECT_EQ(getGres(session), "");
  // The emulator needs none.
  session.target = "gfx942:cu=304";
  session.usesEmulator = true;
  EXPECT_EQ(getGres(session), "");
}

TEST(SlurmScript, largeArraysAreSplit) {
  SlurmArray array = makeArray();
  auto count = [&](int64_t workers) {
    array.workers = workers;
    std::vector<int64_t> counts;
    for (const SlurmArray &part : splitArray(array)) {
      EXPECT_EQ(part.label, array.label);
      counts.push_back(part.workers);
    }
    return counts;
  };
  EXPECT_EQ(count(0), (std::vector<int64_t>{}));
  EXPECT_EQ(count(1), (std::vector<int64_t>{1}));
  EXPECT_EQ(count(1000), (std::vector<int64_t>{1000}));
  EXPECT_EQ(count(2001), (std::vector<int64_t>{1000, 1000, 1}));
}
