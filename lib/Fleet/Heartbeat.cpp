//===- Heartbeat.cpp - Keeps a worker's leases ----------------------------===//
//
// Part of Tarpon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Heartbeat.h"

using namespace tarpon::fleet;
using tarpon::runtime::Result;

Heartbeat::Heartbeat(std::string url, int64_t worker, double leaseSeconds,
                     std::function<bool()> shouldEnd,
                     std::function<void(JobQueue &, Database &)> onEnd)
    : url(std::move(url)), worker(worker), lease(leaseSeconds),
      shouldEnd(std::move(shouldEnd)), onEnd(std::move(onEnd)),
      lastBeat(Clock::now()), thread([this] { run(); }) {}

Heartbeat::~Heartbeat() {
  stopping = true;
  thread.join();
}

void Heartbeat::hold(const Lease &lease) {
  std::lock_guard lock(mutex);
  held.emplace(lease.job, lease.lease);
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
void Heartbeat::conclude(const std::set<Key> &before, const Renewal &renewal) {
  std::lock_guard lock(mutex);
  for (const Key &key : before)
    if (held.count(key) && !renewal.owned.count(key))
      lost.insert(key);
}

void Heartbeat::beat() {
  if (!database) {
    auto opened = Database::open(url);
    if (!opened)
      return;
    database = std::move(*opened);
    if (!database->limitIdleTransactions(getIdleLimit(lease.count())))
      return;
  }
  if (database->isDisconnected() && !database->reconnect())
    return;
  std::set<Key> before;
  {
    std::lock_guard lock(mutex);
    before = held;
  }
  JobQueue queue(*database, worker, lease.count());
  Clock::time_point start = Clock::now();
  Result<Renewal> renewal = queue.renew(before);
  if (!renewal)
    return;
  lastBeat = start;
  draining = renewal->isDraining;
  conclude(before, *renewal);
  (void)queue.reapInTurn();
}

/// Returns false if the thread is to end.
bool Heartbeat::waitForNext() {
  constexpr auto kLook = std::chrono::milliseconds(100);
  Clock::time_point next =
      Clock::now() + std::chrono::duration_cast<Clock::duration>(lease / 3);
  while (Clock::now() < next) {
    if (stopping)
      return false;
    if (shouldEnd()) {
      // The end is told even if this connection is gone: on a new one.
      beat();
      if (database) {
        JobQueue queue(*database, worker, lease.count());
        onEnd(queue, *database);
      }
      return false;
    }
    std::this_thread::sleep_for(kLook);
  }
  return true;
}

void Heartbeat::run() {
  do {
    beat();
    if (Clock::now() - lastBeat > lease) {
      std::lock_guard lock(mutex);
      lost = held;
    }
  } while (waitForNext());
}
