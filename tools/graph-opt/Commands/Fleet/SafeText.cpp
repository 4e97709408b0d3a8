//===- SafeText.cpp - Text from outside on a terminal ---------------------===//
//
// Part of Tarpon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "SafeText.h"

#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/ConvertUTF.h"

namespace tarpon {

/// The bytes of the character at the beginning of the text that may be shown; 0
/// if it may not. U+0080 to U+009F control terminals, too.
static size_t getShownBytes(llvm::StringRef text) {
  auto first = static_cast<unsigned char>(text.front());
  if (first < 0x80)
    return llvm::isPrint(text.front()) ? 1 : 0;
  size_t bytes = llvm::getNumBytesForUTF8(first);
  if (bytes > text.size())
    return 0;
  const auto *begin = reinterpret_cast<const llvm::UTF8 *>(text.data());
  bool isC1 = first == 0xc2 && static_cast<unsigned char>(text[1]) < 0xa0;
  return llvm::isLegalUTF8Sequence(begin, begin + bytes) && !isC1 ? bytes : 0;
}

std::string showText(llvm::StringRef text) {
  std::string shown;
  while (!text.empty()) {
    size_t bytes = getShownBytes(text);
    if (bytes)
      shown += text.take_front(bytes);
    else
      shown += "\\x" + llvm::utohexstr(static_cast<unsigned char>(text.front()),
                                       /*LowerCase=*/true, /*Width=*/2);
    text = text.drop_front(bytes ? bytes : 1);
  }
  return shown;
}

std::string showLines(llvm::StringRef text) {
  std::string shown;
  while (!text.empty()) {
    auto [line, rest] = text.split('\n');
    shown += showText(line.rtrim('\r')) + "\n";
    text = rest;
  }
  return shown;
}

} // namespace tarpon
