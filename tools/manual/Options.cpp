//===- Options.cpp - Describes a command line's options ---------*- C++ -*-===//
//
// Part of Tarpon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Options.h"

#include <algorithm>
#include <cctype>

using namespace tarpon;

std::vector<const CLI::App *> manual::getCommands(const CLI::App &app) {
  return app.get_subcommands(
      [](const CLI::App *command) { return !command->get_group().empty(); });
}

std::vector<const CLI::Option *> manual::getNamed(const CLI::App &app) {
  return app.get_options([](const CLI::Option *option) {
    return option->nonpositional() && !option->get_group().empty();
  });
}

std::vector<const CLI::Option *> manual::getPositionals(const CLI::App &app) {
  return app.get_options(
      [](const CLI::Option *option) { return option->get_positional(); });
}

std::vector<std::string> manual::getNames(const CLI::Option &option) {
  std::vector<std::string> names;
  for (const std::string &name : option.get_snames())
    names.push_back("-" + name);
  for (const std::string &name : option.get_lnames())
    names.push_back("--" + name);
  return names;
}

bool manual::takesValue(const CLI::Option &option) {
  return option.get_items_expected_max() > 0;
}

/// Returns true if a word of a type is typed literally, instead of being a
/// placeholder.
static bool isLiteral(const std::string &word) {
  return !word.empty() && std::islower(word[0]) &&
         std::all_of(word.begin(), word.end(), [](unsigned char c) {
           return std::islower(c) || std::isdigit(c) || c == '-' || c == '_';
         });
}

std::vector<std::string> manual::getChoices(const CLI::Option &option) {
  std::vector<std::string> choices;
  std::string type = option.get_type_name();
  std::replace(type.begin(), type.end(), '|', ',');
  std::istringstream words(type);
  for (std::string word; std::getline(words, word, ',');)
    if (isLiteral(word))
      choices.push_back(word);
  return choices;
}

bool manual::isFile(const CLI::Option &option) {
  std::string type = option.get_type_name();
  for (const char *word : {"FILE", "DIR", "OUT", "IN"})
    if (type.find(word) != std::string::npos)
      return true;
  return false;
}

/// Finds the end of the first sentence of `text`.
static size_t getSummaryEnd(const std::string &text) {
  size_t line = text.find('\n'), sentence = text.find(". ");
  return std::min({line, sentence, text.size()});
}

std::string manual::getSummary(const CLI::App &app) {
  std::string text = app.get_description();
  text.resize(getSummaryEnd(text));
  if (text.ends_with('.'))
    text.pop_back();
  return text;
}

std::string manual::getDetails(const CLI::App &app) {
  std::string text = app.get_description();
  text.erase(0, getSummaryEnd(text));
  text.erase(0, text.find_first_not_of(". \n"));
  return text;
}
