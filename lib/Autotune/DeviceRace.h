//===- DeviceRace.h - Measures a problem's candidates on a GPU --*- C++ -*-===//
//
// Part of Tarpon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TARPON_LIB_AUTOTUNE_DEVICERACE_H
#define TARPON_LIB_AUTOTUNE_DEVICERACE_H

#include "tarpon/Autotune/PackageTuning.h"
#include "tarpon/Runtime/Tensor.h"
#include "tarpon/Targets/GPU/GpuExecutor.h"

#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace tarpon {

class DeviceRace {
public:
  /// What all problems of a package have in common. `journal` may be null.
  struct Context {
    const runtime::Package &package;
    runtime::Device &device;
    Progress &progress;
    Journal *journal;
    /// Whether to measure what the journal knows.
    bool again;
    Deadline deadline;
    SearchStatistics &search;
  };

  /// Of the problem of a layer that has candidates.
  DeviceRace(Context context, const runtime::Layer &layer);
  ~DeviceRace();

  /// One result per candidate.
  runtime::Result<std::vector<Measurement>> run();

private:
  using Tensors = std::vector<runtime::HostTensor>;
  struct Rotation;

  runtime::Status prepare();
  runtime::Status makeInputs();
  runtime::Status runChosen();
  runtime::Status consultArbiter();
  runtime::Status adoptArbiter(Tensors outputs);
  void recall();
  runtime::Status raceAll();
  runtime::Status race(size_t index);
  runtime::Status checkDevice(size_t index, const std::string &failure);
  runtime::Status measure(size_t index, Measurement &result);
  void verify(Tensors &outputs, Measurement &result) const;
  runtime::Status runFinal();
  std::vector<size_t> getFinalists() const;
  runtime::Status record(size_t index, Measurement result);
  runtime::Status forgetDisputed();
  void reportRejected() const;
  std::string describe(size_t index) const;

  runtime::Result<Rotation> makeRotation(size_t index, Tensors &outputs);
  runtime::Status run(GpuExecutor &executor, Tensors &outputs);
  runtime::Result<Tensors> makeOutputTensors() const;
  double getCutoff() const;

  Context context;
  const runtime::Layer &layer;
  bool isEmulated;
  /// More memory than the GPU's second-level cache holds.
  int64_t rotateBytes = 0;
  size_t chosen = 0;
  /// The candidate whose results are right by definition, if there is one.
  std::optional<size_t> arbiter;
  /// Whether candidates disagree, and nobody can say which of them is right.
  bool isDisputed = false;
  Problem problem;
  std::vector<runtime::TensorInfo> inputInfos, outputInfos;
  /// What is expected is what this solver has given.
  std::string referee;
  Tensors inputs, expected;
  std::vector<Measurement> results;
  /// Whether there is a result yet, and whether it is of this run.
  std::vector<bool> isKnown, isNew;
};

} // namespace tarpon

#endif // TARPON_LIB_AUTOTUNE_DEVICERACE_H
