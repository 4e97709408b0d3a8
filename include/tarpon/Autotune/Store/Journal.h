//===- Journal.h - The journal of all measurements --------------*- C++ -*-===//
//
// Part of Tarpon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A journal of measurements in one SQLite file per target. Rows are appended,
// and deleted only where a tuning policy says so (FindPolicy.h). Each
// row is committed at once, so that a killed run loses at most the measurement
// that was in flight. Several processes may use one file; one object is for one
// thread at a time. The find DB and the perf DB are views of it
// (`sqlite3 FILE 'select * from find_db'`).
//
// A damaged file is set aside as FILE.damaged-1, or the next number that is
// free, with one remark on stderr, and a new one is begun: when it is opened,
// which looks through the structure of files of up to 16 MiB, or when a read or
// write shows the damage. Rows whose checksum does not fit are ignored.
// On a network file system the file is written without a write-ahead log.
//
//===----------------------------------------------------------------------===//

#ifndef TARPON_AUTOTUNE_STORE_JOURNAL_H
#define TARPON_AUTOTUNE_STORE_JOURNAL_H

#include "tarpon/Autotune/Store/CandidateDigests.h"
#include "tarpon/Autotune/Store/TimeSource.h"
#include "tarpon/Runtime/Result.h"
#include "tarpon/Solver/TargetInfo.h"

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/STLFunctionalExtras.h"
#include "llvm/ADT/StringRef.h"

#include <compare>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace tarpon {

class StoreFile;

/// The outcome of a measurement.
enum class MeasurementStatus : uint8_t { Ok, Wrong, Crashed, TimedOut, Failed };

/// The spelling in the journal: "ok", "wrong", "crashed", "timed-out",
/// "failed".
llvm::StringRef getStatusName(MeasurementStatus status);
/// Parses such a spelling; Failed for any other text.
MeasurementStatus parseStatusName(llvm::StringRef name);

/// A candidate: a problem, by its key, with a solver and a perf config in its
/// text form.
struct CandidateKey {
  std::string problem;
  std::string solver;
  std::string config;

  auto operator<=>(const CandidateKey &) const = default;
};

/// The part of a search that a measurement belongs to. A later stage overrides
/// an earlier one.
enum class MeasurementStage : uint8_t {
  Race, ///< the short first one, with verification
  Final ///< interleaved with the other finalists
};

/// One timed and verified candidate. Times are in milliseconds.
struct Measurement {
  CandidateKey key;
  MeasurementStage stage = MeasurementStage::Race;
  MeasurementStatus status = MeasurementStatus::Failed;
  std::vector<double> samples;
  double median = 0, mad = 0;
  /// The largest absolute difference from the reference, and the relative L2
  /// error.
  double maxError = 0, relativeL2 = 0;
  int64_t workspaceBytes = 0;
  /// The number of rounds of the final that the samples come from.
  int64_t rounds = 0;
  /// Explains why the status is not ok, or that the candidate was dropped
  /// (isDropped).
  std::string detail;
  /// True if the candidate is right but was dropped after a few samples since
  /// it could not win any more. It counts as measured; its times are those of
  /// these samples, all well above the best's.
  bool isDropped = false;
  /// True if it was in the journal when that was opened.
  bool isEarlier = false;
  /// True if it comes from a system store.
  bool isSystem = false;
  /// A modelled time has a median and no samples.
  TimeSource timeSource = TimeSource::Measured;

  /// Returns true if nothing is known against the candidate's results. A kernel
  /// that was found wrong once is never trusted, whatever other measurements
  /// say.
  bool mayBeRight() const {
    return status != MeasurementStatus::Wrong &&
           status != MeasurementStatus::Crashed;
  }

  /// Returns true if the failure may have been the machine's fault: a full
  /// disk, or another process's load. A kernel that the compiler refused will
  /// be refused again.
  bool mayPass() const {
    return timeSource == TimeSource::Measured &&
           (status == MeasurementStatus::Failed ||
            status == MeasurementStatus::TimedOut);
  }
};

/// A task that was finished for a problem, beyond single measurements.
enum class Finding : uint8_t {
  Found,    ///< every applicable solver has a result
  Searched, ///< a search over configs came to its own end
  Verified  ///< the system store's best was measured here and holds
};

