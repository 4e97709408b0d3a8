//===- MachineCodeTest.cpp ------------------------------------------------===//
//
// Part of Tarpon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tarpon/Targets/AMDGPU/Model/AmdAssembly.h"

#include "gmock/gmock.h"
#include "gtest/gtest.h"

using namespace tarpon;
using runtime::DType;
using testing::ElementsAre;
using Kind = InstructionKind;

TEST(MachineCode, KindsAndWidthsOfMemoryInstructions) {
  struct Case {
    const char *line;
    Kind kind;
    int64_t bytes;
  };
  for (const Case &c : std::initializer_list<Case>{
           {"ds_read_b128 v[0:3], v4", Kind::LdsRead, 16},
           {"ds_load_b64 v[0:1], v4 offset:8", Kind::LdsRead, 8},
           {"ds_read2_b64 v[0:3], v4 offset1:1", Kind::LdsRead, 16},
           {"ds_load_2addr_stride64_b32 v[0:1], v4 offset1:1", Kind::LdsRead,
            8},
           {"ds_read_u16_d16_hi v0, v4", Kind::LdsRead, 2},
           {"ds_bpermute_b32 v0, v1, v2", Kind::LdsRead, 4},
           {"ds_write_b96 v4, v[0:2]", Kind::LdsWrite, 12},
           {"ds_store_b8 v4, v0", Kind::LdsWrite, 1},
           {"global_load_dwordx4 v[0:3], v[4:5], off", Kind::GlobalRead, 16},
           {"global_load_d16_hi_b16 v0, v[4:5], off", Kind::GlobalRead, 2},
           {"global_load_short_d16 v0, v[4:5], off", Kind::GlobalRead, 2},
           {"global_load_u8 v0, v[4:5], off", Kind::GlobalRead, 1},
           {"buffer_load_dword v0, s[0:3], 0 offen lds", Kind::GlobalToLds, 4},
           {"global_load_lds_dwordx4 v[0:1], off", Kind::GlobalToLds, 16},
           {"buffer_load_b128 v[0:3], v4, s[0:3], 0 offen", Kind::GlobalRead,
            16},
           {"global_store_dwordx2 v[0:1], v[2:3], off", Kind::GlobalWrite, 8},
           {"global_atomic_add_f32 v[0:1], v2, off", Kind::GlobalWrite, 4},
           {"buffer_gl0_inv", Kind::Other, 0},
           {"s_load_dwordx4 s[0:3], s[4:5], 0x0", Kind::ScalarLoad, 0}}) {
    SCOPED_TRACE(c.line);
    MachineInstruction instruction = readInstruction(c.line);
    EXPECT_EQ(instruction.kind, c.kind);
    EXPECT_EQ(instruction.bytes, c.bytes);
  }
}

TEST(MachineCode, Arithmetic) {
  struct Case {
    const char *line;
    double flops;
    int64_t rate;
    const char *accumulator;
  };
  for (const Case &c : std::initializer_list<Case>{
           {"v_fmac_f32_e32 v0, v1, v2", 2, 1, "v0"},
           {"v_fma_f32 v0, v1, v2, v0", 2, 1, "v0"},
           {"v_fma_f32 v0, v1, v2, v3", 2, 1, ""},
           {"v_pk_fma_f32 v[0:1], v[2:3], v[4:5], v[0:1] op_sel_hi:[1,0,1]", 4,
            1, "v[0:1]"},
           {"v_dual_fmac_f32 v0, v1, v2 :: v_dual_mul_f32 v3, v4, v5", 3, 1,
            "v0"},
           {"v_mul_f32_e32 v0, v1, v2", 1, 1, ""},
           {"v_dot4_i32_i8 v0, v1, v2, v0", 8, 1, "v0"},
           {"v_add_u32_e32 v0, v1, v0", 0, 1, ""},
           {"v_exp_f32_e32 v0, v1", 0, 4, ""},
           {"v_mul_lo_u32 v0, v1, v2", 0, 4, ""}}) {
    SCOPED_TRACE(c.line);
    MachineInstruction instruction = readInstruction(c.line);
    EXPECT_EQ(instruction.kind, Kind::Vector);
    EXPECT_EQ(instruction.flops, c.flops);
    EXPECT_EQ(instruction.rate, c.rate);
    EXPECT_EQ(instruction.accumulator, c.accumulator);
  }
}

