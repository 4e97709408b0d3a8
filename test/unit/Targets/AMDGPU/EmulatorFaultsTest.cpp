//===- EmulatorFaultsTest.cpp - Kernels with planted faults ---------------===//
//
// Part of Tarpon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "TestEmulator.h"

#include "mlir/Dialect/GPU/IR/GPUDialect.h"

#include <gtest/gtest.h>
#include <regex>

using namespace tarpon;
using namespace tarpon::test;

namespace {

/// The error of a body that is given one buffer of `bytes`, %x, and runs 2
/// workgroups of 128 threads.
std::string getFault(const std::string &body, int64_t bytes = 1024,
                     int64_t grid = 2, const EmulatorOptions &options = {},
                     bool uninitialized = false) {
  std::vector<uint8_t> memory(bytes);
  EmulatedBuffer buffer = makeBuffer(memory);
  buffer.uninitialized = uninitialized;
  return getMessage(
      emulateBody("%x: !llvm.ptr<1>", body, grid, 128, {buffer}, options));
}

/// %px is &x[bid * 128 + tid], %pl is &lds[tid], of i32.
const std::string kPlaces = R"(%c128 = arith.constant 128 : i32
%begin = arith.muli %bid, %c128 : i32
%i = arith.addi %begin, %tid : i32
%px = llvm.getelementptr %x[%i] : (!llvm.ptr<1>, i32) -> !llvm.ptr<1>, i32
%pl = llvm.getelementptr %lds[%tid] : (!llvm.ptr<3>, i32) -> !llvm.ptr<3>, i32
%c0 = arith.constant 0 : i32
%c1 = arith.constant 1 : i32
%c64 = arith.constant 64 : i32
)";

/// A store to LDS, `middle`, and a load of what the other wave has stored.
std::string exchange(const std::string &middle) {
  return kPlaces + "llvm.store %tid, %pl : i32, !llvm.ptr<3>\n" + middle + R"(
    %o = arith.xori %tid, %c64 : i32
    %po = llvm.getelementptr %lds[%o] : (!llvm.ptr<3>, i32) -> !llvm.ptr<3>, i32
    %v = llvm.load %po : !llvm.ptr<3> -> i32
    llvm.store %v, %px : i32, !llvm.ptr<1>
  )";
}

/// Lanes hand over what they have stored: the last one of those that meet at a
/// counter reads it.
std::string handOver(const std::string &before, const std::string &behind,
                     const std::string &place = "%tid") {
  return kPlaces + R"(
    %c256 = arith.constant 256 : i32
    %at = arith.addi %c256, %tid : i32
    %pc = llvm.getelementptr %x[%at] : (!llvm.ptr<1>, i32) -> !llvm.ptr<1>, i32
    llvm.store %tid, %px : i32, !llvm.ptr<1>
  )" + before +
         R"(
    %old = llvm.atomicrmw uinc_wrap %pc, %c1 monotonic : !llvm.ptr<1>, i32
  )" + behind +
         R"(
    %last = arith.cmpi eq, %old, %c1 : i32
    scf.if %last {
      %other = arith.subi %c1, %bid : i32
      %start = arith.muli %other, %c128 : i32
      %o = arith.addi %start, )" +
         place + R"( : i32
      %po = llvm.getelementptr %x[%o] : (!llvm.ptr<1>, i32) -> !llvm.ptr<1>, i32
      %v = llvm.load %po : !llvm.ptr<1> -> i32
      llvm.store %v, %px : i32, !llvm.ptr<1>
    }
  )";
}

} // namespace

TEST(EmulatorFaultsTest, MissingBarrier) {
  EXPECT_EQ(getFault(exchange("amdgpu.lds_barrier")), "");
  EXPECT_EQ(getFault(exchange("gpu.barrier")), "");
  // Wave 0 comes first, and reads what wave 1 has not written yet.
  EXPECT_EQ(getFault(exchange("")),
            "kernel kernel: workgroup 0, wave 0, lane 0: 'llvm.load' at "
            "kernel.mlir:22:10 reads 4 bytes at 256 of LDS @lds, which was "
            "never written");
  std::string again =
      exchange("gpu.barrier") + "llvm.store %v, %pl : i32, !llvm.ptr<3>\n";
  EXPECT_EQ(getFault(again),
            "kernel kernel: workgroup 0, wave 1, lane 0: 'llvm.load' at "
            "kernel.mlir:22:10 reads 4 bytes at 0 of LDS @lds, which lane 0 of "
            "wave 0 writes in 'llvm.store' at kernel.mlir:24:3, with no "
            "barrier between");
  EmulatorOptions options;
  options.checkMemory = false;
  EXPECT_EQ(getFault(again, 1024, 2, options), "");
}

