//===- FuzzInput.h - What fuzzers have in common ----------------*- C++ -*-===//
//
// Part of Tarpon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TARPON_TEST_FUZZ_FUZZINPUT_H
#define TARPON_TEST_FUZZ_FUZZINPUT_H

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <string_view>
#include <sys/mman.h>
#include <unistd.h>

namespace tarpon::fuzz {

inline std::string_view asText(const uint8_t *bytes, size_t size) {
  return {reinterpret_cast<const char *>(bytes), size};
}

/// Ends the fuzzer, which keeps the input, unless a property holds.
inline void require(bool holds, const char *property) {
  if (holds)
    return;
  std::fprintf(stderr, "does not hold: %s\n", property);
  std::abort();
}

/// A file in memory with these bytes.
class InputFile {
public:
  InputFile(const uint8_t *bytes, size_t size)
      : descriptor(memfd_create("fuzz", MFD_CLOEXEC)) {
    require(write(descriptor, bytes, size) == static_cast<ssize_t>(size),
            "the input can be written");
  }
  ~InputFile() { close(descriptor); }
  InputFile(const InputFile &) = delete;
  InputFile &operator=(const InputFile &) = delete;

  std::string getPath() const {
    return "/proc/self/fd/" + std::to_string(descriptor);
  }

private:
  int descriptor;
};

} // namespace tarpon::fuzz

#endif // TARPON_TEST_FUZZ_FUZZINPUT_H
