//===- GpuPlantedFaultsTest.cpp - Faults in the tiled engine --------------===//
//
// Part of Tarpon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The emulated device finds what is wrong in kernels that were changed.
//
//===----------------------------------------------------------------------===//

#include "PlantedFaults.h"
#include "SolverTest.h"

#include "gtest/gtest.h"

#include <set>

using namespace tarpon;
using namespace tarpon::test;

namespace {

using ConfigChange = std::vector<std::pair<const char *, int64_t>>;

/// Runs a changed kernel: returns the emulator's complaint, or the first wrong
/// result, or "".
std::string runEdited(std::function<std::string(std::string)> edit,
                      const char *gpuName = "gfx942",
                      const ConfigChange &change = {}, uint64_t order = 0) {
  auto problem = parseProblem(
      "conv(1x64x9x9xf16:nhwc, 40x64x3x3xf16:const; 1x40x1x1xf16:const, "
      "1x40x9x9xf16:nhwc)->1x40x9x9xf16:nhwc {dilations=1,1 group=1 "
      "pads=1,1,1,1 strides=1,1} | add(2) | add(3) | relu");
  EXPECT_TRUE(mlir::succeeded(problem));
  const Solver &solver = *findSolver("gpu-igemm-v1");
  auto host = SolverRunner::create("native");
  auto gpu = SolverRunner::createEmulated(gpuName, std::move(edit), order);
  EXPECT_TRUE(host && gpu);
  const TargetInfo &target = (*gpu)->getTarget();
  PerfConfig config = solver.defaultConfig(*problem, target);
  config.set("split_k", 1);
  for (auto [field, value] : change)
    config.set(field, value);
  auto expected = (*host)->run(*problem, getReferenceSolver(), {}, {}, 3);
  EXPECT_TRUE(expected) << expected.message();
  auto actual = (*gpu)->run(*problem, solver, config, {}, 3);
  return actual ? compare(*problem, *actual, *expected) : actual.message();
}

/// Returns true if the fault concerns the kernel's behaviour and not its text:
/// a wrong result, or an access outside of a buffer.
bool isWrong(const std::string &fault) {
  return fault.starts_with("result ") ||
         fault.find(" bytes at ") != std::string::npos;
}

/// Puts `to` in place of occurrence `index` of `from`.
std::string replaceNth(std::string text, const std::string &from,
                       const std::string &to, int index = 0) {
  size_t at = text.find(from);
  while (index-- > 0 && at != std::string::npos)
    at = text.find(from, at + 1);
  EXPECT_NE(at, std::string::npos) << "no '" << from << "' in\n" << text;
  return at == std::string::npos ? text : text.replace(at, from.size(), to);
}

} // namespace

TEST(GpuPlantedFaults, registers) {
  EXPECT_EQ(runEdited([](std::string text) { return text; }), "");
  // Either barrier: what LDS holds is read too early, or written over.
  for (int index : {0, 1}) {
    std::string fault = runEdited([=](std::string text) {
      return replaceNth(text, "amdgpu.lds_barrier", "", index);
    });
    EXPECT_TRUE(fault.find("LDS") != std::string::npos) << fault;
  }
  // A pixel behind the edge of the input counts as inside.
  std::string edge = runEdited([](std::string text) {
    for (size_t at = text.find("cmpi ult"); at != std::string::npos;
         at = text.find("cmpi ult", at))
      text.replace(at, 8, "cmpi ule");
    return text;
  });
  EXPECT_TRUE(isWrong(edge)) << edge;
  // One pixel or channel too many is stored.
  std::string behind = runEdited([](std::string text) {
    size_t loop = text.find("scf.for");
    size_t at = text.find("arith.cmpi slt", text.find("scf.if", loop));
    EXPECT_NE(at, std::string::npos);
    return text.replace(at, 14, "arith.cmpi sle");
  });
  EXPECT_TRUE(isWrong(behind)) << behind;
  // A lane multiplies what another one should.
  std::string lane = runEdited([](std::string text) {
    size_t at = text.find("amdgpu.mfma"), star = text.find(" * ", at);
    size_t left = text.find('%', at), plus = text.find(" + ", star);
    std::string a = text.substr(left, star - left);
    std::string b = text.substr(star + 3, plus - star - 3);
    return text.replace(left, plus - left, b + " * " + a);
  });
  EXPECT_TRUE(isWrong(lane)) << lane;
}

