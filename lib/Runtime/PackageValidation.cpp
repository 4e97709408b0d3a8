//===- PackageValidation.cpp - Validates packages ---------------*- C++ -*-===//
//
// Part of Tarpon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Packages are validated when they are read and before they are written, so
// that the executor may trust every number in them.
//
//===----------------------------------------------------------------------===//

#include "PackageValidation.h"

#include "KernelImage.h"

#include "tarpon/Runtime/KernelABI.h"
#include "tarpon/Runtime/Package.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <span>

namespace tarpon::runtime {

/// The largest number of tasks of a launch, which can be counted without
/// overflow.
static constexpr int64_t kMaxTasks = int64_t(1) << 47;

int64_t TensorInfo::numElements() const {
  int64_t count = 1;
  for (int64_t extent : shape)
    count *= extent;
  return count;
}

int64_t TensorInfo::numBytes() const {
  return numElements() * dtypeBytes(dtype);
}

int64_t TensorInfo::usedBytes() const {
  if (usedPerRow == 0 || shape.empty() || numBytes() == 0)
    return numBytes();
  return numBytes() - (shape.back() - usedPerRow) * dtypeBytes(dtype);
}

static std::string quoted(const std::string &name) { return "'" + name + "'"; }

static Status validateTensor(const TensorInfo &tensor, const char *role) {
  std::string who = std::string(role) + " " + quoted(tensor.name);
  if (!countElements(tensor.shape, tensor.dtype))
    return Error{who + " has a negative or too large shape"};
  if (tensor.usedPerRow < 0 ||
      (tensor.usedPerRow > 0 &&
       (tensor.shape.empty() || tensor.usedPerRow > tensor.shape.back())))
    return Error{who + " has rows of which " +
                 std::to_string(tensor.usedPerRow) + " elements are used"};
  if (!tensor.quantized)
    return success();
  if (tensor.dtype != DType::I8 && tensor.dtype != DType::U8)
    return Error{who + " is quantised but neither i8 nor u8"};
  if (!std::isfinite(tensor.scale) || tensor.scale <= 0)
    return Error{who + " has a scale that is not positive and finite"};
  int64_t lowest = tensor.dtype == DType::I8 ? -128 : 0;
  if (tensor.zeroPoint < lowest || tensor.zeroPoint > lowest + 255)
    return Error{who + " has a zero point outside its dtype"};
  return success();
}

static Status validateTensors(const std::vector<TensorInfo> &tensors,
                              const char *role) {
  for (const TensorInfo &tensor : tensors)
    if (Status status = validateTensor(tensor, role); !status)
      return status;
  return success();
}

/// Checks that the sizes which depend on data are held by other outputs.
static Status validateSizes(const std::vector<TensorInfo> &outputs) {
  for (const TensorInfo &tensor : outputs) {
    if (tensor.sizeDim < 0 && tensor.sizeOutput < 0)
      continue;
    if (tensor.sizeDim < 0 ||
        tensor.sizeDim >= static_cast<int64_t>(tensor.shape.size()))
      return Error{"output '" + tensor.name + "' has a size that depends on " +
                   "data in the dimension " + std::to_string(tensor.sizeDim)};
    if (tensor.sizeOutput < 0 ||
        tensor.sizeOutput >= static_cast<int64_t>(outputs.size()) ||
        outputs[tensor.sizeOutput].dtype != DType::I64 ||
        outputs[tensor.sizeOutput].numElements() != 1)
      return Error{"output '" + tensor.name + "' has its size in output " +
                   std::to_string(tensor.sizeOutput) +
                   ", which is not one i64"};
  }
  return success();
}

/// `bytes` is the size of the space. Only empty buffers, which are allowed, may
/// start at its end.
static Status validateOffset(const BufferRef &buffer, int64_t bytes,
                             const std::string &who, const char *space,
                             int64_t alignment) {
  if (buffer.offset < 0 || buffer.offset > bytes)
    return Error{who + " refers to byte " + std::to_string(buffer.offset) +
                 " of " + std::to_string(bytes) + " " + space + " bytes"};
  if (buffer.offset % alignment != 0)
    return Error{who + " refers to the misaligned " + space + " offset " +
                 std::to_string(buffer.offset)};
  return success();
}

static Status validateIndex(const BufferRef &buffer, size_t count,
                            const std::string &who, const char *space) {
  if (buffer.offset >= 0 && static_cast<uint64_t>(buffer.offset) < count)
    return success();
  return Error{who + " refers to " + space + " " +
               std::to_string(buffer.offset) + " of " + std::to_string(count)};
}

namespace {

/// The memory that buffers of launches may refer to.
struct Spaces {
  int64_t constantBytes, arenaBytes;
  size_t inputs, outputs;

