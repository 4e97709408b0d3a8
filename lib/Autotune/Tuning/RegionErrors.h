//===- RegionErrors.h - The errors of regions in a precision ----*- C++ -*-===//
//
// Part of Tarpon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The errors of a model with a group of its regions in a precision, and all
// others in fp32. The first group of a precision are all regions; groups are
// halved where their errors count, and both halves measured.
//
//===----------------------------------------------------------------------===//

#ifndef TARPON_LIB_AUTOTUNE_TUNING_REGIONERRORS_H
#define TARPON_LIB_AUTOTUNE_TUNING_REGIONERRORS_H

#include "Tuning/RegionMeasurer.h"
#include "tarpon/Autotune/Search/Deadline.h"

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/STLFunctionalExtras.h"

#include <cmath>
#include <optional>
#include <vector>

namespace tarpon {

class RegionErrors {
public:
  /// Measures all of `count` regions as the first group of a precision. Regions
  /// are measured in this layout, which hardly changes errors.
  runtime::Status add(RegionMeasurer &measurer, runtime::Precision dtype,
                      Layout layout, Fusion fusion, size_t count);

  /// Halves the group with the largest error until no group of several regions
  /// counts beside the budget, or the deadline is over.
  runtime::Status refine(RegionMeasurer &measurer, double budget,
                         const Deadline &deadline);

  /// Returns a region's part in the square of a model's error; none if it
  /// cannot be used in that precision, or was not measured. The parts of a
  /// group add up to what all of it errs: together regions may err less than
  /// one by one, since a value that several of them read is rounded once, or
  /// several times as much, as EfficientNet's in int8 do. Groups of which one
  /// cannot be used, or errs by as much as the results, are not scaled.
  std::optional<double> getSquare(runtime::Precision dtype,
                                  size_t region) const;

  /// Returns the square of the error that is expected of a model with these
  /// precisions: the sum of its regions' parts.
  double getModelSquare(llvm::ArrayRef<runtime::Precision> dtypes) const;

  /// The square of a model's error, measured.
  struct Observation {
    std::vector<runtime::Precision> dtypes;
    double square = 0;
  };
  /// Corrects what is expected by these models, of which no two have the same
  /// precisions, and by no others: the regions of a precision by the factor
  /// that its models have in common, and then those that count most in a model
  /// by what is left of its own. Models may contradict each other.
  void fit(llvm::ArrayRef<Observation> observations);

private:
  struct Group {
    runtime::Precision dtype = runtime::Precision::F32;
    Layout layout;
    Fusion fusion = Fusion::On;
    size_t begin = 0, size = 0, count = 0;
    /// None if the model cannot be used like this.
    std::optional<double> error;
    /// The index of the first half, which the second one follows; 0 if there
    /// are none.
    size_t halves = 0;
    /// Where there are no halves, the part in the square of a model's error,
    /// and the logarithm of its factor.
    double square = 0, correction = 0;

    double getMeasuredSquare() const { return error ? *error * *error : 0; }
    double getCorrectedSquare() const { return square * std::exp(correction); }
  };
  /// A group without halves, and its part in the square of a model.
  struct Part {
    size_t group = 0;
    double square = 0;
  };

  runtime::Status add(RegionMeasurer &measurer, Group group);
  runtime::Status halve(RegionMeasurer &measurer, size_t group);
  std::optional<size_t> findCoarsest(double negligible) const;
  void forEachSmallest(size_t group, llvm::function_ref<void(Group &)> visit);
  bool scaleGroup(size_t group);
  void scaleSquares();
  std::vector<Part> getParts(llvm::ArrayRef<runtime::Precision> dtypes) const;
  double getShare(const Observation &observation,
                  runtime::Precision dtype) const;
  double getDistance(const Observation &observation) const;
  double getMeanDistance(llvm::ArrayRef<Observation> observations,
                         runtime::Precision dtype) const;
  void correct(const Observation &observation);

  std::vector<Group> groups;
};

} // namespace tarpon

#endif // TARPON_LIB_AUTOTUNE_TUNING_REGIONERRORS_H
