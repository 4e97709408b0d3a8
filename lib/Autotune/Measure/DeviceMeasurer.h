//===- DeviceMeasurer.h - Measures a layer on a device ----------*- C++ -*-===//
//
// Part of Tarpon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TARPON_LIB_AUTOTUNE_MEASURE_DEVICEMEASURER_H
#define TARPON_LIB_AUTOTUNE_MEASURE_DEVICEMEASURER_H

#include "Measure/CandidateTrial.h"
#include "tarpon/Autotune/Measure/Measurer.h"
#include "tarpon/Autotune/Search/Progress.h"
#include "tarpon/Runtime/Device.h"
#include "tarpon/Runtime/DeviceRotation.h"
#include "tarpon/Runtime/Executor.h"
#include "tarpon/Runtime/Package.h"
#include "tarpon/Runtime/Tensor.h"

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace tarpon {

/// Measures the candidates of a package's layer on a device in this process.
/// Results are compared with those of the target's arbiter (TargetTraits.h) if
/// the layer has it, else with those of the solution that the package was
/// compiled with.
class DeviceMeasurer final : public Measurer {
public:
  /// Makes a measurer. All arguments must outlive it. An error if the layer
  /// does not fit its problem. Candidates run in `trial` first, if there is
  /// one.
  static runtime::Result<std::unique_ptr<DeviceMeasurer>>
  create(const runtime::Package &package, const runtime::Layer &layer,
         runtime::Device &device, Progress &progress,
         CandidateTrial *trial = nullptr);
  ~DeviceMeasurer() override;

  /// Makes one contender per candidate of the layer, in its order.
  std::vector<Contender> makeContenders() const;
  /// The candidates that others are compared with.
  std::vector<size_t> getReferences() const;

  runtime::Status prepare(llvm::ArrayRef<Contender> contenders) override;
  runtime::Result<MeasureOutcome> measure(const Contender &contender,
                                          const Effort &effort) override;
  std::optional<MeasurementStatus> getInterruptedStatus() const override;
  bool isNoisy() const override;
  std::optional<std::string> describeDispute() const override;

private:
  using Tensors = std::vector<runtime::HostTensor>;

  DeviceMeasurer(const runtime::Package &package, const runtime::Layer &layer,
                 runtime::Device &device, Progress &progress,
                 CandidateTrial *trial);
  runtime::Status describeLayer();
  runtime::Status askTarget();
  runtime::Status makeInputs();
  runtime::Status runChosen();
  runtime::Status runArbiter();
  void adopt(Tensors outputs, std::string solver);
  size_t findCandidate(const Contender &contender) const;
  std::optional<MeasureOutcome> findFault(size_t index);
  runtime::Package extract(size_t index) const;
  runtime::Status tryCandidate(size_t index, const Effort &effort,
                               MeasureOutcome &outcome);
  void verify(Tensors &outputs, MeasureOutcome &outcome) const;
  runtime::Status checkDevice(const Contender &contender,
                              const std::string &failure);
  runtime::Result<runtime::DeviceRotation *>
  getRotation(size_t index, MeasurementStage stage, Tensors &outputs);
  runtime::Result<std::unique_ptr<runtime::DeviceRotation>>
  makeRotation(size_t index, Tensors &outputs);
  runtime::Status run(runtime::Executor &executor, Tensors &outputs);
  runtime::Result<Tensors> makeOutputTensors() const;

  const runtime::Package &package;
  const runtime::Layer &layer;
  runtime::Device &device;
  Progress &progress;
  CandidateTrial *trial;
  Problem problem;
  std::vector<CandidateKey> keys;
  std::vector<runtime::TensorInfo> inputInfos, outputInfos;
  Tensors inputs, expected;
  /// The id of the solver whose results are expected; empty before there are
  /// any.
  std::string referee;
  /// The index of the solution that the package was compiled with.
  size_t chosen = 0;
  /// The solver whose results are right by definition, and the layer's
  /// candidate of it, if there is one.
  std::string arbiterId;
  /// See TargetTraits::getProductRounding.
  double rounding = 0;
  std::optional<size_t> arbiter;
  bool isDisputed = false;
  /// The bytes of all instances of a candidate, which exceed the device's
  /// caches.
  int64_t rotateBytes = 0;
  /// The rotations of the candidate that is raced, and of those in the final.
  std::unique_ptr<runtime::DeviceRotation> raced;
  std::map<size_t, std::unique_ptr<runtime::DeviceRotation>> finalists;
};

} // namespace tarpon

#endif // TARPON_LIB_AUTOTUNE_MEASURE_DEVICEMEASURER_H