/// Whatever the order of the waves, one of them meets the other's access.
TEST(EmulatorFaultsTest, MissingBarrierInAnyOrder) {
  std::string body =
      kPlaces + "llvm.store %tid, %pl : i32, !llvm.ptr<3>\ngpu.barrier\n"
                "%o = arith.xori %tid, %c64 : i32\n"
                "%po = llvm.getelementptr %lds[%o] : (!llvm.ptr<3>, i32) -> "
                "!llvm.ptr<3>, i32\n"
                "llvm.store %o, %po : i32, !llvm.ptr<3>\n"
                "%v = llvm.load %pl : !llvm.ptr<3> -> i32\n";
  for (uint64_t seed = 1; seed < 9; ++seed) {
    EmulatorOptions options;
    options.seed = seed;
    std::string fault = getFault(body, 1024, 2, options);
    EXPECT_TRUE(std::regex_search(fault, std::regex("with no barrier between")))
        << fault;
  }
}

TEST(EmulatorFaultsTest, GlobalRaces) {
  // lds_barrier does not order global memory; gpu.barrier does.
  auto exchangeGlobal = [](const std::string &barrier) {
    return kPlaces + "llvm.store %tid, %px : i32, !llvm.ptr<1>\n" + barrier +
           R"(
    %o = arith.xori %i, %c64 : i32
    %po = llvm.getelementptr %x[%o] : (!llvm.ptr<1>, i32) -> !llvm.ptr<1>, i32
    %v = llvm.load %po : !llvm.ptr<1> -> i32
  )";
  };
  EXPECT_EQ(getFault(exchangeGlobal("gpu.barrier")), "");
  EXPECT_EQ(getFault(exchangeGlobal("amdgpu.lds_barrier")),
            "kernel kernel: workgroup 0, wave 0, lane 0: 'llvm.load' at "
            "kernel.mlir:22:10 reads 4 bytes at 256 of argument 0, which lane "
            "0 of wave 1 writes in 'llvm.store' at kernel.mlir:18:1, with no "
            "barrier between");
  EXPECT_EQ(getFault(kPlaces + "llvm.store %bid, %x : i32, !llvm.ptr<1>", 1024),
            "kernel kernel: workgroup 0, wave 1, lane 0: 'llvm.store' at "
            "kernel.mlir:18:1 writes 4 bytes at 0 of argument 0, which lane 63 "
            "of wave 0 writes in 'llvm.store' at kernel.mlir:18:1, with no "
            "barrier between");
}

TEST(EmulatorFaultsTest, RacesOfWorkgroups) {
  std::string store = kPlaces + R"(
    %isFirst = arith.cmpi eq, %tid, %c0 : i32
    scf.if %isFirst {
      llvm.store %c1, %x : i32, !llvm.ptr<1>
    })";
  EXPECT_EQ(getFault(store, 1024, 1), "");
  EXPECT_EQ(getFault(store, 1024, 2),
            "kernel kernel: workgroup 1, wave 0, lane 0: 'llvm.store' at "
            "kernel.mlir:21:7 writes 4 bytes at 0 of argument 0, which another "
            "workgroup writes in 'llvm.store' at kernel.mlir:21:7");
  // All read the place that the last one writes.
  std::string mixed = kPlaces + R"(
    %v = llvm.load %x : !llvm.ptr<1> -> i32
    %c2 = arith.constant 2 : i32
    %isLast = arith.cmpi eq, %bid, %c2 : i32
    scf.if %isLast {
      gpu.barrier
      %isFirst = arith.cmpi eq, %tid, %c0 : i32
      scf.if %isFirst {
        llvm.store %c1, %x : i32, !llvm.ptr<1>
      }
    })";
  std::string fault = getFault(mixed, 1024, 3);
  EXPECT_TRUE(
      std::regex_search(fault, std::regex("another workgroup reads in")))
      << fault;
  std::string atomic = kPlaces + "%o = llvm.atomicrmw add %x, %c1 monotonic : "
                                 "!llvm.ptr<1>, i32\n";
  EXPECT_EQ(getFault(atomic), "");
  fault = getFault(atomic + "%v = llvm.load %x : !llvm.ptr<1> -> i32\n");
  EXPECT_TRUE(std::regex_search(fault, std::regex("'llvm.atomicrmw'")))
      << fault;
}

