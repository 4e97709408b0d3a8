//===- TestDirectory.cpp - A folder of one test ---------------------------===//
//
// Part of Tarpon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "TestDirectory.h"

#include "llvm/Support/FileSystem.h"

#include <cstdlib>
#include <fstream>
#include <iterator>

using namespace tarpon::test;

TestDirectory::TestDirectory() {
  const char *parent = std::getenv("TMPDIR");
  root = std::string(parent && *parent ? parent : "/tmp") +
         "/tarpon-autotune-test-XXXXXX";
  if (!mkdtemp(root.data()))
    abort();
}

TestDirectory::~TestDirectory() {
  (void)llvm::sys::fs::remove_directories(root);
}

std::string tarpon::test::readText(const std::string &path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

void tarpon::test::writeText(const std::string &path, const std::string &text) {
  std::ofstream(path, std::ios::binary) << text;
}
