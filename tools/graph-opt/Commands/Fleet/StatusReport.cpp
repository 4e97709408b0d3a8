//===- StatusReport.cpp - The state of a fleet as text --------------------===//
//
// Part of Tarpon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "StatusReport.h"

#include "tarpon/Page/SafeText.h"

#include "llvm/Support/FormatVariadic.h"

namespace tarpon {

using llvm::formatv;

/// Seconds as "2 h 5 min", "40 s".
static std::string describeSeconds(double seconds) {
  auto whole = static_cast<int64_t>(seconds);
  if (whole < 120)
    return formatv("{0} s", whole);
  if (whole < 7200)
    return formatv("{0} min", whole / 60);
  return formatv("{0} h {1} min", whole / 3600, whole % 3600 / 60);
}

void printSession(llvm::raw_ostream &os, const fleet::SessionStatus &session) {
  os << formatv("{0} for {1}: {2} of {3} jobs have ended",
                showText(session.label), showText(session.target),
                session.ended, session.total);
  if (session.rate > 0)
    os << formatv(", {0:F2} per second", session.rate);
  if (session.secondsLeft && session.ended < session.total)
    os << ", " << describeSeconds(*session.secondsLeft) << " left";
  os << "\n";
  for (const auto &[state, count] : session.counts)
    os << formatv("  {0,7} {1}\n", count, showText(state));
}

void printMachines(llvm::raw_ostream &os,
                   const std::vector<fleet::MachineStatus> &machines) {
  if (!machines.empty())
    os << "machine            builders evaluators jobs  heard of\n";
  for (const fleet::MachineStatus &machine : machines) {
    os << formatv("{0,-18} {1,8} {2,10} {3,4}  {4} ago", showText(machine.name),
                  machine.builders, machine.evaluators, machine.jobs,
                  describeSeconds(machine.silence));
    if (machine.state != "ready")
      os << ", " << showText(machine.state);
    if (!machine.reason.empty())
      os << " (" << showText(machine.reason) << ")";
    os << "\n";
  }
}

void printCauses(llvm::raw_ostream &os,
                 const std::vector<fleet::CauseStatus> &causes) {
  if (!causes.empty())
    os << "attempts without a result\n";
  for (const fleet::CauseStatus &cause : causes)
    os << formatv("  {0,7} {1,-8} of {2} jobs; last: {3}\n", cause.attempts,
                  showText(cause.cause), cause.jobs, showText(cause.reason));
}

void printCandidates(llvm::raw_ostream &os,
                     const std::vector<fleet::CandidateStatus> &candidates) {
  if (!candidates.empty())
    os << "candidates that failed\n";
  for (const fleet::CandidateStatus &each : candidates)
    os << formatv("  {0,7} {1,-9} of {2} problems; last: {3}\n",
                  each.candidates, showText(each.status), each.problems,
                  showText(each.latest));
}

} // namespace tarpon
