//===- ShareDirectory.cpp - What Tarpon was installed with ----------------===//
//
// Part of Tarpon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tarpon/Targets/Cache/ShareDirectory.h"

#include "tarpon/Runtime/ModuleFolder.h"

#include "llvm/ADT/SmallString.h"
#include "llvm/Support/Path.h"

using namespace tarpon;
namespace path = llvm::sys::path;

std::string tarpon::getShareDirectory() {
  // The folder of programs, bin, and that of libraries, lib, lie side by side.
  llvm::SmallString<256> folder(path::parent_path(runtime::getModuleFolder()));
  path::append(folder, "share", "tarpon");
  return folder.str().str();
}
