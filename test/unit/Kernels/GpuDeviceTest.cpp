//===- GpuDeviceTest.cpp --------------------------------------------------===//
//
// Part of Tarpon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Every GPU solver agrees with the host's reference on random problems of every
// dtype and layout that it takes, on a device of this machine. The program can
// be carried to it: it needs nothing but the device's driver.
//
// Each problem runs in one of several processes, so that a kernel that faults
// or hangs costs one problem. The report has a line for each solver, dtype and
// layout, and one for each solution that is wrong.
//
// TARPON_TEST_GPU_DEVICE: "cuda", "hip", or an emulated chip ("gfx942");
// TARPON_TEST_GPU_PROBLEMS: how many of each kind (16); TARPON_TEST_SEED: the
// first one; TARPON_TEST_GPU_SOLVER: the only solver to be tested;
// TARPON_TEST_GPU_CASE: AREA:SEED of the only problem, as the report names it;
// TARPON_TEST_GPU_FLOPS: the size of problems, whose bytes are half of that
// (400000); TARPON_TEST_JOBS: how many processes (one per core; 0 for none);
// TARPON_TEST_KERNEL_CACHE: the folder where compiled kernels are kept (until
// the end of the test);
// TARPON_TEST_TIME_LIMIT: seconds for one problem (120); TARPON_TEST_GPU_FAULT:
// the fault of PlantedFaults.cpp that is planted, for a checker that looks into
// this process.
//
//===----------------------------------------------------------------------===//

#include "GpuProblems.h"
#include "PlantedFaults.h"
#include "SolverTest.h"
#include "Tf32Reference.h"
#include "WorkerPool.h"
#include "tarpon/Solver/GpuTarget.h"
#include "tarpon/Targets/AMDGPU/Hip/HipDevice.h"
#include "tarpon/Targets/NVIDIA/Cuda/CudaDevice.h"
#include "tarpon/Targets/Registry/TargetRegistry.h"

#include "gtest/gtest.h"

#include <algorithm>
#include <chrono>
#include <filesystem>
#include <iostream>
#include <thread>

using namespace tarpon;
using namespace tarpon::test;
using runtime::Device;
using runtime::Error;
using runtime::Result;
namespace fs = std::filesystem;

namespace {

std::string getText(const char *variable) {
  const char *text = std::getenv(variable);
  return text ? text : "";
}

/// The device that is tested, and the target whose code it runs.
struct TestedDevice {
  std::unique_ptr<Device> device;
  std::shared_ptr<const Target> target;
};

Result<std::unique_ptr<Device>> openFirst(const std::string &name) {
  if (name == "cuda")
    return openCudaDevice({}, {getGpuChips(GpuVendor::NVIDIA), ""});
  return openHipDevice();
}

Result<TestedDevice> openTestedDevice(const std::string &name) {
  TestedDevice opened;
  if (name != "cuda" && name != "hip") {
    TargetOptions options;
    options.device = "emulated";
    auto target = findTarget(name, options);
    if (!target)
      return target.error();
    auto device = (*target)->openDevice(/*threads=*/1);
    if (!device)
      return device.error();
    return TestedDevice{std::move(*device), *target};
  }
  auto device = openFirst(name);
  if (!device)
    return device.error();
  auto target = findTarget((*device)->target());
  if (!target)
    return target.error();
  return TestedDevice{std::move(*device), *target};
}

/// The number of processes; 0 if a debugger or a checker looks into this one.
size_t countJobs() {
  return getNumber("TARPON_TEST_JOBS", std::thread::hardware_concurrency());
}

/// The target's name, found in another process: a process that has opened a
/// device cannot be forked any more.
std::string findTargetName(const std::string &device) {
  std::string name;
  auto makeWork = [&]() -> WorkerPool::Work {
    return [&](size_t) -> WorkResult {
      auto opened = openTestedDevice(device);
      return {opened ? opened->device->target() : "error: " + opened.message(),
              /*endsProcess=*/true};
    };
  };
  WorkerPool(std::min<size_t>(countJobs(), 1), std::chrono::minutes(2))
      .run(1, makeWork, [&](size_t, const std::string &text) { name = text; });
  return name;
}

/// The options of the target that a device's name stands for.
TargetOptions getOptions(const std::string &device) {
  bool isReal = device == "cuda" || device == "hip";
  return isReal ? TargetOptions() : TargetOptions{0, "native", "emulated"};
}

/// A solver's problem.
struct Item {
  const GpuCase *drawn;
  const Solver *solver;
};

/// Runs both solutions of an item; the text is "" if both agree.
class Checker {
public:
  /// The processes share the kernels in `folder`.
  Checker(const std::vector<Item> &items, const std::string &name,
          const std::string &folder)
      : items(items) {
    auto cpu = findTarget("host", {/*threads=*/1, "native", ""});
    auto opened = openTestedDevice(name);
    if (!cpu || !opened) {
      failure = cpu ? opened.message() : cpu.message();
      return;
    }
    auto cache = std::make_shared<KernelCache>(folder);
    host = SolverRunner::createOnDevice(**cpu, /*device=*/nullptr, cache);
    gpu = SolverRunner::createOnDevice(*opened->target,
                                       std::move(opened->device), cache);
  }

