//===- PackageAssembler.cpp - Makes a package of planned layers -----------===//
//
// Part of Tarpon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "PackageAssembler.h"

#include "tarpon/IR/ParallelFor.h"
#include "tarpon/Problem/PerfConfigJson.h"
#include "tarpon/Solver/SolverRegistry.h"
#include "tarpon/Targets/Compiler/LaunchKernel.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/xxhash.h"

#include <mutex>

using namespace tarpon;
using runtime::BufferRef;
using runtime::BufferSpace;
using runtime::Error;
using runtime::Package;
using runtime::Result;
using runtime::Status;

using Object = std::shared_ptr<const std::vector<char>>;

//===----------------------------------------------------------------------===//
// Planning one layer
//===----------------------------------------------------------------------===//

Result<PlannedLayer> tarpon::planLayer(const std::string &name,
                                       const Problem &problem,
                                       const Solver &solver,
                                       const PerfConfig &config,
                                       const TargetInfo &target) {
  std::string who = "layer '" + name + "': solver '" + solver.id().str() + "' ";
  if (Applicability answer = checkApplicable(solver, problem, target); !answer)
    return Error{who + "does not take problem '" + problem.key() +
                 "': " + answer.getReason().str()};
  if (!solver.isValidConfig(problem, target, config))
    return Error{who + "does not take the config '" + config.str() +
                 "' for problem '" + problem.key() + "'"};
  PlannedLayer planned;
  planned.layer.name = name;
  planned.layer.problem = problem.key();
  planned.layer.solver = solver.id().str();
  planned.layer.config = toJson(config);
  planned.layer.flops = problem.flops();
  planned.layer.bytes = problem.bytes();
  planned.plan = solver.plan(problem, target, config);
  for (const TensorDesc &operand : problem.operands)
    if (operand.constant)
      planned.constantBytes += operand.numBytes();
  return planned;
}

runtime::TensorInfo tarpon::makeTensorInfo(std::string name,
                                           const TensorDesc &desc) {
  runtime::TensorInfo info;
  info.name = std::move(name);
  info.dtype = desc.dtype;
  info.shape = desc.shape;
  info.quantized = desc.quantized;
  if (desc.quantized && !desc.scales.empty())
    info.scale = desc.scales.front();
  info.zeroPoint = desc.zeroPoint;
  return info;
}

//===----------------------------------------------------------------------===//
// Work on several threads
//===----------------------------------------------------------------------===//

/// Runs every job once on up to `threads` threads, the caller included. Returns
/// the error of the first job, in their order, that has failed.
static Status runJobs(llvm::ArrayRef<std::function<Status()>> jobs,
                      int64_t threads) {
  std::vector<Status> results(jobs.size(), runtime::success());
  parallelFor(jobs.size(), static_cast<int>(threads),
              [&](size_t i) { results[i] = jobs[i](); });
  for (Status &result : results)
    if (!result)
      return result;
  return runtime::success();
}

namespace {

/// The constants that a layer's launches read; empty for others.
struct LayerConstants {
  /// The constants that are bound unchanged, by index of the operand.
  std::vector<ConstantBytes> operands;
  /// The planned constants, by index into SolutionPlan::constants.
  std::vector<std::vector<char>> planned;
  /// The same: what they are made of and how, if that is known, and the places
  /// of those that were made before.
  std::vector<std::string> keys;
  std::vector<std::optional<int64_t>> places;
};

/// The constants of a layer's solution that its launches read.
struct ConstantUse {
  std::vector<bool> operands, planned;

  explicit ConstantUse(const PlannedLayer &layer)
      : operands(layer.operands.size()), planned(layer.plan.constants.size()) {
    for (const LaunchPlan &launch : layer.plan.launches)
      for (const BufferSlot &slot : launch.buffers) {
        if (slot.kind == BufferSlot::Operand)
          operands[slot.index] = true;
        if (slot.kind == BufferSlot::Constant)
          planned[slot.index] = true;
      }
  }
};

} // namespace

/// Names the operands' bytes and what is made of them.
static std::string describe(const ConstantPlan &plan,
                            const ConstantOperands &operands) {
  std::string text = plan.key;
  for (llvm::ArrayRef<char> operand : operands) {
    llvm::XXH128_hash_t digest = llvm::xxh3_128bits(llvm::ArrayRef(
        reinterpret_cast<const uint8_t *>(operand.data()), operand.size()));
    text += " " + std::to_string(operand.size()) + ":" +
            llvm::utohexstr(digest.high64) + llvm::utohexstr(digest.low64);
  }
  return text;
}

