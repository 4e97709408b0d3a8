//===- CandidatesTest.cpp -------------------------------------------------===//
//
// Part of Tarpon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tarpon/Runtime/Candidates.h"

#include "TestPackages.h"

#include <gmock/gmock.h>

using namespace tarpon::runtime;
using namespace tarpon::runtime::test;
using testing::ElementsAre;
using testing::HasSubstr;

/// A stand-in for a code object: `bytes` of `tag` behind ELF's first ones.
static std::vector<char> makeCode(char tag, size_t bytes = 64) {
  std::vector<char> code(bytes, tag);
  std::memcpy(code.data(),
              "\x7f"
              "ELF\2\1",
              6);
  return code;
}

static void addKernel(Package &package, const std::string &symbol, char tag) {
  auto offset = static_cast<int64_t>(package.kernels.size());
  std::vector<char> code = makeCode(tag);
  package.kernels.insert(package.kernels.end(), code.begin(), code.end());
  package.codeObjects.push_back({symbol, offset, 64, 256});
}

static int64_t addConstant(Package &package, char value, size_t bytes) {
  package.constants.resize((package.constants.size() + 63) / 64 * 64);
  auto offset = static_cast<int64_t>(package.constants.size());
  package.constants.insert(package.constants.end(), bytes, value);
  return offset;
}

static Launch makeLaunch(const std::string &symbol,
                         std::vector<BufferRef> buffers) {
  Launch launch;
  launch.symbol = symbol;
  launch.buffers = std::move(buffers);
  launch.params = {4};
  return launch;
}

/// data -> layer -> result, by one launch with a constant, or by two with
/// another constant and a workspace.
static Package makePackage() {
  Package package;
  package.modelName = "toy";
  package.modelSha256 = "0123";
  package.arch = "amdgcn";
  package.chip = "gfx942:cu=304";
  package.kernelVersion = "0.1.0+abc";
  package.dtype = "fp32";
  package.layout = "nchw";
  package.fusion = "on";
  package.inputs = {{"data", DType::F32, {4}}};
  package.outputs = {{"result", DType::F32, {4}}};
  package.arenaBytes = 64;
  addKernel(package, "one", 'a');
  addKernel(package, "first", 'b');
  addKernel(package, "second", 'c');
  int64_t plain = addConstant(package, 1, 10);
  int64_t packed = addConstant(package, 2, 100);

  BufferRef in{BufferSpace::Input, 0}, out{BufferSpace::Output, 0};
  Layer layer{"conv1", "problem", "one-v1", "{}", "model", 10, 20, {}};
  layer.operands = {in};
  layer.results = {out};
  Candidate one{"one-v1", "{}", 0.5, 0, 0, {}};
  one.launches = {makeLaunch("one", {in, {BufferSpace::Constant, plain}, out})};
  Candidate two{"two-v1", "{\"tile\": 3}", 0.7, 128, 256, {}};
  two.launches = {makeLaunch("first", {in, {BufferSpace::Arena, 64}}),
                  makeLaunch("second", {{BufferSpace::Arena, 64},
                                        {BufferSpace::Constant, packed},
                                        out})};
  layer.launches = one.launches;
  layer.candidates = {one, two};
  package.layers = {layer};
  return package;
}

static std::vector<std::string> getSymbols(const Package &package) {
  std::vector<std::string> symbols;
  for (const CodeObjectRange &object : package.codeObjects)
    symbols.push_back(object.symbol);
  return symbols;
}

