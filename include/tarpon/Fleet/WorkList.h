//===- WorkList.h - The problems that a fleet knows -------------*- C++ -*-===//
//
// Part of Tarpon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TARPON_FLEET_WORKLIST_H
#define TARPON_FLEET_WORKLIST_H

#include "tarpon/Fleet/Database.h"
#include "tarpon/Problem/Problem.h"

#include "llvm/ADT/ArrayRef.h"

#include <string>

namespace tarpon::fleet {

struct ImportCount {
  /// The number of problems that were not there before, and of those that did
  /// not have the tag.
  int64_t added = 0, tagged = 0;
};

/// Adds problems and gives them a tag, all or none. Each is kept once, by its
/// key, and may have any number of tags. Recurrent problems are tuned again
/// whenever Tarpon changes (Tuna's sense).
runtime::Result<ImportCount> importProblems(Database &database,
                                            llvm::ArrayRef<Problem> problems,
                                            const std::string &tag,
                                            bool isRecurrent);

/// An error unless `name` may be a tag, a label or the name of a release: 1 to
/// 100 letters, digits and "._:+-/@ ", so that it needs no quotes anywhere.
/// `what` says in the message which of them it is.
runtime::Status checkName(const std::string &what, const std::string &name);

} // namespace tarpon::fleet

#endif // TARPON_FLEET_WORKLIST_H