  WorkResult check(size_t index) {
    if (!failure.empty())
      return {failure, /*endsProcess=*/true};
    const auto &[drawn, solver] = items[index];
    auto expected =
        host->run(drawn->problem, getReferenceSolver(), {}, {}, drawn->seed);
    if (!expected)
      return {"the reference: " + expected.message()};
    std::vector<PerfConfig> configs =
        pickConfigs(*solver, drawn->problem, gpu->getTarget(), drawn->seed);
    std::string text = configs.empty() ? "it has no config" : "";
    for (const PerfConfig &config : configs) {
      auto actual = gpu->run(drawn->problem, *solver, config, {}, drawn->seed);
      std::string wrong = actual ? compare(drawn->problem, *actual, *expected,
                                           getStorageUlps(*solver))
                                 : actual.message();
      if (!wrong.empty())
        text += " {" + config.str() + "} " + wrong;
      if (!actual && !gpu->isAlive())
        return {text, /*endsProcess=*/true};
    }
    return {text};
  }

private:
  const std::vector<Item> &items;
  std::string failure;
  std::unique_ptr<SolverRunner> host, gpu;
};

/// What became of the problems, by solver and kind.
struct Tally {
  size_t agreed = 0, all = 0;
};

std::vector<GpuCase> drawCases(const TargetInfo &target) {
  std::vector<GpuCase> cases;
  std::string only = getText("TARPON_TEST_GPU_CASE");
  if (size_t colon = only.find(':'); colon != std::string::npos) {
    GpuCase &drawn = cases.emplace_back();
    drawn.area = std::strtoull(only.c_str(), nullptr, 10);
    drawn.seed = std::strtoull(only.c_str() + colon + 1, nullptr, 10);
    drawn.problem = makeGpuProblem(drawn.area, drawn.seed);
    drawn.kind = "only";
    for (const Solver *solver : getTestedGpuSolvers())
      if (checkApplicable(*solver, drawn.problem, target))
        drawn.solvers.push_back(solver);
    return cases;
  }
  auto flops = static_cast<double>(getNumber("TARPON_TEST_GPU_FLOPS", 400000));
  GpuProblems problems(target, getNumber("TARPON_TEST_GPU_PROBLEMS", 16),
                       getNumber("TARPON_TEST_SEED", 1), flops, flops / 2);
  problems.draw([&](const GpuCase &drawn) {
    cases.push_back(drawn);
    return true;
  });
  return cases;
}

TEST(GpuDevice, SolversAgreeWithTheReference) {
  std::string device = getText("TARPON_TEST_GPU_DEVICE");
  if (device.empty())
    GTEST_SKIP() << "TARPON_TEST_GPU_DEVICE names no device";
  std::string name = findTargetName(device);
  auto target = findTarget(name, getOptions(device));
  ASSERT_TRUE(target) << name << ": " << target.message();

  std::vector<GpuCase> cases = drawCases((*target)->getInfo());
  std::vector<Item> items;
  for (const GpuCase &drawn : cases)
    for (const Solver *solver : drawn.solvers)
      items.push_back({&drawn, solver});
  std::cout << name << ": " << items.size() << " problems of solvers\n";

  std::string folder = getText("TARPON_TEST_KERNEL_CACHE");
  std::string temporary = fs::temp_directory_path() / "tarpon-kernels-XXXXXX";
  if (folder.empty())
    folder = mkdtemp(temporary.data());

  std::map<std::string, Tally> tallies;
  std::string wrong;
  WorkerPool pool(countJobs(), std::chrono::seconds(
                                   getNumber("TARPON_TEST_TIME_LIMIT", 120)));
  pool.run(
      items.size(),
      [&]() -> WorkerPool::Work {
        auto checker = std::make_shared<Checker>(items, device, folder);
        return [checker](size_t item) { return checker->check(item); };
      },
      [&](size_t index, const std::string &text) {
        const auto &[drawn, solver] = items[index];
        Tally &tally = tallies[solver->id().str() + " " + drawn->kind];
        ++tally.all;
        tally.agreed += text.empty();
        if (!text.empty())
          wrong += "wrong: " + solver->id().str() + ", " + drawn->kind + ", " +
                   drawn->describe() + ": " + text + "\n";
      });

  if (folder == temporary)
    fs::remove_all(temporary);
  size_t agreed = 0;
  for (const auto &[what, tally] : tallies) {
    std::cout << what << ": " << tally.agreed << " of " << tally.all
              << " agree\n";
    agreed += tally.agreed;
  }
  std::cout << wrong << name << ": " << agreed << " of " << items.size()
            << " agree\n";
  EXPECT_GT(items.size(), 0u);
  EXPECT_EQ(agreed, items.size());
}

/// Runs problems of f32 on the device as if its user allowed TF32.
class Tf32Checker {
public:
  Tf32Checker(const std::vector<Tf32Case> &cases, const std::string &device)
      : cases(cases) {
    auto cpu = findTarget("host", {/*threads=*/1, "native", ""});
    auto opened = openTestedDevice(device);
    if (!cpu || !opened) {
      failure = cpu ? opened.message() : cpu.message();
      return;
    }
    auto name = allowTf32(opened->target->getInfo().name());
    auto target = findTarget(*name, getOptions(device));
    host = SolverRunner::createOnDevice(**cpu, /*device=*/nullptr, nullptr);
    gpu = SolverRunner::createOnDevice(**target, std::move(opened->device),
                                       nullptr);
  }

