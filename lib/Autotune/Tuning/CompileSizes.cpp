//===- CompileSizes.cpp - Compiles a model for many sizes -----------------===//
//
// Part of Tarpon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The model is imported and lowered once for each choice of sizes, so that
// shapes are constants in every pass and solver. Since kernels take shapes as
// arguments, the programs that result differ in numbers, and share kernels and
// constants in one package.
//
// Constants are packed for a config, so that layers take the same one with all
// sizes, as far as possible: that of the tuning file for the nearest sizes or,
// without any, the one that is known or expected to be best in the middle of
// the ranges. BERT-base at 2 to 200 tokens with the config for 32 or 128 takes
// at most 1.06 of the time with the config for its own length. With configs of
// their own, four lengths take 1.1 GB, and all lengths 0.48 GB with one (one
// thread of a Zen 4).
//
//===----------------------------------------------------------------------===//

#include "Compilation.h"

#include "tarpon/Runtime/SizedPackage.h"
#include "tarpon/Targets/Package/PackageBuilder.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"

#include <cmath>
#include <limits>

using namespace tarpon;
using runtime::Dimension;
using runtime::Error;
using runtime::Result;
using runtime::Status;

/// A program of BERT-base takes 85 kB, and 0.16 s to compile on a Zen 4.
static constexpr int64_t kMaxSizes = 4096;

//===----------------------------------------------------------------------===//
// Ranges
//===----------------------------------------------------------------------===//

Result<std::pair<std::string, SizeRange>>
tarpon::parseSizeRange(llvm::StringRef text) {
  auto [name, range] = text.rsplit('=');
  auto [low, high] = range.split("..");
  SizeRange sizes;
  bool isRange = range.contains("..");
  if (name.empty() || low.getAsInteger(10, sizes.low) ||
      (isRange && high.getAsInteger(10, sizes.high)))
    return Error{"expected NAME=SIZE or NAME=LOW..HIGH, got '" + text.str() +
                 "'"};
  if (!isRange)
    sizes.high = sizes.low;
  if (sizes.low < 0 || sizes.high < sizes.low)
    return Error{"expected sizes of 0 or more, the lower one first, got '" +
                 text.str() + "'"};
  return std::pair(name.str(), sizes);
}

bool tarpon::hasSeveralSizes(const CompileOptions &options) {
  return llvm::any_of(options.dims, [](const auto &entry) {
    return entry.second.low < entry.second.high;
  });
}

Status Compilation::checkSizes() const {
  if (wantsTuning()) {
    std::string highest;
    for (const auto &[name, range] : options.dims)
      highest += "--dim " + name + "=" + std::to_string(range.high) + " ";
    return Error{"a package of several sizes is not tuned as a whole: tune the "
                 "model at some sizes, such as " +
                 highest + "--tuning-file T.json, and --replay these files"};
  }
  if (options.candidates > 0)
    return Error{"a package of several sizes holds no candidates"};
  if (countSizes() > kMaxSizes)
    return Error{"the dimensions have more than " + std::to_string(kMaxSizes) +
                 " sizes together, each of which takes a program"};
  return runtime::success();
}

/// The number of choices of sizes, or one more than are possible.
int64_t Compilation::countSizes() const {
  int64_t count = 1;
  for (const auto &[name, range] : options.dims) {
    int64_t sizesOfOne = std::min(range.high - range.low, kMaxSizes) + 1;
    count = std::min(count * sizesOfOne, kMaxSizes + 1);
  }
  return count;
}

/// The dimensions with several sizes, in the order of their names.
std::vector<Dimension> Compilation::findDimensions() {
  std::vector<std::vector<std::string>> symbols = getModelInfo(*module).symbols;
  std::vector<Dimension> dimensions;
  for (const auto &[name, range] : options.dims) {
    if (range.low == range.high)
      continue;
    Dimension dimension{name, range.low, range.high};
    for (size_t input = 0; input < symbols.size(); ++input)
      for (size_t dim = 0; dim < symbols[input].size(); ++dim)
        if (symbols[input][dim] == name)
          dimension.places.push_back(
              {static_cast<int64_t>(input), static_cast<int64_t>(dim)});
    dimensions.push_back(std::move(dimension));
  }
  return dimensions;
}

/// Steps to the next lower sizes, of which the last vary fastest; false behind
/// the lowest.
static bool decrement(llvm::ArrayRef<Dimension> dimensions,
                      std::vector<int64_t> &sizes) {
  for (size_t i = sizes.size(); i-- > 0;) {
    if (--sizes[i] >= dimensions[i].low)
      return true;
    sizes[i] = dimensions[i].high;
  }
  return false;
}

//===----------------------------------------------------------------------===//
// One choice of sizes
//===----------------------------------------------------------------------===//

/// A context keeps what was made in it, so that each choice has its own.
Status Compilation::importSizes(const std::vector<Dimension> &dimensions,
                                const std::vector<int64_t> &next) {
  std::map<std::string, int64_t> wanted = sizes;
  for (auto [dimension, size] : llvm::zip_equal(dimensions, next))
    wanted[dimension.name] = size;
  // The first ones have been imported.
  if (wanted == sizes)
    return runtime::success();
  sizes = std::move(wanted);
  model.reset();
  module = {};
  context = makeModelContext();
  return importModel();
}

/// Sizes of 0 count as 1.
static double getLogarithm(int64_t size) {
  return std::log(static_cast<double>(std::max<int64_t>(size, 1)));
}

