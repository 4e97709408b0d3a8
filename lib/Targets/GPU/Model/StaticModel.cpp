//===- StaticModel.cpp - Estimates the time of a launch -------------------===//
//
// Part of Tarpon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The formulae. A compute unit has S SIMDs, and holds G workgroups at a time;
// w is how many waves that makes on each SIMD. Of one iteration of the inner
// loop, one wave's needs are known (InstructionMix). All waves of the unit are
// through with it after the greatest (where more is known: after a norm, since
// units overlap in part; ModelFigures) of
//   matrix   w * clocks of the matrix instructions (GpuTarget)
//   vector   w * clocks of vector issue, matrix instructions included
//   lds      S * w * bytes to and from LDS / bytes per clock
//   global   S * w * bytes to and from the caches / 64 per clock
//   latency  what one wave takes if it is alone: its waits, which other waves
//            hide as long as there are enough of them; where waves of a
//            workgroup meet at barriers, only those of others do
//            (ModelFigures), so that the greatest of its own units' clocks is
//            added
// How often the loop runs is not in the code. A workgroup accumulates A results
// in it and adds D = flops of an iteration / 2A products to each. A launch of F
// flops for R results adds K = F / 2R products to each, so that a workgroup has
//   iterations = ceil(K / (splitK * D)) * ceil(R * splitK / (workgroups * A)),
// the second factor being 1 unless a workgroup does one tile after another.
// Tiles that reach beyond the result, and the last part of K, thus cost as much
// as full ones. Where workgroups share the steps of all tiles, the second
// factor is what a workgroup has of them, a fraction.
//   rounds   ceil(workgroups / (units * G)); in the last one units may hold
//            fewer workgroups, down to one
//   compute  over the rounds: iterations * clocks of an iteration + clocks of
//            the code outside of the loop, once, or for each tile of a
//            workgroup that takes tiles in turn; over the clock rate
//   memory   bytes, each once, / bandwidth of the memory
//   time     max(compute, memory), or a norm of both, + what a launch takes
// Without a loop that does floating-point work: compute is that of the peak's
// expected fraction, and so is memory; on NVIDIA's GPUs, the code outside of
// the loop counts, and a loop that goes on until all bytes have been moved.
//
// Sources: ../../../../docs/tuning.md; the time as the maximum of its terms and
// the wave quantisation are the usual roofline argument, the figures are those
// of GpuTarget and ModelFigures.cpp.
//
//===----------------------------------------------------------------------===//

#include "tarpon/Targets/GPU/Model/StaticModel.h"

#include "ModelFigures.h"

#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/MathExtras.h"

#include <algorithm>
#include <cmath>

using namespace tarpon;
using llvm::formatv;
using Terms = LaunchEstimate::Terms;

//===----------------------------------------------------------------------===//
// Iterations
//===----------------------------------------------------------------------===//

double Terms::max() const {
  return std::max({matrix, vector, lds, global, latency});
}

const char *Terms::getBinding() const {
  double most = max();
  return most == matrix   ? "matrix"
         : most == vector ? "vector"
         : most == lds    ? "lds"
         : most == global ? "global"
                          : "latency";
}

/// The clocks of a wave's stores that each take a way of their own.
static double getNarrowClocks(const InstructionMix &mix, const GpuTarget &gpu) {
  constexpr int64_t kWord = 4;
  int64_t narrow = 0;
  for (auto [bytes, count] : mix.globalWrites)
    if (bytes < kWord)
      narrow += count;
  return static_cast<double>(narrow * gpu.waveSize) *
         getModelFigures(gpu).narrowStoreClocks;
}

