//===- SizedPackageTest.cpp - Tests of packages of several sizes ----------===//
//
// Part of Tarpon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tarpon/Runtime/SizedPackage.h"
#include "TestPackages.h"
#include "tarpon/Runtime/PackageBytes.h"
#include "tarpon/Runtime/SizedExecutor.h"

#include <gmock/gmock.h>

using namespace tarpon::runtime;
using namespace tarpon::runtime::test;
using testing::ElementsAre;
using testing::HasSubstr;

static Result<Program> readSize(const Package &package, int64_t size) {
  return readProgram(package, std::span(&size, 1),
                     static_cast<int64_t>(package.constants.size()));
}

static std::string refuseSize(const Package &package, int64_t size) {
  Result<Program> program = readSize(package, size);
  return program ? "it was read" : program.message();
}

TEST(SizedPackageTest, RoundTripsAFile) {
  TempFolder folder;
  std::string path = folder.file("model.tpn");
  Package package = makePackageOfSizes(3, 9);
  ASSERT_TRUE(writePackage(package, path));
  Result<Package> back = readPackage(path);
  ASSERT_TRUE(back) << back.message();
  ASSERT_EQ(back->dimensions.size(), 1u);
  EXPECT_EQ(back->dimensions[0].name, "n");
  EXPECT_EQ(back->dimensions[0].low, 3);
  EXPECT_EQ(back->dimensions[0].high, 9);
  EXPECT_THAT(back->symbols, ElementsAre("scaleAndAdd"));
  ASSERT_EQ(back->programRanges.size(), 7u);
  EXPECT_EQ(back->programs, package.programs);
  EXPECT_EQ(describeDimensions(*back), "n from 3 to 9");
}

TEST(SizedPackageTest, ProgramsAreWhatWasAdded) {
  Package package = makePackageOfSizes(3, 9);
  for (int64_t size : {3, 7, 9}) {
    Result<Program> program = readSize(package, size);
    ASSERT_TRUE(program) << program.message();
    Package expected = makeTestPackage(size);
    EXPECT_EQ(program->arenaBytes, expected.arenaBytes);
    EXPECT_EQ(program->inputs[0].name, "data");
    EXPECT_THAT(program->inputs[0].shape, ElementsAre(1, size));
    EXPECT_THAT(program->outputs[0].shape, ElementsAre(1, size));
    ASSERT_EQ(program->layers.size(), 2u);
    const Layer &layer = program->layers[1], &wanted = expected.layers[1];
    EXPECT_EQ(layer.name, wanted.name);
    EXPECT_EQ(layer.problem, wanted.problem);
    EXPECT_EQ(layer.solver, wanted.solver);
    EXPECT_EQ(layer.config, wanted.config);
    EXPECT_EQ(layer.source, wanted.source);
    EXPECT_EQ(layer.flops, wanted.flops);
    EXPECT_EQ(layer.bytes, wanted.bytes);
    ASSERT_EQ(layer.launches.size(), 1u);
    const Launch &launch = layer.launches[0], &same = wanted.launches[0];
    EXPECT_EQ(launch.symbol, same.symbol);
    EXPECT_EQ(launch.params, same.params);
    EXPECT_EQ(launch.tasks, same.tasks);
    EXPECT_EQ(launch.scratchBytes, same.scratchBytes);
    ASSERT_EQ(launch.buffers.size(), 3u);
    EXPECT_EQ(launch.buffers[2].space, BufferSpace::Output);
  }
}

TEST(SizedPackageTest, SizesOutOfRangeAreNamed) {
  Package package = makePackageOfSizes(3, 9);
  for (int64_t size : {-1, 2, 10})
    EXPECT_EQ(refuseSize(package, size),
              "the package of model 'two-layers' is for n from 3 to 9, not " +
                  std::to_string(size));
}

TEST(SizedPackageTest, FindsTheSizesOfInputs) {
  Package package = makePackageOfSizes(3, 9);
  auto find = [&](std::vector<int64_t> shape) {
    std::vector<std::vector<int64_t>> shapes = {std::move(shape)};
    return findSizes(package, shapes);
  };
  EXPECT_THAT(*find({1, 5}), ElementsAre(5));
  // What does not fit elsewhere is found when it is compared with the program.
  EXPECT_THAT(*find({2, 5}), ElementsAre(5));
  EXPECT_THAT(*find({1}), ElementsAre(3));
  EXPECT_THAT(find({1, 10}).message(), HasSubstr("n from 3 to 9, not 10"));
}

