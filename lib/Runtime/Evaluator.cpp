//===- Evaluator.cpp - Runs candidates in another process -------*- C++ -*-===//
//
// Part of Tarpon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The channel is a socket pair instead of two pipes, since writing to a socket
// whose peer has died can be done without raising SIGPIPE.
//
//===----------------------------------------------------------------------===//

#include "tarpon/Runtime/Evaluator.h"

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstring>
#include <fstream>
#include <poll.h>
#include <spawn.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <system_error>
#include <time.h>
#include <unistd.h>
#include <vector>

extern char **environ;

namespace tarpon::runtime {

/// The largest answer; a process that writes more is broken.
static constexpr size_t kMaxLineBytes = size_t(64) << 20;

static std::string errnoText(int code) {
  return std::generic_category().message(code);
}

EvaluatorProcess::EvaluatorProcess(std::string program)
    : program(std::move(program)) {}

EvaluatorProcess::~EvaluatorProcess() {
  if (process > 0)
    stop();
}

//===----------------------------------------------------------------------===//
// Starting and stopping
//===----------------------------------------------------------------------===//

/// The environment without what a candidate has no business with: where a
/// database is, and the credentials for it.
static std::vector<char *> getEnvironment() {
  constexpr std::string_view kHidden[] = {"PG", "TARPON_FLEET=", "SLURM_"};
  std::vector<char *> kept;
  for (char **variable = environ; *variable; ++variable)
    if (std::ranges::none_of(kHidden, [&](std::string_view prefix) {
          return std::string_view(*variable).starts_with(prefix);
        }))
      kept.push_back(*variable);
  kept.push_back(nullptr);
  return kept;
}

/// Starts the program with `channel` as its standard input and output, and
/// `errors`, unless it is -1, as its standard error; returns 0 or an errno.
static int spawn(const std::string &program, int channel, int errors,
                 pid_t &process) {
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_adddup2(&actions, channel, STDIN_FILENO);
  posix_spawn_file_actions_adddup2(&actions, channel, STDOUT_FILENO);
  if (errors >= 0)
    posix_spawn_file_actions_adddup2(&actions, errors, STDERR_FILENO);
  // The child ends with this process, even in the middle of a kernel.
  std::string parent = "--parent=" + std::to_string(getpid());
  std::string name = program;
  char *arguments[] = {name.data(), parent.data(), nullptr};
  // In a group of its own it gets no signal that a terminal or a resource
  // manager sends to this one's: this process decides when it ends.
  posix_spawnattr_t attributes;
  posix_spawnattr_init(&attributes);
  posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETPGROUP);
  int code = posix_spawn(&process, program.c_str(), &actions, &attributes,
                         arguments, getEnvironment().data());
  posix_spawnattr_destroy(&attributes);
  posix_spawn_file_actions_destroy(&actions);
  return code;
}

/// If memory runs out, the kernel should kill the process of a candidate, not
/// this one or another program of the user.
static void offerToOomKiller(pid_t process) {
  std::ofstream file("/proc/" + std::to_string(process) + "/oom_score_adj");
  file << 1000;
}

Status EvaluatorProcess::start() {
  if (Status opened = keepsErrors ? errors.open() : success(); !opened)
    return Error{"cannot start the evaluator '" + program +
                 "': " + opened.message()};
  int ends[2];
  if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) != 0)
    return Error{"cannot start the evaluator '" + program +
                 "': " + errnoText(errno)};
  pid_t started = -1;
  int code = spawn(program, ends[1], errors.getWriter(), started);
  close(ends[1]);
  if (code != 0) {
    close(ends[0]);
    return Error{"cannot start the evaluator '" + program +
                 "': " + errnoText(code)};
  }
  offerToOomKiller(started);
  process = started;
  channel = ends[0];
  received.clear();
  return success();
}

void EvaluatorProcess::forget() {
  close(channel);
  process = -1;
  channel = -1;
}

void EvaluatorProcess::stop() {
  kill(process, SIGKILL);
  while (waitpid(process, nullptr, 0) < 0 && errno == EINTR)
    continue;
  forget();
}

