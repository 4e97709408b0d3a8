//===- Policy.h - The numbers that tuning goes by ---------------*- C++ -*-===//
//
// Part of Tarpon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Every constant of the search, in one place, and how wrong a result may be.
//
//===----------------------------------------------------------------------===//

#ifndef TARPON_AUTOTUNE_POLICY_H
#define TARPON_AUTOTUNE_POLICY_H

#include "tarpon/Problem/Problem.h"

#include <chrono>
#include <cstdint>

namespace tarpon::policy {

//===----------------------------------------------------------------------===//
// Measuring candidates of one problem
//===----------------------------------------------------------------------===//

/// No more configs than that per problem and solver: those that are listed, and
/// those nearest to them (ConfigSpace.h).
inline constexpr size_t kMaxConfigs = 256;

/// Candidates are compiled as many at once as fit into that many bytes of
/// packages: the fully connected layers of VGG-16 have 400 MiB of weights.
inline constexpr int64_t kMaxPackageBytes = 512 << 20;
/// And no more than this: they are measured before the next ones are compiled.
inline constexpr size_t kMaxBatch = 32;

/// The first, short measurement.
inline constexpr int kRaceSamples = 5;
inline constexpr double kRaceMinMs = 5;
inline constexpr double kRaceMaxMs = 400;

/// Racing: a candidate is dropped as soon as its fastest run so far is slower
/// than the best candidate's median times kFinalistRatio by more than a margin
/// that shrinks with the number of its samples (runtime::getRaceMargin).

/// Who is not slower than the best by more than this comes into the final.
inline constexpr double kFinalistRatio = 1.1;
inline constexpr size_t kMaxFinalists = 3;

/// Finalists are timed in turn, in this many rounds.
inline constexpr int kFinalRounds = 2;
inline constexpr int kRoundSamples = 8;
inline constexpr double kRoundMinMs = 10;
inline constexpr double kRoundMaxMs = 1000;

/// Buffers are rotated so that none is found in a core's own caches, where it
/// would not be in a model either. Not so that none is found in the last-level
/// cache: virtual machines claim hundreds of MiB, where whole models stay, and
/// filling them would take longer than measuring.
inline constexpr int64_t kRotateBytes = 8 << 20;
/// A problem with so many bytes of constants is measured with all of them in
/// memory: models with layers of this size have tens of MiB of weights, each of
/// which was last read one inference ago. Warm, the 2 to 4 times larger filters
/// of Winograd would look cheaper than they are there.
inline constexpr int64_t kColdConstantBytes = 1 << 20;

/// Where nothing is known of a problem of so many operations, it is worth while
/// to verify a faster kernel before it computes something in this process.
inline constexpr double kSlowReferenceFlops = 2e7;
/// From so many operations on, a layer that only the reference solver can
/// compute is worth a remark: it takes about 2 ms.
inline constexpr double kNotableReferenceFlops = 1e6;
/// As many candidates are tried for that, each of which may hang.
inline constexpr size_t kMaxVerifications = 2;

/// What candidates of a package are compared with where there is a GPU. It is
/// packaged with every layer that has any, and that it applies to.
inline constexpr const char *kArbiter = "gpu-naive-v1";

/// A candidate during which this many runs ended is left out of the next one.
inline constexpr int64_t kMaxInterrupted = 2;
/// Nothing is known of processes in other containers and on other machines but
/// that no measurement takes longer than this.
inline constexpr int64_t kLongestMeasurementHours = 1;

/// A record of the system store is trusted if it takes no more than so many
/// times what is recorded. Short measurements on busy machines are off by 10 %;
/// where a record is wrong, another solver wins by more than this.
inline constexpr double kVerifyRatio = 1.25;

/// On a GPU, a sample is as long as this, so that queueing its first launch
/// does not count; a problem's candidates follow on so much work, after which
/// clocks are up (in no more runs than that, should times be none); and there
/// are no more instances of a candidate than this, whatever the caches.
inline constexpr double kDeviceSampleMs = 0.5;
inline constexpr double kDeviceWarmupMs = 20;
inline constexpr int kMaxDeviceWarmups = 1000;
inline constexpr int64_t kMaxDeviceInstances = 64;

/// What an evaluation may take before it counts as hanging: the reference
/// computes at this rate at least, and the rest is quick.
inline constexpr double kReferenceFlopsPerSecond = 1e8;
inline constexpr double kBaseTimeLimitSeconds = 5;

//===----------------------------------------------------------------------===//
// Search methods
//===----------------------------------------------------------------------===//

/// A new best has to be better by this: medians of short measurements of the
/// same kernel differ by as much.
inline constexpr double kImprovement = 0.005;

/// What random and local search measure, and guided search at most.
inline constexpr double kSampleShare = 0.1;
inline constexpr size_t kMinSampleBudget = 16;

/// Guided search (GuidedSearch.cpp): variances of log time, relative to a scale
/// that follows from the residuals with a prior of 1 that counts as so many of
/// them; and lengths, in doublings of a config's field or a problem's
/// dimension, over which they go together.
inline constexpr double kLevelVariance = 25;
inline constexpr double kSolverVariance = 0.09;
inline constexpr double kConfigVariance = 0.03;
inline constexpr double kRoughnessVariance = 0.003;
inline constexpr double kNoiseVariance = 0.002;
inline constexpr double kScaleWeight = 16;
inline constexpr double kConfigLength = 1.5;
inline constexpr double kProblemLength = 3;

/// It ends when no candidate is expected to improve the best time by more than
/// this part of it per measurement that it costs, but not before so many right
/// results: the first few say too little of how wrong the expectations are.
inline constexpr double kMinExpectedImprovement = 0.0001;
/// What it costs to compile a kernel, in measurements: 0.2 s against 10 ms
/// (tuning ResNet-50 over all choices), on two cores.
inline constexpr double kCompileCost = 20;
inline constexpr size_t kMinGuidedResults = 12;
/// Proposals at once, on as many cores or more, which compile them.
inline constexpr size_t kMaxParallelProposals = 4;
/// What it takes from related problems: so many of the nearest, and of each so
/// many of the fastest candidates.
inline constexpr size_t kRelatedProblems = 6;
inline constexpr size_t kRelatedCandidates = 40;

//===----------------------------------------------------------------------===//
// Measuring whole models
//===----------------------------------------------------------------------===//

/// The accuracy budget unless --max-error says otherwise: relative L2 distance
/// from fp32, the worst sample and output counting. Measured on the eight
/// models of models/ with generated inputs: fp16 0.0004 to 0.004, bf16 0.004 to
/// 0.026, int8 0.015 to 0.031 on six of them, 0.059 on ShuffleNet and 0.093 on
/// GoogLeNet, which are rightly left to a wider type. A kernel that is wrong,
/// or a tensor whose range was missed, shows as 0.3 and more.
inline constexpr double kDefaultMaxError = 0.05;

/// The budget of fp32 itself, whatever --max-error says: kernels differ in the
/// order of their sums only, which is 1e-6 and less on the models of models/.
inline constexpr double kExactMaxError = 1e-4;

/// Generated calibration inputs.
inline constexpr int64_t kGeneratedSamples = 4;
inline constexpr uint64_t kGeneratedSeed = 20261;
/// Directories may hold thousands of samples; ranges do not need them.
inline constexpr int64_t kMaxSamples = 64;

inline constexpr int kPipelineSamples = 20;
inline constexpr double kPipelineMinMs = 200;
inline constexpr double kPipelineMaxMs = 10000;
/// As above, for global choices.
inline constexpr double kPipelineFinalistRatio = 1.1;
inline constexpr size_t kMaxPipelineFinalists = 3;
inline constexpr int kPipelineRounds = 2;
inline constexpr double kPipelineTimeLimitSeconds = 120;

/// How far the results of a package may move, relative L2, when it is tuned:
/// each layer was verified, so that this is about layers that were mixed up.
inline constexpr double kTunedMaxError = 0.1;

/// Where candidates are modelled, how many of a problem are compiled unless the
/// user says how many, or for how long.
inline constexpr int64_t kModelledCandidates = 8;
/// And for each candidate that a package is to hold: the model's order is no
/// more than a guess, so that half of them are worth a measurement.
inline constexpr int64_t kModelledPerIncluded = 2;
/// The best of each solver goes before all others that are included, unless the
/// model expects it to take so many times what the best takes: it is surer of
/// two configs of a solver than of two solvers.
inline constexpr double kIncludedSolverRatio = 4;

/// How much of --tuning-time may go into problems; the rest is for measuring
/// whole models.
inline constexpr double kSearchShare = 0.85;

//===----------------------------------------------------------------------===//
// Rates for the progress bar, in seconds. Only their ratios matter.
//===----------------------------------------------------------------------===//
inline constexpr double kExpectedProblemSeconds = 1.0;
inline constexpr double kExpectedPipelineSeconds = 3.0;

} // namespace tarpon::policy

namespace tarpon {

/// The largest error with which result `index` of a candidate counts as right,
/// given the largest magnitude `scale` in the reference's.
///
/// - Quantised results are compared in steps and may differ by one: solvers may
///   round a product of scales differently.
/// - Integer results have to be equal.
/// - Floating-point results: summing K products in another order moves the sum
///   like a random walk of K steps of half an ulp of the partial sums, which
///   are about as large as the result: eps * sqrt(K), eps being that of the
///   type that is accumulated in (f32; f64 for f64). A factor covers the tail
///   over millions of elements and functions such as exp that are not rounded
///   exactly. On top come two ulps of the type that the result is stored in: a
///   sum near a rounding boundary may fall to either side, once in the epilogue
///   and once in the result.
///
/// NaN never passes: TensorComparison makes it an infinite error.
double getTolerance(const Problem &problem, double scale, int64_t index = 0);

/// Of the operands that are constant.
int64_t countConstantBytes(const Problem &problem);

/// Whether a problem is measured with cold constants (kColdConstantBytes).
bool wantsColdConstants(const Problem &problem);

} // namespace tarpon

#endif // TARPON_AUTOTUNE_POLICY_H
