//===- TestDirectory.h - A folder of one test -------------------*- C++ -*-===//
//
// Part of Tarpon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TARPON_TEST_UNIT_AUTOTUNE_TESTDIRECTORY_H
#define TARPON_TEST_UNIT_AUTOTUNE_TESTDIRECTORY_H

#include <string>

namespace tarpon::test {

/// Made by the constructor, removed with its contents by the destructor.
class TestDirectory {
public:
  TestDirectory();
  ~TestDirectory();

  const std::string &path() const { return root; }
  std::string file(const std::string &name) const { return root + "/" + name; }

private:
  std::string root;
};

std::string readText(const std::string &path);
void writeText(const std::string &path, const std::string &text);

} // namespace tarpon::test

#endif // TARPON_TEST_UNIT_AUTOTUNE_TESTDIRECTORY_H
