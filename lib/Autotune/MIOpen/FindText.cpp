//===- FindText.cpp - MIOpen's find DBs -----------------------------------===//
//
// Part of Tarpon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
//   item := solver ":" milliseconds "," workspace bytes "," algorithm
//
// and before MIOpen 2.0, which readers still have to support:
//
//   item := algorithm ":" solver "," milliseconds "," workspace bytes {"," any}
//
//===----------------------------------------------------------------------===//

#include "Formats.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/Twine.h"

#include <charconv>
#include <cmath>

using namespace tarpon;
using namespace tarpon::miopen;
using llvm::StringRef;
using runtime::Status;

namespace {
struct AlgorithmName {
  Algorithm algorithm;
  llvm::StringLiteral name;
};
struct DirectionName {
  ConvDirection direction;
  llvm::StringLiteral prefix;
};
} // namespace

static constexpr AlgorithmName kAlgorithms[] = {
    {Algorithm::Gemm, "GEMM"},
    {Algorithm::Direct, "Direct"},
    {Algorithm::Fft, "FFT"},
    {Algorithm::Winograd, "Winograd"},
    {Algorithm::ImplicitGemm, "ImplicitGEMM"}};

static constexpr DirectionName kDirections[] = {
    {ConvDirection::Forward, "miopenConvolutionFwdAlgo"},
    {ConvDirection::BackwardData, "miopenConvolutionBwdDataAlgo"},
    {ConvDirection::BackwardWeights, "miopenConvolutionBwdWeightsAlgo"}};

/// Returns true if MIOpen has the algorithm: there is no FFT for weights.
static bool exists(Algorithm algorithm, ConvDirection direction) {
  return algorithm != Algorithm::Fft ||
         direction != ConvDirection::BackwardWeights;
}

std::string miopen::getAlgorithmName(Algorithm algorithm,
                                     ConvDirection direction) {
  if (!exists(algorithm, direction))
    algorithm = Algorithm::Direct;
  const DirectionName *prefix =
      llvm::find_if(kDirections, [&](const DirectionName &row) {
        return row.direction == direction;
      });
  const AlgorithmName *name =
      llvm::find_if(kAlgorithms, [&](const AlgorithmName &row) {
        return row.algorithm == algorithm;
      });
  return (prefix->prefix + name->name).str();
}

static bool isAlgorithm(StringRef text) {
  for (const DirectionName &prefix : kDirections)
    for (const AlgorithmName &name : kAlgorithms)
      if (exists(name.algorithm, prefix.direction) &&
          text == (prefix.prefix + name.name).str())
        return true;
  return false;
}

/// MIOpen's own files have negative times for estimates.
static bool parseTime(StringRef text, std::optional<double> &milliseconds) {
  double value = 0;
  auto [end, error] = std::from_chars(text.begin(), text.end(), value);
  if (error != std::errc() || end != text.end() || !std::isfinite(value))
    return false;
  milliseconds = value;
  return true;
}

static std::string parseItem(StringRef id, StringRef payload,
                             Solution &solution) {
  llvm::SmallVector<StringRef, 6> fields;
  payload.split(fields, ',');
  StringRef solver = id, algorithm;
  if (isAlgorithm(id)) {
    algorithm = id;
    solver = fields.front();
    fields.erase(fields.begin());
  } else if (fields.size() == 3) {
    algorithm = fields[2];
  } else {
    return "the item of " + quote(id) + " has " +
           std::to_string(fields.size()) + " fields, expected 3";
  }
  if (!isName(solver))
    return quote(solver) + " is no name of a solver";
  if (!isAlgorithm(algorithm))
    return quote(algorithm) + " is no algorithm";
  if (fields.empty() || !parseTime(fields[0], solution.milliseconds))
    return "the time of " + solver.str() + " is no number";
  if (fields.size() < 2 ||
      fields[1].getAsInteger(10, solution.workspaceBytes) ||
      solution.workspaceBytes < 0)
    return "the workspace of " + solver.str() + " is no number of bytes";
  solution.solver = solver.str();
  solution.algorithm = algorithm.str();
  return "";
}

Status miopen::readFindText(const std::string &path, Database &database) {
  return readTextFile(path, database, parseItem);
}

Status miopen::writeFindText(const std::string &path,
                             const Database &database) {
  return writeTextFile(
      path, database, [](const Solution &solution, std::string &text) {
        // Prints the shortest text that reads back as the same number.
        char time[32];
        auto [end, error] = std::to_chars(time, time + sizeof(time),
                                          solution.milliseconds.value_or(0));
        text.append(time, end);
        text += "," + std::to_string(solution.workspaceBytes) + "," +
                solution.algorithm;
      });
}
