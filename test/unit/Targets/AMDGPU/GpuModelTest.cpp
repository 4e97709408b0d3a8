//===- GpuModelTest.cpp ---------------------------------------------------===//
//
// Part of Tarpon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Whole models on the emulated device: the same passes and the same package
// builder as for the host, another target.
//
//===----------------------------------------------------------------------===//

#include "tarpon/Autotune/Choice/Calibration.h"
#include "tarpon/IR/FusedProblem.h"
#include "tarpon/IR/TarponDialect.h"
#include "tarpon/Import/OnnxImport.h"
#include "tarpon/Passes/Passes.h"
#include "tarpon/Passes/Pipelines.h"
#include "tarpon/Problem/Problem.h"
#include "tarpon/Runtime/Executor.h"
#include "tarpon/Runtime/Tensor.h"
#include "tarpon/Solver/GpuTarget.h"
#include "tarpon/Targets/AMDGPU/AmdGpuBackend.h"
#include "tarpon/Targets/AMDGPU/EmulatedDevice.h"
#include "tarpon/Targets/Host/HostBackend.h"
#include "tarpon/Targets/Host/HostTarget.h"
#include "tarpon/Targets/Package/PackageBuilder.h"

#include "mlir/Dialect/Quant/IR/Quant.h"
#include "mlir/Pass/PassManager.h"

#include "gtest/gtest.h"

#include <cmath>
#include <tuple>

using namespace tarpon;
using runtime::HostTensor;
using runtime::Package;
using runtime::Result;

namespace {

using Choice = std::tuple<const char *, const char *, const char *>;

/// Model, dtype and layout.
class GpuModel : public testing::TestWithParam<Choice> {
protected:
  GpuModel() {
    context.loadDialect<TarponDialect, mlir::func::FuncDialect,
                        mlir::quant::QuantDialect>();
  }

  Result<Package> compile(KernelCompiler &compiler);
  /// Fuses the function, and sets what int8 is quantised with: ranges on the
  /// host, whatever the function is then compiled for.
  runtime::Status setRanges(mlir::func::FuncOp function);
  std::vector<HostTensor>
  makeTensors(const std::vector<runtime::TensorInfo> &infos, bool isInput);

  mlir::MLIRContext context;
};

} // namespace

static mlir::LogicalResult lower(mlir::func::FuncOp function,
                                 const TargetInfo &target,
                                 const ChoiceOptions *choice) {
  LoweringOptions lowering;
  lowering.target = target;
  mlir::PassManager passes(function.getContext(),
                           mlir::func::FuncOp::getOperationName());
  if (choice)
    buildChoicePipeline(passes, *choice);
  buildLoweringPipeline(passes, lowering);
  return passes.run(function);
}

runtime::Status GpuModel::setRanges(mlir::func::FuncOp function) {
  mlir::PassManager fusion(&context, mlir::func::FuncOp::getOperationName());
  fusion.addPass(createFusePass(Fusion::On));
  if (failed(fusion.run(function)))
    return runtime::Error{"cannot fuse"};
  std::vector<runtime::TensorInfo> infos;
  for (mlir::Type type : function.getArgumentTypes()) {
    TensorDesc desc = getTensorDesc(mlir::cast<mlir::RankedTensorType>(type),
                                    /*constant=*/false);
    runtime::TensorInfo info;
    info.name = "input" + std::to_string(infos.size());
    info.dtype = desc.dtype;
    info.shape = desc.shape;
    infos.push_back(info);
  }
  auto inputs = generateCalibration(infos);
  auto target = getHostTarget(/*threads=*/1);
  if (!inputs || !target)
    return runtime::Error{"cannot calibrate"};
  KernelCompiler compiler = makeHostCompiler(*target, nullptr);
  auto ranges = measureRanges(
      function, *inputs,
      [&](mlir::func::FuncOp exposed) -> Result<Package> {
        if (failed(lower(exposed, *target, nullptr)))
          return runtime::Error{"cannot lower for calibration"};
        return buildPackage(exposed, compiler);
      },
      /*threads=*/1);
  if (!ranges)
    return ranges.error();
  return applyRanges(function, *ranges);
}

Result<Package> GpuModel::compile(KernelCompiler &compiler) {
  auto [model, dtype, layout] = GetParam();
  auto module =
      importOnnx(context, std::string(TARPON_SOURCE_DIR "/models/tiny/") +
                              model + ".onnx");
  if (!module)
    return runtime::Error{"cannot import"};
  auto function = *module->getOps<mlir::func::FuncOp>().begin();
  const TargetInfo &target = compiler.getTarget();
  mlir::PassManager passes(&context, mlir::func::FuncOp::getOperationName());
  buildSimplifyPipeline(passes);
  if (failed(passes.run(function)))
    return runtime::Error{"cannot simplify"};
  if (std::string(dtype) == "int8")
    if (auto status = setRanges(function); !status)
      return status.error();
  ChoiceOptions choice = {*runtime::parsePrecision(dtype), *parseLayout(layout),
                          Fusion::On, target};
  if (failed(lower(function, target, &choice)))
    return runtime::Error{"cannot lower"};
  return buildPackage(function, compiler);
}

