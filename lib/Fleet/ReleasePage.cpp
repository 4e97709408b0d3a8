//===- ReleasePage.cpp - Differences as a page ----------------------------===//
//
// Part of Tarpon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Every text that comes from the database goes through showHtml.
//
//===----------------------------------------------------------------------===//

#include "ReleasePlots.h"

#include "tarpon/Fleet/ReleaseReport.h"
#include "tarpon/Page/HtmlPage.h"
#include "tarpon/Page/SafeText.h"

#include "llvm/Support/FormatVariadic.h"

using namespace tarpon;
using namespace tarpon::fleet;
using llvm::formatv;
using llvm::raw_ostream;

static constexpr const char *kStyle = R"(
.slower { color: var(--orange) } .faster { color: var(--teal) }
svg .older { fill: var(--grey) } svg .newer { fill: var(--blue) }
svg .slower { fill: var(--orange) } svg .faster { fill: var(--teal) }
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
static void printTable(llvm::StringRef title, llvm::ArrayRef<page::Head> heads,
                       const std::vector<Row> &rows, size_t limit,
                       raw_ostream &os) {
  if (rows.empty())
    return;
  os << "<h2>" << title << " (" << rows.size() << ")</h2>\n";
  page::openTable(heads, os);
  for (const Row &row : llvm::ArrayRef(rows).take_front(limit))
    print(row, os);
  page::closeTable(os);
  if (rows.size() > limit)
    os << "<p class=\"soft\">" << rows.size() - limit << " more</p>\n";
}

static void printSessions(const ReleaseDiff &diff, raw_ostream &os) {
  if (diff.sessions.empty())
    return;
  os << "<h2>What else differs</h2>\n";
  page::openTable({"target", "", "before", "now"}, os);
  for (const SessionDifference &session : diff.sessions)
    os << "<tr><td>" << showHtml(session.target) << "</td><td>"
       << session.property << "</td><td>" << showHtml(session.older)
       << "</td><td>" << showHtml(session.newer) << "</td></tr>\n";
  page::closeTable(os);
}

static void printRepeated(const ReleaseDiff &diff, raw_ostream &os) {
  for (const RepeatedTimes &repeated : diff.repeated)
    os << formatv("<p>{0}: {1} candidates were measured on both sides, and "
                  "typically take {2:f3} times as long{3}.</p>\n",
                  showHtml(repeated.target), repeated.candidates,
                  repeated.ratio, describeMachine(repeated));
}

//===----------------------------------------------------------------------===//
// The page
//===----------------------------------------------------------------------===//

void tarpon::fleet::printPage(const ReleaseDiff &diff, size_t limit,
                              raw_ostream &os) {
  std::string newer = showHtml(diff.newer.str()),
              older = diff.older.name.empty() ? "nothing"
                                              : showHtml(diff.older.str());
  page::openPage(newer + " compared with " + older,
                 newer + " <span class=\"soft\">compared with " + older +
                     "</span>",
                 kStyle, os);
  os << "<p>" << summarize(diff) << "</p>\n";
  printRepeated(diff, os);
  printRatioPlot(diff, os);
  printWinsPlot(diff, os);
  printSessions(diff, os);
  printTable("Problems lost",
             {"target", "problem", {"ms before", true}, "solution", "now"},
             diff.lost, limit, os);
  for (const ReportGroup &group : groupChanges(diff))
    printTable("Problems " + group.title,
               {"target",
                "problem",
                {"ms before", true},
                {"ms now", true},
                {"ratio", true},
                {"noise", true},
                "solution"},
               group.changes, limit, os);
  printTable("Problems gained", {"target", "problem", {"ms", true}, "solution"},
             diff.gained, limit, os);
  page::closePage(os);
}
