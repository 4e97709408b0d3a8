//===- PlanMemoryTest.cpp - Properties of memory plans ----------*- C++ -*-===//
//
// Part of Tarpon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "TestModule.h"
#include "tarpon/Runtime/KernelABI.h"

#include "gtest/gtest.h"

#include <random>

using namespace mlir;
using namespace tarpon;
using tarpon::test::TestModule;

namespace {

/// Bytes in use while the launches [first, last] run.
struct Span {
  int64_t begin, end;
  int64_t first, last;
  /// Made by a launch that may overwrite an input, and reads none twice.
  bool mayOverwrite = false;

  /// This result takes the place of an input that nothing reads later.
  bool isInPlaceOf(const Span &input) const {
    return mayOverwrite && begin == input.begin && end == input.end &&
           first == input.last && input.first < first;
  }

  bool clashesWith(const Span &other) const {
    return begin < other.end && other.begin < end && first <= other.last &&
           other.first <= last;
  }
};

} // namespace

/// A chain of launches of random sizes in which each reads the one before and
/// some earlier one.
static std::string makeLaunches(std::mt19937 &random, int64_t count) {
  auto below = [&](int64_t limit) -> int64_t { return random() % limit; };
  std::vector<std::string> types, names;
  std::string text;
  for (int64_t i = 0; i < count; ++i) {
    int64_t size = below(2) ? 1000 : 1 + below(4000);
    types.push_back("tensor<" + std::to_string(size) + "xf32>");
    names.push_back("%r" + std::to_string(i));
    std::string one = "%x", oneType = "tensor<4xf32>", two = one,
                twoType = oneType;
    if (i > 0) {
      int64_t other = below(i);
      one = names[i - 1], oneType = types[i - 1];
      two = names[other], twoType = types[other];
    }
    std::string mayOverwrite =
        below(2) ? "" : ", may_overwrite = array<i64: 0, 1>";
    text += names[i] + " = tarpon.launch \"l\"(" + one + ", " + two +
            ") {problem = #tarpon.problem<\"relu(4xf32)->4xf32\">, "
            "solution = #tarpon.solution<\"s\", \"\", \"default\">, "
            "workspace_bytes = " +
            std::to_string(below(3) ? 0 : below(20000)) + " : i64" +
            mayOverwrite + "} : (" + oneType + ", " + twoType + ") -> " +
            types[i] + "\n";
  }
  return "func.func @f(%x: tensor<4xf32>) -> " + types.back() + " {\n" + text +
         "return " + names.back() + " : " + types.back() + "\n}\n";
}

static std::vector<Span> getSpans(func::FuncOp function) {
  std::vector<Span> spans;
  llvm::DenseMap<Operation *, int64_t> times;
  for (Operation &op : function.getBody().front())
    times.insert({&op, times.size()});
  for (auto launch : function.getBody().front().getOps<LaunchOp>()) {
    int64_t first = times[launch], last = first;
    for (Operation *user : launch->getUsers())
      last = std::max(last, times[user]);
    auto type = cast<RankedTensorType>(launch.getResult().getType());
    int64_t offset = *launch.getOffset();
    if (offset >= 0)
      spans.push_back(
          {offset,
           offset + type.getNumElements() * 4 + runtime::kBufferTailPadding,
           first, last,
           launch.getMayOverwrite() &&
               launch.getInputs()[0] != launch.getInputs()[1]});
    int64_t workspace = launch.getWorkspaceBytes();
    if (workspace > 0)
      spans.push_back({static_cast<int64_t>(*launch.getWorkspaceOffset()),
                       static_cast<int64_t>(*launch.getWorkspaceOffset()) +
                           workspace + runtime::kBufferTailPadding,
                       first, first});
  }
  return spans;
}

TEST(PlanMemory, SharesMemoryOnlyBetweenWhatIsNotInUseTogether) {
  std::mt19937 random(7);
  int64_t inPlace = 0;
  for (int round = 0; round < 30; ++round) {
    TestModule test(makeLaunches(random, 1 + round));
    ASSERT_TRUE(test.module);
    ASSERT_TRUE(succeeded(test.run(createPlanMemoryPass())));
    std::vector<Span> spans = getSpans(test.getFunction());
    int64_t arena = test.getFunction()
                        ->getAttrOfType<IntegerAttr>(kArenaBytesAttrName)
                        .getInt();
    for (size_t i = 0; i < spans.size(); ++i) {
      EXPECT_GE(spans[i].begin, 0);
      EXPECT_EQ(spans[i].begin % runtime::kBufferAlignment, 0);
      EXPECT_LE(spans[i].end, arena);
      for (size_t j = 0; j < i; ++j) {
        bool isInPlace = spans[i].isInPlaceOf(spans[j]);
        inPlace += isInPlace;
        EXPECT_TRUE(isInPlace || !spans[i].clashesWith(spans[j]));
      }
    }
  }
  EXPECT_GT(inPlace, 0);
}
