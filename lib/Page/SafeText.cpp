//===- SafeText.cpp - Text from outside, made harmless --------------------===//
//
// Part of Tarpon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tarpon/Page/SafeText.h"

#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/ConvertUTF.h"
#include "llvm/Support/Unicode.h"
#include "llvm/Support/raw_ostream.h"

using namespace tarpon;

namespace {
/// The character at the beginning of a text.
struct Character {
  size_t bytes = 1;
  /// False for characters that are not seen, and for bytes that are none.
  bool isShown = false;
};
} // namespace

static Character getFirst(llvm::StringRef text) {
  const auto *source = reinterpret_cast<const llvm::UTF8 *>(text.begin());
  const llvm::UTF8 *next = source;
  llvm::UTF32 code = 0;
  if (llvm::convertUTF8Sequence(
          &next, reinterpret_cast<const llvm::UTF8 *>(text.end()), &code,
          llvm::strictConversion) != llvm::conversionOK)
    return {};
  return {static_cast<size_t>(next - source),
          llvm::sys::unicode::isPrintable(static_cast<int>(code))};
}

std::string tarpon::showText(llvm::StringRef text) {
  std::string shown;
  while (!text.empty()) {
    Character first = getFirst(text);
    for (char byte : text.take_front(first.bytes))
      if (first.isShown)
        shown += byte;
      else
        shown += "\\x" + llvm::utohexstr(static_cast<unsigned char>(byte),
                                         /*LowerCase=*/true, /*Width=*/2);
    text = text.drop_front(first.bytes);
  }
  return shown;
}

std::string tarpon::showLines(llvm::StringRef text) {
  std::string shown;
  while (!text.empty()) {
    auto [line, rest] = text.split('\n');
    shown += showText(line.rtrim('\r')) + "\n";
    text = rest;
  }
  return shown;
}

std::string tarpon::showHtml(llvm::StringRef text) {
  std::string shown;
  llvm::raw_string_ostream os(shown);
  llvm::printHTMLEscaped(showText(text), os);
  return shown;
}
