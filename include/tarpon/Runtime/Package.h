//===- Package.h - A compiled model -----------------------------*- C++ -*-===//
//
// Part of Tarpon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The compiler's output and the runtime's input: the launch list, the memory
// plan, the kernels (one ELF shared object) and the constants, in memory and as
// a .tpn file. The file has a checksum; a damaged or foreign one is refused
// with a sentence that names it.
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
  /// The number of elements of each row (the last dimension) that belong to the
  /// tensor; the rest of the row does not. 0 for all of them. Only in packages
  /// of one problem, whose tensors may be slices.
  int64_t usedPerRow = 0;
  /// For an output of which a dimension's size depends on data: the dimension,
  /// and the output that holds the size. `shape` has the most that it can be.
  int64_t sizeDim = -1, sizeOutput = -1;

  int64_t numElements() const;
  int64_t numBytes() const;
  /// The bytes up to the end of the tensor's last element.
  int64_t usedBytes() const;
};

/// The memory that a buffer of a launch lies in.
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

/// An alternative solution of a layer, which a package for GPUs may hold beside
/// the chosen one. Its launches refer to the layer's problem: an input is an
/// operand, an output a result, and the arena the solution's workspace.
struct Candidate {
  std::string solver;
  /// As in Layer.
  std::string config;
  /// The time that a model of the target predicts; 0 if no model was asked.
  double modelMs = 0;
  /// The workspace's place in the model's arena, if the candidate is chosen.
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
  /// The possible solutions, the chosen one among them; see Candidates.h.
  std::vector<Candidate> candidates = {};
  /// The places of the problem's operands and results, if there are candidates;
  /// for an operand that is a constant of every candidate, any constant.
  std::vector<BufferRef> operands = {}, results = {};
};

/// A code object of a package for GPUs: a range of Package::kernels.
struct CodeObjectRange {
  std::string symbol;
  int64_t offset = 0, bytes = 0;
  /// The lanes of one workgroup, which executes a task. Only the device knows
  /// what lanes are.
  int64_t workgroup = 0;
  /// The LDS that each launch gives a workgroup, beside what the kernel
  /// declares with a size: all of it on NVIDIA GPUs, none on AMD GPUs.
  int64_t ldsBytes = 0;
};

/// The form in which a package holds its kernels.
enum class KernelForm : uint8_t {
  SharedObject, ///< one ELF shared object exports all of them
  CodeObjects   ///< each has bytes of its own, and workgroups; see
                ///< CodeObjectRange
};

/// The work for inputs of certain shapes: the launches, and the memory that
/// they work on.
struct Program {
  std::vector<TensorInfo> inputs;
  std::vector<TensorInfo> outputs;
  std::vector<Layer> layers;
  int64_t arenaBytes = 0;
};

/// A dimension of a model's inputs of which each run may choose the size.
struct Dimension {
  /// The model's symbol: "batch".
  std::string name;
  int64_t low = 1, high = 1;
  /// The places of the dimension: an input, and a dimension of it.
  struct Place {
    int64_t input = 0, dim = 0;
  };
  std::vector<Place> places = {};
};

/// The place of the program for certain sizes; see SizedPackage.h.
struct ProgramRange {
  /// One for each dimension of the package.
  std::vector<int64_t> sizes;
  /// The place in Package::programs.
  int64_t offset = 0, bytes = 0;
  /// Program::arenaBytes.
  int64_t arenaBytes = 0;
};

/// A compiled model. Its own program is the only one, or, if it has dimensions,
/// the one for their lowest sizes.
struct Package : Program {
  std::string modelName;
  std::string modelSha256;
  /// Architecture, for example "x86-64"; "amdgcn" for AMD GPUs and
  /// "nvptx64" for NVIDIA's (cubins or PTX); with "-ir" for their emulated
  /// devices, whose code objects are MLIR.
  std::string arch;
  /// For packages with code objects: their chip, "gfx942:cu=304". Empty if
  /// `arch` and `cpuFeatures` suffice.
  std::string chip;
  /// With candidates: the version of the code that made the kernels, for which
  /// measurements of them are valid.
  std::string kernelVersion;
  /// CPU features that the kernels need, by LLVM's names ("avx512f"); the
  /// executor refuses to run on a CPU without them.
  std::vector<std::string> cpuFeatures;
  /// The global choice: "fp32", "nhwc", "on".
  std::string dtype, layout, fusion;

  /// The dimensions whose sizes a run chooses; most packages have none.
  std::vector<Dimension> dimensions;
  /// With dimensions: the symbols of the kernels of all programs, and a program
  /// for each choice of sizes.
  std::vector<std::string> symbols;
  std::vector<ProgramRange> programRanges;
  std::vector<char> programs;

  /// Packed weights and other constants.
  AlignedBytes constants;
  /// An ELF shared object that exports every symbol of `layers`; or a code
  /// object per symbol, at offsets that are multiples of kBufferAlignment.
  /// Empty when no layer has a launch.
  std::vector<char> kernels;
  /// The place of each code object in `kernels`.
  std::vector<CodeObjectRange> codeObjects;

  KernelForm getKernelForm() const {
    return chip.empty() ? KernelForm::SharedObject : KernelForm::CodeObjects;
  }
};

/// The number of elements of a tensor, or none if an extent is negative or the
/// tensor would be larger than any memory.
std::optional<int64_t> countElements(const std::vector<int64_t> &shape,
                                     DType dtype);

/// Returns true if the bytes begin like an ELF file of 64 bits, little endian.
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

/// Reads a package that has to be signed with the key whose public half is in
/// the file `publicKey`; see Signature.h.
Result<Package> readSignedPackage(const std::string &path,
                                  const std::string &publicKey);

} // namespace tarpon::runtime

#endif // TARPON_RUNTIME_PACKAGE_H