/// Raw buffer accesses are ordered like any others.
TEST(EmulatorFaultsTest, RacesOfRawBuffers) {
  auto access = [](const std::string &op) {
    return kPlaces + R"(
    %s = arith.constant 0 : i16
    %bytes = arith.constant 1024 : i64
    %r = rocdl.make.buffer.rsrc %x, %s, %bytes, %c0 : <1> to <8>
    %isFirst = arith.cmpi eq, %tid, %c0 : i32
    scf.if %isFirst {
      )" + op +
           "\n}";
  };
  std::string store =
      access("rocdl.raw.ptr.buffer.store %c1, %r, %c0, %c0, %c0 : i32");
  EXPECT_EQ(getFault(store, 1024, 1), "");
  EXPECT_EQ(getFault(store, 1024, 2),
            "kernel kernel: workgroup 1, wave 0, lane 0: "
            "'rocdl.raw.ptr.buffer.store' at kernel.mlir:24:7 writes 4 bytes "
            "at 0 of argument 0, which another workgroup writes in "
            "'rocdl.raw.ptr.buffer.store' at kernel.mlir:24:7");
  // An atomic op races with a plain one.
  std::string mixed =
      access("%v = rocdl.raw.ptr.buffer.load %r, %c0, %c0, %c0 : i32\n"
             "%o = llvm.atomicrmw add %x, %c1 monotonic : !llvm.ptr<1>, i32");
  EXPECT_TRUE(std::regex_search(getFault(mixed, 1024, 2),
                                std::regex("which another workgroup")));
}

TEST(EmulatorFaultsTest, LanesOfOneStore) {
  std::vector<int32_t> memory(1);
  auto run = [&](const std::string &store) {
    return getMessage(
        emulateBody("%x: !llvm.ptr<1>", store, 1, 64, {makeBuffer(memory)}));
  };
  EXPECT_EQ(run("llvm.store %bid, %x : i32, !llvm.ptr<1>"), "");
  EXPECT_EQ(run("llvm.store %tid, %x : i32, !llvm.ptr<1>"),
            "kernel kernel: workgroup 0, wave 0, lane 1: 'llvm.store' at "
            "kernel.mlir:10:1 writes 4 bytes at 0 of argument 0, where another "
            "lane of the same op writes another value");
}

TEST(EmulatorFaultsTest, OutOfBounds) {
  std::string body = kPlaces + R"(
    %p1 = llvm.getelementptr %px[1] : (!llvm.ptr<1>) -> !llvm.ptr<1>, i32
    llvm.store %tid, %p1 : i32, !llvm.ptr<1>)";
  EXPECT_EQ(getFault(body),
            "kernel kernel: workgroup 1, wave 1, lane 63: 'llvm.store' at "
            "kernel.mlir:20:5 writes 4 bytes at 1024 of argument 0, which has "
            "1024");
  EXPECT_EQ(getFault(kPlaces + R"(
    %p1 = llvm.getelementptr %lds[-1] : (!llvm.ptr<3>) -> !llvm.ptr<3>, i8
    %v = llvm.load %p1 : !llvm.ptr<3> -> i8)"),
            "kernel kernel: workgroup 0, wave 0, lane 0: 'llvm.load' at "
            "kernel.mlir:20:10 reads 1 bytes at -1 of LDS @lds, which has "
            "4096");
  EXPECT_EQ(getFault(R"(
    %null = llvm.mlir.zero : !llvm.ptr<1>
    %v = llvm.load %null : !llvm.ptr<1> -> i8)"),
            "kernel kernel: workgroup 0, wave 0, lane 0: 'llvm.load' at "
            "kernel.mlir:12:10 reads 1 bytes through a pointer into no buffer "
            "of global memory");
}

