//===- Heartbeat.h - Keeps a worker's leases --------------------*- C++ -*-===//
//
// Part of Tarpon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TARPON_LIB_FLEET_HEARTBEAT_H
#define TARPON_LIB_FLEET_HEARTBEAT_H

#include "tarpon/Fleet/JobQueue.h"

#include <atomic>
#include <chrono>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <set>
#include <string>
#include <thread>
#include <utility>

namespace tarpon::fleet {

/// How long a worker's transaction may wait for the worker, in seconds: the job
/// that it locks can be taken back by others afterwards.
inline double getIdleLimit(double leaseSeconds) { return leaseSeconds / 2; }

/// Renews a worker's leases in a thread with a connection of its own, each by
/// its own length and three times in the shortest one, and takes back leases
/// that others have lost.
class Heartbeat {
public:
  /// `onEnd` is called in the thread if `shouldEnd` becomes true: the process
  /// was asked to end, and may be in the middle of a measurement.
  Heartbeat(std::string url, int64_t worker, double shortestLease,
            std::function<bool()> shouldEnd,
            std::function<void(JobQueue &, Database &)> onEnd);
  ~Heartbeat();

  /// Tells of a lease that was claimed or has ended.
  void hold(const Lease &lease);
  void release(const Lease &lease);
  /// The number of leases that each beat renews.
  size_t countHeld() const;

  /// Returns true if the lease is known to be lost: the job was aborted, or no
  /// heartbeat came through for a whole lease.
  bool isLost(const Lease &lease) const;
  bool isDraining() const { return draining; }

private:
  using Key = LeaseKey;
  using Clock = std::chrono::steady_clock;

  void run();
  void beat();
  runtime::Result<Renewal> renew(const std::map<Key, double> &leases);
  void conclude(const std::map<Key, double> &before, const Renewal &renewal);
  void loseWhatHasEnded();
  bool waitForNext();

  std::string url;
  int64_t worker;
  std::chrono::duration<double> shortestLease;
  std::function<bool()> shouldEnd;
  std::function<void(JobQueue &, Database &)> onEnd;
  std::unique_ptr<Database> database;
  Clock::time_point lastBeat;
  mutable std::mutex mutex;
  /// The lengths of the leases in seconds.
  std::map<Key, double> held;
  std::set<Key> lost;
  std::atomic<bool> draining = false, stopping = false;
  std::thread thread;
};

} // namespace tarpon::fleet

#endif // TARPON_LIB_FLEET_HEARTBEAT_H
