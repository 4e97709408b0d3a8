; Kernels whose modelled times are digested (GpuModelBehaviour.cpp). Together
; they have every kind of instruction that
; lib/Targets/AMDGPU/Model/Instructions.cpp tells apart.

; kernel: CDNA 3, tiles of f16 through LDS, with a prefetch
	s_load_dwordx4 s[0:3], s[4:5], 0x0
	s_buffer_load_dwordx2 s[8:9], s[12:15], 0x10
	v_mul_lo_u32 v40, v0, s2
	s_waitcnt lgkmcnt(0)
.LBB0_1:
	buffer_load_dwordx4 v[0:3], v40, s[0:3], 0 offen
	global_load_dwordx2 v[20:21], v[40:41], off
	ds_read_b128 v[4:7], v50
	ds_read2_b64 v[8:11], v50 offset1:64
	s_waitcnt lgkmcnt(1)
	v_mfma_f32_16x16x16_f16 a[0:3], v[4:5], v[8:9], a[0:3]
	v_mfma_f32_16x16x16_f16 a[4:7], v[4:5], v[10:11], a[4:7]
	s_waitcnt lgkmcnt(0)
	v_mfma_f32_32x32x8_bf16 a[16:31], v[6:7], v[8:9], a[16:31]
	v_mfma_i32_16x16x32_i8 a[8:11], v[6:7], v[10:11], a[8:11]
	s_setprio 1
	s_waitcnt vmcnt(1)
	ds_write_b128 v51, v[0:3]
	s_waitcnt vmcnt(0)
	ds_write2st64_b32 v51, v20, v21 offset1:4
	v_add_u32_e32 v40, 64, v40
	s_add_i32 s6, s6, -1
	s_nop 1
	s_barrier
	s_cbranch_scc1 .LBB0_1
	v_accvgpr_read_b32 v0, a0
	global_store_dwordx4 v[60:61], v[0:3], off
	buffer_store_short v0, v40, s[0:3], 0 offen
	global_atomic_add_f32 v[60:61], v0, off
	s_endpgm

; kernel: CDNA 4, directly to LDS, with a second loop of few operations
	v_mov_b32_e32 v0, 0
.LBB1_1:
	global_load_lds_dwordx4 v[40:41], off
	buffer_load_dword v40, s[0:3], 0 offen lds
	s_waitcnt 0
	s_barrier
	ds_read_b64 v[4:5], v50
	ds_read_u16 v6, v50 offset:128
	s_waitcnt vmcnt(0) lgkmcnt(0)
	v_mfma_f32_16x16x32_f16 a[0:3], v[4:7], v[8:11], a[0:3]
	v_mfma_f32_32x32x2_f32 a[16:31], v4, v8, a[16:31]
	s_cbranch_vccnz .LBB1_1
.LBB1_2:
	v_add_f32_e32 v1, v1, v2
	ds_bpermute_b32 v2, v3, v1
	ds_swizzle_b32 v2, v1 offset:swizzle(SWAP,1)
	ds_nop
	s_waitcnt lgkmcnt(0)
	s_cbranch_scc0 .LBB1_2
	global_store_byte v[60:61], v0, off
	s_endpgm

; kernel: CDNA 2, its spelling of matrix instructions, nested loops
.LBB2_1:
	v_mul_f32_e32 v1, v2, v3
	global_load_ushort v4, v[40:41], off
.LBB2_2:
	flat_load_dwordx3 v[4:6], v[40:41]
	s_waitcnt vmcnt(0) lgkmcnt(0)
	v_mfma_f32_16x16x16f16 a[0:3], v[4:5], v[8:9], a[0:3]
	v_mfma_i32_32x32x8i8 a[16:31], v4, v5, a[16:31]
	v_mfma_f32_4x4x4f16 a[4:7], v[4:5], v[8:9], a[4:7]
	s_cbranch_scc1 .LBB2_2
	s_branch .LBB2_3
	v_exp_f32_e32 v1, v1
.LBB2_3:
	s_cbranch_execnz .LBB2_1
	flat_store_dword v[40:41], v1
	s_endpgm

; kernel: vectors, packed, with functions and dot products
	s_load_dwordx2 s[0:1], s[4:5], 0x0
