//===- LearnedModel.h - A model trained on measurements ---------*- C++ -*-===//
//
// Part of Tarpon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Two forests (Forest.h), which both answer with logarithms to base 2:
//
//   solvers   how many times the roofline (getRooflineCycles) a solver takes
//             with its best config, in milliseconds per 10^6 cycles
//   configs   how many times that a config of it takes
//
// Only differences within one problem decide the order; the expected time
// follows from the sum of both.
//
// The file format: "TPNMODEL", the version, the length of a JSON header, the
// header, the numbers of the forests in the order of the header, and the
// SHA-256 of all that; little endian.
//
//===----------------------------------------------------------------------===//

#ifndef TARPON_AUTOTUNE_LEARN_LEARNEDMODEL_H
#define TARPON_AUTOTUNE_LEARN_LEARNEDMODEL_H

#include "tarpon/Autotune/Learn/Features.h"
#include "tarpon/Autotune/Learn/Forest.h"
#include "tarpon/Autotune/Store/Journal.h"

#include "llvm/ADT/StringRef.h"

#include <cstdint>
#include <map>
#include <string>
#include <vector>

namespace tarpon {

/// The speed of a ranker's first choices relative to the tuned ones: the time
/// of the best solution on record divided by that of the choice.
struct RankingError {
  /// The kind of the problems (Features.h), or "all".
  std::string kind;
  int64_t problems = 0;
  /// Geometric mean, and 10th percentile.
  double mean = 0, tenth = 0;
  /// Problems that are left out because the choice was never measured.
  int64_t unmeasured = 0;
};

struct LearnedModel {
  /// Version 1 had neither the machine's features nor several CPUs, and counted
  /// the elements of tile_n; it is still read.
  static constexpr uint32_t kVersion = 2;

  /// The build that trained the model, the number of threads for which it is
  /// valid, and the CPU; for a model of several the architecture alone.
  JournalContext madeBy;
  /// The number of problems of each CPU that it was trained on, by its name in
  /// the journal.
  std::map<std::string, int64_t> targets;
  uint64_t seed = 0;
  /// The numbers of measurements that it was trained on and of their problems.
  int64_t rows = 0, problems = 0;
  /// The number of problems of each kind; the model answers for no other kinds.
  std::map<std::string, int64_t> kinds;

  /// The split whose held-out problems it was judged on ("" for none), and the
  /// results.
  std::string split;
  std::vector<RankingError> heldOut;
  /// The results on CPUs that took no part in training: each of its own was
  /// left out in turn. Empty for a model of one CPU.
  std::vector<RankingError> heldOutCpus;

  FeatureSpace space;
  Forest solvers, configs;

  std::string serialize() const;
  /// Returns true if the bytes begin as those of a model do.
  static bool isModel(llvm::StringRef bytes);
  /// Parses a model. One that is damaged, of a newer version, or made for
  /// features that this build does not have, is an error of one sentence that
  /// names `source`. One that lacks features of this build is read.
  static runtime::Result<LearnedModel> parse(llvm::StringRef bytes,
                                             const std::string &source);
};

} // namespace tarpon

#endif // TARPON_AUTOTUNE_LEARN_LEARNEDMODEL_H