TEST(CandidatesTest, SurviveTheFile) {
  TempFolder folder;
  std::string path = folder.file("model.tpn");
  Status written = writePackage(makePackage(), path);
  ASSERT_TRUE(written) << written.message();
  Result<Package> package = readPackage(path);
  ASSERT_TRUE(package) << package.message();
  EXPECT_EQ(package->kernelVersion, "0.1.0+abc");
  ASSERT_TRUE(hasCandidates(*package));
  const Layer &layer = package->layers[0];
  EXPECT_EQ(layer.operands.size(), 1u);
  EXPECT_EQ(layer.results.size(), 1u);
  ASSERT_EQ(layer.candidates.size(), 2u);
  const Candidate &two = layer.candidates[1];
  EXPECT_EQ(two.solver, "two-v1");
  EXPECT_EQ(two.config, "{\"tile\": 3}");
  EXPECT_EQ(two.modelMs, 0.7);
  EXPECT_EQ(two.workspaceOffset, 128);
  EXPECT_EQ(two.workspaceBytes, 256);
  ASSERT_EQ(two.launches.size(), 2u);
  EXPECT_EQ(two.launches[0].buffers[1].space, BufferSpace::Arena);
  EXPECT_EQ(findChosen(layer), 0u);
}

TEST(CandidatesTest, ChoosingBindsToTheModel) {
  Package package = makePackage();
  package.layers[0].operands = {{BufferSpace::Arena, 16}};
  chooseCandidate(package, 0, 1);
  const Layer &layer = package.layers[0];
  EXPECT_EQ(findChosen(layer), 1u);
  EXPECT_EQ(layer.solver, "two-v1");
  EXPECT_EQ(layer.source, "measured");
  ASSERT_EQ(layer.launches.size(), 2u);
  EXPECT_EQ(layer.launches[0].buffers[0].space, BufferSpace::Arena);
  EXPECT_EQ(layer.launches[0].buffers[0].offset, 16);
  EXPECT_EQ(layer.launches[0].buffers[1].offset, 128 + 64);
  EXPECT_EQ(layer.launches[1].buffers[1].offset, 64);
  EXPECT_EQ(layer.launches[1].buffers[2].space, BufferSpace::Output);
  // The workspace, and what may be read behind it.
  EXPECT_EQ(package.arenaBytes, 128 + 256 + 64);
  EXPECT_TRUE(validatePackage(package));
  // The earlier choice is still there.
  chooseCandidate(package, 0, 0);
  EXPECT_EQ(package.layers[0].launches[0].symbol, "one");
}

TEST(CandidatesTest, DroppingLeavesWhatIsUsed) {
  Package package = makePackage();
  Package dropped = dropCandidates(package);
  EXPECT_TRUE(validatePackage(dropped));
  EXPECT_FALSE(hasCandidates(dropped));
  EXPECT_EQ(dropped.modelSha256, "0123");
  EXPECT_THAT(getSymbols(dropped), ElementsAre("one"));
  EXPECT_EQ(dropped.kernels, makeCode('a'));
  // Ten bytes and those up to the next constant.
  ASSERT_EQ(dropped.constants.size(), 64u);
  EXPECT_EQ(dropped.constants[9], 1);
  EXPECT_EQ(dropped.constants[10], 0);

  chooseCandidate(package, 0, 1);
  dropped = dropCandidates(package);
  EXPECT_THAT(getSymbols(dropped), ElementsAre("first", "second"));
  EXPECT_EQ(dropped.constants, AlignedBytes(100, 2));
  EXPECT_EQ(dropped.layers[0].launches[1].buffers[1].offset, 0);
  EXPECT_EQ(dropped.codeObjects[1].offset, 64);
}

TEST(CandidatesTest, OneCandidateIsAModel) {
  Package package = makePackage();
  const Layer &layer = package.layers[0];
  Package only = extractCandidate(package, layer, layer.candidates[1],
                                  package.inputs, package.outputs);
  EXPECT_TRUE(validatePackage(only));
  EXPECT_EQ(only.chip, "gfx942:cu=304");
  EXPECT_EQ(only.arenaBytes, 256);
  EXPECT_EQ(only.layers[0].solver, "two-v1");
  EXPECT_EQ(only.layers[0].launches[0].buffers[1].offset, 64);
  EXPECT_THAT(getSymbols(only), ElementsAre("first", "second"));
}

