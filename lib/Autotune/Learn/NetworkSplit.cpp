//===- NetworkSplit.cpp - The networks held out of training ---------------===//
//
// Part of Tarpon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tarpon/Autotune/Learn/NetworkSplit.h"

#include "tarpon/Problem/Producer.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/SmallString.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/Path.h"

#include <nlohmann/json.hpp>

using namespace tarpon;
using nlohmann::json;
using runtime::Error;
using runtime::Result;

static Result<std::string> readText(const std::string &path) {
  auto buffer = llvm::MemoryBuffer::getFile(path, /*IsText=*/true);
  if (!buffer)
    return Error{"cannot read " + path + ": " + buffer.getError().message()};
  return (*buffer)->getBuffer().str();
}

/// "64 56 56 64 3 3 1 1 1 1 1 1 1 1 1": C H W K R S sh sw pt pl pb pr dh dw G.
/// "" for anything but a convolution with two spatial dimensions.
static std::string printShape(const Problem &problem) {
  if (problem.op != OpKind::Conv || hasProducer(problem) ||
      problem.result.rank() != 4)
    return "";
  const std::vector<int64_t> &input = problem.operands[0].shape,
                             &filter = problem.operands[1].shape;
  std::vector<int64_t> numbers = {input[1],  input[2],  input[3],
                                  filter[0], filter[2], filter[3]};
  for (const char *attr : {"strides", "pads", "dilations", "group"})
    llvm::append_range(numbers, problem.ints(attr));
  return llvm::join(
      llvm::map_range(numbers,
                      [](int64_t number) { return std::to_string(number); }),
      " ");
}

/// Adds the networks named in "resnet50/conv_1,densenet121/conv".
static void addNetworks(llvm::StringRef layers, std::set<std::string> &names) {
  for (llvm::StringRef layer : llvm::split(layers, ','))
    names.insert(layer.split('/').first.str());
}

Result<NetworkSplit> NetworkSplit::read(const std::string &path) {
  constexpr size_t kWords = 18, kNumbers = 16;
  Result<std::string> text = readText(path);
  if (!text)
    return text.error();
  json document = json::parse(*text, nullptr, /*allow_exceptions=*/false);
  auto isText = [](const json &value) { return value.is_string(); };
  if (!document.is_object() || !document.contains("name") ||
      !document["name"].is_string() || !document.contains("problems") ||
      !document["problems"].is_string() || !document.contains("held_out") ||
      !document["held_out"].is_array() ||
      !llvm::all_of(document["held_out"], isText))
    return Error{path + " is no split: expected \"name\", \"problems\" and a "
                        "list \"held_out\""};
  NetworkSplit split;
  split.name = document["name"].get<std::string>();
  for (const json &network : document["held_out"])
    split.heldOut.insert(network.get<std::string>());

  llvm::SmallString<256> list(llvm::sys::path::parent_path(path));
  llvm::sys::path::append(list, document["problems"].get<std::string>());
  Result<std::string> lines = readText(list.str().str());
  if (!lines)
    return lines.error();
  std::set<std::string> known;
  size_t number = 0;
  for (llvm::StringRef line : llvm::split(*lines, '\n')) {
    ++number;
    llvm::SmallVector<llvm::StringRef> words;
    line.trim().split(words, ' ', -1, /*KeepEmpty=*/false);
    if (words.empty() || words[0].starts_with("#"))
      continue;
    if (words.size() != kWords)
      return Error{list.str().str() + ":" + std::to_string(number) +
                   ": not a shape of " + std::to_string(kWords) + " words"};
    auto shape = llvm::ArrayRef(words).slice(1, kNumbers - 1);
    addNetworks(words.back(), split.networks[llvm::join(shape, " ")]);
    addNetworks(words.back(), known);
  }
  for (const std::string &network : split.heldOut)
    if (!known.count(network))
      return Error{path + ": held_out: no problem of " + list.str().str() +
                   " is of '" + network + "'"};
  return split;
}

const std::set<std::string> &
NetworkSplit::getNetworks(const Problem &problem) const {
  static const std::set<std::string> none;
  auto known = networks.find(printShape(problem));
  return known == networks.end() ? none : known->second;
}

bool NetworkSplit::isHeldOut(const Problem &problem) const {
  const std::set<std::string> &posed = getNetworks(problem);
  return !posed.empty() && llvm::all_of(posed, [this](const auto &network) {
    return heldOut.count(network) != 0;
  });
}
