//===- Solver.h - A family of kernels for some problems -*- C++ -*-===//
//
// Part of Tarpon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The interface follows MIOpen's notion of a solver: pure predicates, a stable
// id, a perf config space, and no timing anywhere (reference: MIOpen's
// solver.hpp; design.md, section 5).
//
//===----------------------------------------------------------------------===//

#ifndef TARPON_SOLVER_SOLVER_H
#define TARPON_SOLVER_SOLVER_H

#include "tarpon/Problem/PerfConfig.h"
#include "tarpon/Problem/Problem.h"
#include "tarpon/Solver/TargetInfo.h"

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/StringRef.h"

#include <functional>
#include <memory>
#include <string>
#include <vector>

namespace tarpon {

class KernelBuilder;

/// Yes, or no with a reason.
class Applicability {
public:
  static Applicability yes() { return Applicability(""); }
  /// `reason` is in lower case and without a full stop: "needs a constant
  /// filter".
  static Applicability no(llvm::StringRef reason) {
    return Applicability(reason);
  }
  explicit operator bool() const { return reason.empty(); }
  llvm::StringRef getReason() const { return reason; }

private:
  explicit Applicability(llvm::StringRef reason) : reason(reason) {}
  std::string reason;
};

/// A kernel to be compiled. `symbol` names everything that it is specialised
/// on, so that the same symbol from the same solver version means the same
/// code; it is the key in the kernel cache. A valid C identifier.
struct KernelSource {
  std::string symbol;
  /// Emits the kernel; the builder is a GpuKernelBuilder if the target is a
  /// GPU.
  std::function<void(KernelBuilder &)> emit;
  /// For GPU kernels: the lanes of a workgroup, and its bytes of LDS.
  int64_t workgroup = 0, ldsBytes = 0;
  /// The numbers of buffers and parameters that its launches pass, which the
  /// compiler of the kernel takes from a launch.
  int64_t numBuffers = 0, numParams = 0;
};

/// The kind of memory that a buffer of a launch is bound to.
struct BufferSlot {
  enum Kind : uint8_t {
    Operand,   ///< Problem::operands[index]
    Result,    ///< Problem::getResult(index)
    Workspace, ///< byte `index` of the solution's workspace (64-aligned)
    Constant,  ///< SolutionPlan::constants[index]
  } kind;
  int64_t index = 0;
};

/// One launch of one kernel; see tarpon/Runtime/KernelABI.h.
struct LaunchPlan {
  KernelSource kernel;
  std::vector<BufferSlot> buffers;
  std::vector<int64_t> params;
  int64_t tasks = 1;
  int64_t scratchBytes = 0;
};

/// The row-major bytes of a problem's constant operands, by operand index;
/// empty for other operands.
using ConstantOperands = std::vector<llvm::ArrayRef<char>>;

/// Bytes made from constant operands at compile time: packed filters, bias.
struct ConstantPlan {
  std::function<std::vector<char>(const ConstantOperands &)> make;
  /// Names what `make` does with the operands, so that programs of several
  /// sizes make it once; empty if nothing is known.
  std::string key = {};
};

/// The launches, constants and workspace of a solution.
struct SolutionPlan {
  std::vector<LaunchPlan> launches;
  std::vector<ConstantPlan> constants;
  int64_t workspaceBytes = 0;
};

/// Stateless and thread-safe.
class Solver {
public:
  virtual ~Solver() = default;

  /// Stable and versioned, since it is a database key: "conv-igemm-v1". Never
  /// derived from a class name. The version is raised when the meaning of
  /// configs or the code of a symbol changes.
  virtual llvm::StringRef id() const = 0;

  /// Tells whether the solver computes this problem correctly on this target.
  /// Pure; says nothing about speed.
  virtual Applicability isApplicable(const Problem &problem,
                                     const TargetInfo &target) const = 0;

  /// Returns true if isApplicable takes TensorDesc::pitch into account. A
  /// problem with slices is never given to other solvers; see checkApplicable.
  virtual bool knowsSlices() const { return false; }

