//===- HtmlPage.h - The frame of a page ------------------------*- C++ -*-===//
//
// Part of Tarpon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TARPON_PAGE_HTMLPAGE_H
#define TARPON_PAGE_HTMLPAGE_H

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/Support/raw_ostream.h"

namespace tarpon::page {

// Pages are one file that needs no other, and no network. They have no script,
// and their policy forbids everything but their own style, which is readable in
// light and dark. Texts are HTML: those from outside go through showHtml.

/// Prints the beginning of a page with its heading. `style` is CSS behind that
/// of all pages, whose colours it has as variables: --back, --text, --soft,
/// --line, and --grey, --blue, --orange, --teal, --purple, --pink, --olive,
/// --sky and --brown, on each of which text in --back is readable.
void openPage(llvm::StringRef title, llvm::StringRef heading,
              llvm::StringRef style, llvm::raw_ostream &os);
void closePage(llvm::raw_ostream &os);

/// The head of a table's column. Numbers stand on the right.
struct Head {
  Head(const char *text) : text(text) {}
  Head(llvm::StringRef text, bool isNumber) : text(text), isNumber(isNumber) {}

  llvm::StringRef text;
  bool isNumber = false;
};

/// Prints the beginning of a table and its row of heads.
void openTable(llvm::ArrayRef<Head> heads, llvm::raw_ostream &os);
void closeTable(llvm::raw_ostream &os);

} // namespace tarpon::page

#endif // TARPON_PAGE_HTMLPAGE_H
