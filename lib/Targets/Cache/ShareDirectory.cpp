//===- ShareDirectory.cpp - The folder of installed data ------------------===//
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
  // The folders of programs (bin) and of libraries (lib) are siblings.
  llvm::SmallString<256> folder(path::parent_path(runtime::getModuleFolder()));
  path::append(folder, "share", "tarpon");
  return folder.str().str();
}
