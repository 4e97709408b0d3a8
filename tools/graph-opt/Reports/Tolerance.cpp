//===- Tolerance.cpp - Tolerances of results --------------------*- C++ -*-===//
//
// Part of Tarpon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Tolerance.h"

#include "tarpon/Autotune/Search/AccuracyBudget.h"
#include "tarpon/Problem/Problem.h"
#include "tarpon/Runtime/Precision.h"
#include "tarpon/Targets/Registry/TargetRegistry.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/Format.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/raw_ostream.h"

#include <algorithm>
#include <cmath>
#include <limits>

using llvm::formatv;

namespace tarpon {

using namespace runtime;

/// The worst of millions of elements counts, and functions such as exp amplify
/// errors.
static constexpr double kReorderingFactor = 16;

static constexpr double kInfinity = std::numeric_limits<double>::infinity();

//===----------------------------------------------------------------------===//
// Tolerances
//===----------------------------------------------------------------------===//

static std::vector<Problem> getProblems(const Package &package) {
  std::vector<Problem> problems;
  for (const Layer &layer : package.layers)
    if (mlir::FailureOr<Problem> problem = parseProblem(layer.problem);
        mlir::succeeded(problem))
      problems.push_back(std::move(*problem));
  return problems;
}

static bool isQuantized(const Problem &problem) {
  return problem.result.quantized ||
         std::any_of(problem.operands.begin(), problem.operands.end(),
                     [](const TensorDesc &desc) { return desc.quantized; });
}

static Tolerance getReorderingTolerance(const std::vector<Problem> &problems) {
  double products = 1;
  for (const Problem &problem : problems) {
    auto results = static_cast<double>(problem.result.numElements());
    if (results > 0)
      products += std::max(1.0, problem.flops() / results);
  }
  double epsilon = std::numeric_limits<float>::epsilon();
  Tolerance tolerance;
  tolerance.ofScale = kReorderingFactor * epsilon * std::sqrt(products);
  return tolerance;
}

bool roundsProducts(const Package &package) {
  Result<std::shared_ptr<const Target>> target = findPackageTarget(package);
  if (!target)
    return false;
  const TargetInfo &info = (*target)->getInfo();
  return llvm::any_of(getProblems(package), [&](const Problem &each) {
    return info.traits->getProductRounding(each, info) > 0;
  });
}

Tolerance getReferenceTolerance(const Package &package,
                                std::optional<double> maxError) {
  Tolerance tolerance;
  tolerance.relativeL2 = maxError;
  if (maxError)
    return tolerance;
  std::vector<Problem> problems = getProblems(package);
  // A value next to a rounding boundary may fall to either side of it.
  Precision precision = parsePrecision(package.dtype).value_or(Precision::F32);
  if (std::any_of(problems.begin(), problems.end(), isQuantized))
    precision = Precision::I8;
  if (precision == Precision::F32 && roundsProducts(package))
    precision = Precision::F16;
  switch (precision) {
  case Precision::F32:
    return getReorderingTolerance(problems);
  case Precision::F16:
    tolerance.relativeL2 = policy::kFp16Budget.allowed;
    break;
  case Precision::BF16:
    tolerance.relativeL2 = policy::kBf16Budget.allowed;
    break;
  case Precision::I8:
    tolerance.relativeL2 = policy::kInt8Budget.allowed;
    break;
  }
  return tolerance;
}

Tolerance getOnnxTolerance() {
  Tolerance tolerance;
  tolerance.relative = 1e-3;
  tolerance.ofScale = 1e-6;
  tolerance.absolute = 1e-7;
  // The expected results of attention in bf16 come from NumPy, which rounds
  // every exponential of its softmax to bf16, and their sum too.
  tolerance.lastPlaces = 2;
  return tolerance;
}

//===----------------------------------------------------------------------===//
// Comparison
//===----------------------------------------------------------------------===//

/// |got - expected|; infinite where they differ in kind.
static double getError(double got, double expected) {
  if (got == expected || (std::isnan(got) && std::isnan(expected)))
    return 0;
  double error = std::abs(got - expected);
  return std::isnan(error) ? kInfinity : error;
}

namespace {

/// All elements of two tensors of one shape and dtype.
class Comparison {
public:
  Comparison(const HostTensor &got, const HostTensor &expected);

  /// The element whose error is the most above what the tolerance allows.
  int64_t findWorst(const Tolerance &tolerance) const;
  double getRelativeL2() const;
  /// max |got - expected| / max |expected|.
  double getLargestOfScale() const;
  std::string describe(int64_t element) const;

private:
  double loadGot(int64_t i) const {
    return loadAsDouble(got.dtype, got.data.data() + i * dtypeBytes(got.dtype));
  }
  double loadExpected(int64_t i) const {
    return loadAsDouble(expected.dtype,
                        expected.data.data() + i * dtypeBytes(expected.dtype));
  }
  double getExcess(int64_t i, const Tolerance &tolerance) const;

