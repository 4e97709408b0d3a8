//===- CodeObjectTest.cpp -------------------------------------------------===//
//
// Part of Tarpon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tarpon/Targets/AMDGPU/CodeObject.h"
#include "tarpon/Targets/AMDGPU/Model/AmdAssembly.h"

#include "mlir/IR/BuiltinOps.h"
#include "mlir/Parser/Parser.h"

#include "gmock/gmock.h"
#include "gtest/gtest.h"

using namespace mlir;
using namespace tarpon;
using testing::HasSubstr;

namespace {

class CodeObjectTest : public testing::TestWithParam<std::string> {
protected:
  CodeObjectTest() : context(makeRegistry()) {
    context.loadAllAvailableDialects();
  }

  gpu::GPUModuleOp parse(const std::string &text) {
    module = parseSourceString<ModuleOp>(text, &context);
    EXPECT_TRUE(module);
    return *module->getOps<gpu::GPUModuleOp>().begin();
  }

  GpuTarget getTarget() const { return *parseGpuTarget(GetParam()); }

private:
  static DialectRegistry makeRegistry() {
    DialectRegistry registry;
    registerGpuKernelDialects(registry);
    return registry;
  }

  MLIRContext context;
  OwningOpRef<ModuleOp> module;
};

} // namespace

/// Sums of neighbours through LDS, with what kernels use: raw pointers, a
/// barrier, a loop and a square root.
static const char *kKernel = R"mlir(
gpu.module @sums {
  llvm.mlir.global internal @lds() {addr_space = 3 : i32} : !llvm.array<1024 x i8>
  gpu.func @sums(%in: !llvm.ptr<1>, %out: !llvm.ptr<1>, %count: i32) kernel
      attributes {known_block_size = array<i32: 256, 1, 1>} {
    %thread = gpu.thread_id x
    %t = arith.index_cast %thread : index to i32
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %zero = arith.constant 0.0 : f32
    %lds = llvm.mlir.addressof @lds : !llvm.ptr<3>
    %sum = scf.for %i = %c0 to %count step %c1 iter_args(%s = %zero) -> (f32) : i32 {
      %at = arith.addi %i, %t : i32
      %p = llvm.getelementptr %in[%at] : (!llvm.ptr<1>, i32) -> !llvm.ptr<1>, f32
      %v = llvm.load %p : !llvm.ptr<1> -> f32
      %n = arith.addf %s, %v : f32
      scf.yield %n : f32
    }
    %root = math.sqrt %sum : f32
    %mine = llvm.getelementptr %lds[%t] : (!llvm.ptr<3>, i32) -> !llvm.ptr<3>, f32
    llvm.store %root, %mine : f32, !llvm.ptr<3>
    gpu.barrier
    %c255 = arith.constant 255 : i32
    %other = arith.xori %t, %c255 : i32
    %theirs = llvm.getelementptr %lds[%other] : (!llvm.ptr<3>, i32) -> !llvm.ptr<3>, f32
    %v = llvm.load %theirs : !llvm.ptr<3> -> f32
    %to = llvm.getelementptr %out[%t] : (!llvm.ptr<1>, i32) -> !llvm.ptr<1>, f32
    llvm.store %v, %to : f32, !llvm.ptr<1>
    gpu.return
  }
}
)mlir";

TEST_P(CodeObjectTest, HasTheKernelAndItsResources) {
  auto object = compileCodeObject(parse(kKernel), getTarget());
  ASSERT_TRUE(object) << object.message();
  ASSERT_EQ(object->kernels.size(), 1u);
  const KernelResources &kernel = object->kernels.front();
  EXPECT_EQ(kernel.symbol, "sums");
  EXPECT_EQ(kernel.workgroup, 256);
  EXPECT_EQ(kernel.waveSize, getTarget().waveSize);
  EXPECT_EQ(kernel.ldsBytes, 1024);
  EXPECT_EQ(kernel.privateBytes, 0);
  EXPECT_EQ(kernel.vectorSpills, 0);
  EXPECT_GT(kernel.vectorRegisters, 1);
  EXPECT_LT(kernel.vectorRegisters, 64);
  // Two pointers and a number; nothing hidden behind them.
  EXPECT_EQ(kernel.argumentBytes, 20);
  EXPECT_TRUE(getTarget().getOccupancy(kernel.vectorRegisters, kernel.ldsBytes,
                                       kernel.workgroup) > 0);
}