/// The pipeline of copies to LDS.
TEST(GpuPlantedFaults, copies) {
  auto run = [](auto edit) { return runEdited(edit, "sm_90a"); };
  EXPECT_EQ(run([](std::string text) { return text; }), "");
  // The data is read before it has arrived, by this wave or by another one.
  for (const char *from : {"nvvm.cp.async.wait.group", "gpu.barrier"}) {
    std::string fault = run([=](std::string text) {
      size_t at = text.find(from);
      EXPECT_NE(at, std::string::npos);
      return text.erase(at, text.find('\n', at) - at);
    });
    EXPECT_NE(fault.find("of LDS @lds"), std::string::npos) << fault;
  }
  // A stage is awaited one step too late.
  std::string late = run([](std::string text) {
    size_t at = text.find("nvvm.cp.async.wait.group ") + 25;
    ++text[at];
    return text;
  });
  EXPECT_NE(late.find("nothing has waited for"), std::string::npos) << late;
  // Copies of two steps make one group.
  std::string group = run([](std::string text) {
    size_t at = text.find("nvvm.cp.async.commit.group");
    return text.erase(at, 26);
  });
  EXPECT_NE(group.find("nothing has waited for"), std::string::npos) << group;
  // A pixel behind the edge of the input counts as inside.
  std::string edge = run([](std::string text) {
    for (size_t at = text.find("cmpi ult"); at != std::string::npos;
         at = text.find("cmpi ult", at))
      text.replace(at, 8, "cmpi ule");
    return text;
  });
  EXPECT_TRUE(isWrong(edge)) << edge;
}

/// The same by loads to LDS, which are counted.
TEST(GpuPlantedFaults, loadsToLds) {
  const std::string wait = "rocdl.s.waitcnt ";
  for (const char *gpu : {"gfx942", "gfx950"}) {
    SCOPED_TRACE(gpu);
    auto run = [&](auto edit) {
      return runEdited(edit, gpu,
                       {{"block_m", 64},
                        {"block_n", 64},
                        {"wave_m", 32},
                        {"wave_n", 32},
                        {"stages", 3}});
    };
    EXPECT_EQ(run([](std::string text) { return text; }), "");
    // The data is read before it has arrived, by this wave or by another one,
    // or not all of it is loaded.
    for (const std::string &from :
         {wait, std::string("amdgpu.lds_barrier"),
          std::string("rocdl.raw.ptr.buffer.load.lds")}) {
      std::string fault = run([&](std::string text) {
        size_t at = text.find(from);
        EXPECT_NE(at, std::string::npos);
        return text.erase(at, text.find('\n', at) - at);
      });
      EXPECT_NE(fault.find("of LDS @lds"), std::string::npos) << fault;
    }
    // One instruction of a step is not waited for.
    std::string late = run([&](std::string text) {
      size_t at = text.find(wait) + wait.size(), end = text.find('\n', at);
      int bits = std::stoi(text.substr(at, end - at));
      return text.replace(at, end - at, std::to_string(bits + 1));
    });
    EXPECT_NE(late.find("in 'rocdl.raw.ptr.buffer.load.lds'"),
              std::string::npos)
        << late;
    // A pixel behind the edge of the input counts as inside.
    std::string edge = run([](std::string text) {
      for (size_t at = text.find("cmpi ult"); at != std::string::npos;
           at = text.find("cmpi ult", at))
        text.replace(at, 8, "cmpi ule");
      return text;
    });
    EXPECT_TRUE(isWrong(edge)) << edge;
  }
}

/// The faults by which compute-sanitizer is tested on a GPU.
TEST(GpuPlantedFaults, ofSanitizers) {
  for (const PlantedFault &fault : getPlantedFaults()) {
    auto gpu = SolverRunner::createEmulated("sm_90a", fault.edit);
    ASSERT_TRUE(gpu) << gpu.message();
    std::string found = runPlanted(**gpu, fault);
    EXPECT_EQ(found.empty(), fault.name == std::string("none"))
        << fault.name << ": " << found;
    std::cout << fault.name << ": " << found << "\n";
  }
}

/// A workgroup's copies for its next block do not wait for those of zeros
/// behind its last step.
TEST(GpuPlantedFaults, turns) {
  auto run = [](auto edit) {
    return runEdited(edit, "sm_90a:cu=1",
                     {{"block_m", 32},
                      {"block_n", 32},
                      {"wave_m", 16},
                      {"wave_n", 16},
                      {"inst", 16},
                      {"stages", 3},
                      {"groups_per_unit", 1}});
  };
  EXPECT_EQ(run([](std::string text) { return text; }), "");
  std::string early = run([](std::string text) {
    size_t at = text.rfind("nvvm.cp.async.wait.group 0");
    EXPECT_NE(at, std::string::npos) << text;
    return text.erase(at, text.find('\n', at) - at);
  });
  EXPECT_NE(early.find("nothing has waited for"), std::string::npos) << early;
}