.LBB3_1:
	global_load_dwordx4 v[0:3], v[40:41], off offset:16
	s_waitcnt vmcnt(0)
	v_fma_f32 v10, v0, v1, v10
	v_fmac_f32_e32 v11, v0, v2
	v_mac_f32_e32 v12, v0, v2
	v_pk_fma_f32 v[14:15], v[0:1], v[2:3], v[14:15] op_sel_hi:[1,0,1]
	v_pk_mul_f16 v16, v0, v1
	v_pk_add_f32 v[18:19], v[0:1], v[18:19]
	v_dot2c_f32_f16_e32 v20, v0, v1
	v_dot4_i32_i8 v21, v0, v1, v21
	v_mad_u64_u32 v[22:23], s[2:3], v0, v1, v[22:23]
	v_sub_f32_e32 v24, v0, v1
	v_subrev_f16_e32 v25, v0, v1
	v_fma_f64 v[26:27], v[0:1], v[2:3], v[26:27]
	v_exp_f32_e32 v28, v0
	v_log_f32_e32 v28, v28
	v_rcp_f32_e32 v28, v28
	v_rsq_f32_e32 v28, v28
	v_sqrt_f32_e32 v28, v28
	v_sin_f32_e32 v28, v28
	v_cos_f32_e32 v28, v28
	v_mul_hi_u32 v29, v0, v1
	v_cndmask_b32_e32 v30, v0, v1, vcc
	scratch_load_dword v31, off, s0
	scratch_store_dwordx2 off, v[30:31], s0
	s_cbranch_vccz .LBB3_1
	global_store_dwordx3 v[60:61], v[10:12], off
	s_endpgm

; kernel: RDNA 3, waves of 32, two instructions at a time
	s_load_b128 s[0:3], s[4:5], null
	s_clause 0x1
.LBB4_1:
	buffer_load_b128 v[0:3], v40, s[0:3], 0 offen
	global_load_d16_u8 v4, v[40:41], off
	ds_load_b128 v[8:11], v50
	ds_load_2addr_b64 v[12:15], v50 offset1:32
	s_delay_alu instid0(VALU_DEP_1)
	s_waitcnt vmcnt(1) lgkmcnt(0)
	v_wmma_f32_16x16x16_f16 v[16:23], v[8:15], v[24:31], v[16:23]
	v_wmma_i32_16x16x16_iu8 v[32:39], v[8:11], v[12:15], v[32:39] neg_lo:[1,1,0]
	v_dual_fmac_f32 v60, v61, v62 :: v_dual_mul_f32 v63, v64, v65
	v_dual_mov_b32 v30, v31 :: v_dual_add_f32 v32, v33, v34
	ds_store_b64 v51, v[0:1]
	s_waitcnt_vscnt null, 0x0
	s_waitcnt lgkmcnt(0)
	s_barrier
	s_cbranch_scc1 .LBB4_1
	global_store_b64 v[60:61], v[0:1], off
	s_sleep 1
	s_endpgm
	s_code_end

; kernel: RDNA 4, a counter for each kind of access, barriers in two halves
	s_load_b64 s[0:1], s[4:5], 0x0
	s_wait_kmcnt 0x0
.LBB5_1:
	global_load_b128 v[0:3], v[40:41], off
	ds_load_b128 v[8:11], v50
	ds_load_b32 v12, v50 offset:64
	s_wait_loadcnt_dscnt 0x2001
	v_wmma_f32_16x16x16_bf16 v[16:23], v[8:11], v[24:27], v[16:23]
	v_swmmac_f32_16x16x32_f16 v[32:39], v[8:11], v[24:31], v12
	s_wait_loadcnt_dscnt 0x0
	s_wait_dscnt 0x0
	ds_store_b128 v51, v[0:3]
	global_store_b32 v[60:61], v0, off
	s_wait_storecnt_dscnt 0x100
	s_wait_storecnt 0x0
	s_barrier_signal -1
	s_barrier_wait -1
	s_wait_loadcnt 0x0
	s_cbranch_scc1 .LBB5_1
	buffer_store_b16 v0, v40, s[0:3], 0 offen
	s_endpgm

; kernel: no loop that the model knows
	s_load_dwordx2 s[0:1], s[4:5], 0x0
	s_waitcnt lgkmcnt(0)
.LBB6_1:
	global_load_dword v0, v[40:41], off
	s_waitcnt vmcnt(0)
	global_store_dword v[40:41], v0, off
	s_cbranch_scc1 .LBB6_1
	v_add_f32_e32 v0, v0, v1
	s_endpgm
