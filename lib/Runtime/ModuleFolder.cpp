//===- ModuleFolder.cpp - The folder of an installation ---------*- C++ -*-===//
//
// Part of Tarpon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tarpon/Runtime/ModuleFolder.h"

#include <dlfcn.h>
#include <filesystem>
#include <link.h>
#include <system_error>

namespace tarpon::runtime {

/// The file that contains this function. The loader has no name for the program
/// itself: dladdr returns the name that it was started with, which need not be
/// a path.
static std::string getModulePath() {
  Dl_info info;
  link_map *module = nullptr;
  auto *address = reinterpret_cast<void *>(&getModulePath);
  int found = dladdr1(address, &info, reinterpret_cast<void **>(&module),
                      RTLD_DL_LINKMAP);
  bool isLibrary = found != 0 && module && module->l_name[0] != '\0';
  return isLibrary ? module->l_name : "/proc/self/exe";
}

std::string getModuleFolder() {
  std::error_code code;
  std::filesystem::path path =
      std::filesystem::canonical(getModulePath(), code);
  return code ? "." : path.parent_path().string();
}

} // namespace tarpon::runtime
