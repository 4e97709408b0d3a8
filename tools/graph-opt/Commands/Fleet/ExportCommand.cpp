//===- ExportCommand.cpp - graph-opt fleet export -------------------------===//
//
// Part of Tarpon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Commands/CommandSet.h"
#include "FleetDatabase.h"
#include "Messages.h"

#include "tarpon/Fleet/Export.h"
#include "tarpon/Page/SafeText.h"

#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/raw_ostream.h"

namespace tarpon {

using namespace runtime;
using llvm::formatv;

namespace {

struct FleetExportArguments {
  std::string database;
  /// One of them is given.
  std::string label, release;
  fleet::ExportRequest request;
};

using Exporter = Result<fleet::ExportSummary> (*)(fleet::Database &,
                                                  const fleet::ResultsName &,
                                                  const std::string &);

/// A kind of output.
struct ExportKind {
  std::string fleet::ExportRequest::*output;
  Exporter write;
  const char *entries;
};

} // namespace

static constexpr ExportKind kKinds[] = {
    {&fleet::ExportRequest::journal, fleet::exportJournal, "measurements"},
    {&fleet::ExportRequest::store, fleet::exportStore, "measurements"},
    {&fleet::ExportRequest::miopen, fleet::exportMIOpen, "solutions"},
    {&fleet::ExportRequest::kernels, fleet::exportKernelCache, "kernels"}};

static int runFleetExport(const FleetExportArguments &arguments) {
  auto database = openFleet(arguments.database);
  if (!database)
    return fail(database.message());
  auto name = arguments.label.empty()
                  ? fleet::ResultsName::forRelease(arguments.release)
                  : fleet::ResultsName::forLabel(arguments.label);
  if (Status status = fleet::checkExport(**database, name, arguments.request);
      !status)
    return fail(showText(status.message()));
  for (const ExportKind &kind : kKinds) {
    const std::string &output = arguments.request.*kind.output;
    if (output.empty())
      continue;
    Result<fleet::ExportSummary> summary = kind.write(**database, name, output);
    if (!summary)
      return fail(showText(summary.message()));
    for (const std::string &omission : summary->omissions)
      remark("left out: " + showText(omission));
    for (const fleet::ExportedFile &file : summary->files)
      llvm::outs() << formatv("{0}: {1} problems, {2} {3}\n",
                              showText(file.path), file.problems, file.entries,
                              kind.entries);
    llvm::outs().flush();
  }
  return kSuccess;
}

void addFleetExport(CommandSet &commands) {
  auto [sub, arguments] = commands.addVerb(
      "fleet", "export", "Write the results of a label or a release as files",
      runFleetExport);
  options::addFleetDatabase(sub, arguments.database);
  CLI::Option_group *from = sub->add_option_group("results");
  from->add_option("--label", arguments.label, "The results of a label")
      ->type_name("LABEL");
  from->add_option("--release", arguments.release, "The results of a release")
      ->type_name("NAME");
  from->require_option(1);
  CLI::Option_group *to = sub->add_option_group("files");
  to->add_option("--store", arguments.request.store,
                 "Write a system store, like db publish")
      ->type_name("FILE");
  to->add_option("--journal", arguments.request.journal,
                 "Write all measurements, for train --store, db merge and db "
                 "diff")
      ->type_name("FILE");
  to->add_option("--miopen", arguments.request.miopen,
                 "Write find DBs and perf DBs of MIOpen into this folder")
      ->type_name("DIR");
  to->add_option("--kernels", arguments.request.kernels,
                 "Write a precompiled kernel cache into this folder")
      ->type_name("DIR");
  to->require_option(1, 4);
}

} // namespace tarpon