TEST(MachineCode, MatrixInstructionsOfEveryGeneration) {
  struct Case {
    const char *line;
    DType input;
    int64_t m, k;
  };
  for (const Case &c : std::initializer_list<Case>{
           {"v_mfma_f32_16x16x16_f16 a[0:3], v[0:1], v[2:3], a[0:3]",
            DType::F16, 16, 16},
           {"v_mfma_f32_32x32x8f16 a[0:15], v[0:1], v[2:3], a[0:15]",
            DType::F16, 32, 8},
           {"v_mfma_f32_16x16x16bf16_1k a[0:3], v[0:1], v[2:3], a[0:3]",
            DType::BF16, 16, 16},
           {"v_mfma_i32_16x16x32_i8 a[0:3], v[0:1], v[2:3], a[0:3]", DType::I8,
            16, 32},
           {"v_mfma_f32_16x16x4_f32 a[0:3], v0, v1, a[0:3]", DType::F32, 16, 4},
           {"v_wmma_f32_16x16x16_bf16 v[0:7], v[8:15], v[16:23], v[0:7]",
            DType::BF16, 16, 16},
           {"v_wmma_i32_16x16x16_iu8 v[0:7], v[8:11], v[12:15], v[0:7]",
            DType::I8, 16, 16}}) {
    SCOPED_TRACE(c.line);
    MachineInstruction instruction = readInstruction(c.line);
    EXPECT_EQ(instruction.kind, Kind::Matrix);
    EXPECT_EQ(instruction.input, c.input);
    EXPECT_EQ(instruction.m, c.m);
    EXPECT_EQ(instruction.n, c.m);
    EXPECT_EQ(instruction.k, c.k);
    EXPECT_EQ(instruction.flops, static_cast<double>(2 * c.m * c.m * c.k));
  }
  EXPECT_EQ(readInstruction("v_mfma_f32_16x16x4_f32 a[4:7], v0, v1, a[4:7]")
                .accumulator,
            "a[4:7]");
}

TEST(MachineCode, Waits) {
  auto read = [](const char *line) { return readInstruction(line).wait; };
  EXPECT_EQ(read("s_waitcnt vmcnt(3) lgkmcnt(1)").reads, 3);
  EXPECT_EQ(read("s_waitcnt vmcnt(3) lgkmcnt(1)").lds, 1);
  EXPECT_FALSE(read("s_waitcnt vmcnt(3)").lds);
  EXPECT_EQ(read("s_waitcnt lgkmcnt(0)").scalars, 0);
  EXPECT_EQ(read("s_waitcnt_vscnt null, 0x2").writes, 2);
  EXPECT_EQ(read("s_wait_loadcnt 0x5").reads, 5);
  EXPECT_EQ(read("s_wait_dscnt 0x0").lds, 0);
  EXPECT_EQ(read("s_wait_kmcnt 0x0").scalars, 0);
  // 3 loads, 1 access to LDS.
  EXPECT_EQ(read("s_wait_loadcnt_dscnt 0x301").reads, 3);
  EXPECT_EQ(read("s_wait_loadcnt_dscnt 0x301").lds, 1);
}

/// Two nested loops, and a second one with less work.
static const char *kLoops = R"(
kernel:                                 ; @kernel
	s_mov_b32 s0, 0
.LBB0_1:
	v_mul_f32_e32 v9, v8, v9
.LBB0_2:                                ; the inner one
	v_fmac_f32_e32 v0, v1, v2
	s_cbranch_vccnz .LBB0_4
	v_fmac_f32_e32 v3, v1, v2
.LBB0_4:
	s_cbranch_scc1 .LBB0_2
	s_cbranch_scc0 .LBB0_1
.LBB0_5:
	v_add_f32_e32 v0, v0, v1
	s_cbranch_scc1 .LBB0_5
	s_endpgm
.Lfunc_end0:
	.size kernel, .Lfunc_end0-kernel
other:
	v_fmac_f32_e32 v0, v1, v2
)";

TEST(MachineCode, Loops) {
  auto code = parseAssembly(kLoops);
  ASSERT_TRUE(code) << code.message();
  // kernel, 1, 2, what is skipped, 4, behind 4, 5, the end.
  ASSERT_EQ(code->getBlocks().size(), 8u);
  EXPECT_THAT(code->getBlocks()[2].successors, ElementsAre(4, 3));
  EXPECT_THAT(code->getBlocks()[7].successors, ElementsAre());
  std::vector<MachineLoop> loops = code->findLoops();
  ASSERT_EQ(loops.size(), 3u);
  EXPECT_THAT(loops[0].blocks, ElementsAre(2, 3, 4));
  EXPECT_THAT(loops[1].blocks, ElementsAre(1, 2, 3, 4, 5));
  EXPECT_THAT(loops[2].blocks, ElementsAre(6));
  auto inner = code->findInnerLoop();
  ASSERT_TRUE(inner);
  EXPECT_THAT(inner->blocks, ElementsAre(2, 3, 4));
  EXPECT_EQ(code->countFlops(*inner, 64), 256);
}

TEST(MachineCode, NoLoop) {
  auto code = parseAssembly("kernel:\n\tv_add_u32 v0, v1, v2\n"
                            ".LBB0_1:\n\ts_add_i32 s0, s0, 1\n"
                            "\ts_cbranch_scc1 .LBB0_1\n\ts_endpgm\n");
  ASSERT_TRUE(code) << code.message();
  EXPECT_EQ(code->findLoops().size(), 1u);
  // It does nothing that the model knows.
  EXPECT_FALSE(code->findInnerLoop());
}

TEST(MachineCode, Faults) {
  EXPECT_EQ(parseAssembly(".text\n").message(),
            "the assembly has no instructions");
  EXPECT_EQ(parseAssembly("\ts_branch .LBB0_9\n\ts_endpgm\n").message(),
            "the assembly has a branch to '.LBB0_9', which is no label of it");
}