/// A buffer that lies right behind another is not reached from it.
TEST(EmulatorFaultsTest, RunsIntoTheNeighbour) {
  std::vector<int32_t> memory(128);
  EmulatedBuffer first{memory.data(), 256}, second{memory.data() + 64, 256};
  std::string body = R"(
    %p = llvm.getelementptr %a[%tid] : (!llvm.ptr<1>, i32) -> !llvm.ptr<1>, i32
    %v = llvm.load %p : !llvm.ptr<1> -> i32)";
  auto result = emulateBody("%a: !llvm.ptr<1>, %b: !llvm.ptr<1>", body, 1, 128,
                            {first, second});
  EXPECT_EQ(getMessage(result),
            "kernel kernel: workgroup 0, wave 1, lane 0: 'llvm.load' at "
            "kernel.mlir:12:10 reads 4 bytes at 256 of argument 0, which has "
            "256");
  second = {memory.data() + 32, 256};
  result = emulateBody("%a: !llvm.ptr<1>, %b: !llvm.ptr<1>", body, 1, 64,
                       {first, second});
  EXPECT_EQ(getMessage(result),
            "kernel kernel is launched with argument 1, which overlaps "
            "argument 0: give both as one buffer and offsets");
}

TEST(EmulatorFaultsTest, Misaligned) {
  EXPECT_EQ(getFault(kPlaces + "%v = llvm.load %px {alignment = 4 : i64} : "
                               "!llvm.ptr<1> -> vector<2xi32>\n",
                     1028),
            "");
  EXPECT_EQ(getFault(kPlaces + "%v = llvm.load %px : !llvm.ptr<1> -> "
                               "vector<2xi32>\n"),
            "kernel kernel: workgroup 0, wave 0, lane 1: 'llvm.load' at "
            "kernel.mlir:18:6 reads 8 bytes at 4 of argument 0, which is not a "
            "multiple of 8");
}

TEST(EmulatorFaultsTest, Uninitialized) {
  // Writes of the workgroup before do not count.
  std::string body = kPlaces + R"(
    %isFirst = arith.cmpi eq, %bid, %c0 : i32
    scf.if %isFirst {
      llvm.store %c1, %pl : i32, !llvm.ptr<3>
    }
    %v = llvm.load %pl : !llvm.ptr<3> -> i32)";
  EXPECT_EQ(getFault(body),
            "kernel kernel: workgroup 1, wave 0, lane 0: 'llvm.load' at "
            "kernel.mlir:23:10 reads 4 bytes at 0 of LDS @lds, which was never "
            "written");
  std::string load = kPlaces + "%v = llvm.load %px : !llvm.ptr<1> -> i32\n";
  EXPECT_EQ(getFault(load), "");
  EXPECT_EQ(getFault(load, 1024, 2, {}, /*uninitialized=*/true),
            "kernel kernel: workgroup 0, wave 0, lane 0: 'llvm.load' at "
            "kernel.mlir:18:6 reads 4 bytes at 0 of argument 0, which was "
            "never written");
}

TEST(EmulatorFaultsTest, DivergentBarrier) {
  auto guarded = [](const std::string &bound) {
    return kPlaces + "%bound = arith.constant " + bound + R"( : i32
    %in = arith.cmpi slt, %tid, %bound : i32
    scf.if %in {
      gpu.barrier
    })";
  };
  EXPECT_EQ(getFault(guarded("128")), "");
  EXPECT_EQ(
      getFault(guarded("100")),
      "kernel kernel: workgroup 0, wave 1, lane 36: 'gpu.barrier' at "
      "kernel.mlir:21:7 is not reached by this lane, but by others of its "
      "wave");
  EXPECT_EQ(getFault(guarded("64")),
            "kernel kernel: workgroup 0, wave 0: 'gpu.barrier' at "
            "kernel.mlir:21:7 is never reached by wave 1, which has finished");
  EXPECT_EQ(
      getFault(kPlaces + R"(%in = arith.cmpi slt, %tid, %c64 : i32
    scf.if %in {
      gpu.barrier
    } else {
      gpu.barrier
    })"),
      "kernel kernel: workgroup 0, wave 0: 'gpu.barrier' at "
      "kernel.mlir:20:7 waits for wave 1, which waits at 'gpu.barrier' at "
      "kernel.mlir:22:7");
}