TEST_P(CodeObjectTest, IsTheSameEveryTime) {
  auto first = compileCodeObject(parse(kKernel), getTarget());
  auto second = compileCodeObject(parse(kKernel), getTarget());
  ASSERT_TRUE(first && second);
  EXPECT_EQ(first->bytes, second->bytes);
}

TEST_P(CodeObjectTest, AssemblyIsOfTheChip) {
  auto text = printGpuAssembly(parse(kKernel), getTarget());
  ASSERT_TRUE(text) << text.message();
  EXPECT_THAT(*text, HasSubstr("amdgcn-amd-amdhsa--" + GetParam()));
  EXPECT_THAT(*text, HasSubstr("s_barrier"));
}

/// LLVM's own complaints are errors, and do not end the process.
TEST_P(CodeObjectTest, TooMuchLdsIsAnError) {
  std::string text = kKernel;
  text.replace(text.find("1024 x i8"), 9, "1048576 x i8");
  auto object = compileCodeObject(parse(text), getTarget());
  ASSERT_FALSE(object);
  EXPECT_THAT(object.message(),
              HasSubstr("kernel module 'sums' cannot be compiled for " +
                        GetParam() + ": "));
  EXPECT_THAT(object.message(), HasSubstr("local memory (1048576) exceeds"));
}

/// The static model reads the same from machine code as from text.
TEST_P(CodeObjectTest, DisassemblyIsTheAssembly) {
  auto object = compileCodeObject(parse(kKernel), getTarget());
  auto text = printGpuAssembly(parse(kKernel), getTarget());
  ASSERT_TRUE(object && text);
  auto read = profileKernel(object->bytes, "sums", getTarget());
  ASSERT_TRUE(read) << read.message();
  auto parsed = profileAssembly(*text, object->kernels.front(), getTarget());
  ASSERT_TRUE(parsed) << parsed.message();
  EXPECT_TRUE(read->hasLoop);
  // A load of 4 bytes and an addition for each of the lanes.
  EXPECT_EQ(read->loop.flops, static_cast<double>(getTarget().waveSize));
  EXPECT_EQ(read->loop.globalReads, (std::map<int64_t, int64_t>{{4, 1}}));
  EXPECT_EQ(read->rest.ldsWrites, (std::map<int64_t, int64_t>{{4, 1}}));
  EXPECT_EQ(read->loop.flops, parsed->loop.flops);
  EXPECT_EQ(read->loop.scalar, parsed->loop.scalar);
  EXPECT_EQ(read->loop.aloneClocks, parsed->loop.aloneClocks);
  EXPECT_EQ(read->rest.vector, parsed->rest.vector);
  EXPECT_EQ(read->rest.aloneClocks, parsed->rest.aloneClocks);
  EXPECT_EQ(profileKernel(object->bytes, "nobody", getTarget()).message(),
            "the code object has no kernel 'nobody'");
}