  Spaces(int64_t constantBytes, const Program &program)
      : constantBytes(constantBytes), arenaBytes(program.arenaBytes),
        inputs(program.inputs.size()), outputs(program.outputs.size()) {}
  /// The memory of a candidate's launches.
  Spaces(int64_t constantBytes, const Layer &layer, const Candidate &candidate)
      : constantBytes(constantBytes), arenaBytes(candidate.workspaceBytes),
        inputs(layer.operands.size()), outputs(layer.results.size()) {}
};

} // namespace

static Status validateBuffer(const Spaces &spaces, const BufferRef &buffer,
                             const std::string &who) {
  switch (buffer.space) {
  case BufferSpace::Constant:
    return validateOffset(buffer, spaces.constantBytes, who, "constant",
                          kBufferAlignment);
  case BufferSpace::Arena:
    // A slice of a tensor may start anywhere.
    return validateOffset(buffer, spaces.arenaBytes, who, "arena", 1);
  case BufferSpace::Input:
    return validateIndex(buffer, spaces.inputs, who, "input");
  case BufferSpace::Output:
    return validateIndex(buffer, spaces.outputs, who, "output");
  }
  return Error{who + " has a buffer in an unknown space"};
}

static Status validateLaunch(const Spaces &spaces, const Launch &launch,
                             const std::string &who) {
  if (launch.symbol.empty() || launch.symbol.find('\0') != std::string::npos)
    return Error{who + " has a launch without a kernel symbol"};
  if (launch.tasks < 0 || launch.tasks > kMaxTasks)
    return Error{who + " has a launch of " + std::to_string(launch.tasks) +
                 " tasks"};
  if (launch.scratchBytes < 0 || launch.scratchBytes > kMaxBytes)
    return Error{who + " has a launch with " +
                 std::to_string(launch.scratchBytes) + " bytes of scratch"};
  for (const BufferRef &buffer : launch.buffers)
    if (Status status = validateBuffer(spaces, buffer, who); !status)
      return status;
  return success();
}

static Status validateCandidate(int64_t constantBytes, const Layer &layer,
                                const Candidate &candidate) {
  std::string who =
      "candidate '" + candidate.solver + "' of layer " + quoted(layer.name);
  if (candidate.workspaceBytes < 0 || candidate.workspaceBytes > kMaxBytes ||
      candidate.workspaceOffset < 0 || candidate.workspaceOffset > kMaxBytes ||
      candidate.workspaceOffset % kBufferAlignment != 0)
    return Error{who + " has a workspace of " +
                 std::to_string(candidate.workspaceBytes) + " bytes at " +
                 std::to_string(candidate.workspaceOffset)};
  Spaces spaces(constantBytes, layer, candidate);
  for (const Launch &launch : candidate.launches)
    if (Status status = validateLaunch(spaces, launch, who); !status)
      return status;
  return success();
}

static Status validateCandidates(const Package &package, const Spaces &spaces,
                                 const Layer &layer) {
  std::string who = "layer " + quoted(layer.name);
  if (!layer.candidates.empty() &&
      package.getKernelForm() != KernelForm::CodeObjects)
    return Error{who + " has candidates, but the package has no code objects"};
  for (const std::vector<BufferRef> *list : {&layer.operands, &layer.results})
    for (const BufferRef &buffer : *list)
      if (Status status = validateBuffer(spaces, buffer, who); !status)
        return status;
  for (const Candidate &candidate : layer.candidates)
    if (Status status =
            validateCandidate(spaces.constantBytes, layer, candidate);
        !status)
      return status;
  return success();
}

static bool isCost(double value) { return std::isfinite(value) && value >= 0; }

static Status validateLayer(const Package &package, const Spaces &spaces,
                            const Layer &layer) {
  std::string who = "layer " + quoted(layer.name);
  if (!isCost(layer.flops) || !isCost(layer.bytes))
    return Error{who + " has a negative or infinite count of flops or bytes"};
  for (const Launch &launch : layer.launches)
    if (Status status = validateLaunch(spaces, launch, who); !status)
      return status;
  return validateCandidates(package, spaces, layer);
}

bool isElf(std::span<const char> bytes) {
  static constexpr char kElf[] = {0x7f, 'E', 'L', 'F', 2, 1};
  return bytes.size() >= 64 &&
         std::memcmp(bytes.data(), kElf, sizeof(kElf)) == 0;
}

/// The largest workgroup that hardware accepts, and more LDS than any has.
static constexpr int64_t kMaxWorkgroup = 1024;
static constexpr int64_t kMaxLdsBytes = int64_t(1) << 20;

static Status validateCodeObject(const Package &package,
                                 const CodeObjectRange &object) {
  std::string who = "code object " + quoted(object.symbol);
  auto size = static_cast<int64_t>(package.kernels.size());
  if (object.offset < 0 || object.offset > size || object.bytes < 0 ||
      object.bytes > size - object.offset ||
      object.offset % kBufferAlignment != 0)
    return Error{who + " is not among the kernels"};
  if (object.workgroup < 1 || object.workgroup > kMaxWorkgroup)
    return Error{who + " has workgroups of " +
                 std::to_string(object.workgroup)};
  if (object.ldsBytes < 0 || object.ldsBytes > kMaxLdsBytes)
    return Error{who + " needs " + std::to_string(object.ldsBytes) +
                 " bytes of LDS"};
  return success();
}

/// A grid has fewer than 2^31 workgroups, and a parameter has 32 bits.
static Status validateCodeObjectLaunch(const Package &package,
                                       const Launch &launch,
                                       const std::string &layer) {
  auto isOf = [&](const CodeObjectRange &object) {
    return object.symbol == launch.symbol;
  };
  std::string who = "layer " + quoted(layer);
  if (std::ranges::none_of(package.codeObjects, isOf))
    return Error{who + " has a launch without a code object"};
  if (launch.tasks > std::numeric_limits<int32_t>::max())
    return Error{who + " has a launch of " + std::to_string(launch.tasks) +
                 " workgroups"};
  for (int64_t param : launch.params)
    if (param < std::numeric_limits<int32_t>::min() ||
        param > std::numeric_limits<uint32_t>::max())
      return Error{who + " has the parameter " + std::to_string(param)};
  return success();
}

static Status validateCodeObjectLaunches(const Package &package,
                                         const std::vector<Launch> &launches,
                                         const std::string &layer) {
  for (const Launch &launch : launches)
    if (Status status = validateCodeObjectLaunch(package, launch, layer);
        !status)
      return status;
  return success();
}

static Status validateCodeObjects(const Package &package,
                                  const Program &program) {
  for (const Layer &layer : program.layers) {
    if (Status status =
            validateCodeObjectLaunches(package, layer.launches, layer.name);
        !status)
      return status;
    for (const Candidate &candidate : layer.candidates)
      if (Status status = validateCodeObjectLaunches(
              package, candidate.launches, layer.name);
          !status)
        return status;
  }
  return success();
}

static Status validateSharedObject(const Package &package) {
  if (!package.codeObjects.empty())
    return Error{"it has code objects but names no chip"};
  if (package.kernels.empty())
    return success();
  if (!isElf(package.kernels))
    return Error{"its kernels are not an ELF shared object"};
  return validateKernelImage(package.kernels);
}

static Status validateKernels(const Package &package) {
  if (package.getKernelForm() == KernelForm::SharedObject)
    return validateSharedObject(package);
  for (const CodeObjectRange &object : package.codeObjects)
    if (Status status = validateCodeObject(package, object); !status)
      return status;
  return success();
}

/// Checks that there are kernels where there are launches.
static Status validateLaunches(const Package &package, const Program &program) {
  if (package.getKernelForm() == KernelForm::CodeObjects)
    return validateCodeObjects(package, program);
  bool needed = false;
  for (const Layer &layer : program.layers)
    needed |= !layer.launches.empty();
  return needed && package.kernels.empty()
             ? Status(Error{"it has launches but no kernels"})
             : success();
}

Status validateProgram(const Package &package, int64_t constantBytes,
                       const Program &program) {
  if (program.arenaBytes < 0 || program.arenaBytes > kMaxBytes)
    return Error{"it has an arena of " + std::to_string(program.arenaBytes) +
                 " bytes"};
  if (Status status = validateTensors(program.inputs, "input"); !status)
    return status;
  if (Status status = validateTensors(program.outputs, "output"); !status)
    return status;
  if (Status status = validateSizes(program.outputs); !status)
    return status;
  Spaces spaces(constantBytes, program);
  for (const Layer &layer : program.layers)
    if (Status status = validateLayer(package, spaces, layer); !status)
      return status;
  return validateLaunches(package, program);
}

Status validatePackage(const Package &package) {
  if (Status status = validateProgram(
          package, static_cast<int64_t>(package.constants.size()), package);
      !status)
    return status;
  if (Status status = validateKernels(package); !status)
    return status;
  return validateDimensions(package);
}

std::optional<int64_t> countElements(const std::vector<int64_t> &shape,
                                     DType dtype) {
  int64_t count = 1;
  int64_t limit = kMaxBytes / dtypeBytes(dtype);
  bool empty = false;
  for (int64_t extent : shape) {
    if (extent < 0)
      return std::nullopt;
    empty |= extent == 0;
    // The other extents of an empty tensor are checked as well: the product is
    // computed in order and must not overflow in between.
    if (extent > 0 && count > limit / extent)
      return std::nullopt;
    count *= extent > 0 ? extent : 1;
  }
  return empty ? 0 : count;
}

} // namespace tarpon::runtime
