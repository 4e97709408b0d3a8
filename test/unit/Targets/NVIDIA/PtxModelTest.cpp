//===- PtxModelTest.cpp ---------------------------------------------------===//
//
// Part of Tarpon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tarpon/Targets/NVIDIA/Model/PtxInstructions.h"

#include "gmock/gmock.h"
#include "gtest/gtest.h"

using namespace tarpon;
using runtime::DType;
using testing::ElementsAre;
using testing::Pair;
using Kind = InstructionKind;

namespace {

class PtxModel : public testing::Test {
protected:
  static MachineCode parse(const std::string &body) {
    auto code = parsePtx(".visible .entry kernel(\n\t.param .u32 kernel_0\n)\n"
                         ".reqntid 128\n{\n" +
                         body + "}\n");
    EXPECT_TRUE(code) << code.message();
    return *code;
  }

  /// The only instruction of a body.
  static MachineInstruction parseLine(const std::string &line) {
    MachineCode code = parse("\t" + line + ";\n");
    EXPECT_EQ(code.getBlocks().size(), 1u);
    EXPECT_EQ(code.getBlocks().front().instructions.size(), 1u);
    return code.getBlocks().front().instructions.front();
  }

  static KernelResources makeResources() {
    KernelResources resources;
    resources.symbol = "kernel";
    resources.vectorRegisters = 64;
    resources.ldsBytes = 32 << 10;
    resources.workgroup = 128;
    resources.waveSize = 32;
    return resources;
  }

  KernelProfile profile(const std::string &body) {
    return profileCode(parse(body), makeResources(), gpu);
  }

  GpuTarget gpu = *parseGpuTarget("sm_90a");
};

} // namespace

TEST_F(PtxModel, KindsAndBytes) {
  struct Case {
    const char *line;
    Kind kind;
    int64_t bytes;
  };
  for (const Case &c : std::initializer_list<Case>{
           {"ld.param.b32 %r1, [kernel_0]", Kind::ScalarLoad, 0},
           {"ld.global.v4.b32 {%r1, %r2, %r3, %r4}, [%rd1+16]",
            Kind::GlobalRead, 16},
           {"ld.global.nc.v2.b64 {%rd2, %rd3}, [%rd1]", Kind::GlobalRead, 16},
           {"ld.global.b16 %rs1, [%rd1]", Kind::GlobalRead, 2},
           {"st.global.v2.b16 [%rd1], {%rs1, %rs2}", Kind::GlobalWrite, 4},
           {"red.global.add.f32 [%rd1], %r1", Kind::GlobalWrite, 4},
           {"ld.shared.v4.b32 {%r1, %r2, %r3, %r4}, [%r5]", Kind::LdsRead, 16},
           {"st.shared.b32 [%r5], %r1", Kind::LdsWrite, 4},
           {"ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%r1, %r2, %r3, %r4}, "
            "[%rd1+2048]",
            Kind::LdsRead, 16},
           {"ldmatrix.sync.aligned.m8n8.x2.trans.shared.b16 {%r1, %r2}, [%rd1]",
            Kind::LdsRead, 8},
           {"cp.async.cg.shared.global [%rd1], [%rd2], 16, %r1",
            Kind::GlobalToLds, 16},
           {"cp.async.ca.shared.global [%rd1], [%rd2], 4", Kind::GlobalToLds,
            4},
           {"cp.async.commit_group", Kind::Commit, 0},
           {"bar.sync 0", Kind::Barrier, 0},
           {"barrier.sync.aligned 0", Kind::Barrier, 0},
           {"@%p1 ret", Kind::Scalar, 0},
           {"ret", Kind::End, 0}}) {
    SCOPED_TRACE(c.line);
    MachineInstruction instruction = parseLine(c.line);
    EXPECT_EQ(instruction.kind, c.kind);
    EXPECT_EQ(instruction.bytes, c.bytes);
  }
  EXPECT_EQ(parseLine("cp.async.wait_group 2").wait.reads, 2);
  EXPECT_EQ(parseLine("cp.async.wait_all").wait.reads, 0);
}

TEST_F(PtxModel, Arithmetic) {
  struct Case {
    const char *line;
    double flops;
    int64_t rate;
  };
  for (const Case &c :
       std::initializer_list<Case>{{"fma.rn.f32 %f1, %f2, %f3, %f1", 2, 1},
                                   {"fma.rn.f16x2 %r1, %r2, %r3, %r1", 4, 1},
                                   {"add.rn.f32 %f1, %f2, %f3", 1, 1},
                                   {"add.s32 %r1, %r2, %r3", 0, 2},
                                   {"add.s64 %rd1, %rd2, %rd3", 0, 2},
                                   {"mad.lo.s32 %r1, %r2, %r3, %r4", 0, 2},
                                   {"ex2.approx.f32 %f1, %f2", 0, 8},
                                   {"div.rn.f32 %f1, %f2, %f3", 0, 16},
                                   {"mov.b32 %r1, %r2", 0, 0},
                                   {"mov.b64 {%r1, %r2}, %rd1", 0, 1}}) {
    SCOPED_TRACE(c.line);
    MachineInstruction instruction = parseLine(c.line);
    EXPECT_EQ(instruction.kind, Kind::Vector);
    EXPECT_EQ(instruction.flops, c.flops);
    EXPECT_EQ(instruction.rate, c.rate);
  }
}

