//===- HtmlPage.cpp - The frame of a page -------------------------------===//
//
// Part of Tarpon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tarpon/Page/HtmlPage.h"

using namespace tarpon;
using llvm::raw_ostream;

static constexpr const char *kStyle = R"(
:root { color-scheme: light dark; --back: #ffffff; --text: #1b1f24;
  --soft: #59636e; --line: #d1d9e0; --grey: #76808b; --blue: #2563c9;
  --orange: #bc4c00; --teal: #0f766e; --purple: #8250df; --pink: #b0236a;
  --olive: #5f6b00; --sky: #00759c; --brown: #7d4a1c; }
@media (prefers-color-scheme: dark) { :root { --back: #15191e; --text: #e6e9ec;
  --soft: #9aa4af; --line: #363d45; --grey: #88929d; --blue: #6ea8fe;
  --orange: #f0883e; --teal: #2dd4bf; --purple: #c49bff; --pink: #ff7eb0;
  --olive: #c3d14b; --sky: #56c8f0; --brown: #d3a67c; } }
body { background: var(--back); color: var(--text); max-width: 70em;
  font: 15px/1.45 system-ui, sans-serif; margin: 2em auto; padding: 0 1em; }
h1 { font-size: 1.5em; overflow-wrap: anywhere }
h2 { font-size: 1.15em; margin-top: 2em }
table { border-collapse: collapse; width: 100%; font-size: 0.9em }
th, td { border-bottom: 1px solid var(--line); padding: 0.3em 0.6em;
  text-align: left; vertical-align: top; overflow-wrap: anywhere }
th { color: var(--soft); font-weight: 600; overflow-wrap: break-word }
td.word { white-space: nowrap }
td.number, th.number { text-align: right; white-space: nowrap;
  font-variant-numeric: tabular-nums }
.soft { color: var(--soft) }
svg { display: block; max-width: 100%; height: auto } svg text {
  fill: var(--text); font: 12px system-ui, sans-serif }
svg .soft { fill: var(--soft) } svg .line { stroke: var(--line) }
)";

void page::openPage(llvm::StringRef title, llvm::StringRef heading,
                    llvm::StringRef style, raw_ostream &os) {
  os << "<!DOCTYPE html>\n<html lang=\"en\"><head><meta charset=\"utf-8\">\n"
        "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src "
        "'none'; style-src 'unsafe-inline'\">\n<meta name=\"viewport\" "
        "content=\"width=device-width\">\n<title>"
     << title << "</title>\n<style>" << kStyle << style
     << "</style></head>\n<body>\n<h1>" << heading << "</h1>\n";
}

void page::closePage(raw_ostream &os) { os << "</body></html>\n"; }

void page::openTable(llvm::ArrayRef<Head> heads, raw_ostream &os) {
  os << "<table><tr>";
  for (const Head &head : heads)
    os << (head.isNumber ? "<th class=\"number\">" : "<th>") << head.text
       << "</th>";
  os << "</tr>\n";
}

void page::closeTable(raw_ostream &os) { os << "</table>\n"; }