/// Looks up what was made before in `made`, if that is not null; programs add
/// to it when they are bound.
static void makePlanned(const PlannedLayer &layer, const ConstantUse &use,
                        const MadeConstants *made, LayerConstants &constants) {
  size_t count = layer.plan.constants.size();
  constants.planned.resize(count);
  constants.keys.resize(count);
  constants.places.resize(count);
  ConstantOperands views;
  for (const ConstantBytes &operand : constants.operands)
    views.push_back(operand.get());
  for (auto [index, constant] : llvm::enumerate(layer.plan.constants)) {
    if (!use.planned[index])
      continue;
    if (made && !constant.key.empty()) {
      constants.keys[index] = describe(constant, views);
      if (auto known = made->find(constants.keys[index]);
          known != made->end()) {
        constants.places[index] = known->second;
        continue;
      }
    }
    constants.planned[index] = constant.make(views);
  }
}

static LayerConstants makeConstants(const PlannedLayer &layer,
                                    const MadeConstants *made) {
  ConstantUse use(layer);
  bool packs = llvm::is_contained(use.planned, true);
  LayerConstants constants;
  constants.operands.resize(layer.operands.size());
  for (auto [index, operand] : llvm::enumerate(layer.operands))
    if (operand.constant && (packs || use.operands[index]))
      constants.operands[index] = operand.constant();

  makePlanned(layer, use, made, constants);
  for (auto [index, used] : llvm::enumerate(use.operands))
    if (!used)
      constants.operands[index] = {};
  return constants;
}

//===----------------------------------------------------------------------===//
// Binding the layers of a program
//===----------------------------------------------------------------------===//

namespace {

class LayerBinder {
public:
  /// `made` is null if nothing is remembered.
  LayerBinder(std::vector<PlannedLayer> layers, ConstantPool &pool,
              MadeConstants *made, std::vector<runtime::Layer> &bound)
      : layers(std::move(layers)), earlier(made ? *made : MadeConstants()),
        pool(pool), made(made), bound(bound) {}

  llvm::ArrayRef<PlannedLayer> getLayers() const { return layers; }
  /// Called once for each layer, from any thread.
  void pack(size_t layer) {
    take(layer, makeConstants(layers[layer], made ? &earlier : nullptr));
  }

private:
  void take(size_t layer, LayerConstants constants);
  void addLayer(PlannedLayer &layer, const LayerConstants &constants);
  BufferRef bind(const PlannedLayer &layer, const LayerConstants &constants,
                 const BufferSlot &slot);
  int64_t place(const LayerConstants &constants, int64_t index);

  std::vector<PlannedLayer> layers;
  /// Those of earlier programs, which any thread reads.
  const MadeConstants earlier;
  /// Guards the members below.
  std::mutex mutex;
  ConstantPool &pool;
  MadeConstants *made;
  std::vector<runtime::Layer> &bound;
  /// Constants of layers that wait for earlier layers, by layer.
  std::map<size_t, LayerConstants> early;
};

} // namespace

BufferRef LayerBinder::bind(const PlannedLayer &layer,
                            const LayerConstants &constants,
                            const BufferSlot &slot) {
  switch (slot.kind) {
  case BufferSlot::Operand: {
    const OperandBinding &operand = layer.operands[slot.index];
    if (!operand.constant)
      return operand.place;
    return {BufferSpace::Constant,
            pool.add(constants.operands[slot.index].get())};
  }
  case BufferSlot::Result:
    return layer.results[slot.index];
  case BufferSlot::Workspace:
    return {BufferSpace::Arena, layer.workspaceOffset + slot.index};
  case BufferSlot::Constant:
    return {BufferSpace::Constant, place(constants, slot.index)};
  }
  llvm_unreachable("unknown kind of buffer");
}

int64_t LayerBinder::place(const LayerConstants &constants, int64_t index) {
  if (constants.places[index])
    return *constants.places[index];
  int64_t offset = pool.add(constants.planned[index]);
  if (!constants.keys[index].empty())
    made->emplace(constants.keys[index], offset);
  return offset;
}