TEST(EmulatorFaultsTest, LoadToLdsIsWaitedFor) {
  auto load = [](const std::string &wait) {
    return kPlaces + "rocdl.load.to.lds %px, %lds, 4, 0, 0 : !llvm.ptr<1>\n" +
           wait + R"(
    amdgpu.lds_barrier
    %v = llvm.load %lds : !llvm.ptr<3> -> i32)";
  };
  // Both waves write the same 256 bytes, which is another fault: take one.
  auto run = [&](const std::string &wait) {
    std::vector<int32_t> memory(64);
    return getMessage(emulateBody("%x: !llvm.ptr<1>", load(wait), 1, 64,
                                  {makeBuffer(memory)}));
  };
  EXPECT_EQ(run("rocdl.s.waitcnt 0"), "");
  EXPECT_EQ(run("amdgpu.memory_counter_wait load(0)"), "");
  std::string fault = "kernel kernel: workgroup 0, wave 0, lane 0: 'llvm.load' "
                      "at kernel.mlir:21:10 reads 4 bytes at 0 of LDS @lds, "
                      "which lane 0 of wave 0 writes in 'rocdl.load.to.lds' at "
                      "kernel.mlir:18:1, and nothing has waited for that";
  EXPECT_EQ(run(""), fault);
  // One load may still be on its way after these: vmcnt is 1 in its lower bits,
  // 16 in its upper ones, and not named.
  EXPECT_EQ(run("rocdl.s.waitcnt 1"), fault);
  EXPECT_EQ(run("rocdl.s.waitcnt 0x4000"), fault);
  EXPECT_EQ(run("amdgpu.memory_counter_wait load(1)"), fault);
  EXPECT_EQ(run("amdgpu.memory_counter_wait ds(0)"), fault);
}

/// Waits count instructions, the latest ones of which may be on their way.
TEST(EmulatorFaultsTest, RawLoadsToLdsAreCounted) {
  auto run = [](const std::string &read, const std::string &wait,
                int64_t widest = 16, const std::string &bytes = "4") {
    std::string body = kPlaces + R"(
    %s = arith.constant 0 : i16
    %bytes = arith.constant 1024 : i64
    %size = arith.constant )" +
                       bytes + R"( : i32
    %r = rocdl.make.buffer.rsrc %x, %s, %bytes, %c0 : <1> to <8>
    %at = arith.muli %tid, %size : i32
    %c256 = arith.constant 256 : i32
    %second = llvm.getelementptr %lds[1024] : (!llvm.ptr<3>) -> !llvm.ptr<3>, i8
    rocdl.raw.ptr.buffer.load.lds %r, %lds, %size, %at, %c0, %c0, %c0
    rocdl.raw.ptr.buffer.load.lds %r, %second, %size, %at, %c256, %c0, %c0
    )" + wait + R"(
    amdgpu.lds_barrier
    %v = llvm.load )" + read +
                       " : !llvm.ptr<3> -> i32\n";
    std::vector<int32_t> memory(256);
    EmulatorOptions options;
    options.directToLdsBytes = widest;
    return getMessage(emulateBody("%x: !llvm.ptr<1>", body, 1, 64,
                                  {makeBuffer(memory)}, options));
  };
  auto isEarly = [&](const std::string &read, const std::string &wait) {
    std::string fault = run(read, wait);
    if (!fault.empty())
      EXPECT_NE(fault.find("nothing has waited for"), std::string::npos)
          << fault;
    return !fault.empty();
  };
  for (const char *none : {"", "rocdl.s.waitcnt 0xff7f"}) {
    EXPECT_TRUE(isEarly("%lds", none));
    EXPECT_TRUE(isEarly("%second", none));
  }
  EXPECT_FALSE(isEarly("%lds", "rocdl.s.waitcnt 0xf71"));
  EXPECT_TRUE(isEarly("%second", "rocdl.s.waitcnt 0xf71"));
  EXPECT_FALSE(isEarly("%second", "rocdl.s.waitcnt 0xf70"));
  EXPECT_FALSE(isEarly("%lds", "amdgpu.memory_counter_wait load(1)"));
  // The upper bits count, too.
  EXPECT_TRUE(isEarly("%lds", "rocdl.s.waitcnt 0x4f70"));
  EXPECT_NE(run("%lds", "rocdl.s.waitcnt 0", 4, "16")
                .find("is of 16 bytes, and the GPU loads at most 4 to LDS"),
            std::string::npos);
  EXPECT_NE(run("%lds", "rocdl.s.waitcnt 0", 0)
                .find("is of 4 bytes, and the GPU loads at most 0 to LDS"),
            std::string::npos);
}

