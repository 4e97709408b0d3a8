//===- SharedOptions.h - Options of several commands ------------*- C++ -*-===//
//
// Part of Tarpon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// For files that are compiled with exceptions, as CLI11 requires.
//
//===----------------------------------------------------------------------===//

#ifndef TARPON_TOOLS_GRAPH_OPT_COMMANDS_SHAREDOPTIONS_H
#define TARPON_TOOLS_GRAPH_OPT_COMMANDS_SHAREDOPTIONS_H

#include "Commands.h"

#include <CLI/CLI.hpp>

#include <cstdint>
#include <optional>
#include <string>

namespace tarpon::options {

void addModel(CLI::App *app, std::string &model, const std::string &what);
void addBatch(CLI::App *app, std::optional<int64_t> &batch);
void addThreads(CLI::App *app, int64_t &threads);
void addCpu(CLI::App *app, std::string &cpu);
void addSeed(CLI::App *app, uint64_t &seed);
void addMaxError(CLI::App *app, std::optional<double> &maxError,
                 const std::string &what);
void addTarget(CLI::App *app, std::string &target, const std::string &purpose);
/// Adds the choice of the target's device.
void addDevice(CLI::App *app, std::string &device, const std::string &purpose);
void addFindPolicy(CLI::App *app, std::string &mode, std::string &tuning);

/// Adds the options of a search, for every command that tunes.
void addSearch(CLI::App *app, SearchArguments &search);
void addTuningTime(CLI::App *app, std::optional<double> &seconds);
void addFinder(CLI::App *app, FinderArguments &finder);
/// Adds the public key that a package has to be signed with.
void addRequireSignature(CLI::App *app, std::string &publicKey);
void addLogDriver(CLI::App *app, std::string &path);
/// Adds the knobs of one global choice.
void addKnobs(CLI::App *app, ModelArguments &model);
/// Adds them, and where the model runs.
void addChoice(CLI::App *app, ModelArguments &model);

/// Adds the store of a command of `db`, and the file of its answer.
void addStore(CLI::App *app, StoreArguments &store);
void addJson(CLI::App *app, std::string &json);

} // namespace tarpon::options

#endif // TARPON_TOOLS_GRAPH_OPT_COMMANDS_SHAREDOPTIONS_H
