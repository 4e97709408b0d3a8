//===- FailingThreads.cpp - A system without threads ----------------------===//
//
// Part of Tarpon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A program's own pthread_create comes before the C library's, for the C++
// library too.
//
//===----------------------------------------------------------------------===//

#include "FailingThreads.h"

#include <atomic>
#include <cerrno>
#include <climits>
#include <cstdlib>
#include <dlfcn.h>
#include <pthread.h>

using namespace tarpon::test;

/// Another process gets the number by this variable, and the library by
/// LD_PRELOAD.
static int readCount() {
  const char *text = std::getenv("TARPON_TEST_THREADS");
  return text ? static_cast<int>(std::strtol(text, nullptr, 10)) : INT_MAX;
}

static std::atomic<int> left = readCount();
static std::atomic<int> refused = 0;

FailingThreads::FailingThreads(int count) {
  refused = 0;
  left = count;
}

FailingThreads::~FailingThreads() { left = INT_MAX; }

int FailingThreads::countRefused() { return refused; }

extern "C" int pthread_create(pthread_t *thread, const pthread_attr_t *attrs,
                              void *(*routine)(void *), void *argument) {
  if (left-- <= 0) {
    ++refused;
    return EAGAIN;
  }
  static const auto real = reinterpret_cast<decltype(&pthread_create)>(
      dlsym(RTLD_NEXT, "pthread_create"));
  return real(thread, attrs, routine, argument);
}
