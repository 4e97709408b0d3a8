//===- WorkerPool.cpp - Work that may crash or hang -----------------------===//
//
// Part of Tarpon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "WorkerPool.h"

#include <algorithm>
#include <csignal>
#include <cstring>
#include <iostream>
#include <optional>
#include <poll.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>
#include <vector>

using namespace tarpon::test;
using Clock = std::chrono::steady_clock;

namespace {

/// One process and its item.
struct Worker {
  pid_t process = -1;
  int channel = -1;
  std::optional<size_t> item;
  Clock::time_point deadline;
  std::string received;
};

} // namespace

static bool sendAll(int channel, const void *data, size_t bytes) {
  const char *text = static_cast<const char *>(data);
  while (bytes > 0) {
    ssize_t count = send(channel, text, bytes, MSG_NOSIGNAL);
    if (count <= 0)
      return false;
    text += count;
    bytes -= static_cast<size_t>(count);
  }
  return true;
}

/// The last line of a process that is of no further use ends with this.
static constexpr char kLast = '\x04';

/// The child's side: a number comes, a line of text goes back.
[[noreturn]] static void
serve(int channel, const std::function<WorkerPool::Work()> &makeWork) {
  WorkerPool::Work work = makeWork();
  size_t item = 0;
  while (recv(channel, &item, sizeof item, MSG_WAITALL) ==
         static_cast<ssize_t>(sizeof item)) {
    WorkResult result = work(item);
    std::replace(result.text.begin(), result.text.end(), '\n', ' ');
    if (result.endsProcess)
      result.text += kLast;
    result.text += '\n';
    if (!sendAll(channel, result.text.data(), result.text.size()) ||
        result.endsProcess)
      break;
  }
  std::cout.flush();
  // Destructors of a dead context may wait for it forever.
  _exit(0);
}

static Worker startWorker(const std::function<WorkerPool::Work()> &makeWork,
                          const std::vector<Worker> &others) {
  int ends[2];
  if (socketpair(AF_UNIX, SOCK_STREAM, 0, ends) != 0)
    std::abort();
  std::cout.flush();
  Worker worker;
  worker.process = fork();
  if (worker.process == 0) {
    close(ends[0]);
    // Or the others would not notice that their channels are closed.
    for (const Worker &other : others)
      if (other.channel >= 0)
        close(other.channel);
    serve(ends[1], makeWork);
  }
  close(ends[1]);
  worker.channel = ends[0];
  return worker;
}

/// Ends the process, and says how it ended.
static std::string stop(Worker &worker, bool isLate) {
  if (isLate)
    kill(worker.process, SIGKILL);
  close(worker.channel);
  int status = 0;
  while (waitpid(worker.process, &status, 0) < 0 && errno == EINTR)
    continue;
  worker = {};
  if (isLate)
    return std::string(WorkerPool::kDied) + "took too long";
  if (WIFSIGNALED(status))
    return std::string(WorkerPool::kDied) + "died of signal " +
           std::to_string(WTERMSIG(status)) + " (" +
           strsignal(WTERMSIG(status)) + ")";
  return std::string(WorkerPool::kDied) + "exited with status " +
         std::to_string(WEXITSTATUS(status));
}

/// Takes what has arrived; the line if it is whole. False if the process has
/// ended.
static bool receive(Worker &worker, std::optional<std::string> &line) {
  char block[4096];
  ssize_t count = recv(worker.channel, block, sizeof block, 0);
  if (count <= 0)
    return false;
  worker.received.append(block, static_cast<size_t>(count));
  size_t end = worker.received.find('\n');
  if (end == std::string::npos)
    return true;
  line = worker.received.substr(0, end);
  worker.received.clear();
  return true;
}

void WorkerPool::run(
    size_t items, const std::function<Work()> &makeWork,
    const std::function<void(size_t, const std::string &)> &report) const {
  if (processes == 0) {
    Work work = makeWork();
    for (size_t item = 0; item < items; ++item)
      report(item, work(item).text);
    return;
  }
  std::vector<Worker> workers(std::min(processes, items));
  size_t next = 0, done = 0;
  auto finish = [&](Worker &worker, const std::string &text) {
    report(*worker.item, text);
    worker.item.reset();
    ++done;
  };
  while (done < items) {
    std::vector<pollfd> requests;
    for (Worker &worker : workers) {
      if (!worker.item && next < items) {
        if (worker.channel < 0)
          worker = startWorker(makeWork, workers);
        worker.item = next++;
        worker.deadline = Clock::now() + timeLimit;
        // A process that has ended is noticed below.
        sendAll(worker.channel, &*worker.item, sizeof *worker.item);
      }
      requests.push_back({worker.item ? worker.channel : -1, POLLIN, 0});
    }
    poll(requests.data(), requests.size(), /*timeout=*/50);
    for (size_t i = 0; i < workers.size(); ++i) {
      Worker &worker = workers[i];
      if (!worker.item)
        continue;
      std::optional<std::string> line;
      bool isLate = Clock::now() > worker.deadline;
      if (requests[i].revents ? !receive(worker, line) : isLate) {
        size_t item = *worker.item;
        std::string text = stop(worker, !requests[i].revents);
        worker.item = item;
        finish(worker, text);
      } else if (line) {
        bool isLast = line->ends_with(kLast);
        if (isLast)
          line->pop_back();
        finish(worker, *line);
        if (isLast)
          stop(worker, /*isLate=*/false);
      }
    }
  }
  for (Worker &worker : workers)
    if (worker.channel >= 0)
      stop(worker, /*isLate=*/false);
}
