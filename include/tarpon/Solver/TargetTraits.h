//===- TargetTraits.h - A target's answers about itself ---------*- C++ -*-===//
//
// Part of Tarpon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Code for every target asks here what differs between them beside figures, and
// never of which kind a target is.
//
//===----------------------------------------------------------------------===//

#ifndef TARPON_SOLVER_TARGETTRAITS_H
#define TARPON_SOLVER_TARGETTRAITS_H

#include "tarpon/Runtime/Precision.h"

#include "llvm/ADT/StringRef.h"

#include <string>

namespace tarpon {

struct Problem;
struct TargetInfo;

/// The answers of all targets of one kind. Stateless and thread-safe; lives
/// forever.
class TargetTraits {
public:
  virtual ~TargetTraits();

  /// "x86-64/znver5/512" or "gfx942:cu=304": the target for which a database
  /// record is valid, beside the number of threads and the features.
  virtual std::string getName(const TargetInfo &target) const = 0;

  /// The name in messages: "the host".
  virtual std::string getDisplayName(const TargetInfo &target) const;

  /// The processor in tuning files: "znver5" or "gfx942:cu=304".
  virtual std::string getProcessor(const TargetInfo &target) const;

  /// The part whose version (BehaviourVersion.h) is that of the code generator:
  /// "host-codegen". One from outside of this tree, whose part is not listed,
  /// raises the version by another name.
  virtual llvm::StringRef getCodegenPart() const = 0;

  /// The sizes of the caches on which plans depend: "48K/1024K/32768K". "" if
  /// none do.
  virtual std::string printCacheSizes(const TargetInfo &target) const = 0;

  /// The arithmetic of the problem's best solver, whose peak is the one to
  /// reach.
  virtual runtime::Precision getArithmetic(const Problem &problem,
                                           const TargetInfo &target) const = 0;

  /// How many times as many multiplications and additions as in f32 the target
  /// does in a second in that arithmetic, by its instructions.
  virtual double getSpeedup(runtime::Precision /*arithmetic*/,
                            const TargetInfo & /*target*/) const {
    return 1;
  }

  /// The relative error that a product of two elements may have because the
  /// target's solvers round them to fewer bits than they are stored in. 0 if
  /// none does, as everywhere without a user's permission.
  virtual double getProductRounding(const Problem & /*problem*/,
                                    const TargetInfo & /*target*/) const {
    return 0;
  }

  /// The id of the solver against which a package's candidates are compared
  /// where there is a device. It is packaged with every layer that has
  /// candidates and to which it applies. "": they are compared with the
  /// solution that the package was compiled with.
  virtual llvm::StringRef getArbiter() const { return ""; }

  /// The bytes at whose multiples solvers other than the arbiter need slices,
  /// and the pixels of slices, to start.
  virtual int64_t getSliceAlignment(const TargetInfo & /*target*/) const {
    return 1;
  }

  /// The operations in f32 that the target, or a core of a CPU, is taken to do
  /// in a millisecond before anything is measured: 100 GFLOP/s.
  virtual double getFlopsPerMs(const TargetInfo & /*target*/) const {
    return 1e8;
  }

  /// The architecture (TargetInfo::arch) of the targets that measure the
  /// records of that name. Another one than the target's own if it has the name
  /// of what it emulates.
  virtual std::string getMeasuredArch(const TargetInfo &target) const;
};

/// The answers of CPUs.
const TargetTraits &getHostTraits();

} // namespace tarpon

#endif // TARPON_SOLVER_TARGETTRAITS_H
