//===- LearnedModel.h - What was learned of a target ------------*- C++ -*-===//
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
// Only differences within one problem decide who is first; the sum of both is
// the time that is expected.
//
// As bytes: "TPNMODEL", the version, the length of a JSON header, the header,
// the numbers of the forests in the order of the header, and the SHA-256 of all
// that; little endian.
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

/// How fast a ranker's first choice is, as a part of the tuned speed: the time
/// of the best solution on record divided by that of the choice.
struct RankingError {
  /// Of problems (Features.h), or "all".
  std::string kind;
  int64_t problems = 0;
  /// Geometric mean, and 10th percentile.
  double mean = 0, tenth = 0;
  /// Problems that do not count because the choice was never measured.
  int64_t unmeasured = 0;
};

struct LearnedModel {
  static constexpr uint32_t kVersion = 1;

  /// By what it was trained, and where what it says holds.
  JournalContext madeBy;
  uint64_t seed = 0;
  /// Measurements that it was trained on, and their problems.
  int64_t rows = 0, problems = 0;
  /// Problems by their kind: it says nothing of others.
  std::map<std::string, int64_t> kinds;

  /// The split whose held-out problems it was judged on ("" for none), and what
  /// came out.
  std::string split;
  std::vector<RankingError> heldOut;

  FeatureSpace space;
  Forest solvers, configs;

  std::string serialize() const;
  /// A model that is damaged, of another version, or made for features that
  /// this build does not have, is an error of one sentence that names `source`.
  static runtime::Result<LearnedModel> parse(llvm::StringRef bytes,
                                             const std::string &source);
};

} // namespace tarpon

#endif // TARPON_AUTOTUNE_LEARN_LEARNEDMODEL_H
