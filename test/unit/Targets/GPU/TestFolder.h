//===- TestFolder.h - Files of a test with a stand-in library ---*- C++ -*-===//
//
// Part of Tarpon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TARPON_TEST_UNIT_TARGETS_GPU_TESTFOLDER_H
#define TARPON_TEST_UNIT_TARGETS_GPU_TESTFOLDER_H

#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

namespace tarpon::test {

/// As many bytes, which begin as a code object does.
inline std::vector<char> makeElf(size_t bytes) {
  std::vector<char> code(bytes);
  std::memcpy(code.data(),
              "\x7f"
              "ELF\2\1",
              6);
  return code;
}

/// A folder that lives as long as this.
struct TestFolder {
  TestFolder() {
    std::string text = std::filesystem::temp_directory_path() / "tarpon-XXXXXX";
    path = mkdtemp(text.data());
  }
  ~TestFolder() { std::filesystem::remove_all(path); }
  TestFolder(const TestFolder &) = delete;
  TestFolder &operator=(const TestFolder &) = delete;

  /// The lines of a file, which is removed.
  std::vector<std::string> takeLines(const std::string &name) const {
    std::vector<std::string> lines;
    std::ifstream file(path / name);
    for (std::string line; std::getline(file, line);)
      lines.push_back(line);
    std::filesystem::remove(path / name);
    return lines;
  }

  std::filesystem::path path;
};

} // namespace tarpon::test

#endif // TARPON_TEST_UNIT_TARGETS_GPU_TESTFOLDER_H
