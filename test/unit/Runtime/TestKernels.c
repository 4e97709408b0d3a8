//===- TestKernels.c - Kernels, good and bad, for the tests -------*- C -*-===//
//
// Part of Tarpon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Each has the signature of KernelABI.h and works on floats, one element per
// task: buffers are {input, constant, output}, and params[0] holds a factor as
// the bits of an f32.
//
//===----------------------------------------------------------------------===//

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

static float factorOf(const int64_t *params) {
  uint32_t bits = (uint32_t)params[0];
  float factor;
  memcpy(&factor, &bits, sizeof(factor));
  return factor;
}

// out = in * factor + constant
void scaleAndAdd(void *const *buffers, const int64_t *params, int64_t begin,
                 int64_t end, void *scratch) {
  const float *in = buffers[0];
  const float *constant = buffers[1];
  float *out = buffers[2];
  float *stage = scratch;
  for (int64_t i = begin; i < end; ++i) {
    stage[0] = in[i] * factorOf(params);
    out[i] = stage[0] + constant[i];
  }
}

// The same but for the last element.
void slightlyWrong(void *const *buffers, const int64_t *params, int64_t begin,
                   int64_t end, void *scratch) {
  scaleAndAdd(buffers, params, begin, end, scratch);
  ((float *)buffers[2])[end - 1] += 0.5f;
}

// Stores how many calls this thread had in this launch before.
void countsCalls(void *const *buffers, const int64_t *params, int64_t begin,
                 int64_t end, void *scratch) {
  (void)params;
  int64_t *calls = scratch;
  float *out = buffers[2];
  for (int64_t i = begin; i < end; ++i)
    out[i] = (float)*calls;
  ++*calls;
}

// Leaves its outputs as they were.
void doesNothing(void *const *buffers, const int64_t *params, int64_t begin,
                 int64_t end, void *scratch) {
  (void)buffers, (void)params, (void)begin, (void)end, (void)scratch;
}

// Right at first, wrong from the second call on: params[1] is the number of
// tasks, so that a call is counted once.
void wrongLater(void *const *buffers, const int64_t *params, int64_t begin,
                int64_t end, void *scratch) {
  static int calls = 0;
  scaleAndAdd(buffers, params, begin, end, scratch);
  if (end == params[1] && calls++ > 0)
    ((float *)buffers[2])[0] += 1.0f;
}

// Writes one element behind the end: params[1] is the number of elements.
void writesBehindTheEnd(void *const *buffers, const int64_t *params,
                        int64_t begin, int64_t end, void *scratch) {
  scaleAndAdd(buffers, params, begin, end, scratch);
  ((float *)buffers[2])[params[1]] = 1.0f;
}

void crashes(void *const *buffers, const int64_t *params, int64_t begin,
             int64_t end, void *scratch) {
  (void)buffers, (void)params, (void)begin, (void)end, (void)scratch;
  volatile uintptr_t nowhere = 8;
  *(volatile int *)nowhere = 1;
}

void aborts(void *const *buffers, const int64_t *params, int64_t begin,
            int64_t end, void *scratch) {
  (void)buffers, (void)params, (void)begin, (void)end, (void)scratch;
  abort();
}

void exits(void *const *buffers, const int64_t *params, int64_t begin,
           int64_t end, void *scratch) {
  (void)buffers, (void)params, (void)begin, (void)end, (void)scratch;
  _exit(7);
}

// Crashes unless it is the first kernel library of its process to do this.
void crashesTheSecondTime(void *const *buffers, const int64_t *params,
                          int64_t begin, int64_t end, void *scratch) {
  if (end == params[1] && getenv("TARPON_TEST_SPOILED"))
    abort();
  scaleAndAdd(buffers, params, begin, end, scratch);
}

// Spoils the process for crashesTheSecondTime.
void spoils(void *const *buffers, const int64_t *params, int64_t begin,
            int64_t end, void *scratch) {
  setenv("TARPON_TEST_SPOILED", "1", 1);
  scaleAndAdd(buffers, params, begin, end, scratch);
}