std::vector<HostTensor>
GpuModel::makeTensors(const std::vector<runtime::TensorInfo> &infos,
                      bool isInput) {
  std::vector<HostTensor> tensors;
  for (const runtime::TensorInfo &info : infos) {
    auto tensor = HostTensor::create(info.dtype, info.shape);
    EXPECT_TRUE(tensor) << tensor.message();
    if (isInput)
      runtime::fillRandom(*tensor, 1);
    tensors.push_back(std::move(*tensor));
  }
  return tensors;
}

/// The relative L2 distance.
static double getDistance(const HostTensor &a, const HostTensor &b) {
  double difference = 0, norm = 0;
  int64_t size = runtime::dtypeBytes(a.dtype);
  int64_t count = static_cast<int64_t>(a.data.size()) / size;
  for (int64_t i = 0; i < count; ++i) {
    double x = runtime::loadAsFloat(a.dtype, a.data.data() + i * size);
    double y = runtime::loadAsFloat(b.dtype, b.data.data() + i * size);
    difference += (x - y) * (x - y);
    norm += y * y;
  }
  return std::sqrt(difference / norm);
}

TEST_P(GpuModel, agreesWithTheHost) {
  auto hostTarget = getHostTarget(/*threads=*/1);
  ASSERT_TRUE(hostTarget);
  KernelCompiler hostCompiler = makeHostCompiler(*hostTarget, nullptr);
  auto hostPackage = compile(hostCompiler);
  ASSERT_TRUE(hostPackage) << hostPackage.message();
  std::vector<HostTensor> inputs = makeTensors(hostPackage->inputs, true);
  std::vector<HostTensor> expected = makeTensors(hostPackage->outputs, false);
  std::vector<HostTensor> actual = makeTensors(hostPackage->outputs, false);
  std::vector<const void *> in;
  std::vector<void *> out, gpuOut;
  for (HostTensor &tensor : inputs)
    in.push_back(tensor.data.data());
  for (HostTensor &tensor : expected)
    out.push_back(tensor.data.data());
  for (HostTensor &tensor : actual)
    gpuOut.push_back(tensor.data.data());
  auto host = runtime::Executor::create(std::move(*hostPackage), {});
  ASSERT_TRUE(host) << host.message();
  ASSERT_TRUE((*host)->run(in, out));

  for (const char *chip : {"gfx942", "gfx1100"}) {
    SCOPED_TRACE(chip);
    auto gpu = parseGpuTarget(chip);
    ASSERT_TRUE(gpu);
    TargetInfo target = makeGpuTargetInfo(*gpu, GpuCodeForm::Ir);
    KernelCompiler compiler(target, nullptr,
                            makeAmdGpuBackend(*gpu, GpuCodeForm::Ir));
    auto package = compile(compiler);
    ASSERT_TRUE(package) << package.message();
    auto device = makeEmulatedDevice(*gpu);
    auto executor = runtime::Executor::create(std::move(*package), *device);
    ASSERT_TRUE(executor) << executor.message();
    auto status = (*executor)->run(in, gpuOut);
    ASSERT_TRUE(status) << status.message();
    std::string dtype = std::get<1>(GetParam());
    // Sums of int8 are exact, but for the rounding of what is not quantised,
    // which may take a value to the next step.
    double budget = dtype == "fp32" ? 1e-5 : dtype == "fp16" ? 0.005 : 0.03;
    for (size_t i = 0; i < actual.size(); ++i)
      EXPECT_LT(getDistance(actual[i], expected[i]), budget);
  }
}

static std::string printChoice(const testing::TestParamInfo<Choice> &info) {
  return std::string(std::get<0>(info.param)) + "_" + std::get<1>(info.param) +
         "_" + std::get<2>(info.param);
}

INSTANTIATE_TEST_SUITE_P(
    Tiny, GpuModel,
    testing::Combine(testing::Values("tiny_resnet", "tiny_mobilenet",
                                     "tiny_inception", "tiny_qdq"),
                     testing::Values("fp32", "fp16", "bf16"),
                     testing::Values("nchw", "nhwc")),
    printChoice);

INSTANTIATE_TEST_SUITE_P(
    Quantised, GpuModel,
    testing::Combine(testing::Values("tiny_resnet", "tiny_qdq"),
                     testing::Values("int8"), testing::Values("nchw", "nhwc")),
    printChoice);