/// A finished task with the candidates that the problem had then.
struct FindingRecord {
  Finding kind;
  CandidateDigests candidates;

  bool operator==(const FindingRecord &) const = default;
};

/// A whole model with one global choice, measured on one set of inputs. With
/// the JournalContext, it holds everything that time and accuracy depend on,
/// except for the fp32 kernels that the accuracy is measured against, and the
/// host's kernels that compute it where a model stands for the target: those
/// are verified, so that they differ only by rounding.
struct PipelineKey {
  std::string modelSha256;
  std::string inputShapes;
  std::string dtype, layout, fusion;
  /// Digest of the calibration inputs.
  std::string calibration;
  /// Digest of every layer's problem, solver with its version, and config.
  std::string solutions;
  /// The versions of the passes and of the calibration (BehaviourVersion.h).
  std::string passes = "1.1";
  /// Digest of the ranges that int8 is scaled by; "" for other dtypes.
  std::string ranges = "";
};

struct PipelineMeasurement {
  PipelineKey key;
  MeasurementStatus status = MeasurementStatus::Failed;
  double accuracy = 0;
  std::vector<double> samples;
  double median = 0, mad = 0;
  /// The number of rounds of the final that the samples come from.
  int64_t rounds = 0;
  std::string detail;
  /// False where the accuracy alone was measured.
  bool isTimed = true;
  /// The mean times of the layers within the model, by the keys of their
  /// problems; empty if they were not measured.
  std::map<std::string, double> problemsMs = {};
};

/// The machine and the versions for which a record is valid, beside its key and
/// the version of its solver. Other records are left alone and ignored.
struct JournalContext {
  std::string target;
  int64_t threads = 1;
  /// The version of the code generator: "host-codegen-1".
  std::string tarpon;
  std::string llvm;
  /// The sizes of the host's caches, which plans depend on: "48K/1024K/32768K".
  /// "" if none are known; such records are valid for any sizes.
  std::string caches = "";
  /// The version of all solvers if the kernels are another build's; none for
  /// this build's, of which each solver has its own (BehaviourVersion.h).
  std::optional<int64_t> solverVersion = std::nullopt;

  /// The context of this build of Tarpon on `target`. The target's name is
  /// extended by a digest of its features, which a virtual machine may mask.
  static JournalContext forTarget(const TargetInfo &target);

  /// The context of a model's predictions for `target`. They are never mixed
  /// with measurements on it. `model` names the model and its version.
  static JournalContext forModel(const TargetInfo &target,
                                 llvm::StringRef model);
  TimeSource getTimeSource() const;
};

class Journal {
public:
  /// $TARPON_USER_DB_PATH, else $XDG_CONFIG_HOME/tarpon, else ~/.config/tarpon.
  static std::string getDefaultDirectory();
  /// The file for a target in that folder.
  static std::string getDefaultPath(const TargetInfo &target);

  /// Opens or creates `path` and the folders above it. A damaged file is set
  /// aside; a foreign one is an error that names it, and is left as it is.
  static runtime::Result<std::unique_ptr<Journal>> open(const std::string &path,
                                                        JournalContext context);
  /// Opens a user's store that cannot be written.
  static runtime::Result<std::unique_ptr<Journal>>
  openForReading(const std::string &path, JournalContext context);
  /// Opens a system store, which is never written to, nor are files beside it.
  /// It serves the records of all builds.
  static runtime::Result<std::unique_ptr<Journal>>
  openReadOnly(const std::string &path, JournalContext context);
  /// Makes a journal in memory, which ends with the object.
  static std::unique_ptr<Journal> openInMemory(JournalContext context);

  ~Journal();
  const std::string &getPath() const;

  /// Records that a measurement is about to start. If it kills the run, the
  /// next run knows.
  runtime::Status recordStarted(const CandidateKey &key,
                                MeasurementStage stage);
  runtime::Status record(const Measurement &measurement);

