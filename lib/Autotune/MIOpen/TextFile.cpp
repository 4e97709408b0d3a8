//===- TextFile.cpp - Lines of keys and items -----------------------------===//
//
// Part of Tarpon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The container of MIOpen's text databases:
//
//   line := key "=" item {";" item}
//   item := id ":" payload
//
// An item that is malformed is left out, as MIOpen does, and its line counts as
// malformed.
//
//===----------------------------------------------------------------------===//

#include "Formats.h"

#include "tarpon/Runtime/File.h"

using namespace tarpon;
using namespace tarpon::miopen;
using llvm::StringRef;
using runtime::Result;
using runtime::Status;

static Result<std::string> readText(const std::string &path) {
  Result<runtime::InputFile> file = runtime::InputFile::open(path);
  if (!file)
    return file.error();
  std::string text(file->size(), '\0');
  if (Status status = file->read(0, text); !status)
    return status.error();
  return text;
}

static void readItems(StringRef items, Record &record,
                      RecordCollector &collector, ItemParser parseItem) {
  while (!items.empty()) {
    StringRef item;
    std::tie(item, items) = items.split(';');
    auto [id, payload] = item.split(':');
    if (id.size() == item.size()) {
      collector.reject("the item " + quote(item) + " has no ':'");
      continue;
    }
    Solution solution;
    if (std::string fault = parseItem(id, payload, solution); !fault.empty())
      collector.reject(fault);
    else
      collector.add(record, std::move(solution));
  }
}

static void readLine(StringRef line, RecordCollector &collector,
                     ItemParser parseItem) {
  auto [key, items] = line.split('=');
  if (key.size() == line.size() || key.empty())
    return collector.reject("it has no key with a '=' behind it");
  if (items.empty())
    return collector.reject("there is nothing behind its key");
  Record *record = collector.add(key);
  if (!record)
    return;
  readItems(items, *record, collector, parseItem);
  collector.dropEmpty();
}

Status miopen::readTextFile(const std::string &path, Database &database,
                            ItemParser parseItem) {
  Result<std::string> text = readText(path);
  if (!text)
    return text.error();
  RecordCollector collector(database);
  for (StringRef rest = *text; !rest.empty();) {
    StringRef line;
    std::tie(line, rest) = rest.split('\n');
    line.consume_back("\r");
    collector.startLine();
    if (!line.empty())
      readLine(line, collector, parseItem);
  }
  return runtime::success();
}

Status miopen::writeTextFile(
    const std::string &path, const Database &database,
    llvm::function_ref<void(const Solution &, std::string &)> printItem) {
  std::string text;
  for (const Record &record : database.records) {
    text += record.key;
    char separator = '=';
    for (const Solution &solution : record.solutions) {
      text += separator;
      text += solution.solver + ":";
      printItem(solution, text);
      separator = ';';
    }
    text += '\n';
  }
  return runtime::writeFileAtomically(path, {text});
}
