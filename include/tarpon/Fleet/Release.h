//===- Release.h - Numbered releases of results -----------------*- C++ -*-===//
//
// Part of Tarpon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A release is a label's results over those of an older release: problems that
// the label has tuned get its results, all others keep theirs. What was
// released is never changed.
//
//===----------------------------------------------------------------------===//

#ifndef TARPON_FLEET_RELEASE_H
#define TARPON_FLEET_RELEASE_H

#include "tarpon/Fleet/ReleaseDiff.h"

#include <string>
#include <vector>

namespace tarpon::fleet {

struct ReleaseRequest {
  /// The new release, and the older one; "" for none, which has to be accepted
  /// once there are releases.
  std::string name, base;
  std::string label, remark;
  /// Make it although it loses problems, got slower, or the label has not
  /// ended.
  bool accept = false;
};

struct ReleaseOutcome {
  /// The differences from the older release.
  ReleaseDiff diff;
  /// The numbers of records, and of those that come from the label.
  int64_t records = 0, fromLabel = 0;
  /// The number of the label's jobs that have not ended.
  int64_t unfinished = 0;
  /// True if nothing was written.
  bool isRefused = false;

  int64_t count(TimeVerdict verdict) const;
  /// Says in one sentence why it was, or would have been, refused; "" if there
  /// is no reason.
  std::string describeFaults() const;
};

/// Makes a release, unless it would lose problems, got slower, or has a model's
/// times where there were measured ones. A problem of the older release is lost
/// if the label has tuned it and has no verified result; where that is
/// accepted, the release does not have it. An error if there is such a release,
/// or if the label has no results.
runtime::Result<ReleaseOutcome> makeRelease(Database &database,
                                            const ReleaseRequest &request);

struct ReleaseInfo {
  std::string name, base, label, remark;
  /// Seconds since 1970.
  double created = 0;
  /// The number of problems by target.
  std::map<std::string, int64_t> targets;
};

/// All releases, the oldest first.
runtime::Result<std::vector<ReleaseInfo>> listReleases(Database &database);

} // namespace tarpon::fleet

#endif // TARPON_FLEET_RELEASE_H
