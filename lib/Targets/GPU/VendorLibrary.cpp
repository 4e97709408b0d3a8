//===- VendorLibrary.cpp - Loads a GPU vendor's library -------------------===//
//
// Part of Tarpon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tarpon/Targets/GPU/VendorLibrary.h"

#include <cstdlib>
#include <dlfcn.h>

using namespace tarpon;
using runtime::Error;
using runtime::Result;
using runtime::Status;

std::string
tarpon::describeCompileOnly(const VendorLibrary::Description &description) {
  return std::string("models can be compiled for ") + description.gpus +
         ", but not run on one";
}

static std::vector<std::string>
getCandidates(const VendorLibrary::Description &description,
              const std::string &path) {
  if (!path.empty())
    return {path};
  if (const char *named = std::getenv(description.variable); named && *named)
    return {named};
  return description.names;
}

Result<VendorLibrary> VendorLibrary::load(const Description &description,
                                          const std::string &path) {
  std::vector<std::string> candidates = getCandidates(description, path);
  VendorLibrary library;
  for (const std::string &name : candidates) {
    library.handle = dlopen(name.c_str(), RTLD_NOW | RTLD_LOCAL);
    if (library.handle)
      return library;
  }
  // If the user named the library, the loader's reason is of interest.
  if (candidates != description.names)
    return Error{std::string(description.what) +
                 " cannot be loaded: " + dlerror()};
  return Error{std::string(description.what) + " (" + description.file +
               ") is not installed; " + describeCompileOnly(description)};
}

void *VendorLibrary::find(const char *symbol) {
  void *function = dlsym(handle, symbol);
  if (!function && missing.empty())
    missing = symbol;
  return function;
}

Status VendorLibrary::checkComplete(const Description &description) const {
  if (missing.empty())
    return runtime::success();
  return Error{std::string(description.what) + " has no function " + missing +
               ": it is older than " + description.oldest};
}
