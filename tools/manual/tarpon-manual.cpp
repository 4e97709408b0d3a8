//===- tarpon-manual.cpp - Writes man pages and completions -----*- C++ -*-===//
//
// Part of Tarpon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// usage: tarpon-manual DIR: writes the files that are installed below share/.
// It is part of the build and is not installed itself.
//
//===----------------------------------------------------------------------===//

#include "Commands/CommandLine.h"
#include "Completion.h"
#include "ManPage.h"
#include "Messages.h"
#include "RunCommandLine.h"

#include "tarpon/Runtime/File.h"

#include <filesystem>

using namespace tarpon;
using runtime::Status;

/// Writes `text` to a file, and creates its folders.
static Status write(const std::filesystem::path &path,
                    const std::string &text) {
  std::error_code code;
  std::filesystem::create_directories(path.parent_path(), code);
  return runtime::writeFileAtomically(path.string(), {text});
}

static Status writeManual(const std::filesystem::path &folder,
                          const CLI::App &app) {
  for (const manual::ManPage &page : manual::makeManPages(app, TARPON_VERSION))
    if (Status status =
            write(folder / "man/man1" / (page.name + ".1"), page.text);
        !status)
      return status;
  if (Status status =
          write(folder / "bash-completion/completions" / app.get_name(),
                manual::makeBashCompletion(app));
      !status)
    return status;
  if (Status status = write(folder / "fish/vendor_completions.d" /
                                (app.get_name() + ".fish"),
                            manual::makeFishCompletion(app));
      !status)
    return status;
  return write(folder / "zsh/vendor-completions" / ("_" + app.get_name()),
               manual::makeZshCompletion(app));
}

// A build in which memory runs out may end by an exception.
// NOLINTNEXTLINE(bugprone-exception-escape)
int main(int argc, char **argv) {
  setProgramName("tarpon-manual");
  if (argc != 2)
    return failUsage("expected a folder");
  Status status = runtime::success();
  visitCommandLine(
      [&](const CLI::App &app) { status = writeManual(argv[1], app); });
  if (!status)
    return fail(status.message());
  CLI::App app;
  run::Arguments arguments;
  run::addOptions(app, arguments);
  status = writeManual(argv[1], app);
  return status ? kSuccess : fail(status.message());
}
