//===- LayoutAttrTest.cpp - Tests of layouts and their types --------------===//
//
// Part of Tarpon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "IRTest.h"

#include "mlir/IR/Diagnostics.h"

using namespace mlir;
using namespace tarpon;

namespace {

class LayoutAttrTest : public IRTest {
protected:
  /// The message that an unverified layout gives, or "" if it is valid.
  std::string getError(LayoutKind kind, int64_t block) {
    std::string message;
    ScopedDiagnosticHandler handler(&context, [&](Diagnostic &diagnostic) {
      message = diagnostic.str();
      return success();
    });
    (void)LayoutAttr::getChecked(location, &context, kind, block);
    return message;
  }
};

} // namespace

TEST_F(LayoutAttrTest, ParsesTheNamesThatItPrints) {
  for (StringRef name :
       {"nchw", "nhwc", "nchw4c", "nchw8c", "nchw16c", "nchw32c", "nchw64c"}) {
    LayoutAttr layout = LayoutAttr::parseName(&context, name);
    ASSERT_TRUE(layout) << name.str();
    EXPECT_EQ(layout.getName(), name.str());
  }
}

TEST_F(LayoutAttrTest, ParsesKindAndBlock) {
  LayoutAttr blocked = LayoutAttr::parseName(&context, "nchw16c");
  EXPECT_EQ(blocked.getKind(), LayoutKind::Blocked);
  EXPECT_EQ(blocked.getBlock(), 16);
  LayoutAttr nhwc = LayoutAttr::parseName(&context, "nhwc");
  EXPECT_EQ(nhwc.getKind(), LayoutKind::NHWC);
  EXPECT_EQ(nhwc.getBlock(), 1);
}

TEST_F(LayoutAttrTest, RejectsOtherNames) {
  for (StringRef name :
       {"", "NCHW", "nchw ", "hwcn", "blocked", "nchwc", "nchw0c", "nchw1c",
        "nchw5c", "nchw128c", "nchw016c", "nchw+8c", "nchw-8c", "nchw16",
        "nchw16cc", "nchw99999999999999999999c", "nhwc16c"})
    EXPECT_FALSE(LayoutAttr::parseName(&context, name)) << name.str();
}

TEST_F(LayoutAttrTest, VerifiesTheBlock) { // C1
  EXPECT_EQ(getError(LayoutKind::Blocked, 16), "");
  EXPECT_EQ(getError(LayoutKind::Blocked, 1),
            "expects a block of 4, 8, 16, 32 or 64, got 1");
  EXPECT_EQ(getError(LayoutKind::Blocked, 24),
            "expects a block of 4, 8, 16, 32 or 64, got 24");
  EXPECT_EQ(getError(LayoutKind::NHWC, 4),
            "expects a block of 1 for a layout that is not blocked, got 4");
}

TEST_F(LayoutAttrTest, TypesSpellNchwByLeavingItOut) {
  auto plain = RankedTensorType::get({1, 3, 8, 8}, builder.getF32Type());
  LayoutAttr nchw = LayoutAttr::parseName(&context, "nchw");
  LayoutAttr nhwc = LayoutAttr::parseName(&context, "nhwc");
  EXPECT_EQ(getLayout(plain), nchw);

  RankedTensorType inNhwc = withLayout(plain, nhwc);
  EXPECT_EQ(inNhwc.getEncoding(), nhwc);
  EXPECT_EQ(inNhwc.getShape(), plain.getShape());
  EXPECT_EQ(getLayout(inNhwc), nhwc);
  EXPECT_EQ(withLayout(inNhwc, nchw), plain);
  EXPECT_EQ(withLayout(inNhwc, LayoutAttr()), plain);
}

TEST_F(LayoutAttrTest, ElementTypeChangesKeepTheLayout) {
  LayoutAttr nhwc = LayoutAttr::parseName(&context, "nhwc");
  auto type = RankedTensorType::get({1, 3, 8, 8}, builder.getF32Type(), nhwc);
  RankedTensorType half = withElementType(type, builder.getF16Type());
  EXPECT_EQ(half.getElementType(), builder.getF16Type());
  EXPECT_EQ(half.getEncoding(), nhwc);
}
