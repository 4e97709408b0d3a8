//===- ShareDirectory.cpp - What Tarpon was installed with ----------------===//
//
// Part of Tarpon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tarpon/Targets/ShareDirectory.h"

#include "llvm/ADT/SmallString.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Path.h"

using namespace tarpon;
namespace path = llvm::sys::path;

std::string tarpon::getShareDirectory() {
  static int anchor;
  std::string self = llvm::sys::fs::getMainExecutable(nullptr, &anchor);
  llvm::SmallString<256> folder(path::parent_path(path::parent_path(self)));
  path::append(folder, "share", "tarpon");
  return folder.str().str();
}
