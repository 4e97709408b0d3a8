//===- TargetRegistry.cpp - Finds targets by name -------------------------===//
//
// Part of Tarpon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tarpon/Targets/Registry/TargetRegistry.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"

#include <mutex>

using namespace tarpon;
using runtime::Error;
using runtime::Result;

using TargetPtr = std::shared_ptr<const Target>;

Target::~Target() = default;
TargetFamily::~TargetFamily() = default;

namespace {

/// Families are never removed, so that a pointer to one stays valid.
class Registry {
public:
  static Registry &get() {
    static Registry registry;
    return registry;
  }

  void add(std::unique_ptr<TargetFamily> family) {
    std::lock_guard<std::mutex> lock(mutex);
    std::string first = family->getNames().front();
    for (const auto &known : families)
      if (known->getNames().front() == first)
        return;
    families.push_back(std::move(family));
  }

  std::vector<const TargetFamily *> list() {
    std::lock_guard<std::mutex> lock(mutex);
    std::vector<const TargetFamily *> all;
    for (const auto &family : families)
      all.push_back(family.get());
    return all;
  }

private:
  std::mutex mutex;
  std::vector<std::unique_ptr<TargetFamily>> families;
};

} // namespace

void tarpon::registerTargetFamily(std::unique_ptr<TargetFamily> family) {
  Registry::get().add(std::move(family));
}

/// Lists names: "host, gfx90a or gfx942".
static std::string listAll(const std::vector<std::string> &names) {
  if (names.empty())
    return "none, as no target is registered";
  if (names.size() == 1)
    return names.front();
  return llvm::join(llvm::drop_end(names), ", ") + " or " + names.back();
}

/// A family may have forgotten its solvers.
static Result<TargetPtr> checkSolvers(Result<TargetPtr> target) {
  if (!target || !(*target)->getSolvers().empty())
    return target;
  const TargetInfo &info = (*target)->getInfo();
  return Error{"the target " + info.name() +
               " has no solvers: none are registered for the architecture '" +
               info.arch + "'"};
}

static Error refuseName(llvm::StringRef name) {
  return Error{"unknown target '" + name.str() + "', expected " +
               listAll(getTargetNames())};
}

Result<TargetPtr> tarpon::findTarget(llvm::StringRef name,
                                     const TargetOptions &options) {
  for (const TargetFamily *family : Registry::get().list())
    if (family->ownsName(name))
      return checkSolvers(family->parse(name, options));
  return refuseName(name);
}

Result<std::string> TargetFamily::allowTf32(llvm::StringRef name) const {
  return Error{"the target '" + name.str() +
               "' has no instructions for TF32, which NVIDIA's GPUs have from "
               "sm_80 on"};
}

Result<std::string> tarpon::allowTf32(llvm::StringRef name) {
  for (const TargetFamily *family : Registry::get().list())
    if (family->ownsName(name))
      return family->allowTf32(name);
  return refuseName(name);
}

Result<TargetPtr> tarpon::findPackageTarget(const runtime::Package &package) {
  return findPackageTarget(package, package.chip);
}

Result<TargetPtr> tarpon::findPackageTarget(const runtime::Package &package,
                                            llvm::StringRef chip) {
  for (const TargetFamily *family : Registry::get().list())
    if (family->ownsArch(package.arch))
      return checkSolvers(family->getPackageTarget(package, chip));
  return Error{"the package is for the architecture '" + package.arch +
               "', which no target of this build has"};
}

std::vector<std::string> tarpon::getTargetNames() {
  std::vector<std::string> names;
  for (const TargetFamily *family : Registry::get().list())
    llvm::append_range(names, family->getNames());
  return names;
}

std::vector<std::string> tarpon::getTargetDevices() {
  std::vector<std::string> devices;
  for (const TargetFamily *family : Registry::get().list())
    for (const std::string &device : family->getDevices())
      if (!llvm::is_contained(devices, device))
        devices.push_back(device);
  return devices;
}
