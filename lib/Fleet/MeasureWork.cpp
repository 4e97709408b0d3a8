//===- MeasureWork.cpp - Measures what builders have compiled -------------===//
//
// Part of Tarpon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "MeasureWork.h"

#include "DiskErrors.h"
#include "ErrorFile.h"

#include "tarpon/Fleet/JobQueue.h"
#include "tarpon/Fleet/Measurements.h"
#include "tarpon/Runtime/Device.h"
#include "tarpon/Runtime/Evaluator.h"
#include "tarpon/Runtime/HostFeatures.h"
#include "tarpon/Targets/Registry/TargetRegistry.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/ScopeExit.h"
#include "llvm/ADT/SmallString.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/FormatVariadic.h"

#include <chrono>

using namespace tarpon;
using namespace tarpon::fleet;
using runtime::Error;
using runtime::Result;
using runtime::Status;

namespace {

/// The model of a device, and the name of its lock.
struct FoundDevice {
  std::string model, lock;
};

} // namespace

/// The device on which the session's packages run here: times of two models are
/// not mixed. An error says what this machine lacks.
static Result<FoundDevice> findDevice(const Session &session,
                                      const Target &target) {
  if (session.usesEmulator) {
    std::string model = "emulated " + session.target;
    return FoundDevice{model, model};
  }
  const TargetInfo &info = target.getInfo();
  for (const std::string &feature : info.features)
    if (!runtime::hostHasFeature(feature))
      return Error{"this machine's CPU lacks " + feature + ", which " +
                   session.target + " needs"};
  Result<std::unique_ptr<runtime::Device>> device = target.openDevice(1);
  if (!device)
    return device.error();
  bool isHost = (*device)->target() == info.arch;
  if (isHost) {
    std::string model =
        getCpuModel() + " " + info.traits->printCacheSizes(info);
    return FoundDevice{model, getLockName(**device, model)};
  }
  if ((*device)->target() != info.name())
    return Error{"this machine has a GPU " + (*device)->target() + ", not " +
                 info.name()};
  // Times change with the driver, too.
  std::string driver = getDriverVersion(session.target);
  std::string model =
      (*device)->name() + (driver.empty() ? "" : ", driver " + driver);
  return FoundDevice{model, getLockName(**device, model)};
}

MeasureWork::MeasureWork(Database &database, const Session &session,
                         const std::string &packages,
                         const std::string &evaluatorProgram,
                         const std::string &lockName)
    : database(database), session(session), packages(database, packages),
      lock(lockName), stream(remarks), progress(stream, Progress::Style::Quiet),
      evaluator(evaluatorProgram, progress, session.usesEmulator) {
  // Candidates write what they like, and the worker's terminal is a person's.
  evaluator.keepErrors();
}

Result<std::unique_ptr<PhaseWork>>
MeasureWork::create(Database &database, Session session,
                    const std::string &packages,
                    const std::string &evaluatorProgram) {
  // The description of the target, and no compiler.
  Result<std::shared_ptr<const Target>> target =
      findTarget(session.target, {session.threads, "native",
                                  session.usesEmulator ? "emulated" : ""});
  if (!target)
    return target.error();
  if (Status status = checkVersions(session, **target); !status)
    return status.error();
  Result<FoundDevice> device = findDevice(session, **target);
  if (!device)
    return device.error();
  if (Status status = bindDevice(database, session, device->model); !status)
    return status.error();
  return std::unique_ptr<PhaseWork>(new MeasureWork(
      database, session, packages, evaluatorProgram, device->lock));
}

/// Another worker of this machine may have the device, for as long as a round
/// takes; who has it for longer is none, and may keep it. The worker then
/// pauses, as after any fault of the device.
PhaseResult MeasureWork::takeDevice(const std::function<bool()> &isLost) {
  constexpr auto kLongest = std::chrono::minutes(10);
  switch (lock.take(isLost, kLongest)) {
  case DeviceWait::Taken:
    return {};
  case DeviceWait::Lost:
    return PhaseResult::fail(Cause::Returned, "the lease was lost");
  case DeviceWait::Busy:
    break;
  }
  return PhaseResult::fail(Cause::Device,
                           "another process has had the device for ten "
                           "minutes");
}

