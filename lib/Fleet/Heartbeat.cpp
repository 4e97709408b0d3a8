//===- Heartbeat.cpp - Keeps a worker's leases ----------------------------===//
//
// Part of Tarpon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Heartbeat.h"

using namespace tarpon::fleet;
using tarpon::runtime::Result;

Heartbeat::Heartbeat(std::string url, int64_t worker, double shortestLease,
                     std::function<bool()> shouldEnd,
                     std::function<void(JobQueue &, Database &)> onEnd)
    : url(std::move(url)), worker(worker), shortestLease(shortestLease),
      shouldEnd(std::move(shouldEnd)), onEnd(std::move(onEnd)),
      lastBeat(Clock::now()), thread([this] { run(); }) {}

Heartbeat::~Heartbeat() {
  stopping = true;
  thread.join();
}

void Heartbeat::hold(const Lease &lease) {
  std::lock_guard lock(mutex);
  held.emplace(Key(lease.job, lease.lease), lease.seconds);
}

void Heartbeat::release(const Lease &lease) {
  std::lock_guard lock(mutex);
  held.erase({lease.job, lease.lease});
  lost.erase({lease.job, lease.lease});
}

size_t Heartbeat::countHeld() const {
  std::lock_guard lock(mutex);
  return held.size();
}

bool Heartbeat::isLost(const Lease &lease) const {
  std::lock_guard lock(mutex);
  return lost.count({lease.job, lease.lease}) > 0;
}

/// Leases that were claimed after the heartbeat began may be missing from its
/// answer.
void Heartbeat::conclude(const std::map<Key, double> &before,
                         const Renewal &renewal) {
  std::lock_guard lock(mutex);
  for (const auto &[key, seconds] : before)
    if (held.count(key) && !renewal.owned.count(key))
      lost.insert(key);
}

/// A claim is of one session, whose leases are equally long: this is one
/// statement, most of the time.
Result<Renewal> Heartbeat::renew(const std::map<Key, double> &leases) {
  std::map<double, std::set<Key>> byLength;
  for (const auto &[key, seconds] : leases)
    byLength[seconds].insert(key);
  // A worker without leases is heard of, too.
  if (byLength.empty())
    byLength[shortestLease.count()];
  Renewal all;
  for (const auto &[seconds, keys] : byLength) {
    Result<Renewal> renewal = JobQueue(*database, worker, seconds).renew(keys);
    if (!renewal)
      return renewal;
    all.owned.insert(renewal->owned.begin(), renewal->owned.end());
    all.isDraining = renewal->isDraining;
  }
  return all;
}

void Heartbeat::beat() {
  if (!database) {
    auto opened = Database::open(url);
    if (!opened)
      return;
    database = std::move(*opened);
    if (!database->limitIdleTransactions(getIdleLimit(shortestLease.count())))
      return;
  }
  if (database->isDisconnected() && !database->reconnect())
    return;
  std::map<Key, double> before;
  {
    std::lock_guard lock(mutex);
    before = held;
  }
  Clock::time_point start = Clock::now();
  Result<Renewal> renewal = renew(before);
  if (!renewal)
    return;
  lastBeat = start;
  draining = renewal->isDraining;
  conclude(before, *renewal);
  (void)JobQueue(*database, worker, shortestLease.count()).reapInTurn();
}

/// Returns false if the thread is to end.
bool Heartbeat::waitForNext() {
  constexpr auto kLook = std::chrono::milliseconds(100);
  Clock::time_point next =
      Clock::now() +
      std::chrono::duration_cast<Clock::duration>(shortestLease / 3);
  while (Clock::now() < next) {
    if (stopping)
      return false;
    if (shouldEnd()) {
      // The end is told even if this connection is gone: on a new one.
      beat();
      if (database) {
        JobQueue queue(*database, worker, shortestLease.count());
        onEnd(queue, *database);
      }
      return false;
    }
    std::this_thread::sleep_for(kLook);
  }
  return true;
}

void Heartbeat::loseWhatHasEnded() {
  std::chrono::duration<double> silence = Clock::now() - lastBeat;
  std::lock_guard lock(mutex);
  for (const auto &[key, seconds] : held)
    if (silence.count() > seconds)
      lost.insert(key);
}

void Heartbeat::run() {
  do {
    beat();
    loseWhatHasEnded();
  } while (waitForNext());
}
