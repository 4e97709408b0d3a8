//===- FishCompletion.cpp - Completion in fish ------------------*- C++ -*-===//
//
// Part of Tarpon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Completion.h"
#include "Options.h"

#include <sstream>

namespace tarpon::manual {

/// Puts a text into single quotes for fish.
static std::string quote(const std::string &text) {
  std::string quoted = "'";
  for (char c : text) {
    if (c == '\'' || c == '\\')
      quoted += '\\';
    quoted += c;
  }
  return quoted + "'";
}

/// Writes the completion of an option: its names, its text, and its values.
static void writeOption(std::ostream &os, const CLI::Option &option) {
  for (const std::string &name : option.get_snames())
    os << " -s " << name;
  for (const std::string &name : option.get_lnames())
    os << " -l " << name;
  os << " -d " << quote(option.get_description());
  if (!takesValue(option))
    return;
  std::string choices;
  for (const std::string &choice : getChoices(option))
    choices += (choices.empty() ? "" : " ") + choice;
  if (!choices.empty())
    os << " -x -a " << quote(choices);
  else
    os << (isFile(option) ? " -r" : " -x");
}

/// `condition` holds if `app` is the command that was typed.
static void write(std::ostream &os, const CLI::App &app,
                  const std::string &start, const std::string &condition) {
  std::string names;
  for (const CLI::App *command : getCommands(app))
    names += " " + command->get_name();
  std::string here = condition;
  if (!names.empty())
    here += (here.empty() ? "" : "; and ") +
            ("not __fish_seen_subcommand_from" + names);
  std::string prefix = start;
  if (!here.empty())
    prefix += " -n " + quote(here);
  for (const CLI::App *command : getCommands(app))
    os << prefix << " -f -a " << command->get_name() << " -d "
       << quote(getSummary(*command)) << "\n";
  for (const CLI::Option *option : getNamed(app)) {
    os << prefix;
    writeOption(os, *option);
    os << "\n";
  }
  for (const CLI::App *command : getCommands(app))
    write(os, *command, start,
          condition + (condition.empty() ? "" : "; and ") +
              "__fish_seen_subcommand_from " + command->get_name());
}

std::string makeFishCompletion(const CLI::App &app) {
  std::ostringstream os;
  os << "# fish completion for " << app.get_name()
     << "; made from its options.\n\n";
  write(os, app, "complete -c " + app.get_name(), "");
  return os.str();
}

} // namespace tarpon::manual