//===----------------------------------------------------------------------===//
// Talking
//===----------------------------------------------------------------------===//

/// Waits until the channel is ready; false at the deadline. Errors are read
/// meanwhile: the process stops where their pipe is full.
bool EvaluatorProcess::waitFor(short events, Deadline deadline) {
  using namespace std::chrono;
  while (true) {
    auto left = ceil<milliseconds>(deadline - steady_clock::now()).count();
    if (left <= 0)
      return false;
    constexpr int64_t kLongest = 1 << 30;
    pollfd requests[] = {{channel, events, 0}, {errors.getReader(), POLLIN, 0}};
    if (poll(requests, 2, static_cast<int>(std::min(left, kLongest))) <= 0)
      continue;
    if (requests[1].revents != 0)
      errors.drain();
    if (requests[0].revents != 0)
      return true;
  }
}

static bool isTransient(int code) { return code == EINTR || code == EAGAIN; }

EvaluatorProcess::Transfer EvaluatorProcess::send(std::string_view text,
                                                  Deadline deadline) {
  while (!text.empty()) {
    if (!waitFor(POLLOUT, deadline))
      return Transfer::TimedOut;
    ssize_t count =
        ::send(channel, text.data(), text.size(), MSG_NOSIGNAL | MSG_DONTWAIT);
    if (count < 0 && !isTransient(errno))
      return Transfer::Ended;
    if (count > 0)
      text.remove_prefix(static_cast<size_t>(count));
  }
  return Transfer::Done;
}

EvaluatorProcess::Transfer EvaluatorProcess::receiveLine(std::string &line,
                                                         Deadline deadline) {
  char block[4096];
  size_t end;
  while ((end = received.find('\n')) == std::string::npos) {
    if (received.size() > kMaxLineBytes)
      return Transfer::Ended;
    if (!waitFor(POLLIN, deadline))
      return Transfer::TimedOut;
    ssize_t count = recv(channel, block, sizeof(block), MSG_DONTWAIT);
    if (count == 0 || (count < 0 && !isTransient(errno)))
      return Transfer::Ended;
    if (count > 0)
      received.append(block, static_cast<size_t>(count));
  }
  line = received.substr(0, end);
  received.erase(0, end + 1);
  return Transfer::Done;
}

/// The CPU time of all threads of the process; zero if unknown.
static std::chrono::nanoseconds getCpuTime(pid_t process) {
  clockid_t clock;
  timespec time;
  if (clock_getcpuclockid(process, &clock) != 0 ||
      clock_gettime(clock, &time) != 0)
    return {};
  return std::chrono::seconds(time.tv_sec) +
         std::chrono::nanoseconds(time.tv_nsec);
}

/// Sends the request and waits for the answer. The time that the process did
/// not spend computing is granted again, up to the multiple.
EvaluatorProcess::Transfer
EvaluatorProcess::exchange(std::string_view request, std::string &answer,
                           std::chrono::milliseconds timeLimit) {
  Deadline start = std::chrono::steady_clock::now();
  Deadline last = start + kIdleFactor * timeLimit;
  std::chrono::nanoseconds computed = getCpuTime(process);
  if (Transfer sent = send(request, last); sent != Transfer::Done)
    return sent;
  Deadline deadline = start + timeLimit;
  while (true) {
    Transfer received = receiveLine(answer, deadline);
    if (received != Transfer::TimedOut || deadline >= last)
      return received;
    std::chrono::nanoseconds used = getCpuTime(process) - computed;
    if (used >= timeLimit)
      return received;
    auto left = std::chrono::ceil<std::chrono::milliseconds>(timeLimit - used);
    deadline = std::min(last, std::chrono::steady_clock::now() + left);
  }
}

static std::string signalName(int number) {
  const char *name = sigabbrev_np(number);
  return name ? std::string("SIG") + name : "signal " + std::to_string(number);
}

/// Returns true for signals that a user, a resource manager or the kernel
/// sends, and that no fault of a candidate raises: the kernel sends SIGKILL if
/// memory runs out, and SIGBUS for a page of a mapped file that a full or
/// broken file system cannot give.
static bool isFromOutside(int signal) {
  constexpr int kSignals[] = {SIGKILL, SIGTERM, SIGINT,
                              SIGHUP,  SIGBUS,  SIGXCPU};
  return std::ranges::find(kSignals, signal) != std::end(kSignals);
}

