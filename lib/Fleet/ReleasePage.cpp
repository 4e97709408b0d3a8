//===- ReleasePage.cpp - Differences as a page ----------------------------===//
//
// Part of Tarpon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The page has no script, and its policy forbids everything but its own style.
// Every text that comes from the database goes through showHtml.
//
//===----------------------------------------------------------------------===//

#include "ReleasePlots.h"

#include "tarpon/Fleet/ReleaseReport.h"
#include "tarpon/Fleet/SafeText.h"

#include "llvm/Support/FormatVariadic.h"

using namespace tarpon;
using namespace tarpon::fleet;
using llvm::formatv;
using llvm::raw_ostream;

static constexpr const char *kStyle = R"(
:root { color-scheme: light dark; --back: #ffffff; --text: #1b1f24;
  --soft: #59636e; --line: #d1d9e0; --older: #9aa4af; --newer: #2563c9;
  --slower: #bc4c00; --faster: #0f766e; }
@media (prefers-color-scheme: dark) { :root { --back: #15191e; --text: #e6e9ec;
  --soft: #9aa4af; --line: #363d45; --older: #6b7580; --newer: #6ea8fe;
  --slower: #f0883e; --faster: #2dd4bf; } }
body { background: var(--back); color: var(--text); max-width: 70em;
  font: 15px/1.45 system-ui, sans-serif; margin: 2em auto; padding: 0 1em; }
h1 { font-size: 1.5em } h2 { font-size: 1.15em; margin-top: 2em }
table { border-collapse: collapse; width: 100%; font-size: 0.9em }
th, td { border-bottom: 1px solid var(--line); padding: 0.3em 0.6em;
  text-align: left; vertical-align: top; overflow-wrap: anywhere }
th { color: var(--soft); font-weight: 600 }
td.number { text-align: right; white-space: nowrap;
  font-variant-numeric: tabular-nums }
.soft { color: var(--soft) } .slower { color: var(--slower) }
.faster { color: var(--faster) }
svg { display: block; max-width: 100%; height: auto } svg text {
  fill: var(--text); font: 12px system-ui, sans-serif }
svg .soft { fill: var(--soft) } svg .line { stroke: var(--line) }
svg .older { fill: var(--older) } svg .newer { fill: var(--newer) }
svg .slower { fill: var(--slower) } svg .faster { fill: var(--faster) }
)";

//===----------------------------------------------------------------------===//
// Tables
//===----------------------------------------------------------------------===//

static std::string showSolution(const ResultRecord &record) {
  return showHtml(record.solver) + " <span class=\"soft\">{" +
         showHtml(record.config) + "}</span>";
}

static void printProblem(const ResultRecord &record, raw_ostream &os) {
  os << "<tr><td>" << showHtml(record.target) << "</td><td>"
     << showHtml(record.key) << "</td>";
}

static void printTime(double milliseconds, raw_ostream &os) {
  os << formatv("<td class=\"number\">{0:f6}</td>", milliseconds);
}

static void print(const LostRecord &lost, raw_ostream &os) {
  printProblem(lost.record, os);
  printTime(lost.record.time.median, os);
  os << "<td>" << showSolution(lost.record) << "</td><td>"
     << showHtml(lost.reason) << "</td></tr>\n";
}

static void print(const ResultRecord &record, raw_ostream &os) {
  printProblem(record, os);
  printTime(record.time.median, os);
  os << "<td>" << showSolution(record) << "</td></tr>\n";
}

static llvm::StringRef getClass(TimeVerdict verdict) {
  switch (verdict) {
  case TimeVerdict::Rose:
    return " slower";
  case TimeVerdict::Fell:
    return " faster";
  case TimeVerdict::Same:
  case TimeVerdict::Incomparable:
    return "";
  }
  llvm_unreachable("unknown verdict");
}

static void print(const RecordChange *change, raw_ostream &os) {
  printProblem(change->newer, os);
  printTime(change->older.time.median, os);
  printTime(change->newer.time.median, os);
  os << formatv(
      "<td class=\"number{0}\">{1:f3}</td><td class=\"number\">{2:f1} "
      "%</td><td>{3}",
      getClass(change->time.verdict), change->time.ratio,
      100 * change->time.noise, showSolution(change->older));
  if (!change->hasSameSolution())
    os << " &rarr; " << showSolution(change->newer);
  os << "</td></tr>\n";
}

template <typename Row>
static void
printTable(llvm::StringRef title, llvm::ArrayRef<const char *> heads,
           const std::vector<Row> &rows, size_t limit, raw_ostream &os) {
  if (rows.empty())
    return;
  os << "<h2>" << title << " (" << rows.size() << ")</h2>\n<table><tr>";
  for (const char *head : heads)
    os << "<th>" << head << "</th>";
  os << "</tr>\n";
  for (const Row &row : llvm::ArrayRef(rows).take_front(limit))
    print(row, os);
  os << "</table>\n";
  if (rows.size() > limit)
    os << "<p class=\"soft\">" << rows.size() - limit << " more</p>\n";
}

static void printSessions(const ReleaseDiff &diff, raw_ostream &os) {
  if (diff.sessions.empty())
    return;
  os << "<h2>What else differs</h2>\n<table><tr><th>target</th><th></th><th>"
        "before</th><th>now</th></tr>\n";
  for (const SessionDifference &session : diff.sessions)
    os << "<tr><td>" << showHtml(session.target) << "</td><td>"
       << session.property << "</td><td>" << showHtml(session.older)
       << "</td><td>" << showHtml(session.newer) << "</td></tr>\n";
  os << "</table>\n";
}

static void printRepeated(const ReleaseDiff &diff, raw_ostream &os) {
  for (const RepeatedTimes &repeated : diff.repeated)
    os << formatv("<p>{0}: {1} candidates were measured on both sides, and "
                  "typically take {2:f3} times as long.</p>\n",
                  showHtml(repeated.target), repeated.candidates,
                  repeated.ratio);
}

//===----------------------------------------------------------------------===//
// The page
//===----------------------------------------------------------------------===//

void tarpon::fleet::printPage(const ReleaseDiff &diff, size_t limit,
                              raw_ostream &os) {
  std::string newer = showHtml(diff.newer.str()),
              older = diff.older.name.empty() ? "nothing"
                                              : showHtml(diff.older.str());
  os << "<!DOCTYPE html>\n<html lang=\"en\"><head><meta charset=\"utf-8\">\n"
        "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src "
        "'none'; style-src 'unsafe-inline'\">\n<meta name=\"viewport\" "
        "content=\"width=device-width\">\n<title>"
     << newer << " compared with " << older << "</title>\n<style>" << kStyle
     << "</style></head>\n<body>\n<h1>" << newer
     << " <span class=\"soft\">compared with " << older << "</span></h1>\n<p>"
     << summarize(diff) << "</p>\n";
  printRepeated(diff, os);
  printRatioPlot(diff, os);
  printWinsPlot(diff, os);
  printSessions(diff, os);
  printTable("Problems lost",
             {"target", "problem", "ms before", "solution", "now"}, diff.lost,
             limit, os);
  for (const ReportGroup &group : groupChanges(diff))
    printTable("Problems " + group.title,
               {"target", "problem", "ms before", "ms now", "ratio", "noise",
                "solution"},
               group.changes, limit, os);
  printTable("Problems gained", {"target", "problem", "ms", "solution"},
             diff.gained, limit, os);
  os << "</body></html>\n";
}
