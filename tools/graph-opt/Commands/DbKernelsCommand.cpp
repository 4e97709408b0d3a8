//===- DbKernelsCommand.cpp - graph-opt db export-kernels -------*- C++ -*-===//
//
// Part of Tarpon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "CommandLineValues.h"
#include "CommandSet.h"
#include "Files/DbStore.h"
#include "Messages.h"
#include "SharedOptions.h"

#include "tarpon/Targets/Cache/LayeredKernelCache.h"
#include "tarpon/Targets/Host/HostTarget.h"

#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/raw_ostream.h"

namespace tarpon {

namespace {

struct DbExportKernelsArguments {
  /// The folder of the cache to write.
  std::string output;
  std::string cpu = "native";
};

} // namespace

using namespace runtime;
using llvm::formatv;

static int runDbExportKernels(const DbExportKernelsArguments &arguments) {
  // Kernels do not depend on the number of threads.
  Result<TargetInfo> target = getHostTarget(/*threads=*/1, arguments.cpu);
  if (!target)
    return fail(target.message());
  Result<ExportedKernels> exported =
      exportKernels(*target, KernelCache::defaultDirectory(), arguments.output);
  if (!exported)
    return fail(exported.message());
  if (exported->damaged > 0)
    remark(count(exported->damaged, "damaged kernel") + " left out");
  llvm::outs() << formatv("{0}: {1} for {2}, {3} KiB\n", arguments.output,
                          count(exported->kernels, "kernel"), target->name(),
                          (exported->bytes + 1023) / 1024);
  return kSuccess;
}

//===----------------------------------------------------------------------===//
// The command line
//===----------------------------------------------------------------------===//

void addDbExportKernels(CommandSet &commands) {
  using namespace options;
  auto [sub, dbExportKernels] = commands.addVerb(
      "db", "export-kernels",
      "Write a precompiled kernel cache, to be installed", runDbExportKernels);
  sub->add_option("DIR", dbExportKernels.output,
                  "The folder: share/tarpon/kernels where Tarpon is installed")
      ->required()
      ->type_name("");
  addCpu(sub, dbExportKernels.cpu);
}

} // namespace tarpon
