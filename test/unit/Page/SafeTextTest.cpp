//===- SafeTextTest.cpp - Text from outside, made harmless --------------===//
//
// Part of Tarpon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tarpon/Page/SafeText.h"

#include <gtest/gtest.h>

using namespace tarpon;

TEST(SafeTextTest, onlyWhatIsSeenIsShown) {
  EXPECT_EQ(showText("a b\\c <d> \xc3\xa4"), "a b\\c <d> \xc3\xa4");
  EXPECT_EQ(showText("\x1b[31m\t\r\n\x7f"), "\\x1b[31m\\x09\\x0d\\x0a\\x7f");
  // U+009B, which terminals take for ESC [, and U+202E.
  EXPECT_EQ(showText("\xc2\x9b"), "\\xc2\\x9b");
  EXPECT_EQ(showText("\xe2\x80\xae"), "\\xe2\\x80\\xae");
  EXPECT_EQ(showText("\xff\xc3"), "\\xff\\xc3");
  EXPECT_EQ(showLines("a\r\nb\x1b"), "a\nb\\x1b\n");
  EXPECT_EQ(showHtml("<a b=\"c\">'&\x1b"),
            "&lt;a b=&quot;c&quot;&gt;&apos;&amp;\\x1b");
}
