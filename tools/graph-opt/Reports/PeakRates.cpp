//===- PeakRates.cpp - The peak rates of this machine -----------*- C++ -*-===//
//
// Part of Tarpon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "PeakRates.h"

#include "tarpon/Kernels/Common/KernelBuilder.h"
#include "tarpon/Runtime/Measure.h"
#include "tarpon/Targets/Cache/LayeredKernelCache.h"
#include "tarpon/Targets/Host/HostBackend.h"

#include "mlir/Dialect/LLVMIR/LLVMDialect.h"

#include <algorithm>

using namespace mlir;
using tarpon::runtime::Precision;

namespace tarpon {

/// The number of independent sums: enough to hide the latency of any CPU's
/// multiply-add (4 or 5 cycles, 2 per cycle), few enough for 16 registers.
static constexpr int64_t kSums = 12;
static constexpr int64_t kUnroll = 4;
static constexpr int64_t kIterations = 20000;
/// There are several tasks per thread, so that one slow core does not delay the
/// others.
static constexpr int64_t kTasksPerThread = 8;

static constexpr int64_t kVectorBytes = 64;
static constexpr int64_t kMinReadBytes = int64_t(64) << 20;
static constexpr int64_t kMaxReadBytes = int64_t(256) << 20;
static constexpr int64_t kReadTasks = 64;
/// The vectors loaded per iteration.
static constexpr int64_t kReads = 8;

//===----------------------------------------------------------------------===//
// Kernels
//===----------------------------------------------------------------------===//

/// The operations per vector: its 32-bit lanes times the operations of one
/// lane.
static double countOperations(Precision arithmetic, const TargetInfo &target) {
  double perLane = arithmetic == Precision::I8     ? 8
                   : arithmetic == Precision::BF16 ? 4
                                                   : 2;
  return static_cast<double>(kIterations * kUnroll * kSums * target.lanes()) *
         perLane;
}

/// CPUs compute fp16 in fp32.
static StringRef getIntrinsic(Precision arithmetic) {
  switch (arithmetic) {
  case Precision::F32:
  case Precision::F16:
    return "";
  case Precision::BF16:
    return "llvm.x86.avx512bf16.dpbf16ps.512";
  case Precision::I8:
    return "llvm.x86.avx512.vpdpbusd.512";
  }
  llvm_unreachable("unknown arithmetic");
}

static Value multiplyAdd(KernelBuilder &b, Precision arithmetic, Value x,
                         Value y, Value sum) {
  StringRef intrinsic = getIntrinsic(arithmetic);
  if (intrinsic.empty())
    return b.fma(x, y, sum);
  return LLVM::CallIntrinsicOp::create(b, sum.getType(),
                                       b.getStringAttr(intrinsic),
                                       ValueRange{sum, x, y})
      .getResult(0);
}

/// The types of the factors and of the sum.
static std::pair<Type, Type> getTypes(KernelBuilder &b, Precision arithmetic) {
  int64_t lanes = b.lanes();
  switch (arithmetic) {
  case Precision::F32:
  case Precision::F16:
    return {b.vec(b.f32(), lanes), b.vec(b.f32(), lanes)};
  case Precision::BF16:
    return {b.vec(b.getBF16Type(), 2 * lanes), b.vec(b.f32(), lanes)};
  case Precision::I8:
    return {b.vec(b.getI8Type(), 4 * lanes), b.vec(b.getI32Type(), lanes)};
  }
  llvm_unreachable("unknown arithmetic");
}

/// Buffer 0 holds the factors and the initial sums, which the compiler must
/// assume to be all different. The sums are stored so that they have to be
/// computed.
static void emitCompute(KernelBuilder &b, Precision arithmetic) {
  auto [factor, total] = getTypes(b, arithmetic);
  Type totalType = total;
  b.forTasks([&, factorType = factor](Value) {
    Value data = b.getBuffer(0);
    Value x = b.load(data, factorType);
    Value y = b.load(b.offset(data, kVectorBytes), factorType);
    SmallVector<Value> sums;
    for (int64_t i = 0; i < kSums; ++i)
      sums.push_back(b.load(b.offset(data, (2 + i) * kVectorBytes), totalType));
    sums = b.forLoop(b.cst(0), b.cst(kIterations), b.cst(1), sums,
                     [&](Value, ValueRange carried) {
                       SmallVector<Value> next(carried);
                       for (int64_t step = 0; step < kUnroll; ++step)
                         for (Value &sum : next)
                           sum = multiplyAdd(b, arithmetic, x, y, sum);
                       return next;
                     });
    for (int64_t i = 0; i < kSums; ++i)
      b.store(sums[i], b.offset(b.getScratch(), i * kVectorBytes));
  });
}

/// Task t reads the t-th piece of param 0 bytes of buffer 0.
static void emitRead(KernelBuilder &b) {
  VectorType type = b.vec(b.getI32Type(), b.lanes());
  int64_t width = b.lanes() * 4;
  b.forTasks([&](Value task) {
    Value data = b.offset(b.getBuffer(0), b.mul(task, b.getParam(0)));
    SmallVector<Value> seen(kReads, b.cstLike(type, 0));
    seen = b.forLoop(b.cst(0), b.getParam(0), b.cst(kReads * width), seen,
                     [&](Value at, ValueRange carried) {
                       SmallVector<Value> next(carried);
                       Value line = b.offset(data, at);
                       for (int64_t i = 0; i < kReads; ++i)
                         next[i] = b.orI(
                             next[i], b.load(b.offset(line, i * width), type));
                       return next;
                     });
    for (int64_t i = 0; i < kReads; ++i)
      b.store(seen[i], b.offset(b.getScratch(), i * kVectorBytes));
  });
}

//===----------------------------------------------------------------------===//
// Measuring
//===----------------------------------------------------------------------===//

/// Makes a package of one launch of one kernel on an input of `bytes` bytes.
static runtime::Result<runtime::Package>
makePackage(KernelCompiler &compiler, const KernelSource &kernel, int64_t bytes,
            int64_t tasks, std::vector<int64_t> params) {
  auto object = compiler.getObject("peak-v1", kernel);
  if (!object)
    return object.error();
  auto library = compiler.link({{kernel.symbol, *object}});
  if (!library)
    return library.error();
  runtime::Launch launch;
  launch.symbol = kernel.symbol;
  launch.buffers = {{runtime::BufferSpace::Input, 0}};
  launch.params = std::move(params);
  launch.tasks = tasks;
  launch.scratchBytes = kSums * kVectorBytes;
  runtime::Layer layer;
  layer.name = kernel.symbol;
  layer.launches = {std::move(launch)};
  runtime::Package package;
  package.modelName = kernel.symbol;
  package.arch = compiler.getTarget().arch;
  package.inputs = {{"data", DType::U8, {bytes}}};
  package.layers = {std::move(layer)};
  package.kernels = std::move(library->bytes);
  return package;
}

/// Returns the shortest time of a run in seconds: a peak is the rate of an
/// undisturbed run.
static runtime::Result<double> measureShortest(const runtime::Package &package,
                                               int64_t threads) {
  auto data = runtime::HostTensor::create(DType::U8, package.inputs[0].shape);
  if (!data)
    return data.error();
  // Memory that was never written is one page of zeros, which the cache holds.
  data->data.fill(1);
  runtime::ExecutorOptions options;
  options.threads = static_cast<int>(threads);
  options.paddedBuffers = true;
  auto executor = runtime::Executor::create(package, options);
  if (!executor)
    return executor.error();
  std::vector<runtime::HostTensor> inputs;
  inputs.push_back(std::move(*data));
  auto instance =
      runtime::Instance::create(std::move(*executor), std::move(inputs));
  if (!instance)
    return instance.error();
  runtime::MeasureOptions measureOptions;
  measureOptions.minSamples = 10;
  measureOptions.minTimeMs = 60;
  measureOptions.maxTimeMs = 2000;
  std::vector<double> samples =
      runtime::measure({&*instance, 1}, measureOptions).samplesMs;
  return *std::min_element(samples.begin(), samples.end()) / 1e3;
}

static runtime::Result<double> measureCompute(KernelCompiler &compiler,
                                              Precision arithmetic) {
  const TargetInfo &target = compiler.getTarget();
  KernelSource kernel;
  kernel.symbol = "tarpon_peak_" + std::string(getPrecisionName(arithmetic));
  kernel.emit = [&](KernelBuilder &b) { emitCompute(b, arithmetic); };
  int64_t tasks = kTasksPerThread * target.threads;
  auto package =
      makePackage(compiler, kernel, (kSums + 2) * kVectorBytes, tasks, {});
  if (!package)
    return package.error();
  auto seconds = measureShortest(*package, target.threads);
  if (!seconds)
    return seconds.error();
  return static_cast<double>(tasks) * countOperations(arithmetic, target) /
         *seconds / 1e9;
}

static runtime::Result<double> measureBandwidth(KernelCompiler &compiler) {
  const TargetInfo &target = compiler.getTarget();
  KernelSource kernel;
  kernel.symbol = "tarpon_peak_read";
  kernel.emit = emitRead;
  int64_t bytes = std::clamp(4 * target.l3Bytes, kMinReadBytes, kMaxReadBytes);
  int64_t unit = kReadTasks * kReads * kVectorBytes;
  bytes = bytes / unit * unit;
  auto package =
      makePackage(compiler, kernel, bytes, kReadTasks, {bytes / kReadTasks});
  if (!package)
    return package.error();
  auto seconds = measureShortest(*package, target.threads);
  if (!seconds)
    return seconds.error();
  return static_cast<double>(bytes) / *seconds / 1e9;
}

runtime::Result<PeakRates> measurePeakRates(KernelCompiler &compiler,
                                            const Precisions &wanted) {
  PeakRates rates;
  for (Precision arithmetic : wanted) {
    auto gflops = measureCompute(compiler, arithmetic);
    if (!gflops)
      return gflops.error();
    rates.gflops[arithmetic] = *gflops;
  }
  auto gbps = measureBandwidth(compiler);
  if (!gbps)
    return gbps.error();
  rates.gbps = *gbps;
  return rates;
}

static PeakRates listPeakRates(const TargetPeaks &peaks) {
  PeakRates rates;
  for (Precision precision : runtime::kPrecisions)
    rates.gflops[precision] = peaks.gflops(precision);
  rates.gbps = peaks.gbps;
  return rates;
}

runtime::Result<PeakRates> getPeakRates(const Target &target,
                                        const Precisions &wanted) {
  if (std::optional<TargetPeaks> peaks = target.getPeaks())
    return listPeakRates(*peaks);
  return measurePeakRates(*openKernelCompiler(target), wanted);
}

} // namespace tarpon