/// The clocks of the units for `waves` waves on each SIMD.
static Terms getUnitTerms(const InstructionMix &mix, double waves,
                          const GpuTarget &gpu) {
  double allWaves = waves * static_cast<double>(gpu.simdsPerUnit);
  // Waves are distributed whole: the busiest SIMD counts.
  double simdWaves = std::ceil(waves);
  Terms terms;
  terms.matrix = simdWaves * mix.matrixClocks;
  terms.vector = simdWaves * mix.vectorClocks;
  terms.lds =
      allWaves *
      (mix.ldsBytesRead / static_cast<double>(gpu.ldsReadBytesPerClock) +
       mix.ldsBytesWritten / static_cast<double>(gpu.ldsWriteBytesPerClock));
  terms.global =
      allWaves * (mix.globalBytes / getModelFigures(gpu).globalBytesPerClock +
                  getNarrowClocks(mix, gpu));
  return terms;
}

/// `groupWaves` are those of one workgroup on each SIMD.
static Terms getTerms(const InstructionMix &mix, double waves,
                      double groupWaves, const GpuTarget &gpu) {
  Terms terms = getUnitTerms(mix, waves, gpu);
  terms.latency = mix.aloneClocks;
  if (getModelFigures(gpu).waitsForGroup)
    terms.latency += getUnitTerms(mix, groupWaves, gpu).max();
  return terms;
}

static double getClocks(const Terms &terms, const GpuTarget &gpu) {
  return overlap(
      {terms.matrix, terms.vector, terms.lds, terms.global, terms.latency},
      getModelFigures(gpu).unitNorm);
}

static double countWaves(const KernelProfile &profile, const GpuTarget &gpu) {
  return static_cast<double>(
      llvm::divideCeil(profile.resources.workgroup, gpu.waveSize));
}

/// Those of a workgroup on each SIMD.
static double countGroupWaves(const KernelProfile &profile,
                              const GpuTarget &gpu) {
  return countWaves(profile, gpu) / static_cast<double>(gpu.simdsPerUnit);
}

/// The number of tiles that a workgroup does one after another; of shared ones,
/// its share.
static double countTiles(const KernelProfile &profile, const LaunchWork &work,
                         const GpuTarget &gpu) {
  double area = profile.resultsPerWave * countWaves(profile, gpu);
  double groups = static_cast<double>(work.workgroups);
  double split = static_cast<double>(work.splitK);
  if (area == 0)
    return 1;
  double tiles =
      std::max(work.results, work.tiledResults) * split / (groups * area);
  return work.sharesSteps ? tiles : std::max(1.0, std::ceil(tiles));
}

/// The number of iterations of a workgroup.
static double countIterations(const KernelProfile &profile,
                              const LaunchWork &work, const GpuTarget &gpu) {
  double waves = countWaves(profile, gpu);
  double groupFlops = profile.loop.flops * waves;
  double groups = static_cast<double>(work.workgroups);
  double area = profile.resultsPerWave * waves;
  if (area == 0 || work.results == 0)
    return std::max(1.0, work.flops / (groups * groupFlops));
  double split = static_cast<double>(work.splitK);
  double products = work.flops / (2 * work.results);
  double depth = groupFlops / (2 * area);
  double parts = std::max(1.0, std::ceil(products / (split * depth)));
  return std::ceil(parts * countTiles(profile, work, gpu));
}

//===----------------------------------------------------------------------===//
// A launch
//===----------------------------------------------------------------------===//

/// The clocks of the code outside of the loop.
static double getOutsideClocks(const KernelProfile &profile,
                               const LaunchWork &work, double waves,
                               const GpuTarget &gpu) {
  double tiles = work.takesTurns ? countTiles(profile, work, gpu) : 1;
  // A share of all iterations begins and ends within tiles, each of which is
  // stored, in parts or as results. The code for whole tiles has the first
  // copies twice: of the first tile, and of the next, which stores hide.
  double turns = work.sharesSteps ? tiles + 1 : (std::max(1.0, tiles) + 1) / 2;
  const ModelFigures &figures = getModelFigures(gpu);
  double meeting = work.sharesSteps ? figures.meetingClocks : 0;
  double groupWaves = countGroupWaves(profile, gpu);
  return turns *
             getClocks(getTerms(profile.rest, waves, groupWaves, gpu), gpu) +
         figures.firstLoadClocks + meeting;
}

