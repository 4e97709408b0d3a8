//===- SlurmScript.h - Workers as jobs of Slurm -----------------*- C++ -*-===//
//
// Part of Tarpon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TARPON_FLEET_SLURMSCRIPT_H
#define TARPON_FLEET_SLURMSCRIPT_H

#include "tarpon/Fleet/Job.h"
#include "tarpon/Fleet/Session.h"

#include <optional>
#include <string>
#include <vector>

namespace tarpon::fleet {

/// An array of workers as a batch job of Slurm.
struct SlurmArray {
  std::string label;
  Phase phase = Phase::Compile;
  int64_t workers = 1;
  /// The cores of each.
  int64_t cores = 1;
  /// Slurm's "--gres" and "--constraint", from the target; "" for none.
  std::string gres, constraint;
  /// The user's; "" and none for the cluster's defaults.
  std::string partition;
  std::optional<int64_t> minutes;
  /// The folder of the workers' output, which the nodes share.
  std::string logs;
  /// The worker's command line.
  std::vector<std::string> command;
};

/// Writes the script that sbatch reads. Each word of the command is quoted; an
/// error if an option's value cannot be.
runtime::Result<std::string> writeSlurmScript(const SlurmArray &array);

/// Cuts an array into ones of 1000 workers at most, which Slurm takes; none of
/// an array without workers.
std::vector<SlurmArray> splitArray(const SlurmArray &array);

/// The generic resource that evaluators of a session need: "gpu:gfx942:1" for
/// "gfx942:cu=304", "" for a CPU or an emulated GPU.
std::string getGres(const Session &session);

} // namespace tarpon::fleet

#endif // TARPON_FLEET_SLURMSCRIPT_H