/// Matrix instructions of the right kind.
TEST_P(CodeObjectTest, MatrixInstructions) {
  bool isMfma = getTarget().matrixUnit == MatrixUnit::Mfma;
  // RDNA 3 holds the operands twice, RDNA 4 once.
  std::string lanes = isMfma ? "4" : GetParam() == "gfx1100" ? "16" : "8";
  std::string sums = isMfma ? "4" : "8";
  std::string op = isMfma ? "amdgpu.mfma 16x16x16 %a * %b + %c blgp = none"
                          : "amdgpu.wmma 16x16x16 %a * %b + %c";
  std::string types = "vector<" + lanes + "xf16>, vector<" + lanes +
                      "xf16>, vector<" + sums + "xf32>";
  std::string text = R"mlir(
gpu.module @product {
  gpu.func @product(%p: !llvm.ptr<1>) kernel
      attributes {known_block_size = array<i32: 64, 1, 1>} {
    %a = llvm.load %p : !llvm.ptr<1> -> vector<)mlir" +
                     lanes + R"mlir(xf16>
    %q = llvm.getelementptr %p[64] : (!llvm.ptr<1>) -> !llvm.ptr<1>, i8
    %b = llvm.load %q : !llvm.ptr<1> -> vector<)mlir" +
                     lanes + R"mlir(xf16>
    %c = llvm.load %q : !llvm.ptr<1> -> vector<)mlir" +
                     sums + R"mlir(xf32>
    %d = )mlir" + op +
                     " : " + types + R"mlir(
    llvm.store %d, %p : vector<)mlir" +
                     sums + R"mlir(xf32>, !llvm.ptr<1>
    gpu.return
  }
}
)mlir";
  auto assembly = printGpuAssembly(parse(text), getTarget());
  ASSERT_TRUE(assembly) << assembly.message();
  EXPECT_THAT(*assembly, HasSubstr(isMfma ? "v_mfma_f32_16x16x16"
                                          : "v_wmma_f32_16x16x16_f16"));
}

/// Everything that is let through has its instructions.
TEST_P(CodeObjectTest, NativeMathematics) {
  std::string body;
  int count = 0;
  auto apply = [&](const std::string &op, const std::string &operands,
                   const std::string &type) {
    std::string name = "%v" + std::to_string(count++);
    body += "    " + name + " = math." + op + " " + operands + " : " + type +
            "\n    llvm.store " + name + ", %p : " + type + ", !llvm.ptr<1>\n";
  };
  for (const char *type : {"f32", "f16"}) {
    std::string x = std::string("%") + type;
    body += "    " + x + " = llvm.load %p : !llvm.ptr<1> -> " + type + "\n";
    for (const char *op :
         {"absf", "ceil", "cos", "exp", "exp2", "floor", "log", "log2",
          "roundeven", "rsqrt", "sin", "sqrt", "trunc"})
      apply(op, x, type);
    apply("copysign", x + ", " + x, type);
    apply("fma", x + ", " + x + ", " + x, type);
  }
  body += "    %i32 = llvm.load %p : !llvm.ptr<1> -> i32\n";
  for (const char *op : {"absi", "ctlz", "cttz", "ctpop"})
    apply(op, "%i32", "i32");
  auto object = compileCodeObject(parse("gpu.module @mathematics {\n"
                                        "  gpu.func @mathematics(%p: "
                                        "!llvm.ptr<1>) kernel {\n" +
                                        body +
                                        "    gpu.return\n"
                                        "  }\n"
                                        "}\n"),
                                  getTarget());
  ASSERT_TRUE(object) << object.message();
  EXPECT_EQ(object->kernels.front().privateBytes, 0);
}

TEST_P(CodeObjectTest, WhatNeedsALibraryIsRefused) {
  auto object = compileCodeObject(parse(R"mlir(
gpu.module @waves {
  gpu.func @waves(%p: !llvm.ptr<1>) kernel {
    %a = llvm.load %p : !llvm.ptr<1> -> f32
    %b = math.tan %a : f32
    llvm.store %b, %p : f32, !llvm.ptr<1>
    gpu.return
  }
}
)mlir"),
                                  getTarget());
  ASSERT_FALSE(object);
  EXPECT_EQ(object.message(), "kernel module 'waves' uses math.tan, which the "
                              "hardware does not have");
}

INSTANTIATE_TEST_SUITE_P(Chips, CodeObjectTest,
                         testing::ValuesIn(getGpuChips(GpuVendor::AMD)),
                         [](const auto &info) { return info.param; });

TEST(KernelResourcesTest, WhatIsNoCodeObjectIsRefused) {
  auto junk = readKernelResources(llvm::ArrayRef<char>("junk", 4));
  ASSERT_FALSE(junk);
  EXPECT_THAT(junk.message(), HasSubstr("not a code object of an AMD GPU"));
}