// Answers in the evaluator's place, as a candidate that damages its memory
// might.
void garbles(void *const *buffers, const int64_t *params, int64_t begin,
             int64_t end, void *scratch) {
  (void)buffers, (void)params, (void)begin, (void)end, (void)scratch;
  for (int file = 0; file < 64; ++file)
    (void)send(file, "{}\n", 3, MSG_NOSIGNAL);
}

void hangs(void *const *buffers, const int64_t *params, int64_t begin,
           int64_t end, void *scratch) {
  (void)buffers, (void)params, (void)begin, (void)end, (void)scratch;
  volatile int forever = 1;
  while (forever)
    usleep(1000);
}

// A kernel that talks must not disturb the protocol.
void prints(void *const *buffers, const int64_t *params, int64_t begin,
            int64_t end, void *scratch) {
  static const char text[] = "{\"id\": 0}\n";
  if (write(STDOUT_FILENO, text, sizeof(text) - 1) < 0)
    abort();
  scaleAndAdd(buffers, params, begin, end, scratch);
}

// Says what it thinks of its data.
void complains(void *const *buffers, const int64_t *params, int64_t begin,
               int64_t end, void *scratch) {
  static const char text[] = "no good\n";
  if (write(STDERR_FILENO, text, sizeof(text) - 1) < 0)
    abort();
  scaleAndAdd(buffers, params, begin, end, scratch);
}

static void rave(void) {
  static const char line[1024] = "again and again";
  for (int i = 0; i < 1024; ++i)
    if (write(STDERR_FILENO, line, sizeof(line)) < 0)
      abort();
}

// Says more than a pipe holds, and dies of it.
void raves(void *const *buffers, const int64_t *params, int64_t begin,
           int64_t end, void *scratch) {
  (void)buffers, (void)params, (void)begin, (void)end, (void)scratch;
  static const char text[] = "the last words\n";
  rave();
  if (write(STDERR_FILENO, text, sizeof(text) - 1) > 0)
    abort();
}

// Never stops to talk.
void ravesForever(void *const *buffers, const int64_t *params, int64_t begin,
                  int64_t end, void *scratch) {
  (void)buffers, (void)params, (void)begin, (void)end, (void)scratch;
  while (1)
    rave();
}

// Does what no kernel needs, and adds 1 to the first output for each call that
// is not refused.
void triesToEscape(void *const *buffers, const int64_t *params, int64_t begin,
                   int64_t end, void *scratch) {
  scaleAndAdd(buffers, params, begin, end, scratch);
  if (begin != 0)
    return;
  static const char file[] = "/tmp/tarpon-escaped";
  char *const arguments[] = {"/nowhere", NULL};
  const struct rlimit limit = {RLIM_INFINITY, RLIM_INFINITY};
  int allowed = 0;
#define TRY(call) allowed += (call) >= 0 || errno != EPERM
  TRY(socket(AF_INET, SOCK_STREAM, 0));
  TRY(socket(AF_UNIX, SOCK_STREAM, 0));
  TRY(open(file, O_WRONLY | O_CREAT, 0600));
  TRY(open("/dev/null", O_RDWR));
  TRY(mkdir(file, 0700));
  TRY(unlink(file));
  TRY(rename("/nowhere", file));
  TRY(chmod("/nowhere", 0700));
  TRY(execv("/nowhere", arguments));
  TRY(kill(getppid(), 0));
  TRY(setrlimit(RLIMIT_AS, &limit));
  pid_t child = fork();
  if (child == 0)
    _exit(0);
  TRY(child);
#undef TRY
  ((float *)buffers[2])[0] += (float)allowed;
}

// Takes more memory than any machine has, and says so by 1.
void takesAllMemory(void *const *buffers, const int64_t *params, int64_t begin,
                    int64_t end, void *scratch) {
  scaleAndAdd(buffers, params, begin, end, scratch);
  void *memory = mmap(NULL, (size_t)1 << 46, PROT_READ | PROT_WRITE,
                      MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (memory == MAP_FAILED)
    return;
  ((float *)buffers[2])[begin] += 1.0f;
  munmap(memory, (size_t)1 << 46);
}