TEST(SizedPackageTest, FindsSizesByName) {
  Package package = makePackageOfSizes(3, 9);
  EXPECT_THAT(*nameSizes(package, {}), ElementsAre(3));
  EXPECT_THAT(*nameSizes(package, {{"n", 8}}), ElementsAre(8));
  EXPECT_EQ(nameSizes(package, {{"seq", 8}}).message(),
            "the package of model 'two-layers' has no dimension 'seq'; it is "
            "for n from 3 to 9");
  EXPECT_THAT(nameSizes(package, {{"n", 11}}).message(), HasSubstr("not 11"));
  EXPECT_EQ(nameSizes(makeTestPackage(3), {{"n", 3}}).message(),
            "the package of model 'two-layers' has no dimension 'n'");
}

TEST(SizedPackageTest, APackageOfOneSizeRuns) {
  std::vector<int64_t> sizes = {5};
  Result<Package> package = takeProgram(makePackageOfSizes(3, 9), sizes);
  ASSERT_TRUE(package) << package.message();
  EXPECT_TRUE(package->dimensions.empty());
  EXPECT_TRUE(validatePackage(*package));
  EXPECT_THAT(package->inputs[0].shape, ElementsAre(1, 5));
}

//===----------------------------------------------------------------------===//
// Malformed packages
//===----------------------------------------------------------------------===//

/// The message for a package that `change` spoils.
template <typename Change>
static std::string refuseAfter(Change change) {
  Package package = makePackageOfSizes(3, 9);
  change(package);
  Status status = validatePackage(package);
  return status ? "it was accepted" : status.message();
}

TEST(SizedPackageTest, MalformedDimensionsAreRefused) {
  EXPECT_EQ(refuseAfter([](Package &p) { p.dimensions[0].low = -1; }),
            "dimension 'n' goes from -1 to 9");
  EXPECT_EQ(refuseAfter([](Package &p) { p.dimensions[0].high = 2; }),
            "dimension 'n' goes from 3 to 2");
  EXPECT_EQ(refuseAfter([](Package &p) { p.dimensions[0].high = INT64_MAX; }),
            "dimension 'n' goes from 3 to 9223372036854775807");
  EXPECT_EQ(refuseAfter([](Package &p) { p.dimensions[0].places.clear(); }),
            "dimension 'n' is of no input");
  EXPECT_EQ(refuseAfter([](Package &p) { p.dimensions[0].places[0].dim = 2; }),
            "dimension 'n' is dimension 2 of input 0, which is not there");
  EXPECT_EQ(refuseAfter([](Package &p) { p.dimensions[0].places[0].dim = 0; }),
            "dimension 'n' begins with 3, but input 'data' with 1");
  EXPECT_EQ(
      refuseAfter([](Package &p) { p.dimensions.push_back(p.dimensions[0]); }),
      "it has several dimensions called 'n', or one without a name");
  EXPECT_EQ(refuseAfter([](Package &p) {
              p.dimensions.push_back({"m", 1, int64_t(1) << 20, {{0, 0}}});
            }),
            "its dimensions have more sizes than there are programs");
  EXPECT_EQ(refuseAfter([](Package &p) { p.symbols.emplace_back(); }),
            "it has a kernel symbol that is no name");
}

TEST(SizedPackageTest, MalformedPlacesOfProgramsAreRefused) {
  EXPECT_EQ(refuseAfter([](Package &p) { p.programRanges.pop_back(); }),
            "it has 6 programs for 7 sizes");
  EXPECT_EQ(refuseAfter([](Package &p) { p.dimensions.clear(); }),
            "it has 7 programs for 0 sizes");
  EXPECT_EQ(refuseAfter([](Package &p) { p.programRanges[1].sizes = {5}; }),
            "program 1 is not for the sizes of its place");
  EXPECT_EQ(refuseAfter([](Package &p) { p.programRanges[1].bytes = -1; }),
            "program 1 is not among the programs");
  EXPECT_EQ(refuseAfter([](Package &p) { ++p.programRanges[6].bytes; }),
            "program 6 is not among the programs");
  EXPECT_EQ(refuseAfter([](Package &p) { p.programRanges[2].arenaBytes = -1; }),
            "program 2 has an arena of -1 bytes");
}

TEST(SizedPackageTest, ProgramsOfOtherRanksAreRefused) {
  Package package = makePackageOfSizes(3, 9);
  Program program = makeTestPackage(4);
  program.inputs[0].shape = {1, 1, 4};
  package.programRanges.clear();
  package.programs.clear();
  for (int64_t size = 3; size <= 9; ++size)
    addProgram(package, {size}, program);
  EXPECT_EQ(refuseSize(package, 4),
            "the package of model 'two-layers' is damaged: input 'data' has "
            "another rank in a program");
  Program unknown = makeTestPackage(4);
  unknown.layers[0].launches[0].buffers[0].space = static_cast<BufferSpace>(9);
  package.programRanges.clear();
  package.programs.clear();
  for (int64_t size = 3; size <= 9; ++size)
    addProgram(package, {size}, unknown);
  EXPECT_EQ(refuseSize(package, 4),
            "the package of model 'two-layers' is damaged: a buffer of a "
            "program is in an unknown space");
}

