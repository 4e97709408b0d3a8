//===- TopOne.cpp - The share of right classes ----------------------------===//
//
// Part of Tarpon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Measure/TopOne.h"

#include "tarpon/Runtime/File.h"
#include "tarpon/Runtime/Tensor.h"

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/ADT/StringExtras.h"

#include <algorithm>
#include <cassert>
#include <cmath>

using namespace tarpon;
using runtime::Error;
using runtime::Result;
using runtime::TensorInfo;

//===----------------------------------------------------------------------===//
// Labels
//===----------------------------------------------------------------------===//

/// Returns the number of classes of an output of rows, 0 if it has none. Heads
/// that are convolutions have trailing dimensions of 1.
static int64_t countClasses(const TensorInfo &output) {
  llvm::ArrayRef<int64_t> shape = output.shape;
  while (shape.size() > 1 && shape.back() == 1)
    shape = shape.drop_back();
  bool isMatrix = shape.size() == 1 || shape.size() == 2;
  return isMatrix && shape.back() > 1 ? shape.back() : 0;
}

static Result<std::vector<int64_t>> readLabels(const std::string &path,
                                               int64_t classes) {
  Result<runtime::InputFile> file = runtime::InputFile::open(path);
  if (!file)
    return file.error();
  std::string text(file->size(), '\0');
  if (runtime::Status status = file->read(0, text); !status)
    return status.error();
  llvm::SmallVector<llvm::StringRef> words;
  llvm::SplitString(text, words, " \t\r\n");
  std::vector<int64_t> labels;
  for (llvm::StringRef word : words) {
    int64_t label = 0;
    if (!llvm::to_integer(word, label, 10) || label < 0 || label >= classes)
      return Error{path + ": label " + std::to_string(labels.size()) + " is '" +
                   word.take_front(20).str() +
                   "', and not one of the classes 0 to " +
                   std::to_string(classes - 1)};
    labels.push_back(label);
  }
  return labels;
}

Result<std::unique_ptr<OutputMetric>> TopOne::read(const std::string &path,
                                                   size_t samples,
                                                   const TensorInfo &output) {
  int64_t classes = countClasses(output);
  if (classes == 0)
    return Error{"output '" + output.name + "' of shape " +
                 runtime::shapeToString(output.shape) +
                 " has no classes, which labels need: a row of at least two "
                 "elements for each image"};
  Result<std::vector<int64_t>> labels = readLabels(path, classes);
  if (!labels)
    return labels.error();
  size_t wanted = samples * (output.numElements() / classes);
  if (labels->size() != wanted)
    return Error{path + " has " + std::to_string(labels->size()) +
                 " labels, and not one for each of the " +
                 std::to_string(wanted) + " rows of the calibration inputs"};
  return std::unique_ptr<OutputMetric>(
      std::make_unique<TopOne>(std::move(*labels), classes));
}

//===----------------------------------------------------------------------===//
// The metric
//===----------------------------------------------------------------------===//

static bool isRight(llvm::ArrayRef<double> row, int64_t label) {
  if (std::any_of(row.begin(), row.end(),
                  [](double element) { return std::isnan(element); }))
    return false;
  return std::max_element(row.begin(), row.end()) - row.begin() == label;
}

Result<double> TopOne::compute(const SampleResults &results) const {
  size_t index = 0, right = 0;
  for (const auto &outputs : results)
    for (llvm::ArrayRef<double> rest = outputs.front(); !rest.empty();
         rest = rest.drop_front(classes))
      right += isRight(rest.take_front(classes), labels[index++]);
  assert(index == labels.size() && "the model has other outputs");
  return static_cast<double>(right) / static_cast<double>(labels.size());
}
