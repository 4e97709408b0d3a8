//===- TargetAttributeTest.cpp - Targets in the IR ------------------------===//
//
// Part of Tarpon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tarpon/Targets/Registry/TargetAttribute.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/Parser/Parser.h"

#include <gtest/gtest.h>

using namespace mlir;
using namespace tarpon;

TEST(TargetAttribute, TheInnermostCounts) {
  MLIRContext context;
  context.loadDialect<TarponDialect, func::FuncDialect>();
  auto module = parseSourceString<ModuleOp>(R"(
    module attributes {tarpon.target = #tarpon.target<"x86-64-v3", {threads = 2}>} {
      func.func private @outer()
      func.func private @inner() attributes {
        tarpon.target = #tarpon.target<"gfx942", {device = "emulated"}>}
    })",
                                            &context);
  ASSERT_TRUE(module);
  auto find = [&](StringRef name) {
    auto target = findTarget(getTargetAttr(module->lookupSymbol(name)));
    EXPECT_TRUE(target) << target.message();
    return (*target)->getInfo();
  };
  EXPECT_EQ(find("outer").name(), "x86-64/x86-64-v3/256");
  EXPECT_EQ(find("outer").threads, 2);
  EXPECT_EQ(find("inner").name(), "gfx942:cu=304");
  EXPECT_EQ(find("inner").arch, "amdgcn-ir");
}

TEST(TargetAttribute, NoneIsNone) {
  MLIRContext context;
  context.loadDialect<TarponDialect>();
  OwningOpRef<ModuleOp> module = ModuleOp::create(UnknownLoc::get(&context));
  EXPECT_FALSE(getTargetAttr(*module));
}