TEST(SizedPackageTest, DamagedProgramsAreRefused) {
  std::string who = "the package of model 'two-layers' is damaged: ";
  Package package = makePackageOfSizes(3, 9);
  package.programRanges[0].bytes -= 8;
  EXPECT_EQ(refuseSize(package, 3),
            who + "a list of a program is longer than the program");
  package.programRanges[0].bytes = 4;
  EXPECT_EQ(refuseSize(package, 3), who + "it ends inside a program");
  package = makePackageOfSizes(3, 9);
  package.programRanges[0].bytes += 8;
  EXPECT_EQ(refuseSize(package, 3), who + "bytes follow the end of a program");
  package = makePackageOfSizes(3, 9);
  package.programRanges[1].arenaBytes += 64;
  EXPECT_EQ(refuseSize(package, 4), who + "a program needs an arena of 64 "
                                          "bytes, where 128 were announced");
  package = makePackageOfSizes(3, 9);
  std::swap(package.programRanges[0].offset, package.programRanges[1].offset);
  EXPECT_EQ(refuseSize(package, 3),
            who + "a program is not for the sizes of its place");
  package = makePackageOfSizes(3, 9);
  package.symbols.clear();
  EXPECT_EQ(refuseSize(package, 3),
            who + "a launch of a program has a symbol that the package lacks");
}

/// Whatever a program's numbers are, it is refused or every offset in it is
/// within the package.
TEST(SizedPackageTest, NoNumberOfAProgramIsTrusted) {
  const Package package = makePackageOfSizes(3, 9);
  size_t accepted = 0, count = 0;
  for (int64_t at = 0; at + 8 <= package.programRanges[1].bytes; at += 8)
    for (int64_t value : {int64_t(-1), int64_t(1) << 40, INT64_MIN}) {
      Package changed = package;
      std::memcpy(changed.programs.data() + package.programRanges[1].offset +
                      at,
                  &value, sizeof(value));
      Result<Program> program = readSize(changed, 4);
      ++count;
      if (!program)
        continue;
      ++accepted;
      for (const Layer &layer : program->layers)
        for (const Launch &launch : layer.launches)
          for (const BufferRef &buffer : launch.buffers)
            EXPECT_LE(static_cast<uint64_t>(buffer.offset), 64u);
    }
  // Names, costs and parameters may be anything.
  EXPECT_LT(accepted, count / 2);
}

//===----------------------------------------------------------------------===//
// Running
//===----------------------------------------------------------------------===//

static void checkRun(SizedExecutor &sized, int64_t size) {
  Result<Executor *> executor = sized.at(std::span(&size, 1));
  ASSERT_TRUE(executor) << executor.message();
  std::vector<float> input(size), output(size, -1.0f);
  for (int64_t i = 0; i < size; ++i)
    input[i] = static_cast<float>(i + size);
  const void *inputs[] = {input.data()};
  void *outputs[] = {output.data()};
  ASSERT_TRUE((*executor)->run(inputs, outputs));
  for (int64_t i = 0; i < size; ++i)
    ASSERT_EQ(output[i], expectedOutput(input[i])) << size << " " << i;
}

TEST(SizedExecutorTest, RunsEverySizeInAnyOrder) {
  ExecutorOptions options;
  options.threads = 2;
  options.poisonMemory = true;
  auto first = Executor::create(makePackageOfSizes(3, 900), options);
  ASSERT_TRUE(first) << first.message();
  SizedExecutor sized(std::move(*first));
  for (int64_t size : {900, 3, 17, 16, 900, 899, 3})
    checkRun(sized, size);
}

TEST(SizedExecutorTest, ASizeIsMadeOnce) {
  auto first = Executor::create(makePackageOfSizes(3, 9));
  ASSERT_TRUE(first) << first.message();
  Executor *lowest = first->get();
  SizedExecutor sized(std::move(*first));
  int64_t low = 3, other = 4, beyond = 10;
  EXPECT_EQ(*sized.at(std::span(&low, 1)), lowest);
  EXPECT_EQ(*sized.at(std::span(&other, 1)), *sized.at(std::span(&other, 1)));
  EXPECT_THAT(sized.at(std::span(&beyond, 1)).message(),
              HasSubstr("n from 3 to 9, not 10"));
}