/// The distance between the sizes that are compiled now and those of a file, by
/// the logarithm of their ratios.
static double measureDistance(const TuningFile &file,
                              llvm::ArrayRef<Dimension> dimensions,
                              llvm::ArrayRef<std::string> inputs,
                              const std::map<std::string, int64_t> &sizes) {
  double distance = 0;
  for (const Dimension &dimension : dimensions) {
    auto [input, dim] = dimension.places.front();
    auto shape = file.model.inputs.find(inputs[input]);
    if (shape == file.model.inputs.end() ||
        static_cast<size_t>(dim) >= shape->second.size())
      return std::numeric_limits<double>::infinity();
    distance += std::abs(getLogarithm(sizes.at(dimension.name)) -
                         getLogarithm(shape->second[static_cast<size_t>(dim)]));
  }
  return distance;
}

/// Replays the record that was made for the nearest sizes.
Status Compilation::replaySizes(const std::vector<Dimension> &dimensions,
                                llvm::ArrayRef<SizeRecord> records) {
  std::vector<std::string> inputs = getModelInfo(*module).inputs;
  // Without tuning, there are records of two sizes.
  bool isTuned = !options.replays.empty();
  size_t nearest = 0;
  double least = std::numeric_limits<double>::infinity();
  for (auto [index, record] :
       llvm::enumerate(isTuned ? records : records.take_front())) {
    double distance = measureDistance(record.file, dimensions, inputs, sizes);
    if (distance < least) {
      least = distance;
      nearest = index;
    }
  }
  ReplayOptions replayOptions = makeReplayOptions(records[nearest].name);
  replayOptions.otherSizes = true;
  if (!isTuned)
    replayOptions.alternative = &records.back().file;
  Result<ReplayedModel> replayed =
      replayTuningFile(records[nearest].file, *model, replayOptions);
  if (!replayed)
    return replayed.error();
  for (const std::string &what : replayed->replaced)
    if (Status status = fallBack(what); !status)
      return status;
  numReplaced += replayed->numReplaced;
  outcome.package = std::move(replayed->model.package);
  return runtime::success();
}

//===----------------------------------------------------------------------===//
// All of them
//===----------------------------------------------------------------------===//

/// The sizes in the middle of the ranges, by their logarithms.
static std::vector<int64_t> getMiddle(llvm::ArrayRef<Dimension> dimensions) {
  std::vector<int64_t> middle;
  for (const Dimension &dimension : dimensions)
    middle.push_back(std::llround(std::exp(
        (getLogarithm(dimension.low) + getLogarithm(dimension.high)) / 2)));
  return middle;
}

Result<std::vector<SizeRecord>>
Compilation::collectRecords(const std::vector<Dimension> &dimensions) {
  std::vector<SizeRecord> records;
  for (const std::string &path : options.replays) {
    Result<TuningFile> file = readReplay(path);
    if (!file)
      return file.error();
    if (Status status = checkModel(
            *file, {getModelInfo(*module).sha256, file->model.name, {}}, path);
        !status)
      return status.error();
    records.push_back({std::move(*file), path});
  }
  if (!records.empty())
    return records;
  std::vector<int64_t> highest;
  for (const Dimension &dimension : dimensions)
    highest.push_back(dimension.high);
  for (const std::vector<int64_t> &some : {getMiddle(dimensions), highest}) {
    if (Status status = importSizes(dimensions, some); !status)
      return status.error();
    if (Status status = compileQuickly(); !status)
      return status.error();
    describe();
    records.push_back({outcome.record, "what is known for " + describeSizes()});
  }
  return records;
}

Status Compilation::compileSizes() {
  std::vector<Dimension> dimensions = findDimensions();
  Result<std::vector<SizeRecord>> records = collectRecords(dimensions);
  if (!records)
    return records.error();
  std::vector<int64_t> next;
  for (const Dimension &dimension : dimensions)
    next.push_back(dimension.high);
  SizedPackageBuilder builder(dimensions, *kernels);
  progress.expect(static_cast<double>(countSizes()));
  size_t numLayers = 0;
  do {
    if (Status status = compileSize(builder, dimensions, next, *records);
        !status)
      return status;
    numLayers += outcome.package.layers.size();
    progress.advance(1);
  } while (decrement(dimensions, next));
  Result<runtime::Package> package = builder.finish();
  if (!package)
    return package.error();
  outcome.package = std::move(*package);
  if (options.replays.empty())
    return runtime::success();
  outcome.mode = CompileOutcome::Replayed;
  outcome.record = std::move(records->front().file);
  if (numReplaced == 0)
    return runtime::success();
  return fallBack(std::to_string(numReplaced) + " of " +
                  std::to_string(numLayers) +
                  " layers of all sizes have no solution in the tuning files "
                  "that fits them, and take what is known of them elsewhere");
}

Status Compilation::compileSize(SizedPackageBuilder &builder,
                                const std::vector<Dimension> &dimensions,
                                const std::vector<int64_t> &next,
                                llvm::ArrayRef<SizeRecord> records) {
  if (options.isStopped && (*options.isStopped)())
    return Error{"stopped at " + describeSizes()};
  if (Status status = importSizes(dimensions, next); !status)
    return status;
  progress.setPhase("compiling for " + describeSizes());
  model->setPackager(
      [&](mlir::func::FuncOp function) -> Result<runtime::Package> {
        Result<runtime::Program> program = builder.add(function, next);
        if (!program)
          return program.error();
        runtime::Package package;
        static_cast<runtime::Program &>(package) = std::move(*program);
        return package;
      });
  Status status = replaySizes(dimensions, records);
  return status ? checkReferenceLayers() : status;
}

/// "batch=1, seq=17".
std::string Compilation::describeSizes() const {
  std::vector<std::string> parts;
  for (const auto &[name, size] : sizes)
    parts.push_back(name + "=" + std::to_string(size));
  return llvm::join(parts, ", ");
}
