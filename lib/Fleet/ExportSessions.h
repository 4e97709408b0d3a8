//===- ExportSessions.h - The sessions that can be exported -----*- C++ -*-===//
//
// Part of Tarpon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TARPON_LIB_FLEET_EXPORTSESSIONS_H
#define TARPON_LIB_FLEET_EXPORTSESSIONS_H

#include "tarpon/Fleet/Export.h"

#include <string>
#include <vector>

namespace tarpon::fleet {

/// A form of results that not all sessions can have.
struct ExportForm {
  /// "a system store".
  const char *name;
  /// Returns the reason why a session cannot have it; "" if it can.
  std::string (*findObstacle)(const Session &session);
};

extern const ExportForm kStoreForm, kMIOpenForm, kKernelForm;

/// Returns the sessions that can have the form, and appends the others' reasons
/// to `omissions`. An error if there is none.
runtime::Result<std::vector<Session>>
selectSessions(Database &database, const ResultsName &name,
               const ExportForm &form, std::vector<std::string> &omissions);

/// An error if there is a file.
runtime::Status checkAbsent(const std::string &path);

} // namespace tarpon::fleet

#endif // TARPON_LIB_FLEET_EXPORTSESSIONS_H