/// Adds the layers in their order, as soon as their constants exist: packed
/// constants are copied while they are in the caches, and their memory is
/// reused.
void LayerBinder::take(size_t layer, LayerConstants constants) {
  std::lock_guard<std::mutex> lock(mutex);
  early.emplace(layer, std::move(constants));
  while (auto next = early.extract(bound.size()))
    addLayer(layers[next.key()], next.mapped());
}

void LayerBinder::addLayer(PlannedLayer &layer,
                           const LayerConstants &constants) {
  for (const LaunchPlan &plan : layer.plan.launches) {
    runtime::Launch launch;
    launch.symbol = plan.kernel.symbol;
    launch.params = plan.params;
    launch.tasks = plan.tasks;
    launch.scratchBytes = plan.scratchBytes;
    for (const BufferSlot &slot : plan.buffers)
      launch.buffers.push_back(bind(layer, constants, slot));
    layer.layer.launches.push_back(std::move(launch));
  }
  bound.push_back(std::move(layer.layer));
}

//===----------------------------------------------------------------------===//
// Assembling
//===----------------------------------------------------------------------===//

/// A symbol names everything that its code depends on, so that solvers may
/// share kernels: some are made from the launches of others. Kernels of earlier
/// programs have been compiled.
void PackageAssembler::collectKernels(llvm::ArrayRef<PlannedLayer> layers,
                                      std::vector<Kernel *> &missing) {
  for (const PlannedLayer &layer : layers)
    for (const LaunchPlan &launch : layer.plan.launches) {
      auto [kernel, isNew] = kernels.try_emplace(
          launch.kernel.symbol,
          Kernel{layer.layer.solver, getKernelSource(launch), nullptr});
      if (isNew)
        missing.push_back(&kernel->second);
    }
}

/// Packed constants have the size of their operands, except for those of
/// Winograd and FFT, which are a part of a model's. Reserved memory that is not
/// used is never touched.
static int64_t guessConstantBytes(llvm::ArrayRef<PlannedLayer> layers) {
  constexpr int64_t kGrowth = 2;
  int64_t bytes = 0;
  for (const PlannedLayer &layer : layers)
    bytes += layer.constantBytes;
  return kGrowth * bytes;
}

Status PackageAssembler::add(runtime::Program &program,
                             std::vector<PlannedLayer> layers) {
  // Programs behind the first have mostly its constants.
  if (pool.isEmpty())
    pool.reserve(guessConstantBytes(layers));
  std::vector<Kernel *> missing;
  collectKernels(layers, missing);
  LayerBinder binder(std::move(layers), pool, remembers ? &made : nullptr,
                     program.layers);
  // Kernels come first, since they take longest.
  std::vector<std::function<Status()>> jobs;
  for (Kernel *kernel : missing)
    jobs.push_back([this, kernel]() -> Status {
      Result<Object> object =
          compiler.getObject(kernel->solver, kernel->source);
      if (!object)
        return object.error();
      kernel->object = *object;
      return runtime::success();
    });
  for (size_t i = 0; i < binder.getLayers().size(); ++i)
    jobs.push_back([&binder, i]() -> Status {
      binder.pack(i);
      return runtime::success();
    });
  return runJobs(jobs, compiler.getTarget().threads);
}

Status PackageAssembler::link(Package &package) {
  if (kernels.empty())
    return runtime::success();
  KernelObjects objects;
  for (const auto &[symbol, kernel] : kernels)
    objects[symbol] = kernel.object;
  Result<LinkedKernels> linked = compiler.link(objects);
  if (!linked)
    return linked.error();
  package.kernels = std::move(linked->bytes);
  package.codeObjects = std::move(linked->codeObjects);
  return runtime::success();
}

Status PackageAssembler::finish(Package &package) {
  const TargetInfo &target = compiler.getTarget();
  package.arch = target.arch;
  package.cpuFeatures = target.features;
  if (compiler.getKernelForm() == runtime::KernelForm::CodeObjects)
    package.chip = target.name();
  if (Status status = link(package); !status)
    return status;
  package.constants = pool.take();
  if (Status status = runtime::validatePackage(package); !status)
    return Error{"cannot package '" + package.modelName +
                 "': " + status.message()};
  return runtime::success();
}

Result<Package> tarpon::assemblePackage(Package package,
                                        std::vector<PlannedLayer> layers,
                                        KernelCompiler &compiler) {
  PackageAssembler assembler(compiler);
  Status status = assembler.add(package, std::move(layers));
  if (status)
    status = assembler.finish(package);
  if (!status)
    return status.error();
  return package;
}