static std::string describe(const Measurement &m) {
  std::string text = m.key.solver + " {" + m.key.config + "}: ";
  if (m.status == MeasurementStatus::Ok)
    return text + llvm::formatv("{0:f6} ms{1}\n", m.median,
                                m.isDropped ? ", dropped early" : "")
                      .str();
  return text + getStatusName(m.status).str() + ", " + m.detail + "\n";
}

/// Returns what befell a measurement that its candidate need not be to blame
/// for: a full disk, or somebody else ended the evaluator, such as a user, or
/// the kernel when memory ran out.
static Cause getBlame(const Measurement &measurement) {
  llvm::StringRef detail = measurement.detail;
  if (measurement.status == MeasurementStatus::Ok)
    return Cause::Ok;
  if (isDiskError(detail))
    return Cause::Disk;
  if (!detail.starts_with(runtime::kEndedFromOutside))
    return Cause::Ok;
  return detail.ends_with("SIGKILL") ? Cause::Memory : Cause::Device;
}

/// Finds out whether to try again. Where memory runs out each time, it is the
/// candidate: the last attempt counts, so that the others' times are kept.
Result<PhaseResult>
MeasureWork::judge(const Lease &lease,
                   const std::vector<Measurement> &measured) {
  for (const Measurement &measurement : measured) {
    Cause cause = getBlame(measurement);
    if (cause == Cause::Ok)
      continue;
    Result<int64_t> before = countAttempts(database, lease.job, cause);
    if (!before)
      return before.error();
    if (cause != Cause::Memory || *before + 1 < getRule(cause).maxAttempts)
      return PhaseResult::fail(cause, measurement.detail);
  }
  return PhaseResult();
}

PhaseResult MeasureWork::run(const Lease &lease, std::string &log,
                             const std::function<bool()> &isLost) {
  llvm::SmallString<128> path;
  if (std::error_code code =
          llvm::sys::fs::createTemporaryFile("tarpon", "candidates", path))
    return PhaseResult::fail(Cause::Disk, "no temporary file can be made: " +
                                              code.message());
  llvm::scope_exit remove([&] { (void)llvm::sys::fs::remove(path); });
  if (Status status = packages.fetch(lease, path.str().str()); !status)
    return PhaseResult::fail(
        database.isDisconnected()
            ? Cause::Database
            : getDiskCauseOr(Cause::Package, status.message()),
        status.message());
  Result<std::vector<Measurement>> known = readMeasurements(database, lease);
  if (!known)
    return PhaseResult::failDatabase(database, known.message());
  if (PhaseResult taken = takeDevice(isLost); taken.end.cause != Cause::Ok)
    return taken;
  // Other workers of this machine have jobs, too.
  llvm::scope_exit release([&] { lock.release(); });
  Result<std::vector<Measurement>> measured = evaluator.measure(
      path.str().str(), *known, Deadline::never().orWhen(isLost));
  log += remarks;
  remarks.clear();
  log += quoteErrors("the evaluator", evaluator.takeErrors());
  if (!measured)
    return PhaseResult::fail(getDiskCauseOr(Cause::Device, measured.message()),
                             measured.message());
  if (isLost())
    return PhaseResult::fail(Cause::Returned, "the lease was lost");
  for (const Measurement &m : *measured)
    log += describe(m);
  Result<PhaseResult> judged = judge(lease, *measured);
  if (!judged)
    return PhaseResult::failDatabase(database, judged.message());
  PhaseResult result = std::move(*judged);
  if (result.end.cause != Cause::Ok)
    return result;
  result.next = {Phase::Compile, lease.round + 1, "", std::nullopt};
  result.write = [this, lease, rows = std::move(*measured)] {
    return writeMeasurements(database, lease, rows);
  };
  return result;
}
