//===- WorkerPauses.h - How long workers wait -------------------*- C++ -*-===//
//
// Part of Tarpon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TARPON_LIB_FLEET_WORKERPAUSES_H
#define TARPON_LIB_FLEET_WORKERPAUSES_H

#include <chrono>

namespace tarpon::fleet {

/// How long a database that does not answer is waited for beyond a lease.
inline constexpr auto kPatience = std::chrono::minutes(5);
/// The pause between looks for jobs while others may still make some: it
/// doubles with each look in vain.
inline constexpr auto kShortestIdle = std::chrono::milliseconds(20);
inline constexpr auto kLongestIdle = std::chrono::milliseconds(2000);
/// While the other role has jobs, what it hands over is not to wait for a look.
/// A pause of so much per worker of the label makes 250 looks per second of all
/// of them at most, and whichever of the idle ones looks first gets the job.
inline constexpr auto kIdlePerWorker = std::chrono::milliseconds(4);
inline constexpr auto kShortestLongIdle = std::chrono::milliseconds(40);
/// How long a number of workers is believed.
inline constexpr auto kCrowdAge = std::chrono::seconds(5);
/// A worker that had no job for so long looks whether anybody is left who could
/// hand it one: workers of both roles do not start at the same moment.
inline constexpr auto kLoneliness = std::chrono::seconds(30);
/// The pause after a fault of the machine, such as a full disk, which doubles
/// with each: else it would take all jobs, only to fail them.
inline constexpr auto kShortestRest = std::chrono::milliseconds(1000);
inline constexpr auto kLongestRest = std::chrono::milliseconds(60000);

} // namespace tarpon::fleet

#endif // TARPON_LIB_FLEET_WORKERPAUSES_H