  const HostTensor &got, &expected;
  double scale = 0;
};

} // namespace

Comparison::Comparison(const HostTensor &got, const HostTensor &expected)
    : got(got), expected(expected) {
  for (int64_t i = 0, end = expected.numElements(); i < end; ++i)
    if (double value = std::abs(loadExpected(i)); std::isfinite(value))
      scale = std::max(scale, value);
}

double Comparison::getExcess(int64_t i, const Tolerance &tolerance) const {
  double wanted = loadExpected(i);
  double relative = tolerance.relative;
  // Narrower elements are only stored, so that each is the one right one.
  if (isStorageOnly(expected.dtype))
    return getError(loadGot(i), wanted);
  if (dtypeBytes(expected.dtype) < dtypeBytes(DType::F32))
    relative =
        std::max(relative, tolerance.lastPlaces * dtypeEpsilon(expected.dtype));
  double allowed = 0;
  if (isFloat(expected.dtype) && std::isfinite(wanted))
    allowed = relative * std::abs(wanted) + tolerance.ofScale * scale +
              tolerance.absolute;
  return getError(loadGot(i), wanted) - allowed;
}

int64_t Comparison::findWorst(const Tolerance &tolerance) const {
  int64_t worst = -1;
  double excess = 0;
  for (int64_t i = 0, end = expected.numElements(); i < end; ++i)
    if (double next = getExcess(i, tolerance); next > excess) {
      excess = next;
      worst = i;
    }
  return worst;
}

double Comparison::getRelativeL2() const {
  double errors = 0, squares = 0;
  for (int64_t i = 0, end = expected.numElements(); i < end; ++i) {
    double error = getError(loadGot(i), loadExpected(i));
    errors += error * error;
    if (double value = loadExpected(i); std::isfinite(value))
      squares += value * value;
  }
  if (errors == 0)
    return 0;
  return std::sqrt(errors) / std::sqrt(squares);
}

double Comparison::getLargestOfScale() const {
  double largest = 0;
  for (int64_t i = 0, end = expected.numElements(); i < end; ++i)
    largest = std::max(largest, getError(loadGot(i), loadExpected(i)));
  return largest == 0 ? 0 : largest / scale;
}

std::string Comparison::describe(int64_t element) const {
  std::string text;
  llvm::raw_string_ostream os(text);
  os << "element " << element << " of " << shapeToString(expected.shape)
     << llvm::format(": got %.9g, expected %.9g", loadGot(element),
                     loadExpected(element));
  return text;
}

std::optional<std::string> findMismatch(const HostTensor &got,
                                        const HostTensor &expected,
                                        const Tolerance &tolerance) {
  if (got.shape != expected.shape)
    return "got the shape " + shapeToString(got.shape) + ", expected " +
           shapeToString(expected.shape);
  if (got.dtype != expected.dtype)
    return "got the dtype " + std::string(dtypeName(got.dtype)) +
           ", expected " + std::string(dtypeName(expected.dtype));
  Comparison comparison(got, expected);
  if (!tolerance.relativeL2) {
    int64_t worst = comparison.findWorst(tolerance);
    return worst < 0 ? std::nullopt : std::optional(comparison.describe(worst));
  }
  double error = comparison.getRelativeL2();
  if (error <= *tolerance.relativeL2)
    return std::nullopt;
  return formatv("relative L2 error {0:e2} is above {1:e2}; {2}", error,
                 *tolerance.relativeL2,
                 comparison.describe(comparison.findWorst({})))
      .str();
}

std::optional<std::string> findNaN(const HostTensor &tensor) {
  int64_t found = 0, count = tensor.numElements();
  const char *element = tensor.data.data();
  for (int64_t i = 0; i < count; ++i) {
    found += std::isnan(loadAsDouble(tensor.dtype, element));
    element += dtypeBytes(tensor.dtype);
  }
  if (found == 0)
    return std::nullopt;
  return formatv("NaN in {0} of {1} elements", found, count).str();
}

std::string summarizeErrors(const std::vector<HostTensor> &got,
                            const std::vector<HostTensor> &expected,
                            const Tolerance &tolerance) {
  double relativeL2 = 0, ofScale = 0;
  for (size_t i = 0; i < got.size(); ++i) {
    Comparison comparison(got[i], expected[i]);
    relativeL2 = std::max(relativeL2, comparison.getRelativeL2());
    ofScale = std::max(ofScale, comparison.getLargestOfScale());
  }
  if (tolerance.relativeL2)
    return formatv("relative L2 {0:e1} (budget {1:e1})", relativeL2,
                   *tolerance.relativeL2);
  return formatv("relative L2 {0:e1}, largest error {1:e1} of the largest "
                 "element (tolerance {2:e1})",
                 relativeL2, ofScale, tolerance.relative + tolerance.ofScale);
}

} // namespace tarpon
