//===- CandidateDigests.cpp - The candidates of a problem -----------------===//
//
// Part of Tarpon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tarpon/Autotune/Store/CandidateDigests.h"

#include "tarpon/Solver/BehaviourVersion.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/SmallVector.h"

using namespace tarpon;

void CandidateDigests::add(llvm::StringRef solver, int64_t version,
                           llvm::StringRef digest) {
  solvers[solver.str()] = {version, digest.str()};
}

bool CandidateDigests::haveSame(const CandidateDigests &others,
                                llvm::StringRef solver) const {
  auto here = solvers.find(solver), there = others.solvers.find(solver);
  return here != solvers.end() && there != others.solvers.end() &&
         here->second == there->second;
}

bool CandidateDigests::areOfThisBuild() const {
  return llvm::all_of(solvers, [](const auto &solver) {
    return solver.second.version == getBehaviourVersion(solver.first);
  });
}

std::string CandidateDigests::str() const {
  std::string text;
  for (const auto &[id, entry] : solvers)
    text += (text.empty() ? "" : " ") + id + "/" +
            std::to_string(entry.version) + "/" + entry.digest;
  return text;
}

CandidateDigests CandidateDigests::parse(llvm::StringRef text) {
  CandidateDigests digests;
  llvm::SmallVector<llvm::StringRef> entries, fields;
  text.split(entries, ' ', /*MaxSplit=*/-1, /*KeepEmpty=*/false);
  for (llvm::StringRef entry : entries) {
    fields.clear();
    entry.split(fields, '/');
    int64_t version = 0;
    if (fields.size() == 3 && !fields[1].getAsInteger(10, version))
      digests.add(fields[0], version, fields[2]);
  }
  return digests;
}
