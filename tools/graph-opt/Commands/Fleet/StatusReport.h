//===- StatusReport.h - The state of a fleet as text ------------*- C++ -*-===//
//
// Part of Tarpon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TARPON_TOOLS_GRAPH_OPT_COMMANDS_FLEET_STATUSREPORT_H
#define TARPON_TOOLS_GRAPH_OPT_COMMANDS_FLEET_STATUSREPORT_H

#include "tarpon/Fleet/FleetStatus.h"

#include "llvm/Support/raw_ostream.h"

#include <vector>

namespace tarpon {

/// Each prints a part of the state. Text of the database is shown safely.
void printSession(llvm::raw_ostream &os, const fleet::SessionStatus &session);
void printMachines(llvm::raw_ostream &os,
                   const std::vector<fleet::MachineStatus> &machines);
void printCauses(llvm::raw_ostream &os,
                 const std::vector<fleet::CauseStatus> &causes);
void printCandidates(llvm::raw_ostream &os,
                     const std::vector<fleet::CandidateStatus> &candidates);

} // namespace tarpon

#endif // TARPON_TOOLS_GRAPH_OPT_COMMANDS_FLEET_STATUSREPORT_H
