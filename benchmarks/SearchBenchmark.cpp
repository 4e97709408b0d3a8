//===- SearchBenchmark.cpp - Search methods on a recorded table -----------===//
//
// Part of Tarpon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// usage: search-benchmark THREADS STORE
//
// Answers requests of benchmarks/search. STORE holds exhaustive searches.
// Reads requests from stdin, a line each, whose fields are separated by tabs,
// and answers each with a line of JSON:
//   space KEY                the key as stores have it, all configs of the
//                            problem that a search may try, and what the store
//                            knows of them
//   replay METHOD SEED KEY   lets a method search the problem, where the store
//                            answers instead of the machine. Problems that were
//                            replayed before are known as related ones, and
//                            their kernels are there; how many there are then
//   forget                   makes them unknown
//   time ROUNDS MS KEY (SOLVER CONFIG)...
//                            times solutions in turn, MS each per round: the
//                            fastest sample of each round, since noise only
//                            adds
//
//===----------------------------------------------------------------------===//

#include "ConvRace.h"
#include "Sampling.h"

#include "Search/Methods/ConfigSpace.h"
#include "Search/Methods/RelatedProblems.h"
#include "tarpon/Autotune/Search/Policy.h"
#include "tarpon/Autotune/Store/Journal.h"
#include "tarpon/Runtime/ThreadPool.h"
#include "tarpon/Targets/Host/HostBackend.h"
#include "tarpon/Targets/Host/HostTarget.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"

#include <iostream>
#include <nlohmann/json.hpp>
#include <set>

using namespace tarpon;
using namespace tarpon::benchmarks;
using nlohmann::json;

namespace {

class Server {
public:
  Server(const TargetInfo &target, std::unique_ptr<Journal> store)
      : target(target), store(std::move(store)),
        compiler(makeHostCompiler(target, makeCache())) {
    forget();
  }

  json answer(llvm::StringRef request);

private:
  struct Entry {
    SolverConfig solution;
    bool isListed;
    /// None if the store has no right result.
    std::optional<Measurement> result;
  };

  static std::shared_ptr<KernelCache> makeCache() {
    return std::make_shared<KernelCache>(KernelCache::defaultDirectory());
  }
  void forget() {
    replayed = Journal::openInMemory(JournalContext::forTarget(target));
    compiled.clear();
  }
  std::vector<Entry> getEntries(const Problem &problem) const;
  json listSpace(const Problem &problem) const;
  json replay(SearchMethodKind kind, uint64_t seed, const Problem &problem);
  json time(int64_t rounds, double milliseconds, const Problem &problem,
            llvm::ArrayRef<llvm::StringRef> solutions);

  TargetInfo target;
  std::unique_ptr<Journal> store, replayed;
  /// By replayed searches.
  std::set<std::string> compiled;
  RelatedProblems related;
  KernelCompiler compiler;
};

} // namespace

static json fail(const std::string &message) { return {{"error", message}}; }

/// As ProblemSearch has them.
std::vector<Server::Entry> Server::getEntries(const Problem &problem) const {
  std::vector<Measurement> known = store->getMeasurements(problem.key());
  std::vector<Entry> entries;
  for (const Solver *solver : getApplicableSolvers(problem, target)) {
    if (solver == &getReferenceSolver())
      continue;
    std::vector<PerfConfig> listed = solver->configs(problem, target);
    for (const PerfConfig &config : getConfigSpace(*solver, problem, target)) {
      Entry entry = {{solver, config}, llvm::is_contained(listed, config), {}};
      for (const Measurement &m : known)
        if (m.key.solver == solver->id() && m.key.config == config.str() &&
            m.status == MeasurementStatus::Ok)
          entry.result = m;
      entries.push_back(std::move(entry));
    }
  }
  return entries;
}

json Server::listSpace(const Problem &problem) const {
  json list = json::array();
  for (const Entry &entry : getEntries(problem)) {
    json item = {{"solver", entry.solution.solver->id().str()},
                 {"config", entry.solution.config.str()},
                 {"listed", entry.isListed}};
    if (entry.result) {
      item["median_ms"] = entry.result->median;
      item["dropped"] = entry.result->isDropped;
      item["samples"] = entry.result->samples.size();
    }
    list.push_back(std::move(item));
  }
  return {{"key", problem.key()}, {"candidates", std::move(list)}};
}