TEST(CandidatesTest, WhatIsThereIsNotCopiedAgain) {
  Package package = makePackage();
  // The same constants elsewhere, the longer one last, and one more kernel.
  Package other;
  other.arch = package.arch;
  other.chip = package.chip;
  addKernel(other, "third", 'd');
  addKernel(other, "one", 'a');
  int64_t fresh = addConstant(other, 3, 5);
  int64_t plain = addConstant(other, 1, 10);
  int64_t packed = addConstant(other, 2, 100);
  Layer layer;
  layer.launches = {makeLaunch("one", {{BufferSpace::Constant, plain}}),
                    makeLaunch("one", {{BufferSpace::Constant, packed}}),
                    makeLaunch("third", {{BufferSpace::Constant, fresh}})};
  other.layers = {layer};

  LaunchCollector collector(package);
  size_t before = package.constants.size();
  EXPECT_EQ(before % 64, 0u);
  collector.setSource(other);
  std::vector<int64_t> offsets;
  for (const Launch &launch : layer.launches)
    offsets.push_back(collector.copy(launch).buffers[0].offset);
  EXPECT_THAT(offsets, ElementsAre(0, 64, static_cast<int64_t>(before)));
  EXPECT_THAT(getSymbols(package),
              ElementsAre("one", "first", "second", "third"));
  EXPECT_EQ(package.codeObjects[3].offset, 192);
  EXPECT_EQ(package.constants[before], 3);
  // A second source has what the first one has brought.
  collector.setSource(other);
  EXPECT_EQ(collector.copy(layer.launches[2]).buffers[0].offset, offsets[2]);
  EXPECT_EQ(package.codeObjects.size(), 4u);
}

/// Zeros at its end are a constant's own: one without them is too short.
TEST(CandidatesTest, ZerosAtTheEndAreCopied) {
  Package package = makePackage();
  Package other;
  other.arch = package.arch;
  other.chip = package.chip;
  addKernel(other, "one", 'a');
  int64_t padded = addConstant(other, 1, 10);
  other.constants.resize(static_cast<size_t>(padded) + 200);
  Layer layer;
  layer.launches = {makeLaunch("one", {{BufferSpace::Constant, padded}})};
  other.layers = {layer};

  LaunchCollector collector(package);
  size_t before = package.constants.size();
  collector.setSource(other);
  EXPECT_EQ(collector.copy(layer.launches[0]).buffers[0].offset,
            static_cast<int64_t>(before));
  EXPECT_EQ(package.constants.size(), before + 200);
}

TEST(CandidatesTest, MalformedOnesAreRefused) {
  auto expectFault = [](void (*spoil)(Package &), const char *message) {
    Package package = makePackage();
    spoil(package);
    Status status = validatePackage(package);
    ASSERT_FALSE(status) << message;
    EXPECT_THAT(status.message(), HasSubstr(message));
  };
  const char *who = "candidate 'two-v1' of layer 'conv1'";
  expectFault([](Package &p) { p.layers[0].candidates[1].workspaceOffset = 8; },
              who);
  expectFault([](Package &p) { p.layers[0].candidates[1].workspaceBytes = -1; },
              "has a workspace of -1 bytes at 128");
  expectFault([](Package &p) { p.layers[0].candidates[1].workspaceBytes = 8; },
              "refers to byte 64 of 8 arena bytes");
  expectFault([](Package &p) { p.layers[0].operands.clear(); },
              "refers to input 0 of 0");
  expectFault([](Package &p) { p.layers[0].results[0].offset = 3; },
              "layer 'conv1' refers to output 3 of 1");
  expectFault(
      [](Package &p) { p.layers[0].candidates[1].launches[1].symbol = "x"; },
      "has a launch without a code object");
  expectFault(
      [](Package &p) {
        p.chip = "";
        p.arch = "x86-64";
      },
      "has candidates, but the package has no code objects");
}