  /// Returns true if isApplicable knows problems of two operations
  /// (Producer.h), which are never given to other solvers.
  virtual bool knowsProducers() const { return false; }

  /// Returns true if shapes are run-time arguments, so that one compiled kernel
  /// serves many problems.
  virtual bool isDynamic() const { return true; }

  /// The bytes of workspace, the same for every config.
  virtual int64_t workspaceSize(const Problem & /*problem*/,
                                const TargetInfo & /*target*/) const {
    return 0;
  }

  /// Returns true if the result may overwrite that operand in place: it has as
  /// many bytes, and no task reads an element of the operand after a result was
  /// written to its place. Asked for problems with one result, and for operands
  /// that share no memory with others.
  virtual bool mayOverwrite(const Problem & /*problem*/,
                            const TargetInfo & /*target*/,
                            size_t /*operand*/) const {
    return false;
  }

  /// Returns a valid config in constant time.
  virtual PerfConfig defaultConfig(const Problem & /*problem*/,
                                   const TargetInfo & /*target*/) const {
    return {};
  }

  /// Returns the best guess among the configs that pack constants as `like`
  /// does, a valid config for the same operation with other sizes, in constant
  /// time.
  virtual PerfConfig configLike(const Problem & /*problem*/,
                                const TargetInfo & /*target*/,
                                const PerfConfig &like) const {
    return like;
  }

  /// All configs worth measuring, the best guess first and the default among
  /// them; the same list for the same arguments.
  virtual std::vector<PerfConfig> configs(const Problem &problem,
                                          const TargetInfo &target) const {
    return {defaultConfig(problem, target)};
  }

  /// Returns true if the config is valid. Also called on every config that was
  /// read from a database or a file.
  virtual bool isValidConfig(const Problem & /*problem*/,
                             const TargetInfo & /*target*/,
                             const PerfConfig &config) const {
    return config == PerfConfig();
  }

  /// Explains in a message why isValidConfig refuses a config: "a block must be
  /// made of whole wave tiles". "" for valid configs, and where there is
  /// nothing to explain.
  virtual std::string explainConfig(const Problem & /*problem*/,
                                    const TargetInfo & /*target*/,
                                    const PerfConfig & /*config*/) const {
    return "";
  }

  /// The fraction of the target's peak (compute or bandwidth, whichever binds)
  /// that the solver is expected to reach, for ranking without measuring.
  virtual double expectedFraction(const Problem &problem,
                                  const TargetInfo &target) const = 0;

  /// How to run the solution. The problem is applicable and the config valid.
  virtual SolutionPlan plan(const Problem &problem, const TargetInfo &target,
                            const PerfConfig &config) const = 0;
};

/// The solvers of the host target in order of preference; the last one, the
/// naive reference, takes everything. The list lives forever.
llvm::ArrayRef<const Solver *> getHostSolvers();

/// The solvers of AMD GPUs; the last one takes everything that needs no
/// scratch.
llvm::ArrayRef<const Solver *> getGpuSolvers();

/// Returns the solver with that id, of the host or of any registered
/// architecture, or null.
const Solver *findSolver(llvm::StringRef id);

/// Tells whether the solver computes this problem: isApplicable, with a no for
/// slices that it does not know. All code but solvers and their tests calls
/// this.
Applicability checkApplicable(const Solver &solver, const Problem &problem,
                              const TargetInfo &target);

/// The target's applicable solvers, by descending expectedFraction (stable).
std::vector<const Solver *> getApplicableSolvers(const Problem &problem,
                                                 const TargetInfo &target);

/// The host's reference solver, which takes everything.
const Solver &getReferenceSolver();

/// For tests: solvers that are offered in front of the built-in ones by
/// getHostSolvers, getApplicableSolvers and findSolver while the object lives.
/// Not thread-safe.
class ScopedExtraSolvers {
public:
  explicit ScopedExtraSolvers(std::vector<const Solver *> solvers);
  ~ScopedExtraSolvers();
};

} // namespace tarpon

#endif // TARPON_SOLVER_SOLVER_H