/// What another wave has loaded needs a wait before the barrier.
TEST(EmulatorFaultsTest, RawLoadsToLdsOfOtherWaves) {
  auto run = [](const std::string &before, const std::string &behind) {
    std::string body = kPlaces + R"(
    %s = arith.constant 0 : i16
    %bytes = arith.constant 1024 : i64
    %c4 = arith.constant 4 : i32
    %r = rocdl.make.buffer.rsrc %x, %s, %bytes, %c0 : <1> to <8>
    %at = arith.muli %tid, %c4 : i32
    %row = rocdl.readfirstlane %tid : i32
    %place = llvm.getelementptr %lds[%row] : (!llvm.ptr<3>, i32) -> !llvm.ptr<3>, i32
    rocdl.raw.ptr.buffer.load.lds %r, %place, %c4, %at, %c0, %c0, %c0
    )" + before + R"(
    amdgpu.lds_barrier
    )" + behind + R"(
    %o = arith.xori %tid, %c64 : i32
    %po = llvm.getelementptr %lds[%o] : (!llvm.ptr<3>, i32) -> !llvm.ptr<3>, i32
    %v = llvm.load %po : !llvm.ptr<3> -> i32)";
    return getFault(body, 1024, 1);
  };
  EXPECT_EQ(run("rocdl.s.waitcnt 0", ""), "");
  EXPECT_NE(run("", "").find("nothing has waited for"), std::string::npos);
  EXPECT_NE(run("", "rocdl.s.waitcnt 0"), "");
}

TEST(EmulatorFaultsTest, CrossLane) {
  EXPECT_EQ(getFault(kPlaces + R"(%in = arith.cmpi slt, %tid, %c1 : i32
    scf.if %in {
      %s, %ok = gpu.shuffle xor %tid, %c1, %c64 : i32
    })"),
            "kernel kernel: workgroup 0, wave 0, lane 0: 'gpu.shuffle' at "
            "kernel.mlir:20:17 reads lane 1, which is not active");
  EXPECT_EQ(getFault("%v = rocdl.readlane %tid, %tid : (i32, i32) -> i32"),
            "kernel kernel: workgroup 0, wave 0, lane 1: 'rocdl.readlane' at "
            "kernel.mlir:10:6 has lane 1, and another lane has 0");
}

TEST(EmulatorFaultsTest, DividesByZero) {
  EXPECT_EQ(getFault(kPlaces + "%d = arith.divui %c64, %tid : i32"),
            "kernel kernel: workgroup 0, wave 0, lane 0: 'arith.divui' at "
            "kernel.mlir:18:6 divides by zero");
  // Not in lanes that do not execute it.
  EXPECT_EQ(getFault(kPlaces + R"(%some = arith.cmpi ne, %tid, %c0 : i32
    scf.if %some {
      %d = arith.divui %c64, %tid : i32
    })"),
            "");
}

TEST(EmulatorFaultsTest, LoopsForEver) {
  EmulatorOptions options;
  options.maxInstructions = 1000;
  EXPECT_EQ(
      getFault(kPlaces + R"(scf.for %k = %c0 to %c1 step %bid : i32 {
    })",
               1024, 2, options),
      "kernel kernel: workgroup 0, wave 0: 'scf.for' at kernel.mlir:18:1 "
      "is executed after the limit of 1000 instructions: the kernel seems "
      "to loop for ever");
}

TEST(EmulatorFaultsTest, RefusedKernels) {
  EXPECT_EQ(getFault("%a = llvm.add %tid, %tid : i32"),
            "kernel kernel: 'llvm.add' at kernel.mlir:10:6 is not an op that "
            "the emulator knows");
  EXPECT_EQ(getFault("%a = arith.constant 1 : i4"),
            "kernel kernel: 'arith.constant' at kernel.mlir:10:6 has a result "
            "of type i4, which the emulator does not know");
  EmulatorOptions options;
  options.ldsBytes = 2048;
  EXPECT_EQ(getFault("", 1024, 1, options),
            "kernel kernel: 'llvm.mlir.global' at kernel.mlir:2:3 brings the "
            "LDS of a workgroup to 4096 bytes, and there are 2048");
}

