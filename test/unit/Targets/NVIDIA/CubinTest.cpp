//===- CubinTest.cpp ------------------------------------------------------===//
//
// Part of Tarpon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tarpon/Targets/NVIDIA/Cubin.h"

#include "tarpon/Kernels/GPU/GpuKernelBuilder.h"
#include "tarpon/Runtime/Package.h"
#include "tarpon/Targets/GPU/EmittedGpuKernel.h"
#include "tarpon/Targets/NVIDIA/NvidiaGpuBackend.h"
#include "tarpon/Targets/NVIDIA/Ptx.h"
#include "tarpon/Targets/NVIDIA/PtxAssembler.h"

#include "../GPU/TestFolder.h"

#include "gmock/gmock.h"
#include "gtest/gtest.h"

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>

using namespace tarpon;
using testing::HasSubstr;
namespace fs = std::filesystem;

namespace {

/// Sets a variable of the environment as long as the object lives.
class ScopedVariable {
public:
  ScopedVariable(const char *name, const std::string &value) : name(name) {
    if (const char *old = std::getenv(name))
      before = old;
    setenv(name, value.c_str(), 1);
  }
  ~ScopedVariable() {
    if (before)
      setenv(name, before->c_str(), 1);
    else
      unsetenv(name);
  }

private:
  const char *name;
  std::optional<std::string> before;
};

/// Reverses the elements of a workgroup through LDS.
KernelSource makeReversal(int64_t lanes, int64_t ldsBytes) {
  KernelSource source;
  source.symbol = "reversal";
  source.workgroup = lanes;
  source.ldsBytes = ldsBytes;
  source.numBuffers = 2;
  source.emit = [lanes](KernelBuilder &builder) {
    auto &b = static_cast<GpuKernelBuilder &>(builder);
    auto lane = b.getLane();
    auto behind = b.sub(b.cst(lanes - 1), lane);
    auto type = b.getF32Type();
    b.store(b.load(b.offset(b.getBuffer(0), b.mul(lane, 4)), type),
            b.offset(b.getLds(), b.mul(lane, 4)));
    b.barrier();
    b.store(b.load(b.offset(b.getLds(), b.mul(behind, 4)), type),
            b.offset(b.getBuffer(1), b.mul(lane, 4)));
  };
  return source;
}

std::string compile(const KernelSource &source, const char *chip = "sm_90a") {
  GpuTarget gpu = *parseGpuTarget(chip);
  auto emitted = EmittedGpuKernel::emit(source, gpu);
  EXPECT_TRUE(emitted) << emitted.message();
  auto ptx = compileToPtx(emitted->getModule(), gpu);
  EXPECT_TRUE(ptx) << ptx.message();
  return ptx ? *ptx : "";
}

/// The assembler of scripts/setup, without which tests are left out.
class WithAssembler : public testing::Test {
protected:
  void SetUp() override {
    auto found = PtxAssembler::find();
    ASSERT_TRUE(found) << found.message();
    if (!*found)
      GTEST_SKIP() << "there is no ptxas";
    assembler = **found;
  }

  const PtxAssembler &getAssembler() const { return *assembler; }

private:
  std::optional<PtxAssembler> assembler;
};

using Cubin = WithAssembler;
using PtxAssemblerErrors = WithAssembler;
using NvidiaGpuBackendTest = WithAssembler;

} // namespace

TEST(Ptx, TellsWorkgroupAndLds) {
  std::string ptx = compile(makeReversal(128, 100 << 10));
  EXPECT_THAT(ptx, HasSubstr(".target sm_90a"));
  EXPECT_THAT(ptx, HasSubstr(".reqntid 128"));
  // Dynamic, as more than 48 KiB must be, and aligned to the swizzles.
  EXPECT_THAT(ptx, HasSubstr(".extern .shared .align 1024"));
  auto resources = readPtxResources(ptx);
  ASSERT_TRUE(resources) << resources.message();
  EXPECT_EQ(resources->symbol, "reversal");
  EXPECT_EQ(resources->workgroup, 128);
  EXPECT_EQ(resources->ldsBytes, 100 << 10);
}

/// Drivers refuse versions that are newer than they are.
TEST(Ptx, IsOfTheVersionOfItsRow) {
  const std::pair<const char *, const char *> versions[] = {{"sm_80", "7.0"},
                                                            {"sm_89", "7.8"},
                                                            {"sm_90a", "8.4"},
                                                            {"sm_100a", "8.6"}};
  EXPECT_EQ(std::size(versions), getGpuChips(GpuVendor::NVIDIA).size());
  for (auto [chip, version] : versions)
    EXPECT_THAT(compile(makeReversal(64, 256), chip),
                HasSubstr(std::string("\n.version ") + version + "\n"));
}

