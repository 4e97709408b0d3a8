//===- ZshCompletion.cpp - Completion in zsh --------------------*- C++ -*-===//
//
// Part of Tarpon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Each command becomes a function that calls zsh's _arguments with the options
// of the command, and, where it has commands of its own, the function of the
// one that was typed.
//
//===----------------------------------------------------------------------===//

#include "Completion.h"
#include "Options.h"

#include <algorithm>
#include <sstream>

namespace tarpon::manual {

/// The text of a specification in single quotes, where colons and brackets
/// separate its parts.
static std::string escape(const std::string &text) {
  std::string escaped;
  for (char c : text) {
    if (c == '\'')
      escaped += "'\\'";
    else if (c == ':' || c == '[' || c == ']' || c == '\\')
      escaped += '\\';
    escaped += c;
  }
  return escaped;
}

/// The action that completes a value: one of its choices, or a file.
static std::string getAction(const CLI::Option &option) {
  std::string choices;
  for (const std::string &choice : getChoices(option))
    choices += (choices.empty() ? "" : " ") + choice;
  if (!choices.empty())
    return "(" + choices + ")";
  return isFile(option) ? "_files" : " ";
}

/// One specification for each name of the option.
static void writeOption(std::ostream &os, const CLI::Option &option) {
  for (const std::string &name : getNames(option)) {
    bool isLong = name.starts_with("--");
    os << " \\\n    '*" << name << (takesValue(option) && isLong ? "=" : "")
       << "[" << escape(option.get_description()) << "]";
    if (takesValue(option))
      os << ":value:" << getAction(option);
    os << "'";
  }
}

/// "_graph-opt-db-list" for `graph-opt db list`.
static void writeFunction(std::ostream &os, const CLI::App &app,
                          const std::string &function) {
  std::vector<const CLI::App *> commands = getCommands(app);
  for (const CLI::App *command : commands)
    writeFunction(os, *command, function + "-" + command->get_name());
  os << function << "() {\n";
  if (!commands.empty())
    os << "  local context state state_descr line\n  typeset -A opt_args\n";
  os << "  _arguments -s -S" << (commands.empty() ? "" : " -C");
  for (const CLI::Option *option : getNamed(app))
    writeOption(os, *option);
  if (commands.empty()) {
    os << " \\\n    '*:file:_files'\n}\n\n";
    return;
  }
  os << " \\\n    '1:command:((";
  for (const CLI::App *command : commands)
    os << " " << command->get_name() << "\\:\"" << escape(getSummary(*command))
       << "\"";
  os << "))' \\\n    '*::argument:->rest'\n"
     << "  if [[ $state == rest ]]; then\n    case $line[1] in\n";
  for (const CLI::App *command : commands)
    os << "    " << command->get_name() << ") " << function << "-"
       << command->get_name() << " ;;\n";
  os << "    esac\n  fi\n}\n\n";
}

std::string makeZshCompletion(const CLI::App &app) {
  std::string function = "_" + app.get_name();
  std::ostringstream os;
  os << "#compdef " << app.get_name() << "\n# zsh completion for "
     << app.get_name() << "; made from its options.\n\n";
  writeFunction(os, app, function);
  os << function << " \"$@\"\n";
  return os.str();
}

} // namespace tarpon::manual
