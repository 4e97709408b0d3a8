//===- SharedOptions.cpp - Options of several commands --------------------===//
//
// Part of Tarpon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "SharedOptions.h"

#include "SizeOptions.h"

#include "CommandLineValues.h"

#include "tarpon/Autotune/Search/FindPolicy.h"
#include "tarpon/Autotune/Search/SearchOptions.h"
#include "tarpon/Targets/Registry/TargetRegistry.h"

#include <limits>

using namespace tarpon;
using namespace tarpon::options;

void options::addModel(CLI::App *app, std::string &model,
                       const std::string &what) {
  app->add_option("MODEL", model, what)->required()->type_name("");
}

void options::addBatch(CLI::App *app, std::optional<int64_t> &batch) {
  app->add_option("--batch", batch, "Size of the symbolic batch dimension")
      ->check(isBetween(int64_t(1), int64_t(1) << 20))
      ->type_name("N");
}

void options::addThreads(CLI::App *app, int64_t &threads) {
  app->add_option("--threads", threads, "Threads (default: one per core)")
      ->check(isBetween(int64_t(1), int64_t(4096)))
      ->type_name("N");
}

void options::addCpu(CLI::App *app, std::string &cpu) {
  app->add_option("--cpu", cpu,
                  "Use only features of this CPU of LLVM's list (default: this "
                  "machine's)")
      ->type_name("NAME");
}

void options::addSeed(CLI::App *app, uint64_t &seed) {
  app->add_option("--seed", seed, "Seed of generated inputs (default: 0)")
      ->check(isBetween(uint64_t(0), std::numeric_limits<uint64_t>::max()))
      ->type_name("N");
}

void options::addMaxError(CLI::App *app, std::optional<double> &maxError,
                          const std::string &what) {
  app->add_option("--max-error", maxError, what)
      ->check(isBetween(0.0, 1e9))
      ->type_name("E");
}

static runtime::Result<std::shared_ptr<const Target>>
parseTarget(llvm::StringRef text) {
  return findTarget(text);
}

void options::addTarget(CLI::App *app, std::string &target,
                        const std::string &purpose) {
  app->add_option("--target", target,
                  purpose + ": host, a CPU of LLVM's list, or a GPU, such "
                            "as gfx942 or gfx942:cu=228")
      ->check(isParsedBy(parseTarget))
      ->type_name("host|CPU|GPU[:cu=N]");
  // CLI11 calls back in the order of definition, so that the target is known.
  app->add_flag_callback(
      "--allow-tf32",
      [&target] {
        runtime::Result<std::string> allowed = allowTf32(target);
        if (!allowed)
          throw CLI::ValidationError("--allow-tf32", allowed.message());
        target = *allowed;
      },
      "Let products of fp32 round their factors to TF32, with 10 bits of "
      "mantissa (NVIDIA's GPUs)");
}

void options::addDevice(CLI::App *app, std::string &device,
                        const std::string &purpose) {
  OptionValues devices = {"device", getTargetDevices()};
  app->add_option("--device", device, purpose)
      ->check(isOneOf(devices))
      ->type_name(getTypeName(devices));
}

void options::addFindPolicy(CLI::App *app, std::string &mode,
                            std::string &tuning) {
  app->add_option("--find-mode", mode,
                  "When to measure (default: $TARPON_FIND_MODE)")
      ->check(isParsedBy(parseFindMode))
      ->type_name("normal|fast|hybrid|dynamic-hybrid|trust-verify");
  app->add_option("--tuning-policy", tuning,
                  "Thoroughness of the search, and records to overwrite "
                  "(default: $TARPON_FIND_ENFORCE)")
      ->check(isParsedBy(parseTuningPolicy))
      ->type_name("none|db-update|search|search-db-update|db-clean");
}

