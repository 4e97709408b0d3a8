//===- StoreTestFiles.cpp - Stores as files, for tests of damage ----------===//
//
// Part of Tarpon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "StoreTestFiles.h"

#include "Store/RowChecksum.h"

#include "gtest/gtest.h"

#include <csignal>
#include <sqlite3.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

using namespace tarpon;
using namespace tarpon::test;

std::string tarpon::test::getNumberedProblem(int index) {
  return "relu(" + std::to_string(index + 1) + "x7x3xf32)->" +
         std::to_string(index + 1) + "x7x3xf32";
}

Measurement tarpon::test::makeNumbered(const std::string &problem,
                                       int64_t number) {
  Measurement m;
  m.key = {problem, "conv-igemm-v1",
           "tile_m=" + std::to_string(number) + ",tile_n=3"};
  m.stage = number % 3 ? MeasurementStage::Race : MeasurementStage::Final;
  m.status = number % 7 ? MeasurementStatus::Ok : MeasurementStatus::Wrong;
  auto value = static_cast<double>(number + 1);
  m.samples = {value / 3, value / 7, value * 1.0001};
  m.median = value / 3;
  m.mad = value / 1000;
  m.maxError = 1e-6 * value;
  m.relativeL2 = 1e-7 * value;
  m.workspaceBytes = 4096 * number;
  m.rounds = number % 5;
  m.detail = "number " + std::to_string(number);
  return m;
}

bool tarpon::test::isAsNumbered(const Measurement &m) {
  std::string text = m.key.config.substr(0, m.key.config.find(','));
  if (text.rfind("tile_m=", 0) != 0)
    return false;
  Measurement wanted =
      makeNumbered(m.key.problem, std::strtoll(&text[7], nullptr, 10));
  return m.key == wanted.key && m.stage == wanted.stage &&
         m.status == wanted.status && m.samples == wanted.samples &&
         m.median == wanted.median && m.mad == wanted.mad &&
         m.maxError == wanted.maxError && m.relativeL2 == wanted.relativeL2 &&
         m.workspaceBytes == wanted.workspaceBytes &&
         m.rounds == wanted.rounds && m.detail == wanted.detail;
}

PipelineMeasurement tarpon::test::makeNumberedPipeline(int64_t number) {
  PipelineMeasurement m;
  m.key = {"model" + std::to_string(number),
           "{}",
           "int8",
           "nhwc",
           "on",
           "c0ffee",
           "50lved"};
  m.status = MeasurementStatus::Ok;
  auto value = static_cast<double>(number + 1);
  m.accuracy = value / 900;
  m.samples = {value, value / 3};
  m.median = value / 7;
  m.mad = value / 11;
  m.detail = "pipeline " + std::to_string(number);
  return m;
}

bool tarpon::test::isAsNumbered(const PipelineMeasurement &m) {
  PipelineMeasurement wanted = makeNumberedPipeline(
      std::strtoll(m.key.modelSha256.c_str() + 5, nullptr, 10));
  return m.status == wanted.status && m.accuracy == wanted.accuracy &&
         m.samples == wanted.samples && m.median == wanted.median &&
         m.mad == wanted.mad && m.detail == wanted.detail;
}

std::string tarpon::test::queryStore(const std::string &path,
                                     const std::string &sql) {
  sqlite3 *database = nullptr;
  sqlite3_open(path.c_str(), &database);
  sqlite3_busy_timeout(database, 10000);
  std::string result;
  auto collect = [](void *out, int, char **values, char **) {
    *static_cast<std::string *>(out) += values[0] ? values[0] : "NULL";
    return 0;
  };
  if (sqlite3_exec(database, sql.c_str(), collect, &result, nullptr) !=
      SQLITE_OK)
    result = sqlite3_errmsg(database);
  sqlite3_close(database);
  return result;
}

/// Returns the error, or "".
static std::string executeStore(const std::string &path,
                                const std::string &sql) {
  sqlite3 *database = nullptr;
  sqlite3_open(path.c_str(), &database);
  defineRowChecksum(database);
  std::string fault;
  if (sqlite3_exec(database, sql.c_str(), nullptr, nullptr, nullptr) !=
      SQLITE_OK)
    fault = sqlite3_errmsg(database);
  sqlite3_close(database);
  return fault;
}

std::string tarpon::test::changeStore(const std::string &path,
                                      const std::string &sql) {
  std::string fault = executeStore(path, sql);
  for (const char *name : {"measurement", "pipeline", "finding"}) {
    std::string table = name;
    // In the order of their definition, as RowChecksum.cpp has them.
    std::string columns = queryStore(
        path, "SELECT group_concat(name, ', ') FROM pragma_table_info('" +
                  table + "') WHERE name NOT IN ('id', 'checksum')");
    fault +=
        executeStore(path, "UPDATE " + table + " SET checksum = row_checksum(" +
                               columns + ")");
  }
  return fault;
}

bool tarpon::test::runInProcess(const std::function<bool()> &body) {
  pid_t child = fork();
  if (child == 0)
    _exit(body() ? 0 : 1);
  int status = -1;
  waitpid(child, &status, 0);
  return WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

void tarpon::test::runAndKill(const std::function<void()> &body) {
  pid_t child = fork();
  if (child == 0) {
    body();
    raise(SIGKILL);
  }
  waitpid(child, nullptr, 0);
}

bool tarpon::test::hasFile(const std::string &path) {
  struct stat status;
  return stat(path.c_str(), &status) == 0;
}

bool tarpon::test::hasFinding(const Journal &journal, llvm::StringRef problem,
                              Finding finding) {
  for (const FindingRecord &record : journal.getFindings(problem))
    if (record.kind == finding)
      return true;
  return false;
}

void tarpon::test::fillStore(const std::string &path, int problems, int rows) {
  auto journal = Journal::open(path, kStoreContext);
  ASSERT_TRUE(journal) << journal.message();
  for (int i = 0; i < rows; ++i) {
    std::string problem = getNumberedProblem(i % problems);
    ASSERT_TRUE((*journal)->record(makeNumbered(problem, i)));
  }
  ASSERT_TRUE(
      (*journal)->recordFinding(getNumberedProblem(0), {Finding::Found, {}}));
  ASSERT_TRUE((*journal)->recordFinding(getNumberedProblem(1),
                                        {Finding::Searched, {}}));
  for (int i = 0; i < 5; ++i)
    ASSERT_TRUE((*journal)->recordPipeline(makeNumberedPipeline(i)));
}

std::string tarpon::test::findWrongAnswer(const Journal &journal,
                                          int problems) {
  for (int i = 0; i < problems; ++i) {
    std::string problem = getNumberedProblem(i);
    for (const Measurement &m : journal.getMeasurements(problem))
      if (m.key.problem != problem || !isAsNumbered(m))
        return problem + " " + m.key.config + " with " +
               std::to_string(m.median);
    if (i != 0 && hasFinding(journal, problem, Finding::Found))
      return problem + " was never found";
    if (i != 1 && hasFinding(journal, problem, Finding::Searched))
      return problem + " was never searched";
    if (hasFinding(journal, problem, Finding::Verified))
      return problem + " was never verified";
    if (journal.countInterrupted({problem, "conv-igemm-v1", "tile_m=1"},
                                 MeasurementStage::Race) != 0)
      return problem + " was never interrupted";
  }
  for (int i = 0; i < 6; ++i)
    if (auto known = journal.getPipeline(makeNumberedPipeline(i).key))
      if (i == 5 || !isAsNumbered(*known))
        return "pipeline " + std::to_string(i);
  return "";
}
