//===- EvaluationServer.h - Runs, verifies and times candidates -*- C++ -*-===//
//
// Part of Tarpon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TARPON_TOOLS_EVALUATOR_EVALUATIONSERVER_H
#define TARPON_TOOLS_EVALUATOR_EVALUATIONSERVER_H

#include "PackageDevices.h"
#include "ReferenceCache.h"
#include "tarpon/Runtime/Evaluator.h"
#include "tarpon/Runtime/Measure.h"

namespace tarpon::evaluator {

/// Answers requests one after the other. Only a kernel can end the process, or
/// make it useless: a GPU runs nothing for a process that has made it fault.
class EvaluationServer {
public:
  explicit EvaluationServer(DeviceOpener open) : devices(open) {}

  /// Answers one line of the protocol. The process has to end after an answer
  /// whose outcome is Crashed.
  runtime::EvaluationAnswer answer(const std::string &line);

private:
  runtime::Result<runtime::EvaluationAnswer>
  evaluate(const runtime::EvaluationRequest &request);

  void confine();

  PackageDevices devices;
  ReferenceCache references{devices};
  bool isConfined = false;
};

} // namespace tarpon::evaluator

#endif // TARPON_TOOLS_EVALUATOR_EVALUATIONSERVER_H