  /// The last measurement of every candidate of the problem, those of later
  /// stages before those of earlier ones. Candidates come in the order of their
  /// first measurement. What the processes with these names have recorded is
  /// left out, unless it is that a candidate is not right.
  std::vector<Measurement>
  getMeasurements(llvm::StringRef problem,
                  llvm::ArrayRef<std::string> hiddenRuns = {}) const;

  /// The keys of the problems that have a right candidate.
  std::vector<std::string> getMeasuredProblems() const;

  /// The fastest correct candidate: finalists go before all others.
  std::optional<Measurement> getBest(llvm::StringRef problem) const;

  /// The number of runs that have died while they measured the candidate, since
  /// its last result.
  int64_t countInterrupted(const CandidateKey &key,
                           MeasurementStage stage) const;

  /// Records a finding, unless the same one is recorded already.
  runtime::Status recordFinding(llvm::StringRef problem,
                                const FindingRecord &finding);
  /// All findings of the problem, but for those of these processes. Those with
  /// other candidates than it has by now are out of date.
  std::vector<FindingRecord>
  getFindings(llvm::StringRef problem,
              llvm::ArrayRef<std::string> hiddenRuns = {}) const;

  /// The number of the last row of measurements, which tells older rows from
  /// those to come.
  int64_t getLastRow() const;
  /// Deletes the problem's measurements of these solvers up to that row.
  runtime::Status forgetSolvers(llvm::StringRef problem,
                                llvm::ArrayRef<std::string> solvers,
                                int64_t lastRow);
  /// Deletes everything about the problem, also of older versions.
  runtime::Status forgetProblem(llvm::StringRef problem);

  runtime::Status recordPipeline(const PipelineMeasurement &measurement);
  std::optional<PipelineMeasurement> getPipeline(const PipelineKey &key) const;

  /// Records that this process tunes something. Returns the names of the
  /// processes that began to, in this context, and neither live nor have ended
  /// it.
  runtime::Result<std::vector<std::string>> beginTuning(llvm::StringRef what);
  /// Forgets that this process, and those that beginTuning returns, tune it.
  runtime::Status endTuning(llvm::StringRef what);

  /// The keys of all problems that have measurements on the target with that
  /// number of threads, also of older versions; sorted.
  std::vector<std::string> getProblems() const;

  /// The contexts of all targets that have measurements with the context's
  /// number of threads, sorted by target. Each has the sizes of caches that
  /// were recorded with it, "" if none were.
  std::vector<JournalContext> listContexts() const;

  /// The model that was trained for the target and the number of threads, as
  /// bytes of LearnedModel.h; none if there is none. Since it only guesses, it
  /// also serves builds other than the one that trained it.
  std::optional<std::string> getModel() const;
  /// Records a model, in place of the one that is there.
  runtime::Status recordModel(llvm::StringRef bytes);

  /// Describes in one sentence the records of other Tarpon or LLVM versions,
  /// which are ignored; none if there are none.
  std::optional<std::string> describeStale() const;

  /// Describes in one sentence the ignored records whose times are impossible
  /// or whose checksum does not fit; none if there are none.
  std::optional<std::string> describeImpossible() const;

private:
  Journal() = default;
  /// Runs an insertion. If the store was set aside, or turns out to be damaged,
  /// runs it once more on a new store.
  runtime::Status
  write(llvm::function_ref<bool(const StoreFile &store)> insert);
  /// Runs a query, which returns whether it came to its end. A store that turns
  /// out to be damaged is replaced.
  void read(llvm::function_ref<bool(const StoreFile &store)> query) const;
  runtime::Status reopen() const;
  static runtime::Result<std::unique_ptr<Journal>>
  take(runtime::Result<std::unique_ptr<StoreFile>> store,
       JournalContext context);

  /// Never null. Queries replace a damaged one.
  mutable std::unique_ptr<StoreFile> store;
  JournalContext context;
  /// The last row when the journal was opened.
  mutable int64_t lastEarlierRow = 0;
  bool isReadOnly = false, isShipped = false;
  /// The name of this process, unique among all that ever wrote to the file.
  std::string run;
};

/// The version of this build: "0.1.0".
llvm::StringRef getTarponVersion();

} // namespace tarpon

#endif // TARPON_AUTOTUNE_STORE_JOURNAL_H
