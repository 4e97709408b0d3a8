//===- TargetRegistry.h - Finds targets by name -----------------*- C++ -*-===//
//
// Part of Tarpon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Names of targets become targets only here. Each family of targets has a
// parser of its own for its names; a program registers the families that it
// links (registerAllTargets, or one by one).
//
//===----------------------------------------------------------------------===//

#ifndef TARPON_TARGETS_REGISTRY_TARGETREGISTRY_H
#define TARPON_TARGETS_REGISTRY_TARGETREGISTRY_H

#include "tarpon/Runtime/Package.h"
#include "tarpon/Runtime/Result.h"
#include "tarpon/Targets/Target.h"

#include "llvm/ADT/StringRef.h"

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

namespace tarpon {

/// Options of a target that the command line gives beside its name. A family
/// refuses options that it cannot use.
struct TargetOptions {
  /// The number of threads that a package will run on. 0: one per core.
  int64_t threads = 0;
  /// A CPU of LLVM's list whose features are used, as far as this machine has
  /// them.
  std::string cpu = "native";
  /// The device of the family that the code is for; empty for the default.
  std::string device;
};

/// Thread-safe.
class TargetFamily {
public:
  virtual ~TargetFamily();

  /// The names of its targets, for messages: "gfx90a", "gfx942".
  virtual std::vector<std::string> getNames() const = 0;

  /// The devices that TargetOptions::device may name. Empty if there is no
  /// choice.
  virtual std::vector<std::string> getDevices() const { return {}; }

  /// Returns true if the name has the form of this family's names, known or
  /// not.
  virtual bool ownsName(llvm::StringRef name) const = 0;

  /// Returns the target of a name that the family owns.
  virtual runtime::Result<std::shared_ptr<const Target>>
  parse(llvm::StringRef name, const TargetOptions &options) const = 0;

  /// Returns the name of the same target with products of f32 allowed in TF32;
  /// an error unless it has instructions for them.
  virtual runtime::Result<std::string> allowTf32(llvm::StringRef name) const;

  /// Returns true if Package::arch is that of the family's packages.
  virtual bool ownsArch(llvm::StringRef arch) const = 0;

  /// Returns the target of the family's package on that chip; see
  /// findPackageTarget.
  virtual runtime::Result<std::shared_ptr<const Target>>
  getPackageTarget(const runtime::Package &package,
                   llvm::StringRef chip) const = 0;
};

/// Adds a family. Registering a family twice does nothing: families are
/// identified by the first of their names. Thread-safe.
void registerTargetFamily(std::unique_ptr<TargetFamily> family);

/// Returns the target of that name: "host", "gfx942", "gfx942:cu=228". The
/// error lists the known names. Thread-safe.
runtime::Result<std::shared_ptr<const Target>>
findTarget(llvm::StringRef name, const TargetOptions &options = {});

/// See TargetFamily::allowTf32. Thread-safe.
runtime::Result<std::string> allowTf32(llvm::StringRef name);

/// Returns the target that a package was compiled for.
runtime::Result<std::shared_ptr<const Target>>
findPackageTarget(const runtime::Package &package);

/// Returns that target as another variant of the chip: measurements of a
/// package for "gfx942:cu=304" on a device of 228 units are valid for
/// "gfx942:cu=228".
runtime::Result<std::shared_ptr<const Target>>
findPackageTarget(const runtime::Package &package, llvm::StringRef chip);

/// The names of all families' targets and devices, in the order in which they
/// were registered.
std::vector<std::string> getTargetNames();
std::vector<std::string> getTargetDevices();

} // namespace tarpon

#endif // TARPON_TARGETS_REGISTRY_TARGETREGISTRY_H