json Server::replay(SearchMethodKind kind, uint64_t seed,
                    const Problem &problem) {
  std::vector<Entry> entries = getEntries(problem);
  std::vector<SolverConfig> solutions;
  for (const Entry &entry : entries)
    solutions.push_back(entry.solution);
  std::vector<double> expected =
      expectTimes(problem, solutions, target, /*ranker=*/nullptr);
  SearchSpace space;
  for (auto [index, entry] : llvm::enumerate(entries))
    space.candidates.push_back(
        {entry.solution.solver->id().str(), entry.solution.config,
         expected[index],
         getKernels(*entry.solution.solver, entry.solution.config, problem,
                    target)});
  space.compiled = compiled;
  space.features = describeProblem(problem).features;
  space.parallel = std::clamp<size_t>(runtime::availableCores(), 1,
                                      policy::kMaxParallelProposals);
  if (kind == SearchMethodKind::Guided)
    space.related =
        related.find(problem, *replayed, nullptr, target, /*ranker=*/nullptr);
  auto method = makeSearchMethod(kind, space, seed);
  std::vector<SearchResult> results;
  json order = json::array();
  while (true) {
    std::vector<size_t> next = method->propose(results, policy::kMaxBatch);
    if (next.empty())
      break;
    for (size_t index : next) {
      SearchResult result;
      result.candidate = index;
      if (const auto &m = entries[index].result) {
        result.milliseconds = m->median;
        if (auto status = replayed->record(*m); !status)
          return fail(status.message());
      }
      results.push_back(result);
      order.push_back(index);
      compiled.insert(space.candidates[index].kernels.begin(),
                      space.candidates[index].kernels.end());
    }
  }
  return {{"order", std::move(order)}, {"kernels", compiled.size()}};
}

/// As the tuner measures candidates with large constants.
static std::vector<double> sampleColdRound(Entrant &entrant, double roundMs) {
  std::vector<double> samples;
  for (double spent = 0; samples.size() < kMinSamples || spent < roundMs;) {
    entrant.flushConstants();
    samples.push_back(sampleOnce([&] { entrant.run(); }));
    spent += samples.back();
  }
  return samples;
}

json Server::time(int64_t rounds, double milliseconds, const Problem &problem,
                  llvm::ArrayRef<llvm::StringRef> solutions) {
  std::vector<Entrant> entrants;
  for (size_t i = 0; i + 1 < solutions.size(); i += 2) {
    const Solver *solver = findSolver(solutions[i]);
    auto config = PerfConfig::parse(solutions[i + 1]);
    if (!solver || mlir::failed(config))
      return fail("there is no such solution");
    auto entrant = Entrant::create(problem, *solver, *config, compiler);
    if (!entrant)
      return fail(entrant.message());
    entrants.push_back(std::move(*entrant));
  }
  std::vector<std::vector<double>> fastest(entrants.size());
  for (int64_t round = 0; round < rounds; ++round)
    for (auto [index, entrant] : llvm::enumerate(entrants)) {
      std::vector<double> samples =
          entrant.hasColdConstants()
              ? sampleColdRound(entrant, milliseconds)
              : sampleRound([&] { entrant.run(); }, milliseconds);
      fastest[index].push_back(*llvm::min_element(samples));
    }
  return {{"rounds_ms", fastest}};
}

json Server::answer(llvm::StringRef request) {
  llvm::SmallVector<llvm::StringRef> words;
  request.split(words, '\t');
  auto getProblem = [&](size_t index) {
    return index < words.size() ? parseProblem(words[index])
                                : mlir::FailureOr<Problem>(mlir::failure());
  };
  llvm::StringRef verb = words[0];
  if (verb == "forget") {
    forget();
    return json::object();
  }
  auto problem = getProblem(verb == "space" ? 1 : 3);
  if (mlir::failed(problem))
    return fail("not a problem key");
  if (verb == "space")
    return listSpace(*problem);
  if (verb == "replay") {
    auto kind = parseSearchMethod(words[1]);
    uint64_t seed = 0;
    if (!kind || !llvm::to_integer(words[2], seed))
      return fail("not a method and a seed");
    return replay(*kind, seed, *problem);
  }
  int64_t rounds = 0;
  double milliseconds = 0;
  if (verb == "time" && llvm::to_integer(words[1], rounds) &&
      llvm::to_float(words[2], milliseconds))
    return time(rounds, milliseconds, *problem,
                llvm::ArrayRef(words).drop_front(4));
  return fail("not a request");
}

static int fatal(const std::string &message) {
  std::fprintf(stderr, "search-benchmark: %s\n", message.c_str());
  return 1;
}

int main(int argc, char **argv) {
  int64_t threads = 0;
  if (argc != 3 || !llvm::to_integer(argv[1], threads) || threads < 1) {
    std::fprintf(stderr, "usage: search-benchmark THREADS STORE\n");
    return 2;
  }
  auto target = getHostTarget(threads);
  if (!target)
    return fatal(target.message());
  auto store = Journal::open(argv[2], JournalContext::forTarget(*target));
  if (!store)
    return fatal(store.message());
  Server server(*target, std::move(*store));
  for (std::string request; std::getline(std::cin, request);)
    std::cout << server.answer(request).dump() << '\n' << std::flush;
  return 0;
}
