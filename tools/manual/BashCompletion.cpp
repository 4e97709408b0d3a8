//===- BashCompletion.cpp - Completion in bash ------------------*- C++ -*-===//
//
// Part of Tarpon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The script finds the command by walking the words before the cursor: "path"
// is "/db/list" in `graph-opt db list`. Where it offers nothing, bash offers
// files.
//
//===----------------------------------------------------------------------===//

#include "Completion.h"
#include "Options.h"

#include <algorithm>
#include <sstream>

namespace tarpon::manual {

namespace {

/// The tables of the script, which one walk over the commands fills.
struct Tables {
  /// Case patterns "/db/list", of all commands.
  std::string paths;
  /// Case branches that offer the values of "PATH OPTION".
  std::ostringstream values;
  /// Case branches that offer the words of PATH.
  std::ostringstream words;

  void add(const CLI::App &app, const std::string &path);

private:
  void addValue(const CLI::Option &option, const std::string &path);
};

} // namespace

void Tables::addValue(const CLI::Option &option, const std::string &path) {
  std::string pattern;
  for (const std::string &name : getNames(option))
    pattern += (pattern.empty() ? "\"" : " | \"") + path + " " + name + "\"";
  values << "  " << pattern << ")\n";
  std::string choices;
  for (const std::string &choice : getChoices(option))
    choices += (choices.empty() ? "" : " ") + choice;
  if (!choices.empty())
    values << "    COMPREPLY=($(compgen -W \"" << choices
           << "\" -- \"$cur\"))\n";
  // A value that is neither a choice nor a file cannot be guessed.
  if (!isFile(option))
    values << "    compopt +o default\n";
  values << "    return\n    ;;\n";
}

void Tables::add(const CLI::App &app, const std::string &path) {
  if (!path.empty())
    paths += (paths.empty() ? "" : " | ") + path;
  std::string commands, options;
  for (const CLI::App *command : getCommands(app))
    commands += " " + command->get_name();
  for (const CLI::Option *option : getNamed(app)) {
    for (const std::string &name : getNames(*option))
      options += " " + name;
    if (takesValue(*option))
      addValue(*option, path);
  }
  words << "  \"" << path << "\")\n    options=\"" << options.substr(1)
        << "\"\n    commands=\"" << (commands.empty() ? "" : commands.substr(1))
        << "\"\n    ;;\n";
  for (const CLI::App *command : getCommands(app))
    add(*command, path + "/" + command->get_name());
}

std::string makeBashCompletion(const CLI::App &app) {
  Tables tables;
  tables.add(app, "");
  std::string function = "_" + app.get_name();
  std::replace(function.begin(), function.end(), '-', '_');
  std::ostringstream os;
  os << "# bash completion for " << app.get_name()
     << "; made from its options.\n\n"
     << function << "() {\n"
     << R"(  local cur=${COMP_WORDS[COMP_CWORD]} path="" options commands word
  local option=${COMP_WORDS[COMP_CWORD - 1]}
  COMPREPLY=()
)";
  // readline splits "--dtype=fp32" into three words.
  os << R"(  if [[ $cur == "=" ]]; then
    cur=""
  elif [[ $option == "=" ]]; then
    option=${COMP_WORDS[COMP_CWORD - 2]}
  fi
)";
  if (!tables.paths.empty())
    os << R"(  for word in "${COMP_WORDS[@]:1:COMP_CWORD-1}"; do
    case "$path/$word" in
    )" << tables.paths
       << R"() path+=/$word ;;
    esac
  done
)";
  os << "  case \"$path $option\" in\n"
     << tables.values.str() << "  esac\n  case \"$path\" in\n"
     << tables.words.str() << "  esac\n"
     << R"(  if [[ $cur == -* ]]; then
    COMPREPLY=($(compgen -W "$options" -- "$cur"))
  else
    COMPREPLY=($(compgen -W "$commands" -- "$cur"))
  fi
}

complete -o default -F )"
     << function << " " << app.get_name() << "\n";
  return os.str();
}

} // namespace tarpon::manual