/// The clocks of a round in which each unit holds `held` workgroups.
static double getRoundClocks(const KernelProfile &profile,
                             const LaunchWork &work, double iterations,
                             int64_t groups, const GpuTarget &gpu) {
  double groupWaves = countGroupWaves(profile, gpu);
  double waves = static_cast<double>(groups) * groupWaves;
  return iterations *
             getClocks(getTerms(profile.loop, waves, groupWaves, gpu), gpu) +
         getOutsideClocks(profile, work, waves, gpu);
}

static double toMs(double clocks, const GpuTarget &gpu) {
  return clocks / gpu.clockGhz * 1e-6;
}

/// Without floating-point work, a loop is taken to go on until the launch's
/// bytes have been read and written.
static double countPasses(const KernelProfile &profile, const LaunchWork &work,
                          const GpuTarget &gpu) {
  if (!profile.hasLoop)
    return 0;
  double bytes = profile.loop.globalBytes * countWaves(profile, gpu) *
                 static_cast<double>(work.workgroups);
  return bytes == 0 ? 1 : std::max(1.0, work.bytes / bytes);
}

static void estimateCode(const KernelProfile &profile, const LaunchWork &work,
                         const GpuTarget &gpu, LaunchEstimate &estimate) {
  estimate.isFromCode = true;
  double waves = countWaves(profile, gpu);
  int64_t held = std::max<int64_t>(
      1,
      static_cast<int64_t>(
          static_cast<double>(profile.occupancy * gpu.simdsPerUnit) / waves));
  int64_t perRound = gpu.computeUnits * held;
  int64_t full = work.workgroups / perRound;
  int64_t last =
      llvm::divideCeil(work.workgroups - full * perRound, gpu.computeUnits);
  estimate.rounds = full + (last > 0);
  // The number of workgroups that a unit holds: fewer than possible if there is
  // not enough work.
  estimate.groupsPerUnit = full > 0 ? held : last;
  estimate.waves = static_cast<double>(estimate.groupsPerUnit) * waves /
                   static_cast<double>(gpu.simdsPerUnit);
  estimate.terms = getTerms(profile.loop, estimate.waves,
                            countGroupWaves(profile, gpu), gpu);
  estimate.outsideClocks = getOutsideClocks(profile, work, estimate.waves, gpu);
  if (double clocks = getClocks(estimate.terms, gpu); clocks > 0)
    estimate.matrixUtilisation = estimate.terms.matrix / clocks;
  double clocks = static_cast<double>(full) *
                  getRoundClocks(profile, work, estimate.iterations, held, gpu);
  if (last > 0)
    clocks += getRoundClocks(profile, work, estimate.iterations, last, gpu);
  estimate.computeMs = toMs(clocks, gpu);
}

LaunchEstimate tarpon::estimateLaunch(const KernelProfile &profile,
                                      const LaunchWork &work,
                                      const GpuTarget &gpu) {
  LaunchEstimate estimate;
  const ModelFigures &figures = getModelFigures(gpu);
  estimate.launchMs = figures.launchMs;
  estimate.memoryMs =
      work.bytes / (gpu.memoryGbps * figures.memoryShare) * 1e-6;
  if (profile.hasLoop && work.flops > 0) {
    estimate.iterations = countIterations(profile, work, gpu);
    estimateCode(profile, work, gpu, estimate);
  } else if (figures.modelsAllCode) {
    estimate.iterations = countPasses(profile, work, gpu);
    estimateCode(profile, work, gpu, estimate);
  } else {
    double fraction = std::max(work.expectedFraction, 1e-6);
    estimate.computeMs =
        work.flops / gpu.peakGflops(work.dtype) * 1e-6 / fraction;
    estimate.memoryMs /= fraction;
  }
  estimate.milliseconds =
      overlap({estimate.computeMs, estimate.memoryMs}, figures.memoryNorm) +
      estimate.launchMs;
  return estimate;
}

