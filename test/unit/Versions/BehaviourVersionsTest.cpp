//===- BehaviourVersionsTest.cpp - A change raises a version --------------===//
//
// Part of Tarpon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// These tests run every part whose version records depend on, and compare it
// with lib/Solver/BehaviourVersions.def. With TARPON_UPDATE_VERSIONS=raise in
// the environment, as scripts/update-behaviour-versions sets it, they write the
// table instead, with a higher version for changed parts; with =keep, with
// unchanged versions.
//
//===----------------------------------------------------------------------===//

#include "BehaviourDigest.h"
#include "GpuModelBehaviour.h"
#include "KernelBehaviour.h"
#include "ModelBehaviour.h"

#include "tarpon/Solver/BehaviourVersion.h"
#include "tarpon/Solver/SolverRegistry.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/Parser/Parser.h"

#include "gmock/gmock.h"
#include "gtest/gtest.h"

#include <cstdlib>
#include <fstream>
#include <set>
#include <sstream>

using namespace tarpon;
using namespace tarpon::test;

static constexpr const char *kTable =
    TARPON_SOURCE_DIR "/lib/Solver/BehaviourVersions.def";
static constexpr const char *kProblems =
    TARPON_SOURCE_DIR "/test/unit/Versions/Inputs/problems.txt";

/// One key per line; `#` begins a comment.
static std::vector<Problem> readProblems() {
  std::vector<Problem> problems;
  std::ifstream file(kProblems);
  std::string line, fault;
  while (std::getline(file, line)) {
    if (line.empty() || line[0] == '#')
      continue;
    auto problem = parseProblem(line, &fault);
    EXPECT_TRUE(mlir::succeeded(problem)) << line << ": " << fault;
    if (mlir::succeeded(problem))
      problems.push_back(std::move(*problem));
  }
  return problems;
}

static Digests digestAll() {
  Digests digests = digestSolvers(readProblems());
  digests.merge(digestCodegen());
  digests.merge(digestGpuModel());
  digests.merge(digestModels());
  return digests;
}

static void writeTable(const Digests &digests, bool raises) {
  std::map<std::string, BehaviourVersion> known;
  for (const BehaviourVersion &row : getBehaviourVersions())
    known.emplace(row.part.str(), row);
  std::ifstream old(kTable);
  std::string line, head;
  while (std::getline(old, line) && line.starts_with("//"))
    head += line + "\n";
  std::ofstream table(kTable);
  table << head << "\n";
  for (const auto &[part, digest] : digests) {
    auto row = known.find(part);
    int64_t version = row == known.end() ? 1 : row->second.version;
    if (row != known.end() && row->second.digest != digest && raises)
      ++version;
    table << "TARPON_BEHAVIOUR(\"" << part << "\", " << version << ",\n"
          << "                 \"" << digest << "\")\n";
  }
}

TEST(BehaviourVersionsTest, WhatHasChangedHasAnotherVersion) {
  Digests digests = digestAll();
  if (const char *mode = std::getenv("TARPON_UPDATE_VERSIONS")) {
    writeTable(digests, std::string(mode) == "raise");
    return;
  }
  for (const BehaviourVersion &row : getBehaviourVersions()) {
    auto now = digests.find(row.part.str());
    ASSERT_NE(now, digests.end())
        << row.part.str() << " has a version and does nothing any more: run "
        << "scripts/update-behaviour-versions";
    EXPECT_EQ(now->second, row.digest.str())
        << "what " << row.part.str()
        << " does has changed: run scripts/update-behaviour-versions, which "
           "raises its version and so voids the records that depend on it; "
           "with --keep, if only LLVM is another one, which records name";
    digests.erase(now);
  }
  for (const auto &[part, digest] : digests)
    ADD_FAILURE() << part
                  << " has no version: run scripts/update-behaviour-versions";
}

