//===- FleetLoad.h - What a fleet's server does -----------------*- C++ -*-===//
//
// Part of Tarpon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TARPON_BENCHMARKS_FLEETLOAD_H
#define TARPON_BENCHMARKS_FLEETLOAD_H

#include "tarpon/Fleet/Database.h"

/// What a server has done since its start. Times are seconds of one core.
struct ServerLoad {
  double server = 0;  ///< by the processes of PostgreSQL
  double self = 0;    ///< by this process
  double machine = 0; ///< by all processes of the machine
  double transactions = 0, walBytes = 0;
};

/// Returns zeros for what cannot be read; `process` is the server's first one.
ServerLoad readLoad(tarpon::fleet::Database &database, int64_t process);

#endif // TARPON_BENCHMARKS_FLEETLOAD_H