void options::addSearch(CLI::App *app, SearchArguments &search) {
  app->add_option("--search-method", search.method,
                  "Order of the measurements, and when they end "
                  "(default: $TARPON_SEARCH_METHOD, else guided)")
      ->check(isParsedBy(parseSearchMethod))
      ->type_name(join(getSearchMethodNames(), "|", "|"));
  app->add_option("--search-iterations", search.iterations,
                  "Measurements per problem (default: "
                  "$TARPON_TUNING_ITERATIONS_MAX, else no limit)")
      ->check(isBetween(int64_t(1), int64_t(1) << 40))
      ->type_name("N");
  app->add_option("--search-patience", search.patience,
                  "Consecutive measurements without a better one "
                  "(default: $TARPON_TUNING_PATIENCE, else no limit)")
      ->check(isBetween(int64_t(1), int64_t(1) << 40))
      ->type_name("N");
  app->add_option("--search-seed", search.seed,
                  "Seed of random choices (default: $TARPON_SEARCH_SEED, else "
                  "0)")
      ->check(isBetween(uint64_t(0), std::numeric_limits<uint64_t>::max()))
      ->type_name("N");
}

void options::addTuningTime(CLI::App *app, std::optional<double> &seconds) {
  app->add_option("--tuning-time", seconds,
                  "Time for the whole tuning run, in seconds")
      ->check(isBetween(0.0, 1e9))
      ->type_name("S");
}

void options::addFinder(CLI::App *app, FinderArguments &finder) {
  addTarget(app, finder.target, "Target of the solutions (default: host)");
  addDevice(app, finder.device,
            "GPU of this machine to measure on (default: the target's model)");
  addFindPolicy(app, finder.findMode, finder.tuningPolicy);
  addSearch(app, finder.search);
  addThreads(app, finder.threads);
  addCpu(app, finder.cpu);
  app->add_flag("--quiet", finder.quiet, "Show no progress");
}

void options::addLogDriver(CLI::App *app, std::string &path) {
  app->add_option("--log-driver", path,
                  "Append the problems as command lines of 'graph-opt driver', "
                  "for 'graph-opt tune'")
      ->type_name("FILE");
}

void options::addKnobs(CLI::App *app, ModelArguments &model) {
  app->add_option_function<std::string>(
         "--dtype",
         [&model](const std::string &name) {
           // These are checked below.
           model.dtype = *runtime::parsePrecision(name);
         },
         "Datatype (default: fp32)")
      ->type_name(getTypeName(kDtype))
      ->check(isOneOf(kDtype));
  app->add_option_function<std::string>(
         "--layout",
         [&model](const std::string &name) {
           model.layout = *parseLayout(name);
         },
         "Memory layout (default: nchw)")
      ->type_name(getTypeName(kLayout))
      ->check(isOneOf(kLayout));
  app->add_option_function<std::string>(
         "--fusion",
         [&model](const std::string &name) {
           model.fusion = *parseFusion(name);
         },
         "Fusion (default: on)")
      ->type_name(getTypeName(kFusion))
      ->check(isOneOf(kFusion));
}

void options::addRequireSignature(CLI::App *app, std::string &publicKey) {
  app->add_option("--require-signature", publicKey,
                  "Refuse a package that is not signed with this key")
      ->type_name("KEY.pub");
}

void options::addChoice(CLI::App *app, ModelArguments &model) {
  addTarget(app, model.target, "Target of an ONNX model (default: host)");
  addDevice(app, model.device,
            "Device that runs a GPU's kernels (default: hip)");
  addKnobs(app, model);
  addBatch(app, model.batch);
  addSizes(*app, model.sizes);
  addThreads(app, model.threads);
  addCpu(app, model.cpu);
}

void options::addStore(CLI::App *app, StoreArguments &store) {
  app->add_option("--store", store.store,
                  "The store (default: the journal of this machine)")
      ->type_name("FILE");
}

void options::addJson(CLI::App *app, std::string &json) {
  app->add_option("--json", json, "Write the answer here too")
      ->type_name("OUT");
}