TEST(Ptx, VectorsAreLoadedWhole) {
  KernelSource source;
  source.symbol = "copy";
  source.workgroup = 64;
  source.numBuffers = 2;
  source.emit = [](KernelBuilder &b) {
    auto at = b.mul(b.getLane(), 16);
    auto type = b.vec(b.getF32Type(), 4);
    b.store(b.load(b.offset(b.getBuffer(0), at), type),
            b.offset(b.getBuffer(1), at));
  };
  std::string ptx = compile(source);
  EXPECT_THAT(ptx, HasSubstr("ld.global.v4"));
  EXPECT_THAT(ptx, HasSubstr("st.global.v4"));
}

/// ptxas would convert the float to an integer, and store that.
TEST(Ptx, LowestBitsOfFloatsAreStoredAsIntegers) {
  KernelSource source;
  source.symbol = "lowest";
  source.workgroup = 32;
  source.numBuffers = 2;
  source.emit = [](KernelBuilder &b) {
    auto at = b.mul(b.getLane(), 4);
    auto loaded = b.load(b.offset(b.getBuffer(0), at), b.getF32Type());
    auto bits = b.bitcast(b.addF(loaded, b.cstF(0x1.8p23)), b.getI32Type());
    auto to = b.offset(b.getBuffer(1), at);
    b.store(mlir::arith::TruncIOp::create(b, b.getI8Type(), bits), to);
    b.store(mlir::arith::TruncIOp::create(b, b.getI16Type(), bits),
            b.offset(to, 2));
  };
  std::string ptx = compile(source);
  EXPECT_THAT(ptx, testing::ContainsRegex(
                       "cvt.u16.u32 \t%narrow0, %r[0-9]+;\n"
                       "\tst.global.b8 \t\\[%rd[0-9]+\\], %narrow0;"));
  EXPECT_THAT(ptx, testing::ContainsRegex("st.global.b16 .*, %narrow1;"));
}

TEST(Ptx, OtherStoresStayAsTheyAre) {
  auto narrow = [](const std::string &text) {
    std::string narrowed = narrowStoredFloats(text);
    return narrowed == text ? "" : narrowed;
  };
  std::string sum = "\tadd.rn.f32 \t%r3, %r1, %r2;\n",
              wide = "\tadd.rn.f64 \t%rd3, %rd1, %rd2;\n",
              half = "\tadd.rn.f16 \t%rs3, %rs1, %rs2;\n";
  // Whole registers, and integers.
  EXPECT_EQ(narrow(sum + "\tst.global.b32 \t[%rd9], %r3;\n"), "");
  EXPECT_EQ(narrow(sum + "\tst.global.b8 \t[%rd9], %r4;\n"), "");
  EXPECT_EQ(narrow("\tadd.s32 \t%r3, %r1, %r2;\n"
                   "\tst.global.b8 \t[%rd9], %r3;\n"),
            "");
  EXPECT_EQ(narrow(half + "\tst.shared.b16 \t[%rd9+2], %rs3;"), "");
  // Floats of all sizes, of matrices and in vectors, and stores under a
  // condition.
  EXPECT_THAT(
      narrow(sum + "\tst.global.v2.b16 \t[%rd9], {%r4, %r3};\n"),
      HasSubstr("\t{\n\t.reg .b16 \t%narrow0;\n\tcvt.u16.u32 \t%narrow0, %r3;\n"
                "\tst.global.v2.b16 \t[%rd9], {%r4, %narrow0};\n\t}\n"));
  EXPECT_THAT(narrow(half + "\tst.global.b8 \t[%rd9], %rs3;\n"),
              HasSubstr("and.b16 \t%narrow0, %rs3, 255;"));
  EXPECT_THAT(narrow(wide + "\tst.global.b32 \t[%rd9], %rd3;\n"),
              HasSubstr("cvt.u32.u64 \t%narrow0, %rd3;"));
  EXPECT_THAT(narrow(wide + "\tst.global.b8 \t[%rd9], %rd3;\n"),
              HasSubstr("cvt.u16.u64 \t%narrow0, %rd3;"));
  EXPECT_THAT(narrow("\tmma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32\n"
                     "\t\t{%r1, %r2, %r3, %r4},\n"
                     "\tst.global.b8 \t[%rd9], %r3;\n"),
              HasSubstr("cvt.u16.u32 \t%narrow0, %r3;"));
  EXPECT_THAT(narrow(sum + "\t@%p1 st.global.b8 \t[%rd9+1], %r3;\n"),
              HasSubstr("\t@%p1 st.global.b8 \t[%rd9+1], %narrow0;\n"));
}