TEST_F(PtxModel, MatrixInstructions) {
  MachineInstruction f16 =
      parseLine("mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32\n"
                "\t\t{%r1, %r2, %r3, %r4},\n\t\t{%r5, %r6, %r7, %r8},\n"
                "\t\t{%r9, %r10},\n\t\t{%r1, %r2, %r3, %r4}");
  EXPECT_EQ(f16.kind, Kind::Matrix);
  EXPECT_EQ(f16.input, DType::F16);
  EXPECT_EQ(f16.flops, 2 * 16 * 8 * 16);
  EXPECT_EQ(f16.writes.size(), 4u);
  EXPECT_EQ(f16.reads.size(), 10u);
  EXPECT_FALSE(f16.accumulator.empty());
  EXPECT_EQ(parseLine("mma.sync.aligned.m16n8k32.row.col.s32.s8.s8.s32 {%r1}, "
                      "{%r2}, {%r3}, {%r1}")
                .input,
            DType::I8);
}

/// Four waves share the instruction: 64 x 64 x 16 products, 2048 elements of
/// both factors from LDS. It occupies their matrix units for as long as the row
/// of 64 x 64 in NvidiaGpus.cpp says, over what such instructions reach.
TEST_F(PtxModel, MatrixInstructionsOfWarpgroups) {
  KernelProfile p = profile(R"(
$L__BB0_1:
	wgmma.fence.sync.aligned;
	{ .reg .pred p; setp.ne.b32 p, 1, 0;
	wgmma.mma_async.sync.aligned.m64n64k16.f32.f16.f16 {%r1, %r2}, %rd1, %rd2, p, 1, 1, 0, 0; }
	wgmma.commit_group.sync.aligned;
	wgmma.wait_group.sync.aligned 	0;
	@%p1 bra 	$L__BB0_1;
	ret;
)");
  ASSERT_TRUE(p.hasLoop);
  EXPECT_EQ(p.loop.matrix, 1);
  EXPECT_EQ(p.loop.waits, 1);
  EXPECT_EQ(p.loop.flops, 2 * 64 * 64 * 16 / 4);
  EXPECT_EQ(p.loop.ldsBytesRead, 2048 * 2 / 4);
  EXPECT_EQ(p.resultsPerWave, 64 * 64 / 4);
  EXPECT_NEAR(p.loop.matrixClocks, 32 * 1.37, 1e-9);
  // The wait is for the products.
  EXPECT_GT(p.loop.aloneClocks, p.loop.matrixClocks);
}

/// Kernels without a loop of products take what their code takes, as often as
/// the GPU is filled with their workgroups.
// As LLVM places it if the body branches: the latch comes first, and the loop
// is entered behind it.
TEST_F(PtxModel, TheHeadOfALoopMayLieInItsMiddle) {
  KernelProfile p = profile("\tbra.uni \t$L__BB0_2;\n"
                            "$L__BB0_1:\n"
                            "\tadd.s32 \t%r1, %r1, 1;\n"
                            "\tsetp.eq.s32 \t%p1, %r1, 8;\n"
                            "\t@%p1 bra \t$L__BB0_3;\n"
                            "$L__BB0_2:\n"
                            "\tfma.rn.f32 \t%r2, %r3, %r4, %r2;\n"
                            "\tbra.uni \t$L__BB0_1;\n"
                            "$L__BB0_3:\n"
                            "\tret;\n");
  ASSERT_TRUE(p.hasLoop);
  EXPECT_EQ(p.loop.flops, 2 * 32);
}

TEST_F(PtxModel, CodeWithoutALoop) {
  KernelProfile p = profile("\tld.global.b32 %f1, [%rd1];\n"
                            "\tadd.rn.f32 %f2, %f1, %f1;\n"
                            "\tst.global.b32 [%rd2], %f2;\n\tret;\n");
  LaunchWork work;
  work.workgroups = 132;
  work.bytes = 1e5;
  LaunchEstimate one = estimateLaunch(p, work, gpu);
  EXPECT_TRUE(one.isFromCode);
  EXPECT_EQ(one.rounds, 1);
  // 228 KiB of LDS hold six workgroups of 33 KiB.
  work.workgroups = 132 * 60;
  LaunchEstimate ten = estimateLaunch(p, work, gpu);
  EXPECT_EQ(ten.rounds, 10);
  EXPECT_GT(ten.computeMs, 5 * one.computeMs);
}

/// Two sums of 16 x 8 each, whose products are in two steps: the registers in
/// between are no sums of their own.
static const char *kGemm = R"(
	ld.param.b64 	%rd1, [kernel_0];   // a comment; with a semicolon
	mov.b32 	%r1, 0;
