//===- KernelCompiler.cpp - Compiles, caches and links kernels ------------===//
//
// Part of Tarpon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tarpon/Targets/Compiler/KernelCompiler.h"

#include "tarpon/Targets/Compiler/LaunchKernel.h"

#include "tarpon/Runtime/Sha256.h"

#include "llvm/Config/llvm-config.h"

#include <chrono>
#include <mutex>

using namespace tarpon;
using runtime::Error;
using runtime::Result;

using Object = std::shared_ptr<const std::vector<char>>;

namespace {

/// One kernel. The lock is held while it is compiled, so that threads which ask
/// for the same kernel share the work.
struct Entry {
  std::mutex mutex;
  Object object;
};

class Stopwatch {
public:
  double seconds() const {
    return std::chrono::duration<double>(Clock::now() - start).count();
  }

private:
  using Clock = std::chrono::steady_clock;
  Clock::time_point start = Clock::now();
};

} // namespace

struct KernelCompiler::State {
  TargetInfo target;
  std::unique_ptr<KernelBackend> backend;
  std::shared_ptr<KernelCache> cache;
  /// The common part of this compiler's digests.
  std::string digestPrefix;

  /// Guards the members below, but not the entries' contents.
  std::mutex mutex;
  std::map<std::string, std::shared_ptr<Entry>> entries;
  Statistics statistics;

  std::string getDigest(llvm::StringRef solverId, llvm::StringRef symbol) const;
  std::shared_ptr<Entry> getEntry(const std::string &digest);
  template <typename F>
  void count(F update) {
    std::lock_guard<std::mutex> lock(mutex);
    update(statistics);
  }
};

/// Appends a part and its length, so that different lists of parts give
/// different texts.
static void appendPart(std::string &text, llvm::StringRef part) {
  text += std::to_string(part.size()) + ":" + part.str();
}

static std::string makeDigestPrefix(const TargetInfo &target,
                                    const KernelBackend &backend) {
  std::string text;
  appendPart(text, "tarpon " TARPON_VERSION);
  appendPart(text, "llvm " LLVM_VERSION_STRING);
  appendPart(text, target.name());
  appendPart(text, target.cpu);
  appendPart(text, backend.describe());
  return text;
}

std::string KernelCompiler::State::getDigest(llvm::StringRef solverId,
                                             llvm::StringRef symbol) const {
  std::string text = digestPrefix;
  appendPart(text, solverId);
  appendPart(text, symbol);
  return runtime::Sha256().update(text).finishHex();
}

std::shared_ptr<Entry>
KernelCompiler::State::getEntry(const std::string &digest) {
  std::lock_guard<std::mutex> lock(mutex);
  std::shared_ptr<Entry> &entry = entries[digest];
  if (!entry)
    entry = std::make_shared<Entry>();
  return entry;
}

KernelCompiler::KernelCompiler(const TargetInfo &target,
                               std::shared_ptr<KernelCache> cache,
                               std::unique_ptr<KernelBackend> backend)
    : state(std::make_unique<State>()) {
  state->target = target;
  state->cache = std::move(cache);
  state->digestPrefix = makeDigestPrefix(target, *backend);
  state->backend = std::move(backend);
}

KernelCompiler::~KernelCompiler() = default;

const TargetInfo &KernelCompiler::getTarget() const { return state->target; }

KernelCompiler::Statistics KernelCompiler::getStatistics() const {
  std::lock_guard<std::mutex> lock(state->mutex);
  return state->statistics;
}

Result<Object> KernelCompiler::getObject(llvm::StringRef solverId,
                                         const KernelSource &kernel) {
  std::string digest = state->getDigest(solverId, kernel.symbol);
  std::shared_ptr<Entry> entry = state->getEntry(digest);
  std::lock_guard<std::mutex> lock(entry->mutex);
  if (entry->object) {
    state->count([](Statistics &s) { ++s.fromMemory; });
    return entry->object;
  }
  if (state->cache) {
    if (std::optional<std::vector<char>> bytes = state->cache->read(digest)) {
      entry->object =
          std::make_shared<const std::vector<char>>(std::move(*bytes));
      state->count([](Statistics &s) { ++s.fromCache; });
      return entry->object;
    }
  }
  Stopwatch watch;
  Result<std::vector<char>> code = state->backend->compile(kernel);
  if (!code)
    return code.error();
  entry->object = std::make_shared<const std::vector<char>>(std::move(*code));
  state->count([&](Statistics &s) {
    ++s.compiled;
    s.compileSeconds += watch.seconds();
  });
  if (state->cache)
    state->cache->write(digest, *entry->object);
  return entry->object;
}

Result<LinkedKernels> KernelCompiler::link(const KernelObjects &objects) {
  Stopwatch watch;
  Result<LinkedKernels> linked = state->backend->link(objects);
  state->count([&](Statistics &s) { s.linkSeconds += watch.seconds(); });
  return linked;
}

runtime::KernelForm KernelCompiler::getKernelForm() const {
  return state->backend->getKernelForm();
}

std::string KernelCompiler::describeCostModel() const {
  return state->backend->describeCostModel();
}

Result<SolutionEstimate> KernelCompiler::estimate(const Problem &problem,
                                                  const Solver &solver,
                                                  const PerfConfig &config) {
  SolutionPlan plan = solver.plan(problem, state->target, config);
  CompiledSolution solution = {problem,
                               config,
                               plan,
                               solver.expectedFraction(problem, state->target),
                               {}};
  for (const LaunchPlan &launch : plan.launches) {
    Result<Object> object = getObject(solver.id(), getKernelSource(launch));
    if (!object)
      return object.error();
    solution.objects.push_back(std::move(*object));
  }
  return state->backend->estimate(solution);
}

std::string KernelCompiler::printMlir(const KernelSource &kernel) {
  return state->backend->printMlir(kernel);
}

Result<std::string> KernelCompiler::printAssembly(const KernelSource &kernel) {
  return state->backend->printAssembly(kernel);
}
