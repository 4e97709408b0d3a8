//===- Messages.cpp - Messages of the programs ----------------------------===//
//
// Part of Tarpon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Messages.h"

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <string_view>

namespace tarpon {

static const char *programName = "graph-opt";

void setProgramName(const char *name) { programName = name; }

/// Returns the length of the character of UTF-8 at the beginning of a text, and
/// its code; 0 if there is none.
static size_t decode(std::string_view text, uint32_t &code) {
  auto byte = [&](size_t i) { return static_cast<unsigned char>(text[i]); };
  size_t length = byte(0) < 0x80   ? 1
                  : byte(0) < 0xc2 ? 0
                  : byte(0) < 0xe0 ? 2
                  : byte(0) < 0xf0 ? 3
                  : byte(0) < 0xf5 ? 4
                                   : 0;
  if (length == 0 || length > text.size())
    return 0;
  code = length == 1 ? byte(0) : byte(0) & (0x7fU >> length);
  for (size_t i = 1; i < length; ++i) {
    if ((byte(i) & 0xc0) != 0x80)
      return 0;
    code = code << 6 | (byte(i) & 0x3f);
  }
  return length;
}

/// Returns true for control characters, and for those that turn the direction
/// of writing.
static bool isHarmful(uint32_t code) {
  return code < 0x20 || (code >= 0x7f && code < 0xa0) || code == 0x61c ||
         code == 0x200e || code == 0x200f ||
         (code >= 0x2028 && code <= 0x202e) ||
         (code >= 0x2066 && code <= 0x2069);
}

/// Returns text from outside, such as a file's name, with all that could move
/// the cursor or show another text than there is as escapes. SafeText.h does
/// the same with LLVM, which not all programs link.
static std::string escape(std::string_view text) {
  std::string shown;
  while (!text.empty()) {
    uint32_t code = 0;
    size_t length = decode(text, code);
    bool isShown = length > 0 && !isHarmful(code);
    for (char byte : text.substr(0, std::max<size_t>(1, length))) {
      char hex[8] = {byte};
      if (!isShown)
        std::snprintf(hex, sizeof hex, "\\x%02x",
                      static_cast<unsigned char>(byte));
      shown += hex;
    }
    text.remove_prefix(std::max<size_t>(1, length));
  }
  return shown;
}

/// File names may contain line breaks; a message never does.
static void printLine(const char *severity, std::string message) {
  std::replace_if(
      message.begin(), message.end(),
      [](char c) { return c == '\n' || c == '\r' || c == '\t'; }, ' ');
  while (!message.empty() && message.back() == ' ')
    message.pop_back();
  // Flushing stdout keeps the order in a log of both streams.
  std::fflush(stdout);
  std::fprintf(stderr, "%s: %s: %s\n", programName, severity,
               escape(message).c_str());
}

int fail(const std::string &message) {
  printLine("error", message);
  return kUserError;
}

int failUsage(const std::string &message) {
  printLine("error", message);
  return kUsageError;
}

void remark(const std::string &message) { printLine("remark", message); }

} // namespace tarpon
