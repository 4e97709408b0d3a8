//===- UserFolder.cpp - Where a user's files are --------------------------===//
//
// Part of Tarpon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tarpon/Runtime/UserFolder.h"

#include <cstdlib>
#include <pwd.h>
#include <unistd.h>
#include <vector>

namespace tarpon::runtime {

static std::string getVariable(const char *name) {
  const char *value = std::getenv(name);
  return value ? value : "";
}

static std::string findHome() {
  if (std::string home = getVariable("HOME"); !home.empty())
    return home;
  std::vector<char> buffer(1 << 14);
  passwd entry, *found = nullptr;
  getpwuid_r(getuid(), &entry, buffer.data(), buffer.size(), &found);
  // A user without an entry has no home, and can write nothing there.
  return found && found->pw_dir ? found->pw_dir : "";
}

std::string UserFolder::find() const {
  if (std::string own = getVariable(ownVariable); !own.empty())
    return own;
  if (std::string base = getVariable(baseVariable); !base.empty())
    return base + "/tarpon";
  return findHome() + "/" + baseFolder + "/tarpon";
}

} // namespace tarpon::runtime
