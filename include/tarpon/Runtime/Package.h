//===- Package.h - A compiled model -----------------------------*- C++ -*-===//
//
// Part of Tarpon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// What the compiler hands to the runtime: the launch list, the memory plan, the
// kernels (one ELF shared object) and the constants, in memory and as a .tpn
// file. The file is checksummed; a damaged or foreign one is refused with a
// sentence that names it.
//
//===----------------------------------------------------------------------===//

#ifndef TARPON_RUNTIME_PACKAGE_H
#define TARPON_RUNTIME_PACKAGE_H

#include "tarpon/Runtime/AlignedBytes.h"
#include "tarpon/Runtime/DType.h"
#include "tarpon/Runtime/Result.h"

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace tarpon::runtime {

/// A tensor at the border of the model: dense, row-major in its logical shape.
struct TensorInfo {
  std::string name;
  DType dtype = DType::F32;
  std::vector<int64_t> shape;
  /// Set on quantised tensors only: real = scale * (stored - zeroPoint).
  bool quantized = false;
  float scale = 1.0f;
  int64_t zeroPoint = 0;
  /// How many elements of each row (of the last dimension) there are; what lies
  /// behind them in the row is none of the tensor's. 0 for all of them. Only in
  /// packages of one problem, whose tensors may be slices.
  int64_t usedPerRow = 0;

  int64_t numElements() const;
  int64_t numBytes() const;
  /// Bytes up to the end of the last element that is the tensor's.
  int64_t usedBytes() const;
};

/// Where a buffer of a launch lives.
enum class BufferSpace : uint8_t { Constant, Arena, Input, Output };

/// One buffer of a launch. `offset` is a byte offset into the constants (a
/// multiple of kBufferAlignment) or the arena (likewise, but for slices of
/// tensors), or the index of a model input or output.
struct BufferRef {
  BufferSpace space = BufferSpace::Arena;
  int64_t offset = 0;
};

/// One call of one kernel; see KernelABI.h.
struct Launch {
  std::string symbol;
  std::vector<BufferRef> buffers;
  std::vector<int64_t> params;
  int64_t tasks = 1;
  int64_t scratchBytes = 0;
};

/// A way to compute a layer, which a package for GPUs may hold beside the one
/// that is chosen. Its launches speak of the layer's problem: an input is an
/// operand, an output a result, and the arena the solution's workspace.
struct Candidate {
  std::string solver;
  /// As in Layer.
  std::string config;
  /// What a model of the target expects it to take; 0 if nobody has asked.
  double modelMs = 0;
  /// Where in the model's arena the workspace is, if it is chosen.
  int64_t workspaceOffset = 0, workspaceBytes = 0;
  std::vector<Launch> launches;
};

/// One operation of the model with the launches that compute it, in order.
struct Layer {
  std::string name;
  /// The canonical problem key (lib/Problem/Problem.cpp).
  std::string problem;
  std::string solver;
  /// The perf config as JSON text.
  std::string config;
  /// Where the choice came from: "measured", "user-db", "heuristic", "default".
  std::string source;
  double flops = 0;
  double bytes = 0;
  std::vector<Launch> launches;
  /// What may be chosen instead, the chosen one among it; see Candidates.h.
  std::vector<Candidate> candidates = {};
  /// Where the problem's operands and results are, if there are candidates;
  /// for operands that are constants of every candidate any constant.
  std::vector<BufferRef> operands = {}, results = {};
};

/// A code object of a package for GPUs: a range of Package::kernels.
struct CodeObjectRange {
  std::string symbol;
  int64_t offset = 0, bytes = 0;
  /// Lanes of one workgroup, which a task is. What they are, only the device
  /// knows that loads them.
  int64_t workgroup = 0;
};

/// How a package holds its kernels.
enum class KernelForm : uint8_t {
  SharedObject, ///< one ELF shared object exports all of them
  CodeObjects   ///< each has bytes of its own, and workgroups; see
                ///< CodeObjectRange
};

/// A compiled model.
struct Package {
  std::string modelName;
  std::string modelSha256;
  /// Architecture, for example "x86-64"; "amdgcn" for AMD GPUs, and
  /// "amdgcn-ir" for the emulated device, whose code objects are MLIR.
  std::string arch;
  /// Of a package with code objects, which chip they are for:
  /// "gfx942:cu=304". Empty where `arch` and `cpuFeatures` say it all.
  std::string chip;
  /// Of a package with candidates: the version of the code that has made its
  /// kernels, for which what is measured of them counts.
  std::string kernelVersion;
  /// CPU features that the kernels need, as in LLVM's names ("avx512f"); the
  /// executor refuses to run on a CPU without them.
  std::vector<std::string> cpuFeatures;
  /// The global choice: "fp32", "nhwc", "on".
  std::string dtype, layout, fusion;

  std::vector<TensorInfo> inputs;
  std::vector<TensorInfo> outputs;
  std::vector<Layer> layers;
  int64_t arenaBytes = 0;

  /// Packed weights and other constants.
  AlignedBytes constants;
  /// An ELF shared object that exports every symbol of `layers`; or a code
  /// object per symbol, at offsets that are multiples of kBufferAlignment.
  /// Empty when no layer has a launch.
  std::vector<char> kernels;
  /// Where in `kernels` each code object is.
  std::vector<CodeObjectRange> codeObjects;

  KernelForm getKernelForm() const {
    return chip.empty() ? KernelForm::SharedObject : KernelForm::CodeObjects;
  }
};

/// The number of elements of a tensor, or none if an extent is negative or the
/// tensor would be larger than any memory.
std::optional<int64_t> countElements(const std::vector<int64_t> &shape,
                                     DType dtype);

/// Whether the bytes begin as an ELF file of 64 bits, little endian, does.
bool isElf(std::span<const char> bytes);

/// Checks everything that the executor relies on: shapes, sizes, every offset
/// and index, and that there are kernels where there are launches. The error is
/// a clause about the package ("layer 'conv1' refers to ...") without its name.
Status validatePackage(const Package &package);

/// Writes `package` to `path` through a temporary file, fsync and rename, so
/// that an interrupted write leaves what was there before. Refuses a malformed
/// package.
Status writePackage(const Package &package, const std::string &path);

/// Reads a package and checks magic, version, sizes, checksum and every offset.
Result<Package> readPackage(const std::string &path);

} // namespace tarpon::runtime

#endif // TARPON_RUNTIME_PACKAGE_H
