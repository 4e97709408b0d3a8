//===- SafeText.h - Text from outside, made harmless ------------*- C++ -*-===//
//
// Part of Tarpon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TARPON_PAGE_SAFETEXT_H
#define TARPON_PAGE_SAFETEXT_H

#include "llvm/ADT/StringRef.h"

#include <string>

namespace tarpon {

/// Returns the text on one line, with control characters, those that turn the
/// direction of writing, and bytes that are no UTF-8 as escapes ("\x1b"): they
/// could move the cursor, set colours, or show another text than there is.
std::string showText(llvm::StringRef text);

/// The same of several lines, each of which ends.
std::string showLines(llvm::StringRef text);

/// The same of one line as text of HTML, within elements and in quoted
/// attributes.
std::string showHtml(llvm::StringRef text);

} // namespace tarpon

#endif // TARPON_PAGE_SAFETEXT_H