//===----------------------------------------------------------------------===//
// Printing
//===----------------------------------------------------------------------===//

/// Prints "8 of 16 bytes, 2 of 4 bytes".
static std::string printWidths(const std::map<int64_t, int64_t> &counts) {
  std::string text;
  for (auto it = counts.rbegin(); it != counts.rend(); ++it)
    text += formatv("{0}{1} of {2} bytes", text.empty() ? "" : ", ", it->second,
                    it->first);
  return text.empty() ? "none" : text;
}

static std::string printLoop(const InstructionMix &mix) {
  std::string text = formatv(
      "inner loop: {0} matrix, {1} vector, {2} scalar, {3} scalar loads, {4} "
      "waits, {5} barriers\n",
      mix.matrix, mix.vector, mix.scalar, mix.scalarLoads, mix.waits,
      mix.barriers);
  text += "  lds reads: " + printWidths(mix.ldsReads) +
          "; lds writes: " + printWidths(mix.ldsWrites) + "\n";
  text += "  global reads: " + printWidths(mix.globalReads) +
          "; to lds: " + printWidths(mix.globalToLds) +
          "; global writes: " + printWidths(mix.globalWrites) + "\n";
  int64_t issued = mix.matrix + mix.vector;
  text += formatv("  matrix issue share: {0:P1}; bytes per FLOP: lds {1:f4}, "
                  "caches {2:f4}\n",
                  issued ? static_cast<double>(mix.matrix) /
                               static_cast<double>(issued)
                         : 0.0,
                  (mix.ldsBytesRead + mix.ldsBytesWritten) / mix.flops,
                  mix.globalBytes / mix.flops);
  return text;
}

static std::string printTerms(const LaunchEstimate &estimate) {
  const Terms &terms = estimate.terms;
  std::string text = formatv(
      "  clocks of an iteration: matrix {0:f0}, vector {1:f0}, lds {2:f0}, "
      "global {3:f0}, latency {4:f0}; {5} binds\n",
      terms.matrix, terms.vector, terms.lds, terms.global, terms.latency,
      terms.getBinding());
  text += formatv("  {0:f0} iterations, {1:f0} clocks outside of them, {2} "
                  "rounds with {3} workgroups on a compute unit, {4:f1} waves "
                  "on a SIMD\n",
                  estimate.iterations, estimate.outsideClocks, estimate.rounds,
                  estimate.groupsPerUnit, estimate.waves);
  text += formatv("  modelled matrix utilisation: {0:P1}\n",
                  estimate.matrixUtilisation);
  return text;
}

std::string tarpon::printEstimate(const KernelProfile &profile,
                                  const LaunchWork &work,
                                  const LaunchEstimate &estimate,
                                  const GpuTarget &gpu) {
  const KernelResources &taken = profile.resources;
  std::string text =
      formatv("kernel {0}, {1} workgroups of {2} lanes on {3}\n", taken.symbol,
              work.workgroups, taken.workgroup, gpu.name());
  text +=
      formatv("resources: {0} vector registers ({1} of them for "
              "accumulation), {2} scalar, {3} bytes of LDS, {4} spills, {5} "
              "waves per SIMD\n",
              taken.vectorRegisters, taken.accumulationRegisters,
              taken.scalarRegisters, taken.ldsBytes,
              taken.vectorSpills + taken.scalarSpills, profile.occupancy);
  if (profile.hasLoop)
    text += printLoop(profile.loop);
  if (estimate.isFromCode)
    text += printTerms(estimate);
  else
    text += formatv("no loop to go by: {0:P1} of the peaks\n",
                    work.expectedFraction);
  double perFlop = work.flops > 0 ? work.bytes / work.flops : 0;
  text += formatv("time: {0:f5} ms: compute {1:f5}, memory {2:f5} ({3:f4} "
                  "bytes per FLOP), launch {4:f5}\n",
                  estimate.milliseconds, estimate.computeMs, estimate.memoryMs,
                  perFlop, estimate.launchMs);
  return text;
}
