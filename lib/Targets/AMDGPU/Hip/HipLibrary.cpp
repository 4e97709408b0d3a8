//===- HipLibrary.cpp - Loads the HIP runtime -----------------------------===//
//
// Part of Tarpon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "HipLibrary.h"

#include <cstdlib>
#include <dlfcn.h>
#include <vector>

using namespace tarpon;
using namespace tarpon::hip;
using runtime::Error;
using runtime::Result;
using runtime::Status;

static const char *const kWithout =
    "; models can be compiled for AMD GPUs, but not run on one";

/// The names of the library, newest first; the last one comes with ROCm's
/// development files.
static std::vector<std::string> getCandidates(const std::string &path) {
  if (!path.empty())
    return {path};
  if (const char *named = std::getenv("TARPON_HIP_LIBRARY"); named && *named)
    return {named};
  return {"libamdhip64.so.7", "libamdhip64.so.6", "libamdhip64.so.5",
          "libamdhip64.so"};
}

Result<std::shared_ptr<const Library>> Library::load(const std::string &path) {
  std::vector<std::string> candidates = getCandidates(path);
  void *handle = nullptr;
  for (const std::string &name : candidates) {
    handle = dlopen(name.c_str(), RTLD_NOW | RTLD_LOCAL);
    if (handle)
      break;
  }
  if (!handle) {
    // If the user named the library, the loader's reason is of interest.
    if (candidates.size() == 1)
      return Error{std::string("the HIP runtime cannot be loaded: ") +
                   dlerror()};
    return Error{
        std::string("the HIP runtime (libamdhip64.so) is not installed") +
        kWithout};
  }
  std::shared_ptr<Library> library(new Library());
  Api &api = library->functions;
  std::string missing;
  auto resolve = [&](auto &function, const char *symbol) {
    function = reinterpret_cast<std::remove_reference_t<decltype(function)>>(
        dlsym(handle, symbol));
    if (!function && missing.empty())
      missing = symbol;
  };
#define TARPON_HIP_RESOLVE(member, symbol, parameters)                         \
  resolve(api.member, #symbol);
  TARPON_HIP_FUNCTIONS(TARPON_HIP_RESOLVE)
#undef TARPON_HIP_RESOLVE
  resolve(api.getErrorString, "hipGetErrorString");
  if (!missing.empty())
    return Error{"the HIP runtime has no function " + missing +
                 ": it is older than ROCm 5"};
  return std::shared_ptr<const Library>(std::move(library));
}

Status Library::check(ErrorCode code, const std::string &call) const {
  if (code == 0)
    return runtime::success();
  const char *text = functions.getErrorString(code);
  return Error{call + " has failed: " + (text ? text : "unknown error") + " (" +
               std::to_string(code) + ")"};
}
