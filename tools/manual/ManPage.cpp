//===- ManPage.cpp - Man pages of a command line ----------------*- C++ -*-===//
//
// Part of Tarpon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "ManPage.h"

#include "Options.h"

#include <algorithm>
#include <cctype>
#include <sstream>

namespace tarpon::manual {

namespace {

/// Writes the pages of one program.
class Writer {
public:
  explicit Writer(std::string version) : version(std::move(version)) {}

  /// `words` call the command: "graph-opt", "db", "list".
  void write(const CLI::App &app, std::vector<std::string> words);

  std::vector<ManPage> pages;

private:
  std::string version;
};

} // namespace

/// Escapes text for groff: hyphens that can be copied, and no line that looks
/// like a request.
static std::string escape(const std::string &text) {
  std::string escaped;
  bool isLineStart = true;
  for (char c : text) {
    if (isLineStart && (c == '.' || c == '\''))
      escaped += "\\&";
    if (c == '-')
      escaped += "\\-";
    else if (c == '\\')
      escaped += "\\e";
    else
      escaped += c;
    isLineStart = c == '\n';
  }
  return escaped;
}

static std::string join(const std::vector<std::string> &words,
                        const std::string &separator) {
  std::string text;
  for (const std::string &word : words)
    text += (text.empty() ? "" : separator) + word;
  return text;
}

static std::string upper(std::string text) {
  std::transform(text.begin(), text.end(), text.begin(),
                 [](unsigned char c) { return std::toupper(c); });
  return text;
}

static std::string bold(const std::string &text) {
  return "\\fB" + escape(text) + "\\fR";
}

static std::string italic(const std::string &text) {
  return "\\fI" + escape(text) + "\\fR";
}

static void writeSynopsis(std::ostream &os, const CLI::App &app,
                          const std::string &command) {
  os << ".SH SYNOPSIS\n" << bold(command) << " [" << italic("OPTION") << "]...";
  for (const CLI::Option *positional : getPositionals(app)) {
    os << " " << italic(positional->get_name(/*positional=*/true));
    if (positional->get_items_expected_max() > 1)
      os << "...";
  }
  if (!getCommands(app).empty())
    os << " " << italic("COMMAND") << " [" << italic("ARGUMENT") << "]...";
  os << "\n";
}

static void writeOption(std::ostream &os, const CLI::Option &option) {
  os << ".TP\n";
  std::string separator;
  for (const std::string &name : getNames(option)) {
    os << separator << bold(name);
    separator = ", ";
  }
  if (!option.nonpositional())
    os << italic(option.get_name(/*positional=*/true));
  else if (takesValue(option))
    os << " " << italic(option.get_type_name());
  os << "\n" << escape(option.get_description()) << "\n";
}

static void writeOptions(std::ostream &os, const CLI::App &app) {
  if (!getPositionals(app).empty())
    os << ".SH ARGUMENTS\n";
  for (const CLI::Option *option : getPositionals(app))
    writeOption(os, *option);
  os << ".SH OPTIONS\n";
  for (const CLI::Option *option : getNamed(app))
    writeOption(os, *option);
}

static void writeCommands(std::ostream &os, const CLI::App &app,
                          const std::string &page) {
  if (getCommands(app).empty())
    return;
  os << ".SH COMMANDS\n";
  for (const CLI::App *command : getCommands(app))
    os << ".TP\n"
       << bold(command->get_name()) << "\n"
       << escape(getSummary(*command)) << "; see\n.BR "
       << escape(page + "-" + command->get_name()) << " (1).\n";
}

/// The footer of the help is "example:" with indented lines. A command without
/// one inherits that of its parent from CLI11.
static void writeExample(std::ostream &os, const CLI::App &app) {
  constexpr std::string_view kExample = "example:\n";
  const CLI::App *parent = app.get_parent();
  const std::string &footer = app.get_footer();
  if (!footer.starts_with(kExample) ||
      (parent && parent->get_footer() == footer))
    return;
  os << ".SH EXAMPLE\n.nf\n"
     << escape(footer.substr(kExample.size())) << "\n.fi\n";
}

static void writeStatus(std::ostream &os) {
  os << ".SH EXIT STATUS\n"
        "0 on success, 1 if a file or a value cannot be used, 2 if the "
        "command line is invalid.\n";
}

void Writer::write(const CLI::App &app, std::vector<std::string> words) {
  std::ostringstream os;
  std::string command = join(words, " "), name = join(words, "-");
  os << ".\\\" Made from the options of " << words.front() << ".\n"
     << ".TH " << escape(upper(name)) << " 1 \"\" \"Tarpon " << version
     << "\" \"Tarpon\"\n"
     << ".SH NAME\n"
     << escape(name) << " \\- " << escape(getSummary(app)) << "\n";
  writeSynopsis(os, app, command);
  if (std::string details = getDetails(app); !details.empty())
    os << ".SH DESCRIPTION\n" << escape(details) << "\n";
  writeOptions(os, app);
  writeCommands(os, app, name);
  writeExample(os, app);
  writeStatus(os);
  if (words.size() > 1) {
    words.pop_back();
    os << ".SH SEE ALSO\n.BR " << escape(join(words, "-")) << " (1)\n";
    words.push_back(app.get_name());
  }
  pages.push_back({name, os.str()});
  for (const CLI::App *nested : getCommands(app)) {
    words.push_back(nested->get_name());
    write(*nested, words);
    words.pop_back();
  }
}

std::vector<ManPage> makeManPages(const CLI::App &app,
                                  const std::string &version) {
  Writer writer(version);
  writer.write(app, {app.get_name()});
  return std::move(writer.pages);
}

} // namespace tarpon::manual