static EvaluationAnswer describeExit(int status) {
  EvaluationAnswer answer;
  answer.outcome = EvaluationOutcome::Crashed;
  if (!WIFSIGNALED(status)) {
    answer.error = "candidate made the evaluator exit with status " +
                   std::to_string(WEXITSTATUS(status));
    return answer;
  }
  std::string name = signalName(WTERMSIG(status));
  answer.error = "candidate crashed with " + name;
  if (isFromOutside(WTERMSIG(status))) {
    answer.outcome = EvaluationOutcome::Failed;
    answer.error = std::string(kEndedFromOutside) + " with " + name;
  }
  return answer;
}

/// The channel was closed without an answer: the process is dead or dying.
EvaluationAnswer EvaluatorProcess::describeDeath() {
  // Waiting for a process that closed its channel but lives on would never end.
  constexpr int kGraceMs = 1000;
  int status = 0;
  for (int waited = 0; waited < kGraceMs; ++waited) {
    if (waitpid(process, &status, WNOHANG) == process) {
      forget();
      return describeExit(status);
    }
    errors.drain();
    usleep(1000);
  }
  stop();
  EvaluationAnswer answer;
  answer.outcome = EvaluationOutcome::Crashed;
  answer.error = "candidate closed the evaluator's output";
  return answer;
}

Result<EvaluationAnswer>
EvaluatorProcess::attempt(const EvaluationRequest &request,
                          std::chrono::milliseconds timeLimit) {
  garbled.clear();
  if (process < 0)
    if (Status status = start(); !status)
      return status.error();
  std::string line;
  Transfer transfer = exchange(toJsonLine(request), line, timeLimit);
  if (transfer == Transfer::Ended)
    return describeDeath();
  if (transfer == Transfer::TimedOut) {
    stop();
    EvaluationAnswer answer;
    answer.outcome = EvaluationOutcome::TimedOut;
    answer.error = "candidate ran longer than its limit of " +
                   std::to_string(timeLimit.count()) + " ms";
    return answer;
  }
  Result<EvaluationAnswer> answer = parseEvaluationAnswer(line);
  if (answer && answer->id == request.id) {
    hasAnswered = true;
    // The process lives, but its device does not.
    if (answer->outcome == EvaluationOutcome::Crashed)
      stop();
    return answer;
  }
  // Later messages on this channel cannot be trusted either.
  stop();
  garbled = answer ? "it answers another request" : answer.message();
  EvaluationAnswer crash;
  crash.outcome = EvaluationOutcome::Crashed;
  crash.error = "candidate garbled the evaluator's answer: " + garbled;
  return crash;
}

/// Returns true if the program answers a request that runs nothing.
bool EvaluatorProcess::answersRequests(std::chrono::milliseconds timeLimit) {
  EvaluationRequest nothing;
  nothing.id = nextId++;
  std::string first = garbled;
  if (!hasAnswered)
    (void)attempt(nothing, timeLimit);
  garbled = first;
  return hasAnswered;
}

Result<EvaluationAnswer>
EvaluatorProcess::evaluate(EvaluationRequest request,
                           std::chrono::milliseconds timeLimit) {
  request.id = nextId++;
  // An earlier candidate may have damaged the process's memory, and an idle
  // process may be ended from outside. This candidate is blamed only for
  // failures in a process of its own.
  bool wasFresh = process < 0;
  Result<EvaluationAnswer> answer = attempt(request, timeLimit);
  bool died =
      answer && process < 0 && answer->outcome != EvaluationOutcome::TimedOut;
  if (died && !wasFresh)
    answer = attempt(request, timeLimit);
  if (answer && !garbled.empty() && !answersRequests(timeLimit))
    return Error{"the evaluator '" + program +
                 "' does not speak the protocol: " + garbled};
  if (answer)
    answer->id = request.id;
  return answer;
}

} // namespace tarpon::runtime