TEST(BehaviourVersionsTest, EverySolverIsExercised) {
  std::set<std::string> listed;
  for (const BehaviourVersion &row : getBehaviourVersions())
    listed.insert(row.part.str());
  for (const TargetInfo &target : makeVersionTargets())
    for (const Solver *solver : getSolvers(target))
      EXPECT_TRUE(listed.count(solver->id().str()))
          << "no problem of Inputs/problems.txt is for " << solver->id().str();
}

TEST(BehaviourVersionsTest, PartsAreSorted) {
  auto rows = getBehaviourVersions();
  for (size_t i = 1; i < rows.size(); ++i)
    EXPECT_LT(rows[i - 1].part, rows[i].part);
  EXPECT_EQ(getBehaviourVersion(rows.back().part), rows.back().version);
  EXPECT_EQ(getBehaviourVersion("somebody-elses-solver-v3"), 1);
}

//===----------------------------------------------------------------------===//
// The digest: which changes count
//===----------------------------------------------------------------------===//

namespace {

class BehaviourDigestTest : public testing::Test {
protected:
  BehaviourDigestTest() {
    context.loadDialect<mlir::arith::ArithDialect, mlir::func::FuncDialect,
                        mlir::LLVM::LLVMDialect>();
  }

  /// The digest of a function of two pointers and a number.
  std::string digest(const std::string &body,
                     const std::string &name = "kernel") {
    auto module = mlir::parseSourceString<mlir::ModuleOp>(
        "func.func @" + name + "(%p: !llvm.ptr, %q: !llvm.ptr, %x: f32) {\n" +
            body + "\nreturn }",
        &context);
    EXPECT_TRUE(module) << body;
    return digestBehaviour(&*module->getBody()->getOperations().begin());
  }

  mlir::MLIRContext context;
};

} // namespace

static constexpr const char *kBody = R"(
  %a = arith.constant 1.0 : f32
  %b = arith.constant 2.0 : f32
  %s = arith.addf %x, %a : f32
  %t = arith.mulf %x, %b : f32
  %u = llvm.load %p : !llvm.ptr -> f32
  %v = arith.addf %s, %u : f32
  llvm.store %v, %q : f32, !llvm.ptr
  llvm.store %t, %p : f32, !llvm.ptr)";

TEST_F(BehaviourDigestTest, NamesAndTheOrderOfPureOpsAreNoChange) {
  EXPECT_EQ(digest(kBody), digest(R"(
  // The same with other names, in another order.
  %two = arith.constant 2.0 : f32
  %old = llvm.load %p : !llvm.ptr -> f32
  %late = arith.mulf %x, %two : f32
  %one = arith.constant 1.0 : f32
  %unused = arith.subf %x, %one : f32
  %sum = arith.addf %x, %one : f32
  %all = arith.addf %sum, %old : f32
  llvm.store %all, %q : f32, !llvm.ptr
  llvm.store %late, %p : f32, !llvm.ptr)",
                                  "other"));
}

TEST_F(BehaviourDigestTest, OpsOperandsAttributesAndWritesAre) {
  std::set<std::string> digests = {digest(kBody)};
  for (auto [from, to] :
       {std::pair("mulf", "divf"), std::pair("2.0 : f32", "2.5 : f32"),
        std::pair("addf %s, %u", "addf %u, %s"), std::pair("%v, %q", "%v, %p"),
        std::pair("llvm.load %p", "llvm.load volatile %p"),
        std::pair("arith.addf %x, %a : f32",
                  "arith.addf %x, %a fastmath<nnan> : f32")}) {
    std::string body = kBody;
    ASSERT_NE(body.find(from), std::string::npos) << from;
    body.replace(body.find(from), std::string(from).size(), to);
    EXPECT_TRUE(digests.insert(digest(body)).second) << to;
  }
  // A read that has moved behind a write.
  std::string body = kBody;
  std::string write = "llvm.store %t, %p : f32, !llvm.ptr";
  body.erase(body.find(write));
  body.insert(body.find("%u = llvm.load"), write + "\n");
  EXPECT_TRUE(digests.insert(digest(body)).second);
}
