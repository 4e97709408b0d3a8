//===- StoreTestFiles.h - Stores as files, for tests of damage --*- C++ -*-===//
//
// Part of Tarpon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TARPON_TEST_UNIT_AUTOTUNE_STORETESTFILES_H
#define TARPON_TEST_UNIT_AUTOTUNE_STORETESTFILES_H

#include "tarpon/Autotune/Store/Journal.h"

#include <functional>
#include <string>

namespace tarpon::test {

/// The context of these tests' records.
const JournalContext kStoreContext = {"x86-64/znver5/512", 2, "0.1.0",
                                      "22.1.8"};

/// A measurement whose every field follows from its problem and number, so that
/// a reader knows whether it is what was written.
Measurement makeNumbered(const std::string &problem, int64_t number);
/// Returns true if it is a measurement of makeNumbered.
bool isAsNumbered(const Measurement &measurement);

PipelineMeasurement makeNumberedPipeline(int64_t number);
bool isAsNumbered(const PipelineMeasurement &measurement);

/// Runs statements and returns the values that they give, one after the other;
/// or what is wrong.
std::string queryStore(const std::string &path, const std::string &sql);

/// Runs statements that change rows as Tarpon would: their checksums fit
/// afterwards. Returns what is wrong, or "".
std::string changeStore(const std::string &path, const std::string &sql);

/// Runs in a process of its own; whether it returned true.
bool runInProcess(const std::function<bool()> &body);
/// The same, which is killed when it is done and leaves everything open.
void runAndKill(const std::function<void()> &body);

/// Returns true if there is a file.
bool hasFile(const std::string &path);

/// Reads everything of a store that a program would; returns what is served and
/// was not written, or "". Rows that are missing are no fault.
std::string findWrongAnswer(const Journal &journal, int problems);

/// Returns true if there is such a finding, whatever the candidates were.
bool hasFinding(const Journal &journal, llvm::StringRef problem,
                Finding finding);

/// The problems of findWrongAnswer, and what it reads of them.
std::string getNumberedProblem(int index);
/// Fills a store with `rows` measurements over the problems, with findings and
/// pipelines, and closes it. Problem 0 was found, problem 1 searched.
void fillStore(const std::string &path, int problems, int rows);

} // namespace tarpon::test

#endif // TARPON_TEST_UNIT_AUTOTUNE_STORETESTFILES_H