$L__BB0_1:
	// begin inline asm
	{ .reg .pred q; cp.async.wait_group 1; }
	// end inline asm
	bar.sync 	0;
	cp.async.cg.shared.global [%rd2], [%rd1], 16, %r60;
	cp.async.commit_group;
	ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%r20, %r21, %r22, %r23}, [%rd3];
	ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%r24, %r25, %r26, %r27}, [%rd4];
	mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32
		{%r10, %r11, %r12, %r13}, {%r20, %r21, %r22, %r23}, {%r24, %r25},
		{%r1, %r2, %r3, %r4};
	mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32
		{%r14, %r15, %r16, %r17}, {%r20, %r21, %r22, %r23}, {%r26, %r27},
		{%r5, %r6, %r7, %r8};
	mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32
		{%r1, %r2, %r3, %r4}, {%r20, %r21, %r22, %r23}, {%r24, %r25},
		{%r10, %r11, %r12, %r13};
	mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32
		{%r5, %r6, %r7, %r8}, {%r20, %r21, %r22, %r23}, {%r26, %r27},
		{%r14, %r15, %r16, %r17};
	add.s32 	%r50, %r50, 1;
	setp.ne.b32 	%p1, %r50, %r51;
	@%p1 bra 	$L__BB0_1;
	fma.rn.f32 	%f1, %f2, %f3, %f4;
	st.global.v4.b32 	[%rd5], {%r1, %r2, %r3, %r4};
	ret;
)";

TEST_F(PtxModel, CountsTheInnerLoop) {
  KernelProfile p = profile(kGemm);
  ASSERT_TRUE(p.hasLoop);
  EXPECT_EQ(p.loop.matrix, 4);
  EXPECT_EQ(p.loop.vector, 2);
  EXPECT_EQ(p.loop.waits, 1);
  EXPECT_EQ(p.loop.barriers, 1);
  EXPECT_THAT(p.loop.ldsReads, ElementsAre(Pair(16, 2)));
  EXPECT_THAT(p.loop.globalToLds, ElementsAre(Pair(16, 1)));
  EXPECT_EQ(p.loop.flops, 4 * 2 * 16 * 8 * 16);
  EXPECT_EQ(p.resultsPerWave, 2 * 16 * 8);
  EXPECT_THAT(p.rest.globalWrites, ElementsAre(Pair(16, 1)));
  EXPECT_EQ(p.rest.scalarLoads, 1);
}

/// Instructions wait for their operands, in whatever order they are written.
TEST_F(PtxModel, OperandsDecideTheTimeOfOneWave) {
  auto getClocks = [&](const std::string &body) {
    return profile(body + "\tst.global.b32 [%rd1], %f9;\n\tret;\n")
        .rest.aloneClocks;
  };
  std::string one = "\tadd.rn.f32 %f2, %f1, %f1;\n";
  std::string load = "\tld.shared.b32 %f1, [%r1];\n";
  std::string other = "\tadd.rn.f32 %f5, %f4, %f4;\n";
  std::string last = "\tadd.rn.f32 %f9, %f2, %f5;\n";
  EXPECT_GT(getClocks(load + one + other + last),
            getClocks(one + other + last));
  EXPECT_EQ(getClocks(load + one + other + last),
            getClocks(load + other + one + last));
}

TEST_F(PtxModel, RanksObviousCases) {
  KernelProfile p = profile(kGemm);
  LaunchWork work;
  work.workgroups = 132;
  work.results = 132.0 * 4 * 256;
  work.flops = 2 * work.results * 4096;
  work.dtype = DType::F16;
  double one = estimateLaunch(p, work, gpu).milliseconds;
  // As much work by a quarter of the units.
  LaunchWork few = work;
  few.workgroups = 33;
  EXPECT_GT(estimateLaunch(p, few, gpu).milliseconds, 2 * one);
  // The reduction shared by four workgroups on each unit.
  LaunchWork split = work;
  split.splitK = 4;
  split.workgroups *= 4;
  EXPECT_LT(estimateLaunch(p, split, gpu).milliseconds, one);
  // Twice the copies and the same products.
  std::string more = kGemm;
  std::string copy = "\tcp.async.cg.shared.global [%rd2], [%rd1], 16, %r60;\n";
  for (int i = 0; i < 8; ++i)
    more.insert(more.find(copy), copy);
  EXPECT_GT(estimateLaunch(profile(more), work, gpu).milliseconds, one);
}

TEST_F(PtxModel, Faults) {
  EXPECT_EQ(parsePtx(".version 8.0\n").message(), "not PTX: it has no kernel");
  EXPECT_EQ(parsePtx(".entry k()\n{\n\tret;\n").message(),
            "not PTX: its kernel does not end");
  EXPECT_EQ(parsePtx(".entry k()\n{\n\tbra $L;\n}\n").message(),
            "the assembly has a branch to '$L', which is no label of it");
  EXPECT_EQ(profilePtx(".entry k()\n{\n}\n", makeResources(), gpu).message(),
            "kernel 'kernel': the assembly has no instructions");
}