  WorkResult check(size_t index) {
    if (!failure.empty())
      return {failure, /*endsProcess=*/true};
    const Tf32Case &drawn = cases[index];
    std::string text;
    for (const PerfConfig &config : pickConfigs(*drawn.solver, drawn.problem,
                                                gpu->getTarget(), drawn.seed))
      if (std::string wrong = compareTf32(*host, *gpu, drawn.problem,
                                          *drawn.solver, config, drawn.seed);
          !wrong.empty())
        text += " {" + config.str() + "} " + wrong;
    return {text, /*endsProcess=*/!gpu->isAlive()};
  }

private:
  const std::vector<Tf32Case> &cases;
  std::string failure;
  std::unique_ptr<SolverRunner> host, gpu;
};

TEST(GpuDevice, SolversAgreeInTf32) {
  std::string device = getText("TARPON_TEST_GPU_DEVICE");
  if (device.empty())
    GTEST_SKIP() << "TARPON_TEST_GPU_DEVICE names no device";
  auto name = allowTf32(findTargetName(device));
  if (!name)
    GTEST_SKIP() << name.message();
  auto target = findTarget(*name, getOptions(device));
  ASSERT_TRUE(target) << target.message();
  std::vector<Tf32Case> cases = drawTf32Cases(
      (*target)->getInfo(), 10 * getNumber("TARPON_TEST_GPU_PROBLEMS", 16),
      getNumber("TARPON_TEST_SEED", 1),
      static_cast<double>(getNumber("TARPON_TEST_GPU_FLOPS", 400000)));
  WorkerPool pool(countJobs(), std::chrono::seconds(
                                   getNumber("TARPON_TEST_TIME_LIMIT", 120)));
  size_t agreed = 0;
  pool.run(
      cases.size(),
      [&]() -> WorkerPool::Work {
        auto checker = std::make_shared<Tf32Checker>(cases, device);
        return [checker](size_t item) { return checker->check(item); };
      },
      [&](size_t item, const std::string &text) {
        agreed += text.empty();
        if (!text.empty())
          std::cout << "wrong: " << cases[item].solver->id().str() << ", seed "
                    << cases[item].seed << ", " << cases[item].problem.key()
                    << ": " << text << "\n";
      });
  std::cout << *name << ": " << agreed << " of " << cases.size()
            << " agree in TF32\n";
  EXPECT_EQ(agreed, cases.size());
}

/// Runs a problem with all configs in which workgroups share steps, once and
/// three times in a row. Counters are zero in between, or results are wrong;
/// and whoever arrives last, the bits are the same.
WorkResult checkSharing(const std::string &device, const std::string &key) {
  auto cpu = findTarget("host", {/*threads=*/1, "native", ""});
  auto opened = openTestedDevice(device);
  auto problem = parseProblem(key);
  if (!cpu || !opened || mlir::failed(problem))
    return {"the device or the problem is not known", /*endsProcess=*/true};
  auto host = SolverRunner::createOnDevice(**cpu, /*device=*/nullptr, nullptr);
  auto gpu = SolverRunner::createOnDevice(*opened->target,
                                          std::move(opened->device), nullptr);
  auto expected = host->run(*problem, getReferenceSolver(), {}, {}, 3);
  const Solver &solver = *findSolver("gpu-igemm-v1");
  size_t count = 0;
  for (const PerfConfig &config : solver.configs(*problem, gpu->getTarget())) {
    if (config.get("split_k") != 0)
      continue;
    gpu->setLaunches(1);
    auto once = gpu->run(*problem, solver, config, {}, 3);
    gpu->setLaunches(3);
    auto again = gpu->run(*problem, solver, config, {}, 3);
    if (!once || !again)
      return {config.str() + ": " + (once ? again : once).message(),
              /*endsProcess=*/true};
    if (std::string wrong = compare(*problem, *again, *expected);
        !wrong.empty())
      return {config.str() + ": " + wrong};
    if (*once != *again)
      return {config.str() + ": the bits depend on the run"};
    ++count;
  }
  return {"agrees: " + std::to_string(count) + " configs"};
}

TEST(GpuDevice, SharesSteps) {
  std::string device = getText("TARPON_TEST_GPU_DEVICE");
  if (device.empty())
    GTEST_SKIP() << "TARPON_TEST_GPU_DEVICE names no device";
  const std::string keys[] = {
      "conv(8x512x7x7xf16:nhwc, 512x512x3x3xf16:const; "
      "1x512x1x1xf32:const)->8x512x7x7xf16:nhwc {dilations=1,1 group=1 "
      "pads=1,1,1,1 strides=1,1} | add(2) | relu",
      "conv(8x256x14x14xf16:nhwc, 512x256x3x3xf16:const; "
      "8x512x7x7xf16:nhwc)->8x512x7x7xf16:nhwc {dilations=1,1 group=1 "
      "pads=1,1,1,1 strides=2,2} | add(2) | relu",
      "conv(16x1024x14x14xf16:nhwc, "
      "256x1024x1x1xf16:const)->16x256x14x14xf16:nhwc {dilations=1,1 group=1 "
      "pads=0,0,0,0 strides=1,1}",
      "conv(2x96x9x9xf16, 72x96x3x3xf16:const)->2x72x9x9xf16 {dilations=1,1 "
      "group=1 pads=1,1,1,1 strides=1,1}"};
  WorkerPool pool(
      std::min<size_t>(countJobs(), std::size(keys)),
      std::chrono::seconds(getNumber("TARPON_TEST_TIME_LIMIT", 120)));
  pool.run(
      std::size(keys),
      [&]() -> WorkerPool::Work {
        return [&](size_t item) { return checkSharing(device, keys[item]); };
      },
      [&](size_t item, const std::string &text) {
        std::cout << keys[item] << ": " << text << "\n";
        EXPECT_EQ(text.find("agrees: "), 0u);
        EXPECT_NE(text, "agrees: 0 configs");
      });
}

/// What the kernel does with a fault is up to the device; compute-sanitizer has
/// to say something.
TEST(GpuDevice, PlantedFault) {
  std::string device = getText("TARPON_TEST_GPU_DEVICE");
  std::string name = getText("TARPON_TEST_GPU_FAULT");
  if (device != "cuda" || name.empty())
    GTEST_SKIP() << "no fault is named, or no device of NVIDIA's";
  auto fault = llvm::find_if(getPlantedFaults(), [&](const PlantedFault &f) {
    return f.name == name;
  });
  ASSERT_NE(fault, getPlantedFaults().end()) << "there is no fault " << name;
  auto opened = openTestedDevice(device);
  ASSERT_TRUE(opened) << opened.message();
  auto gpu = SolverRunner::createPlanted(
      *opened->target, std::move(opened->device), fault->edit);
  gpu->leaveMemory();
  std::string found = runPlanted(*gpu, *fault);
  std::cout << name << ": " << (found.empty() ? "nothing is wrong" : found)
            << "\n";
  if (name == "none") {
    EXPECT_EQ(found, "");
  }
}

} // namespace
