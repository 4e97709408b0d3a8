//===- FailingThreads.h - A system without threads --------------*- C++ -*-===//
//
// Part of Tarpon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TARPON_TEST_UNIT_FAULTS_FAILINGTHREADS_H
#define TARPON_TEST_UNIT_FAULTS_FAILINGTHREADS_H

namespace tarpon::test {

/// While it lives, threads start `count` times, and then no more, as at a
/// container's limit of processes. One at a time.
class FailingThreads {
public:
  explicit FailingThreads(int count);
  ~FailingThreads();

  /// Counts the threads that were refused.
  static int countRefused();
};

} // namespace tarpon::test

#endif // TARPON_TEST_UNIT_FAULTS_FAILINGTHREADS_H