static std::string runWarpgroups(int64_t stages,
                                 std::function<std::string(std::string)> edit) {
  return runEdited(std::move(edit), "sm_90a",
                   {{"block_m", 64},
                    {"block_n", 64},
                    {"wave_m", 64},
                    {"wave_n", 64},
                    {"inst", 64},
                    {"stages", stages}});
}

/// A stage is filled while products of an earlier step may still read it.
TEST(GpuPlantedFaults, warpgroups) {
  for (int64_t stages : {3, 4}) {
    auto run = [&](int more) {
      return runWarpgroups(stages, [=](std::string text) {
        size_t at = text.find("wgmma.wait.group.sync.aligned ") + 30;
        text[at] = static_cast<char>(text[at] + more);
        return text;
      });
    };
    EXPECT_EQ(run(0), "");
    EXPECT_NE(run(1).find("LDS"), std::string::npos) << run(1);
  }
}

/// Products and other instructions see registers and LDS by different paths.
TEST(GpuPlantedFaults, warpgroupFences) {
  auto takeLine = [](std::string &text, size_t at) {
    EXPECT_NE(at, std::string::npos) << text;
    size_t end = text.find('\n', at);
    std::string line = text.substr(at, end - at);
    text.erase(at, end - at);
    return line;
  };
  struct Planted {
    std::function<std::string(std::string)> edit;
    const char *fault;
  };
  const Planted planted[] = {
      {[&](std::string text) {
         takeLine(text, text.find("nvvm.fence.proxy"));
         return text;
       },
       "with no fence between for asynchronous products"},
      // A fence orders nothing that has not arrived yet.
      {[&](std::string text) {
         size_t at = text.find("nvvm.fence.proxy");
         std::string fence = takeLine(text, at);
         return text.insert(text.rfind("nvvm.cp.async.wait.group", at),
                            fence + "\n");
       },
       "with no fence between for asynchronous products"},
      {[&](std::string text) {
         takeLine(text, text.find("nvvm.wgmma.fence"));
         return text;
       },
       "with no wgmma.fence"},
      {[&](std::string text) {
         takeLine(text, text.rfind("nvvm.wgmma.wait.group"));
         return text;
       },
       "uses sums of products that nothing has waited for"}};
  for (int64_t stages : {3, 4})
    for (const Planted &p : planted) {
      std::string fault = runWarpgroups(stages, p.edit);
      EXPECT_NE(fault.find(p.fault), std::string::npos)
          << "expected '" << p.fault << "', but got: " << fault;
    }
}

/// A lane reads what other workgroups have stored although no fence lies
/// between, or before they have arrived.
TEST(GpuPlantedFaults, sharedSteps) {
  const ConfigChange change = {
      {"block_m", 32}, {"block_n", 32}, {"wave_m", 16}, {"wave_n", 16},
      {"inst", 16},    {"stages", 2},   {"split_k", 0}, {"groups_per_unit", 2}};
  auto eraseLine = [](std::string text, size_t at) {
    EXPECT_NE(at, std::string::npos) << text;
    return text.erase(at, text.find('\n', at) - at);
  };
  using Edit = std::function<std::string(std::string)>;
  const std::string fence = "llvm.fence", atomic = "llvm.atomicrmw";
  const std::pair<const char *, Edit> planted[] = {
      {"no fence behind the arrival of all others",
       [&](std::string text) { return eraseLine(text, text.find(fence)); }},
      {"no fence in front of the counter",
       [&](std::string text) {
         return eraseLine(text, text.rfind(fence, text.find(atomic)));
       }},
      {"no fence behind the counter",
       [&](std::string text) {
         return eraseLine(text, text.find(fence, text.find(atomic)));
       }},
      {"the first one takes itself for the last", [&](std::string text) {
         size_t at = text.find("arith.cmpi eq", text.find(atomic));
         EXPECT_NE(at, std::string::npos) << text;
         return text.replace(at, 13, "arith.cmpi ne");
       }}};
  for (const char *gpu : {"gfx942:cu=4", "gfx1100:cu=4", "sm_90a:cu=4"}) {
    std::set<std::string> found;
    // A block's first steps are computed first, or last.
    for (uint64_t order : {0, 1, 2}) {
      SCOPED_TRACE(gpu + (" " + std::to_string(order)));
      auto run = [&](const Edit &edit) {
        return runEdited(edit, gpu, change, order);
      };
      EXPECT_EQ(run([](std::string text) { return text; }), "");
      for (const auto &[what, edit] : planted) {
        std::string fault = run(edit);
        if (fault.find("another workgroup") != std::string::npos ||
            isWrong(fault))
          found.insert(what);
      }
    }
    EXPECT_EQ(found.size(), std::size(planted)) << gpu;
  }
}
