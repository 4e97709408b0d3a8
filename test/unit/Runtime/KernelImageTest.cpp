//===- KernelImageTest.cpp - Tests of the check of kernels ----------------===//
//
// Part of Tarpon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "KernelImage.h"
#include "TestPackages.h"

#include <elf.h>
#include <gmock/gmock.h>

using namespace tarpon::runtime;
using namespace tarpon::runtime::test;
using testing::HasSubstr;

static std::string refusal(const std::vector<char> &image) {
  Status status = validateKernelImage(image);
  return status ? "it was accepted" : status.message();
}

static std::string refusalOf(const std::string &kind) {
  return refusal(readBytes(TARPON_REFUSED_KERNELS + kind + ".so"));
}

TEST(KernelImageTest, KernelsAreAccepted) {
  EXPECT_EQ(refusal(readBytes(TARPON_TEST_KERNELS)), "it was accepted");
}

/// Loading is enough for these to run.
TEST(KernelImageTest, CodeThatRunsUncalledIsRefused) {
  EXPECT_THAT(refusalOf("CONSTRUCTOR"), HasSubstr("they have constructors"));
  EXPECT_THAT(refusalOf("DESTRUCTOR"), HasSubstr("they have destructors"));
  EXPECT_THAT(refusalOf("INDIRECT"), HasSubstr("an indirect function"));
}

TEST(KernelImageTest, OtherLibrariesAreRefused) {
  EXPECT_THAT(refusal(readBytes(TARPON_LINKED_KERNELS)),
              HasSubstr("they need another library"));
}

/// A package with such kernels is neither written nor read.
TEST(KernelImageTest, PackagesAreValidated) {
  Package package = makeTestPackage(4);
  package.kernels = readBytes(TARPON_REFUSED_KERNELS "CONSTRUCTOR.so");
  EXPECT_THAT(validatePackage(package).message(),
              HasSubstr("its kernels are refused: they have constructors"));
}

TEST(KernelImageTest, TablesLieInTheFile) {
  const std::vector<char> good = readBytes(TARPON_TEST_KERNELS);
  auto refuse = [&](const auto &change) {
    std::vector<char> bad = good;
    change(*reinterpret_cast<Elf64_Ehdr *>(bad.data()), bad);
    return refusal(bad);
  };
  EXPECT_THAT(refuse([](Elf64_Ehdr &header, auto &) { header.e_shoff = 0; }),
              HasSubstr("no valid table of sections"));
  EXPECT_THAT(refuse([](Elf64_Ehdr &header, auto &) { header.e_shnum = 0; }),
              HasSubstr("no valid table of sections"));
  EXPECT_THAT(
      refuse([](Elf64_Ehdr &header, auto &) { header.e_shoff = ~0ull; }),
      HasSubstr("no valid table of sections"));
  EXPECT_THAT(
      refuse([](Elf64_Ehdr &header, auto &) { header.e_phoff = ~0ull; }),
      HasSubstr("segments do not lie in the file"));
  EXPECT_THAT(refuse([](Elf64_Ehdr &header, std::vector<char> &bytes) {
                auto *segments = reinterpret_cast<Elf64_Phdr *>(bytes.data() +
                                                                header.e_phoff);
                segments[1].p_vaddr = segments[0].p_vaddr;
              }),
              HasSubstr("segments overlap"));
}

/// No change makes the check itself read beyond the image.
TEST(KernelImageTest, SurvivesChangesOfEveryByteOfItsTables) {
  const std::vector<char> good = readBytes(TARPON_TEST_KERNELS);
  for (size_t offset = 16; offset < std::min<size_t>(good.size(), 2048);
       ++offset)
    for (char bits : {'\x01', '\x80', '\xff'}) {
      std::vector<char> bad = good;
      bad[offset] ^= bits;
      (void)validateKernelImage(bad);
    }
}
