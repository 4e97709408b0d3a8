//===- Evaluator.h - Runs candidates in another process ---------*- C++ -*-===//
//
// Part of Tarpon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A candidate kernel may crash or never end. It is therefore run by
// tarpon-evaluator, a process that may die of it. EvaluatorProcess starts that
// process and talks to it: one JSON request per line, one JSON answer per line.
//
//===----------------------------------------------------------------------===//

#ifndef TARPON_RUNTIME_EVALUATOR_H
#define TARPON_RUNTIME_EVALUATOR_H

#include "tarpon/Runtime/OutputPipe.h"
#include "tarpon/Runtime/Result.h"
#include "tarpon/Runtime/Tensor.h"

#include <chrono>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace tarpon::runtime {

/// A candidate to be run, verified and timed.
struct EvaluationRequest {
  /// Set by EvaluatorProcess.
  int64_t id = 0;
  /// The candidate's package file.
  std::string package;
  /// A package with the same inputs and outputs whose results are right; none
  /// to skip the verification.
  std::optional<std::string> reference;
  /// 0 means one per core.
  int threads = 0;
  /// The seed of the inputs that are not given.
  uint64_t inputSeed = 0;
  /// One .npy file per input of the model; empty for random inputs.
  std::vector<std::string> inputs;
  /// If there are any, the candidate is not timed, but run on each of these
  /// inputs. Its results are returned or, if there is a reference, their
  /// errors; then it is run on the first of them once more.
  std::vector<std::vector<std::string>> samples = {};
  /// Layers are timed in so many runs behind those that are timed as a whole,
  /// or in fewer where these take longer than minTimeMs, but for three. 0 for
  /// none.
  int profiledRuns = 0;
  /// See MeasureOptions and makeRotation.
  int minSamples = 10;
  double minTimeMs = 100;
  double maxTimeMs = 5000;
  int64_t rotateBytes = 0;
  int64_t coldConstantBytes = 0;
  /// A candidate that cannot take less than this is dropped early; 0 for no
  /// bound.
  double cutoffMs = 0;
};

/// The end of an evaluation. The evaluator only reports errors; the caller, who
/// knows the tolerance, decides whether the numbers are right.
enum class EvaluationOutcome : uint8_t {
  /// The candidate ran and was timed.
  Ok,
  /// The evaluator or its device died of it, or it could not answer any more.
  Crashed,
  /// The candidate was killed at the time limit.
  TimedOut,
  /// The candidate could not be run: a bad file, a missing CPU feature, a write
  /// outside an output; or the evaluator was ended from outside, which says
  /// nothing about the candidate.
  Failed
};

/// "ok", "crashed", "timed-out", "failed".
std::string_view outcomeName(EvaluationOutcome outcome);

/// How the error of an answer begins if the process was ended by someone else
/// than the candidate.
inline constexpr std::string_view kEndedFromOutside =
    "the evaluator was ended from outside";

struct EvaluationAnswer {
  int64_t id = 0;
  EvaluationOutcome outcome = EvaluationOutcome::Ok;
  /// One sentence unless the outcome is Ok: "candidate crashed with SIGSEGV".
  std::string error;
  std::vector<double> samplesMs;
  double medianMs = 0;
  double madMs = 0;
  /// True if cutoffMs ended the sampling: the candidate is right, but slow.
  bool isDropped = false;
  /// The worst error over all outputs, of the first run and the last; none
  /// without a reference, or with samples. Quantised outputs are compared in
  /// steps of their scale. `worstIndex` is not transmitted and is -1.
  std::optional<TensorComparison> comparison;
  /// The errors of each output: one output may hold indices, another one small
  /// differences. Empty without a reference.
  std::vector<TensorComparison> outputs;
  /// The elements of each output for each of the request's samples. NaN where
  /// an element is infinite, since JSON has neither.
  std::vector<std::vector<std::vector<double>>> results = {};
  /// The relative L2 error of each of the request's samples, by its worst
  /// output, and of the first one by the worse of both runs. Empty without a
  /// reference.
  std::vector<double> sampleErrors = {};
  /// The time of a layer within a run, for each problem the mean of its layers.
  /// Empty unless layers were to be profiled, and on GPUs, whose layers are
  /// launched as one graph.
  std::map<std::string, double> problemsMs = {};
};

/// The protocol. An infinite error is transmitted as null, since JSON has no
/// infinity.
std::string toJsonLine(const EvaluationRequest &request);
std::string toJsonLine(const EvaluationAnswer &answer);
Result<EvaluationRequest> parseEvaluationRequest(std::string_view line);
Result<EvaluationAnswer> parseEvaluationAnswer(std::string_view line);

/// A tarpon-evaluator process: started for the first request, and again for the
/// next request after it died or was killed; ended by the destructor. It ends
/// itself when this process dies. Not thread-safe.
class EvaluatorProcess {
public:
  /// `program` is the path of the tarpon-evaluator binary.
  explicit EvaluatorProcess(std::string program);
  ~EvaluatorProcess();
  EvaluatorProcess(const EvaluatorProcess &) = delete;
  EvaluatorProcess &operator=(const EvaluatorProcess &) = delete;

  /// Runs one candidate. The time limit covers starting the process, loading,
  /// the reference, the warm-up and the samples. It is reached when both the
  /// elapsed time and the process's CPU time exceed it: on a busy machine a
  /// process waits for its turn, which is not the candidate's fault. A process
  /// that uses no CPU time is given kIdleFactor times the limit. Any behaviour
  /// of the candidate is an outcome; an error means that the evaluator cannot
  /// be started or does not speak the protocol. A candidate that seems to crash
  /// a process that served others before is tried once more in a new one, with
  /// the same limit. An answer that cannot be read counts as a crash, as long
  /// as the program can answer at all.
  Result<EvaluationAnswer> evaluate(EvaluationRequest request,
                                    std::chrono::milliseconds timeLimit);

  static constexpr int kIdleFactor = 6;

  /// From its next start on, the process writes its errors, and those of the
  /// candidates, to nobody's terminal or file: their end is kept for
  /// takeErrors.
  void keepErrors() { keepsErrors = true; }
  /// Returns what was written since the last call, also by processes that have
  /// died.
  OutputTail takeErrors() { return errors.take(); }

  /// The running process, or -1.
  int processId() const { return process; }

private:
  using Deadline = std::chrono::steady_clock::time_point;
  enum class Transfer { Done, Ended, TimedOut };

  Status start();
  Transfer exchange(std::string_view request, std::string &answer,
                    std::chrono::milliseconds timeLimit);
  bool waitFor(short events, Deadline deadline);
  Transfer send(std::string_view text, Deadline deadline);
  Transfer receiveLine(std::string &line, Deadline deadline);
  Result<EvaluationAnswer> attempt(const EvaluationRequest &request,
                                   std::chrono::milliseconds timeLimit);
  EvaluationAnswer describeDeath();
  bool answersRequests(std::chrono::milliseconds timeLimit);
  void stop();
  void forget();

  std::string program;
  int process = -1;
  int channel = -1;
  int64_t nextId = 1;
  bool keepsErrors = false;
  OutputPipe errors;
  std::string received;
  /// Explains why the last answer could not be read; empty if it could.
  std::string garbled;
  /// True if the program has ever answered a request.
  bool hasAnswered = false;
};

} // namespace tarpon::runtime

#endif // TARPON_RUNTIME_EVALUATOR_H
