//===- Journal.h - Everything that was ever measured ------------*- C++ -*-===//
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

#include "tarpon/Autotune/Store/TimeSource.h"
#include "tarpon/Runtime/Result.h"
#include "tarpon/Solver/TargetInfo.h"

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/STLFunctionalExtras.h"
#include "llvm/ADT/StringRef.h"

#include <compare>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace tarpon {

class StoreFile;

/// How a measurement ended.
enum class MeasurementStatus : uint8_t { Ok, Wrong, Crashed, TimedOut, Failed };

/// The spelling in the journal: "ok", "wrong", "crashed", "timed-out",
/// "failed".
llvm::StringRef getStatusName(MeasurementStatus status);
/// The inverse; Failed for any other text.
MeasurementStatus parseStatusName(llvm::StringRef name);

/// A candidate: a problem, by its key, with a solver and a perf config in its
/// text form.
struct CandidateKey {
  std::string problem;
  std::string solver;
  std::string config;

  auto operator<=>(const CandidateKey &) const = default;
};

/// Which part of a search a measurement belongs to. A later stage overrides an
/// earlier one.
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
  /// Largest absolute difference from the reference, and the relative L2 one.
  double maxError = 0, relativeL2 = 0;
  int64_t workspaceBytes = 0;
  /// Rounds of the final that the samples come from.
  int64_t rounds = 0;
  /// Why the status is not ok, or that it was dropped (see isDropped).
  std::string detail;
  /// Whether it is right, but was dropped after a few samples since it could
  /// not win any more. It counts as measured; its times are those samples', all
  /// of them well above the best's.
  bool isDropped = false;
  /// Whether it was in the journal already when that was opened.
  bool isEarlier = false;
  /// Whether it comes from a journal that was opened read-only: the system
  /// store.
  bool isSystem = false;
  /// What is modelled has a median and no samples.
  TimeSource timeSource = TimeSource::Measured;

  /// Whether nothing is known against its results. A kernel that was found
  /// wrong once is not to be trusted, whatever it was before.
  bool mayBeRight() const {
    return status != MeasurementStatus::Wrong &&
           status != MeasurementStatus::Crashed;
  }

  /// Whether it may have been the machine's fault: a full disk, or somebody
  /// else's load. What a compiler refuses it will refuse again.
  bool mayPass() const {
    return timeSource == TimeSource::Measured &&
           (status == MeasurementStatus::Failed ||
            status == MeasurementStatus::TimedOut);
  }
};

/// What was finished for a problem, beyond single measurements.
enum class Finding : uint8_t {
  Found,    ///< every applicable solver has a result
  Searched, ///< a search over configs came to its own end
  Verified  ///< the system store's best was measured here and holds
};

/// A whole model with one global choice, measured on one set of inputs. It
/// holds all that time and accuracy depend on beside the JournalContext, but
/// for the fp32 kernels that the accuracy is measured against: those are
/// verified, so that they differ by rounding alone.
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
  /// Rounds of the final that the samples come from.
  int64_t rounds = 0;
  std::string detail;
};

/// The machine and the versions that a record is valid for, beside its key and
/// the version of its solver.
/// Records of anything else are left alone and ignored.
struct JournalContext {
  std::string target;
  int64_t threads = 1;
  /// The version of what compiles kernels: "host-codegen-1".
  std::string tarpon;
  std::string llvm;
  /// The sizes of the host's caches, which plans follow: "48K/1024K/32768K". ""
  /// where none are known; such records count for any sizes.
  std::string caches = "";

  /// This build of Tarpon on `target`, whose name is extended by a digest of
  /// its features, which a virtual machine may mask.
  static JournalContext forTarget(const TargetInfo &target);

  /// Records of what a model says of candidates for `target`: never found among
  /// those that were measured on it, nor the other way round. `model` names it
  /// and its version.
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
  /// Opens a system store, which is never written to, nor are files beside it.
  static runtime::Result<std::unique_ptr<Journal>>
  openReadOnly(const std::string &path, JournalContext context);
  /// A journal that is gone with the object.
  static std::unique_ptr<Journal> openInMemory(JournalContext context);

  ~Journal();
  const std::string &getPath() const;

  /// To be called before a candidate is measured: should that kill the run, the
  /// next one knows.
  runtime::Status recordStarted(const CandidateKey &key,
                                MeasurementStage stage);
  runtime::Status record(const Measurement &measurement);

  /// The last measurement of every candidate of the problem, those of later
  /// stages before those of earlier ones. In the order of first measurement.
  std::vector<Measurement> getMeasurements(llvm::StringRef problem) const;

  /// The problems of which there is a right candidate, by key.
  std::vector<std::string> getMeasuredProblems() const;

  /// The fastest correct candidate: finalists go before all others.
  std::optional<Measurement> getBest(llvm::StringRef problem) const;

  /// How many runs that are no longer alive ended while they measured the
  /// candidate, since its last result.
  int64_t countInterrupted(const CandidateKey &key,
                           MeasurementStage stage) const;

  /// Once per problem and kind.
  runtime::Status recordFinding(llvm::StringRef problem, Finding finding);
  bool hasFinding(llvm::StringRef problem, Finding finding) const;

  /// The last row of measurements, to tell older ones from those to come.
  int64_t getLastRow() const;
  /// Deletes what was measured of these solvers up to that row.
  runtime::Status forgetSolvers(llvm::StringRef problem,
                                llvm::ArrayRef<std::string> solvers,
                                int64_t lastRow);
  /// Deletes everything about the problem, of older versions too.
  runtime::Status forgetProblem(llvm::StringRef problem);

  runtime::Status recordPipeline(const PipelineMeasurement &measurement);
  std::optional<PipelineMeasurement> getPipeline(const PipelineKey &key) const;

  /// The keys of all problems of which anything was measured on the target with
  /// so many threads, of older versions too; sorted.
  std::vector<std::string> getProblems() const;

  /// The model that was trained for the target and the number of threads, as
  /// bytes of LearnedModel.h; none if there is none. It is a guess in any case,
  /// and serves builds that it was not trained by.
  std::optional<std::string> getModel() const;
  /// Takes the place of the one that is there.
  runtime::Status recordModel(llvm::StringRef bytes);

  /// A sentence on records of other Tarpon or LLVM versions, which are ignored;
  /// none if there are none.
  std::optional<std::string> describeStale() const;

  /// A sentence on records with times that nothing can take, or that are not
  /// what was written, which are ignored too.
  std::optional<std::string> describeImpossible() const;

private:
  Journal() = default;
  /// Runs an insertion; where the store was set aside, or shows that it is
  /// damaged, once more with a new one.
  runtime::Status
  write(llvm::function_ref<bool(const StoreFile &store)> insert);
  /// Runs a query, which returns whether it came to its end. A store that shows
  /// that it is damaged is replaced.
  void read(llvm::function_ref<bool(const StoreFile &store)> query) const;
  runtime::Status reopen() const;
  static runtime::Result<std::unique_ptr<Journal>>
  take(runtime::Result<std::unique_ptr<StoreFile>> store,
       JournalContext context);

  /// Never null. Queries replace a damaged one.
  mutable std::unique_ptr<StoreFile> store;
  JournalContext context;
  /// The last row when it was opened.
  mutable int64_t lastEarlierRow = 0;
  bool isReadOnly = false;
  /// Names this process among all that ever wrote to the file.
  std::string run;
};

/// The version of this build: "0.1.0".
llvm::StringRef getTarponVersion();

} // namespace tarpon

#endif // TARPON_AUTOTUNE_STORE_JOURNAL_H
