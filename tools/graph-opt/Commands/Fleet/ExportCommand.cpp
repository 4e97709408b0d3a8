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
#include "tarpon/Fleet/SafeText.h"

#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/raw_ostream.h"

namespace tarpon {

using namespace runtime;
using fleet::showText;
using llvm::formatv;

namespace {

struct FleetExportArguments {
  std::string database;
  /// One of them is given.
  std::string label, release;
  /// The files and folders to write; "" for none.
  std::string store, journal, miopen, kernels;
};

using Exporter = Result<fleet::ExportSummary> (*)(fleet::Database &,
                                                  const fleet::ResultsName &,
                                                  const std::string &);

/// A form of results.
struct ExportForm {
  std::string FleetExportArguments::*output;
  Exporter write;
  const char *entries;
};

} // namespace

static constexpr ExportForm kForms[] = {
    {&FleetExportArguments::journal, fleet::exportJournal, "measurements"},
    {&FleetExportArguments::store, fleet::exportStore, "measurements"},
    {&FleetExportArguments::miopen, fleet::exportMIOpen, "solutions"},
    {&FleetExportArguments::kernels, fleet::exportKernelCache, "kernels"}};

static int runFleetExport(const FleetExportArguments &arguments) {
  auto database = openFleet(arguments.database);
  if (!database)
    return fail(database.message());
  auto name = arguments.label.empty()
                  ? fleet::ResultsName::forRelease(arguments.release)
                  : fleet::ResultsName::forLabel(arguments.label);
  for (const ExportForm &form : kForms) {
    const std::string &output = arguments.*form.output;
    if (output.empty())
      continue;
    Result<fleet::ExportSummary> summary = form.write(**database, name, output);
    if (!summary)
      return fail(showText(summary.message()));
    for (const std::string &omission : summary->omissions)
      remark("left out: " + showText(omission));
    for (const fleet::ExportedFile &file : summary->files)
      llvm::outs() << formatv("{0}: {1} problems, {2} {3}\n", file.path,
                              file.problems, file.entries, form.entries);
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
  to->add_option("--store", arguments.store,
                 "Write a system store, like db publish")
      ->type_name("FILE");
  to->add_option("--journal", arguments.journal,
                 "Write all measurements, for train --store, db merge and db "
                 "diff")
      ->type_name("FILE");
  to->add_option("--miopen", arguments.miopen,
                 "Write find DBs and perf DBs of MIOpen into this folder")
      ->type_name("DIR");
  to->add_option("--kernels", arguments.kernels,
                 "Write a precompiled kernel cache into this folder")
      ->type_name("DIR");
  to->require_option(1, 4);
}

} // namespace tarpon