TEST(Ptx, OthersAreRefused) {
  EXPECT_THAT(readPtxResources("hello").message(), HasSubstr("not PTX"));
  EXPECT_EQ(readPtxResources(".visible .entry k(\n)\n{ ret; }\n").message(),
            "the PTX of 'k' does not tell its workgroup");
}

TEST_F(Cubin, TellsWhatThePtxTellsAndItsRegisters) {
  const PtxAssembler &assembler = getAssembler();
  EXPECT_THAT(assembler.getVersion(), HasSubstr("ptxas V"));
  for (const char *chip : {"sm_80", "sm_89", "sm_90a", "sm_100a"}) {
    auto cubin = assembler.assemble(compile(makeReversal(256, 70 << 10), chip),
                                    chip, "reversal");
    ASSERT_TRUE(cubin) << cubin.message();
    EXPECT_TRUE(runtime::isElf(*cubin));
    auto resources = readCubinResources(*cubin);
    ASSERT_TRUE(resources) << chip << ": " << resources.message();
    EXPECT_EQ(resources->symbol, "reversal");
    EXPECT_EQ(resources->workgroup, 256);
    EXPECT_EQ(resources->ldsBytes, 70 << 10);
    EXPECT_EQ(resources->privateBytes, 0);
    EXPECT_GT(resources->vectorRegisters, 3);
    EXPECT_LT(resources->vectorRegisters, 40);
  }
}

TEST_F(Cubin, TellsMemoryOfLanes) {
  // ptxas 13.0 --verbose: 400 bytes stack frame.
  constexpr const char *kPtx = R"(
.version 8.0
.target sm_90a
.address_size 64
.visible .entry spills(.param .u64 at)
.reqntid 32
{
  .local .align 4 .b8 frame[400];
  .reg .b64 %rd<4>;
  .reg .b32 %r<3>;
  ld.param.u64 %rd1, [at];
  mov.u32 %r1, %tid.x;
  cvt.u64.u32 %rd2, %r1;
  mov.u64 %rd3, frame;
  add.s64 %rd3, %rd3, %rd2;
  st.local.u8 [%rd3], %r1;
  ld.local.u8 %r2, [frame+3];
  st.global.u32 [%rd1], %r2;
  ret;
}
)";
  auto cubin = getAssembler().assemble(kPtx, "sm_90a", "spills");
  ASSERT_TRUE(cubin) << cubin.message();
  auto resources = readCubinResources(*cubin);
  ASSERT_TRUE(resources) << resources.message();
  EXPECT_EQ(resources->privateBytes, 400);
}

TEST_F(Cubin, OthersAreRefused) {
  EXPECT_THAT(readCubinResources(llvm::ArrayRef<char>("junk", 4)).message(),
              HasSubstr("not a cubin of NVIDIA's"));
  auto cubin =
      getAssembler().assemble(compile(makeReversal(64, 256)), "sm_90a", "k");
  ASSERT_TRUE(cubin) << cubin.message();
  // Nothing is read beyond the bytes that are there.
  for (size_t size = 0; size < cubin->size(); size += 61)
    (void)readCubinResources(llvm::ArrayRef<char>(*cubin).take_front(size));
}

TEST_F(PtxAssemblerErrors, NameTheKernel) {
  EXPECT_THAT(
      getAssembler().assemble("nonsense", "sm_90a", "kernel_7").message(),
      HasSubstr("ptxas refuses kernel 'kernel_7'"));
}

/// Files on a disk would survive a process that is killed.
TEST(PtxAssembler, LeavesNothingBehindEvenIfItIsKilled) {
  test::TestFolder folder;
  fs::create_directories(folder.path / "temporary");
  std::string program = folder.path / "ptxas";
  std::ofstream(program) << "#!/bin/sh\n"
                            "[ $1 = --version ] && echo V1.2.3 && exit\n"
                            "{ cat $4; ls -A $TMPDIR; } > $6\n";
  fs::permissions(program, fs::perms::owner_all);
  ScopedVariable assembler("TARPON_PTXAS", program);
  ScopedVariable place("TMPDIR", folder.path / "temporary");
  auto found = PtxAssembler::find();
  ASSERT_TRUE(found) << found.message();
  auto code = (*found)->assemble("some PTX", "sm_90a", "kernel_7");
  ASSERT_TRUE(code) << code.message();
  // The source, and no name of a file that was there at that time.
  EXPECT_EQ(std::string(code->begin(), code->end()), "some PTX");
}

