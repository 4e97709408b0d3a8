//===- ReportCommand.cpp - graph-opt report ----------------------------===//
//
// Part of Tarpon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "CommandSet.h"
#include "Files/OutputFiles.h"
#include "Messages.h"

#include "tarpon/Autotune/Choice/TuningFile.h"
#include "tarpon/Page/SafeText.h"
#include "tarpon/Report/TuningPage.h"
#include "tarpon/Runtime/File.h"

#include "llvm/Support/raw_ostream.h"

namespace tarpon {

using namespace runtime;

namespace {

struct ReportArguments {
  std::string tuningFile, output;
};

} // namespace

static int runReport(const ReportArguments &arguments) {
  if (Status status = checkOutputs({{"the tuning file", arguments.tuningFile}},
                                   {{"-o", arguments.output}});
      !status)
    return fail(status.message());
  Result<TuningFile> file = readTuningFile(arguments.tuningFile);
  if (!file)
    return fail(showText(file.message()));
  std::string page;
  llvm::raw_string_ostream os(page);
  printTuningPage(*file, os);
  if (Status status = writeFileAtomically(arguments.output, {page}); !status)
    return fail(status.message());
  llvm::outs() << "wrote " << arguments.output << "\n";
  return kSuccess;
}

void addReport(CommandSet &commands) {
  auto [sub, report] = commands.add(
      "report", "Show a tuning file as a page with plots",
      "graph-opt report resnet50.json -o resnet50.html", runReport);
  sub->add_option("IN.json", report.tuningFile,
                  "The tuning file, of compile --tuning-file")
      ->required()
      ->type_name("");
  sub->add_option("-o,--output", report.output,
                  "Write the page here: one file, which needs no other")
      ->required()
      ->type_name("OUT.html");
}

} // namespace tarpon
