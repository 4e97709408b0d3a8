//===- DiskErrorsTest.cpp - Errors of disks in messages -------------------===//
//
// Part of Tarpon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "DiskErrors.h"

#include <gtest/gtest.h>

using namespace tarpon::fleet;

TEST(DiskErrorsTest, ErrorsOfDisksAreRecognised) {
  EXPECT_TRUE(isDiskError("cannot link the kernels in a temporary folder: No "
                          "space left on device"));
  EXPECT_TRUE(isDiskError("cannot write 'a': Read-only file system"));
  EXPECT_TRUE(isDiskError("cannot read 'a': Input/output error, at last"));
}

TEST(DiskErrorsTest, OtherErrorsAreNot) {
  EXPECT_FALSE(isDiskError(""));
  EXPECT_FALSE(isDiskError("candidate crashed with SIGSEGV"));
  EXPECT_FALSE(isDiskError("cannot write 'a': Permission denied"));
}

/// An evaluator that cannot write the reference has nothing to do with its
/// device.
TEST(DiskErrorsTest, AreTheCauseOfWhatNamesThem) {
  EXPECT_EQ(getDiskCauseOr(Cause::Device, "cannot write 'reference.tpn': No "
                                          "space left on device"),
            Cause::Disk);
  EXPECT_EQ(getDiskCauseOr(Cause::Device, "the device has gone"),
            Cause::Device);
}
