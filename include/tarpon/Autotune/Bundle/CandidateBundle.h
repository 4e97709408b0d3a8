//===- CandidateBundle.h - Compiled candidates in a file --------*- C++ -*-===//
//
// Part of Tarpon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A search can be split between machines: a builder proposes and compiles the
// next candidates of a problem (BundleBuilder.h), an evaluator that has the
// device runs them and compiles nothing (BundleEvaluator.h). Between them goes
// one file with everything that the evaluator needs.
//
// It is an archive of the Unix kind (`ar t FILE`) with the members
// manifest.json, reference.tpn, and N.tpn for the candidate with the index N.
//
//===----------------------------------------------------------------------===//

#ifndef TARPON_AUTOTUNE_BUNDLE_CANDIDATEBUNDLE_H
#define TARPON_AUTOTUNE_BUNDLE_CANDIDATEBUNDLE_H

#include "tarpon/Autotune/Store/Journal.h"
#include "tarpon/Runtime/Result.h"

#include <cstdint>
#include <string>
#include <vector>

namespace tarpon {

struct BundledCandidate {
  CandidateKey key;
  int64_t workspaceBytes = 0;
  /// The time that the model of an emulated GPU expects, in milliseconds; 0 for
  /// other targets.
  double modelMs = 0;
  /// Explains why the candidate cannot be compiled; empty if it can.
  std::string error = "";
  /// The bytes of its package (.tpn); empty if there is an error.
  std::string package = "";
};

/// Candidates of one problem that are measured together.
struct CandidateBundle {
  /// The problem's key.
  std::string problem;
  /// The name of the target, for findTarget: "znver5", "gfx942:cu=304".
  std::string target;
  /// The version of the code that made the packages: see getKernelVersion.
  std::string kernelVersion;
  /// The number of threads that the packages run on.
  int64_t threads = 1;
  /// The finalists of a search are in one bundle, to be timed in turn.
  MeasurementStage stage = MeasurementStage::Race;
  /// The bytes of a package whose results are right.
  std::string reference;
  std::vector<BundledCandidate> candidates;
};

/// Writes a bundle to a file, which is complete or not there. An error names
/// it.
runtime::Status writeBundle(const CandidateBundle &bundle,
                            const std::string &path);

/// Reads a bundle, whoever wrote it: an error says what is wrong with it. The
/// bytes of packages are checked by whoever runs them.
runtime::Result<CandidateBundle> readBundle(const std::string &path);

} // namespace tarpon

#endif // TARPON_AUTOTUNE_BUNDLE_CANDIDATEBUNDLE_H
