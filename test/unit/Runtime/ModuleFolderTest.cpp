//===- ModuleFolderTest.cpp - Tests of where Tarpon is ----------*- C++ -*-===//
//
// Part of Tarpon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tarpon/Runtime/ModuleFolder.h"

#include <filesystem>
#include <gtest/gtest.h>

using tarpon::runtime::getModuleFolder;

TEST(ModuleFolderTest, IsThatOfTheProgramWhateverTheCurrentOne) {
  std::filesystem::path program =
      std::filesystem::read_symlink("/proc/self/exe");
  EXPECT_EQ(getModuleFolder(), program.parent_path());
  std::filesystem::path before = std::filesystem::current_path();
  std::filesystem::current_path("/");
  EXPECT_EQ(getModuleFolder(), program.parent_path());
  std::filesystem::current_path(before);
}