/// The emulator of a GPU without AMD's instructions.
TEST(EmulatorFaultsTest, InstructionsOfAnotherVendor) {
  auto translate = [](const std::string &arguments, const std::string &body) {
    ParsedKernel kernel(makeKernel(arguments, body));
    auto translated = EmulatedKernel::translate(kernel.get());
    return translated ? std::string() : translated.message();
  };
  EXPECT_EQ(translate("", "gpu.barrier"), "");
  EXPECT_EQ(translate("", "amdgpu.lds_barrier"),
            "kernel kernel: 'amdgpu.lds_barrier' at kernel.mlir:10:1 is not an "
            "op that the emulator knows");
  EXPECT_EQ(translate("", "%r = llvm.mlir.zero : !llvm.ptr<8>"),
            "kernel kernel: 'llvm.mlir.zero' at kernel.mlir:10:6 has a result "
            "of type !llvm.ptr<8>, which the emulator does not know");
}

TEST(EmulatorFaultsTest, RefusedLaunches) {
  ParsedKernel kernel(R"(gpu.module @m {
    gpu.func @k(%n: i32) kernel attributes {known_block_size = array<i32: 64, 1, 1>} {
      gpu.return
    }
  })");
  EmulatedLaunch launch;
  launch.block[0] = 64;
  EXPECT_EQ(getMessage(emulate(kernel.get(), launch)),
            "kernel k takes 1 arguments, and is launched with 0");
  launch.arguments = {2.0f};
  EXPECT_EQ(getMessage(emulate(kernel.get(), launch)),
            "kernel k is launched with another type of argument 0 than it has");
  launch.arguments = {int32_t(2)};
  EXPECT_EQ(getMessage(emulate(kernel.get(), launch)), "");
  launch.block[0] = 128;
  EXPECT_EQ(getMessage(emulate(kernel.get(), launch)),
            "kernel k is launched with a block of 128 in dimension 0, and its "
            "known_block_size has 64");
}

TEST(EmulatorFaultsTest, HandsOverBetweenWorkgroups) {
  const std::string fence = "llvm.fence acq_rel\n", race = "another workgroup";
  const std::string device = "llvm.fence syncscope(\"agent\") acq_rel\n";
  EmulatorOptions shuffled;
  for (uint64_t seed = 0; seed < 8; ++seed) {
    shuffled.seed = seed;
    EXPECT_EQ(getFault(handOver(fence, fence), 2048, 2, shuffled), "");
    EXPECT_EQ(getFault(handOver(device, device), 2048, 2, shuffled), "");
    const std::string narrow = "llvm.fence syncscope(\"workgroup\") acq_rel\n";
    const std::string other = "%neighbour = arith.xori %tid, %c1 : i32\n";
    for (const std::string &body :
         {handOver(fence, ""), handOver("", fence), handOver("", ""),
          handOver(narrow, fence), handOver(fence, narrow),
          // What another lane has stored is not handed over.
          handOver(fence + other, fence, "%neighbour"),
          // Nor is what was stored behind the fence.
          handOver(fence + "llvm.store %c1, %px : i32, !llvm.ptr<1>\n",
                   fence)}) {
      std::string fault = getFault(body, 2048, 2, shuffled);
      EXPECT_NE(fault.find(race), std::string::npos) << fault << "\n" << body;
    }
  }
}

/// The counter is zero again.
TEST(EmulatorFaultsTest, CountsUpAndStartsAgain) {
  std::vector<uint8_t> memory(2048, 0);
  const std::string fence = "llvm.fence acq_rel\n";
  for (int launch = 0; launch < 2; ++launch) {
    EXPECT_EQ(getMessage(emulateBody("%x: !llvm.ptr<1>", handOver(fence, fence),
                                     2, 128, {makeBuffer(memory)}, {})),
              "");
    for (size_t i = 1024; i < 1536; ++i)
      EXPECT_EQ(memory[i], 0) << i;
  }
}
