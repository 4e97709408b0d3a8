//===- KernelReport.cpp - Resources of a package's kernels --------------===//
//
// Part of Tarpon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "KernelReport.h"

#include "tarpon/Targets/Registry/TargetRegistry.h"

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/FormatVariadic.h"

#include <map>

using llvm::formatv;

namespace tarpon {

using runtime::CodeObjectRange;
using runtime::Error;
using runtime::Package;
using runtime::Result;

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

/// Reads the figures of all code objects, in their order.
static Result<std::vector<KernelFigures>> readFigures(const Package &package) {
  Result<std::shared_ptr<const Target>> target = findPackageTarget(package);
  if (!target)
    return target.error();
  std::unique_ptr<KernelBackend> backend = (*target)->makeBackend();
  llvm::ArrayRef<char> bytes(package.kernels);
  std::vector<KernelFigures> all;
  for (const CodeObjectRange &range : package.codeObjects) {
    Result<KernelFigures> figures = backend->readFigures(
        range.symbol, bytes.slice(range.offset, range.bytes));
    if (!figures)
      return figures.error();
    all.push_back(std::move(*figures));
  }
  return all;
}

Result<std::string> reportKernels(const Package &package) {
  if (package.codeObjects.empty())
    return Error{"the package has no code objects, so there are no kernels to "
                 "report on"};
  Result<std::vector<KernelFigures>> figures = readFigures(package);
  if (!figures)
    return figures.error();
  Result<std::map<std::string, int64_t>> launches = countLaunches(package);
  if (!launches)
    return launches.error();
  std::string text = formatv("{0,8}", "launches");
  for (const auto &[title, value] : figures->front().values)
    text += formatv(" {0,6}", title);
  text += "  kernel\n";
  int64_t numLaunches = 0, spilling = 0;
  for (auto [range, kernel] : llvm::zip_equal(package.codeObjects, *figures)) {
    text += formatv("{0,8}", (*launches)[range.symbol]);
    for (const auto &[title, value] : kernel.values)
      text += formatv(" {0,6}", value);
    text += "  " + range.symbol + "\n";
    numLaunches += (*launches)[range.symbol];
    spilling += kernel.spills;
  }
  text += formatv("{0} kernels for {1} launches, {2} to memory\n",
                  package.codeObjects.size(), numLaunches,
                  spilling ? std::to_string(spilling) + " of them spill"
                           : "none spills");
  return text;
}

} // namespace tarpon