TEST(PtxAssembler, ProgramsThatAreNoneAreNamed) {
  ScopedVariable missing("TARPON_PTXAS", "/nowhere/ptxas");
  EXPECT_THAT(PtxAssembler::find().message(), HasSubstr("/nowhere/ptxas"));
  ScopedVariable other("TARPON_PTXAS", "/bin/true");
  EXPECT_EQ(PtxAssembler::find().message(),
            "'/bin/true' is not NVIDIA's assembler");
  // The error is that of every kernel, and nothing falls back to PTX.
  auto backend = makeNvidiaGpuBackend(*parseGpuTarget("sm_90a"));
  EXPECT_EQ(backend->compile(makeReversal(64, 256)).message(),
            "'/bin/true' is not NVIDIA's assembler");
}

TEST(Ptx, LimitsOfRegistersAreLifted) {
  std::string ptx = ".reqntid 128\n.minnctapersm 12\n{\n";
  EXPECT_TRUE(liftRegisterLimit(ptx));
  EXPECT_EQ(ptx, ".reqntid 128\n.minnctapersm 1\n{\n");
  EXPECT_FALSE(liftRegisterLimit(ptx));
  ptx = ".reqntid 128\n{\n";
  EXPECT_FALSE(liftRegisterLimit(ptx));
}

/// Sums of more products than a limit leaves registers for.
TEST_F(NvidiaGpuBackendTest, ALimitDoesNotKeepValuesInMemory) {
  constexpr int64_t kValues = 64, kLanes = 128;
  KernelSource source;
  source.symbol = "sums";
  source.workgroup = kLanes;
  source.numBuffers = 2;
  source.emit = [](KernelBuilder &builder) {
    auto &b = static_cast<GpuKernelBuilder &>(builder);
    b.setWavesPerEu(16);
    auto at = [&](int64_t index, int64_t i) {
      return b.offset(b.offset(b.getBuffer(index), b.mul(b.getLane(), 4)),
                      4 * kLanes * i);
    };
    llvm::SmallVector<mlir::Value> sums;
    for (int64_t i = 0; i < kValues; ++i)
      sums.push_back(b.load(at(0, i), b.getF32Type()));
    auto results =
        b.forLoop(b.cst(0), b.cst(100), b.cst(1), sums,
                  [&](mlir::Value, mlir::ValueRange values) {
                    llvm::SmallVector<mlir::Value> after;
                    for (int64_t i = 0; i < kValues; ++i)
                      after.push_back(b.fma(
                          values[i], values[(i + 1) % kValues], values[i]));
                    return after;
                  });
    for (int64_t i = 0; i < kValues; ++i)
      b.store(results[i], at(1, i));
  };
  auto backend = makeNvidiaGpuBackend(*parseGpuTarget("sm_90a"));
  auto code = backend->compile(source);
  ASSERT_TRUE(code) << code.message();
  auto resources = readCubinResources(*code);
  ASSERT_TRUE(resources) << resources.message();
  EXPECT_EQ(resources->privateBytes, 0);
  EXPECT_GT(resources->vectorRegisters, 32);
}

TEST_F(NvidiaGpuBackendTest, LaunchesAskForLds) {
  auto backend = makeNvidiaGpuBackend(*parseGpuTarget("sm_90a"));
  auto code = backend->compile(makeReversal(128, 64 << 10));
  ASSERT_TRUE(code) << code.message();
  KernelObjects objects;
  objects["reversal"] = std::make_shared<const std::vector<char>>(*code);
  auto linked = backend->link(objects);
  ASSERT_TRUE(linked) << linked.message();
  ASSERT_EQ(linked->codeObjects.size(), 1u);
  EXPECT_EQ(linked->codeObjects[0].workgroup, 128);
  EXPECT_EQ(linked->codeObjects[0].ldsBytes, 64 << 10);
  auto figures = backend->readFigures("reversal", *code);
  ASSERT_TRUE(figures) << figures.message();
  EXPECT_EQ(figures->values[0].second, 128);
  EXPECT_FALSE(figures->spills);
}
