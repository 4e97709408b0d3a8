//===- KernelReport.cpp - Resources of a package's GPU kernels ------------===//
//
// Part of Tarpon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "KernelReport.h"

#include "tarpon/Solver/GpuTarget.h"
#include "tarpon/Targets/AMDGPU/CodeObject.h"

#include "llvm/ADT/ArrayRef.h"
#include "llvm/Support/FormatVariadic.h"

#include <map>

using llvm::formatv;

namespace tarpon {

using runtime::CodeObjectRange;
using runtime::Error;
using runtime::Package;
using runtime::Result;

static Result<KernelResources> readResources(const Package &package,
                                             const CodeObjectRange &range) {
  llvm::ArrayRef<char> bytes(package.kernels);
  Result<std::vector<KernelResources>> kernels =
      readKernelResources(bytes.slice(range.offset, range.bytes));
  if (!kernels)
    return kernels.error();
  for (KernelResources &kernel : *kernels)
    if (kernel.symbol == range.symbol)
      return std::move(kernel);
  return Error{"the code object of '" + range.symbol + "' has no such kernel"};
}

static Result<std::map<std::string, int64_t>>
countLaunches(const Package &package) {
  std::map<std::string, int64_t> counts;
  for (const CodeObjectRange &range : package.codeObjects)
    counts[range.symbol] = 0;
  for (const runtime::Layer &layer : package.layers)
    for (const runtime::Launch &launch : layer.launches) {
      auto known = counts.find(launch.symbol);
      if (known == counts.end())
        return Error{"layer '" + layer.name + "' launches '" + launch.symbol +
                     "', of which there is no code object"};
      ++known->second;
    }
  return counts;
}

Result<std::string> reportKernels(const Package &package) {
  if (package.getKernelForm() != runtime::KernelForm::CodeObjects ||
      !runtime::isElf(package.kernels))
    return Error{"the package has no code objects, so there are no kernels to "
                 "report on"};
  Result<GpuTarget> gpu = parseGpuTarget(package.chip);
  if (!gpu)
    return gpu.error();
  Result<std::map<std::string, int64_t>> launches = countLaunches(package);
  if (!launches)
    return launches.error();
  std::string text =
      formatv("{0,8} {1,6} {2,5} {3,5} {4,6} {5,5}  kernel\n", "launches",
              "lanes", "VGPR", "SGPR", "LDS", "waves");
  int64_t numLaunches = 0, spilling = 0;
  for (const CodeObjectRange &range : package.codeObjects) {
    Result<KernelResources> kernel = readResources(package, range);
    if (!kernel)
      return kernel.error();
    text += formatv("{0,8} {1,6} {2,5} {3,5} {4,6} {5,5}  {6}\n",
                    (*launches)[range.symbol], kernel->workgroup,
                    kernel->vectorRegisters, kernel->scalarRegisters,
                    kernel->ldsBytes,
                    gpu->getOccupancy(kernel->vectorRegisters, kernel->ldsBytes,
                                      kernel->workgroup),
                    range.symbol);
    numLaunches += (*launches)[range.symbol];
    // Scalars may be spilled to vector registers.
    spilling += kernel->vectorSpills > 0 || kernel->privateBytes > 0;
  }
  text += formatv("{0} kernels for {1} launches, {2} to memory\n",
                  package.codeObjects.size(), numLaunches,
                  spilling ? std::to_string(spilling) + " of them spill"
                           : "none spills");
  return text;
}

} // namespace tarpon
