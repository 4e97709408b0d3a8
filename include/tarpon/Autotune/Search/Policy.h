//===- Policy.h - The constants of tuning -----------------------*- C++ -*-===//
//
// Part of Tarpon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Every constant of the search, in one place, and the tolerance of results.
//
//===----------------------------------------------------------------------===//

#ifndef TARPON_AUTOTUNE_SEARCH_POLICY_H
#define TARPON_AUTOTUNE_SEARCH_POLICY_H

#include "tarpon/Problem/Problem.h"

#include <chrono>
#include <cstdint>

namespace tarpon::policy {

//===----------------------------------------------------------------------===//
// Measuring candidates of one problem
//===----------------------------------------------------------------------===//

/// The largest number of configs per problem and solver: those that the solver
/// lists, and those nearest to them (ConfigSpace.h).
inline constexpr size_t kMaxConfigs = 256;

/// As many candidates are compiled at once as have packages of this many bytes
/// in sum: the fully connected layers of VGG-16 have 400 MiB of weights.
inline constexpr int64_t kMaxPackageBytes = 512 << 20;
/// The largest number of candidates that are compiled before they are measured.
inline constexpr size_t kMaxBatch = 32;

/// The number of samples of the first, short measurement.
inline constexpr int kRaceSamples = 5;
inline constexpr double kRaceMinMs = 5;
inline constexpr double kRaceMaxMs = 400;

/// Racing: a candidate is dropped as soon as its fastest run so far is slower
/// than the best candidate's median times kFinalistRatio by more than a margin
/// that shrinks with the number of its samples (runtime::getRaceMargin).

/// Candidates that are slower than the best by no more than this reach the
/// final.
inline constexpr double kFinalistRatio = 1.1;
inline constexpr size_t kMaxFinalists = 3;

/// The number of rounds of the final, in which the finalists are timed in turn.
inline constexpr int kFinalRounds = 2;
inline constexpr int kRoundSamples = 8;
inline constexpr double kRoundMinMs = 10;
inline constexpr double kRoundMaxMs = 1000;

/// The bytes over which buffers rotate, so that none is found in a core's own
/// caches, where it would not be in a model either. They do not exceed the
/// last-level cache: virtual machines claim hundreds of MiB, where whole models
/// stay, and filling them would take longer than measuring.
inline constexpr int64_t kRotateBytes = 8 << 20;
/// A candidate with at least this many bytes of constants, as its kernels read
/// them, is measured with all of them in memory: models with layers of this
/// size have tens of MiB of weights, each of which was last read one inference
/// ago. Warm, the filters of Winograd, 2 to 4 times as large and in int8 8
/// times, would look cheaper than they are there.
inline constexpr int64_t kColdConstantBytes = 1 << 20;

/// From this many operations on, a faster kernel is verified before it computes
/// a problem without records in this process.
inline constexpr double kSlowReferenceFlops = 2e7;
/// From this many operations on, a layer that only the reference solver can
/// compute is worth a remark: it takes about 2 ms.
inline constexpr double kNotableReferenceFlops = 1e6;
/// The number of candidates that are tried for that, each of which may hang.
inline constexpr size_t kMaxVerifications = 2;

/// A candidate during which this many runs died is skipped by the next run.
inline constexpr int64_t kMaxInterrupted = 2;
/// No measurement takes longer than this. Processes in other containers and on
/// other machines are taken to be alive for that long.
inline constexpr int64_t kLongestMeasurementHours = 1;

/// A record of the system store is trusted if a measurement takes no more than
/// this many times what is recorded. Short measurements on busy machines are
/// off by 10 %; where a record is wrong, another solver wins by more than this.
inline constexpr double kVerifyRatio = 1.25;

/// The time limit of an evaluation: the reference computes at this rate at
/// least, and the rest is quick.
inline constexpr double kReferenceFlopsPerSecond = 1e8;
inline constexpr double kBaseTimeLimitSeconds = 5;
/// The same on a GPU, where the rest includes opening it and assembling code.
inline constexpr double kDeviceReferenceFlopsPerSecond = 1e10;
inline constexpr double kDeviceBaseTimeLimitSeconds = 15;
/// The same on an emulated GPU, which takes a second on one core for a
/// convolution of 6e7 operations and the naive one that it is compared with.
inline constexpr double kEmulatedFlopsPerSecond = 1e7;
inline constexpr double kEmulatedBaseTimeLimitSeconds = 10;

//===----------------------------------------------------------------------===//
// Search methods
//===----------------------------------------------------------------------===//

/// A new best has to be faster by at least this share: medians of short
/// measurements of the same kernel differ by as much.
inline constexpr double kImprovement = 0.005;

/// The share of candidates that random and local search measure, and the
/// largest share that guided search measures.
inline constexpr double kSampleShare = 0.1;
inline constexpr size_t kMinSampleBudget = 16;

/// Guided search (GuidedSearch.cpp): variances of log time, relative to a scale
/// that follows from the residuals with a prior of 1 that counts as this many
/// residuals; and correlation lengths, in doublings of a config's field or a
/// problem's dimension.
inline constexpr double kLevelVariance = 25;
inline constexpr double kSolverVariance = 0.09;
inline constexpr double kConfigVariance = 0.03;
inline constexpr double kRoughnessVariance = 0.003;
inline constexpr double kNoiseVariance = 0.002;
inline constexpr double kScaleWeight = 16;
inline constexpr double kConfigLength = 1.5;
inline constexpr double kProblemLength = 3;

/// Guided search ends when no candidate is expected to improve the best time by
/// more than this share per measurement that it costs, but not before this many
/// right results: the first few say too little about the error of the
/// expectations.
inline constexpr double kMinExpectedImprovement = 0.0001;
/// The cost of compiling a kernel, in measurements: 0.2 s against 10 ms (tuning
/// ResNet-50 over all choices), on two cores.
inline constexpr double kCompileCost = 20;
inline constexpr size_t kMinGuidedResults = 12;
/// The number of proposals that are made at once, on as many cores or more,
/// which compile them.
inline constexpr size_t kMaxParallelProposals = 4;
/// The same for candidates that a GPU measures: it does so in a tenth of the
/// time that one core takes to compile one.
inline constexpr size_t kMaxDeviceProposals = 16;
/// The number of nearest related problems that guided search uses, and the
/// number of the fastest candidates of each.
inline constexpr size_t kRelatedProblems = 6;
inline constexpr size_t kRelatedCandidates = 40;

//===----------------------------------------------------------------------===//
// Measuring whole models
//===----------------------------------------------------------------------===//

/// The accuracy budget unless --max-error says otherwise: relative L2 distance
/// from fp32, by the worst output and in the root mean square of the samples.
/// The worst sample would be one of chance, and worse the more there are; a
/// mean of squares is what the errors of regions add up to. All models of
/// models/ stay below it in fp16 and bf16, and most of them in int8
/// (benchmarks/README.md). AccuracyBudget.h has the worst error that was seen,
/// and the error from which on a result is certainly wrong.
inline constexpr double kDefaultMaxError = 0.05;

/// The budget of fp32 itself, whatever --max-error says: kernels differ in the
/// order of their sums only, which is 1e-6 and less on the models of models/.
inline constexpr double kExactMaxError = 1e-4;
/// The samples that fp32 is compared on, at most: its error is no matter of the
/// sample, and a choice that is wrong is so on each.
inline constexpr size_t kMaxExactSamples = 4;

/// The number of generated calibration inputs, and of those that ranges are
/// measured on. A tensor has many elements in each sample, but an error is a
/// single number of it.
inline constexpr int64_t kGeneratedSamples = 16;
inline constexpr size_t kRangeSamples = 4;
inline constexpr uint64_t kGeneratedSeed = 20261;
/// The largest number of samples: directories may hold thousands, which ranges
/// do not need.
inline constexpr int64_t kMaxSamples = 64;

/// The budget of a metric unless --max-accuracy-drop says otherwise: half of a
/// percent of the samples.
inline constexpr double kDefaultMaxDrop = 0.005;
/// The elements of results that the evaluator is asked for at once, unless one
/// sample has more: about 20 MiB of text.
inline constexpr int64_t kMaxResultsPerRequest = 1 << 20;

inline constexpr int kPipelineSamples = 20;
inline constexpr double kPipelineMinMs = 200;
inline constexpr double kPipelineMaxMs = 10000;
/// Counterparts of the constants above, for global choices.
inline constexpr double kPipelineFinalistRatio = 1.1;
inline constexpr size_t kMaxPipelineFinalists = 3;
/// The finalists where plans with smaller errors count, too.
inline constexpr size_t kMaxFrontFinalists = 10;
inline constexpr int kPipelineRounds = 2;
/// The rounds while none is clearly the fastest and there is time: other load
/// that lasts for seconds decides less where there are more of them.
inline constexpr int kMaxPipelineRounds = 4;
inline constexpr int kPipelineRoundSamples = 8;
/// Untuned choices that take no more than this factor of the fastest one's time
/// are timed twice: on a busy virtual machine, one took 1.4 of its time for a
/// while.
inline constexpr double kCloseUntunedRatio = 1.4;
/// The share of the time that is left which that may take.
inline constexpr double kRetimingShare = 0.1;
/// The runs of a model in which its layers are timed.
inline constexpr int kProfiledRuns = 10;
/// The time that a measurement takes beside its samples: loading, and a run to
/// warm up.
inline constexpr double kPipelineOverheadSeconds = 0.2;
inline constexpr double kPipelineTimeLimitSeconds = 120;

/// The largest relative L2 distance by which tuning may move the results of a
/// package: each layer was verified, so that this only detects layers that were
/// mixed up.
inline constexpr double kTunedMaxError = 0.1;

/// The number of candidates of a problem that are compiled where they are
/// modelled, unless the user sets a number or a time.
inline constexpr int64_t kModelledCandidates = 8;
/// The number of modelled candidates for each one that a package is to hold:
/// the model's order is only a guess, so that half of them are worth a
/// measurement.
inline constexpr int64_t kModelledPerIncluded = 2;
/// The best candidate of each solver precedes all others that are included,
/// unless the model expects it to take this many times as long as the best: the
/// model compares two configs of a solver better than two solvers.
inline constexpr double kIncludedSolverRatio = 4;

/// The share of --tuning-time in which choices are measured untuned, but for
/// the first; choices whose turn comes later are left out.
inline constexpr double kSurveyShare = 0.7;
/// The share of a choice's time that its problems may use where times come from
/// a model.
inline constexpr double kSearchShare = 0.85;

/// The share of a layer's time that the first search of its kind is expected to
/// save, as one search that was made; as much again may be hoped for. Searches
/// save 4 % on average, and 10 to 20 % on the tenth of the problems whose
/// guesses are worst (benchmarks/README.md).
inline constexpr double kPriorSaving = 0.1;
/// A tuning run ends when less than this share of the best time can be gained.
inline constexpr double kLeastGain = 0.005;
/// An untuned plan has to be faster than a tuned one by this share, and by more
/// than both times vary or than kLargestTie, to be preferred.
inline constexpr double kClearlyFaster = 0.005;
/// However much times vary, a tuned plan that takes longer by more than this
/// share is not preferred.
inline constexpr double kLargestTie = 0.02;

//===----------------------------------------------------------------------===//
// Choices of each region (RegionTuner.h)
//===----------------------------------------------------------------------===//

/// The share of --tuning-time in which choices for the whole model are tried,
/// if regions are chosen for after that.
inline constexpr double kGlobalShare = 0.5;
/// A precision that saves less of the model's time, by the times of its
/// regions, is not tried.
inline constexpr double kNotableSaving = 0.01;
/// The share of a plan's time from which on a problem that was never measured
/// is searched before the plan is.
inline constexpr double kNotableRegionShare = 0.003;
/// The same for the share of a plan's time by which such a problem may be off:
/// DenseNet's first plan was off by 7 % in 60 problems of which none counts.
inline constexpr double kNotableDeviationShare = 0.0005;
/// How far the time of a layer is off, as a share, where nothing is known yet
/// of how times alone compare with those within a model, and guesses with times
/// alone: assumptions that measurements replace.
inline constexpr double kAloneDeviation = 0.15;
inline constexpr double kGuessDeviation = 0.5;
/// The seconds of these searches, together for all of a plan, and of one at
/// least: what they are for is whether the plan is worth measuring.
inline constexpr double kRegionSecondsPerPlan = 60;
inline constexpr double kLeastRegionSeconds = 0.5;
/// The error, as a share of the budget, from which on a group of regions is
/// halved: 50 such groups would take the square of the budget, if they erred
/// together as they do one by one.
inline constexpr double kNegligibleErrorShare = 0.14;
/// The relative error from which on squares do not add up: a result that is
/// wrong does not become more so.
inline constexpr double kSaturatedError = 0.5;
/// The share of the time that is left in which the errors of groups are
/// measured before plans of a budget are.
inline constexpr double kErrorShare = 0.4;
/// The share of the budget that is planned with, since errors are predicted.
inline constexpr double kBudgetMargin = 0.95;
/// How often a plan is drafted anew as the times of its regions are learnt.
inline constexpr size_t kMaxDrafts = 6;
/// How many plans within a budget are timed for it, at most.
inline constexpr size_t kMaxRegionPlans = 4;
/// How many drafts are tried for a budget, at most: all have their errors
/// measured.
inline constexpr size_t kMaxMeasuredDrafts = 12;
/// The factor of the error that may be planned with, where a draft over the
/// budget is drafted again.
inline constexpr double kLessError = 0.9;
/// A plan that takes more than this, as a ratio to its prediction, is timed
/// twice. One of DenseNet's took 2.1 of it in a bad moment of a virtual
/// machine.
inline constexpr double kSuspectRatio = 1.15;
/// The share of the time that is left in which the problems of a draft are
/// searched.
inline constexpr double kOpenShare = 0.5;
/// Corrections of errors go this part of the way to each model that was
/// measured, in turn, ...
inline constexpr double kErrorCorrection = 0.5;
/// ... until all are predicted to within this share, ...
inline constexpr double kFittedError = 0.02;
/// ... but not more often than this.
inline constexpr int kMaxErrorPasses = 50;
/// The time of a conversion that no solver takes, which no plan can afford.
inline constexpr double kUnsolvableMs = 1e5;
/// The budgets of the front, as shares of the whole one.
inline constexpr double kFrontShares[] = {1, 0.4, 0.1};
/// With a metric of the user's, the budget of errors is searched
/// (BudgetSearch): the factor between two budgets as long as each is too large,
/// the budget below which that ends, and how often the gap to the last one that
/// was too large is halved then.
inline constexpr double kBudgetStep = 0.5;
inline constexpr double kLeastErrorBudget = 1e-4;
inline constexpr int kBudgetRefinements = 2;

//===----------------------------------------------------------------------===//
// Rates for the progress bar, in seconds. Only their ratios matter.
//===----------------------------------------------------------------------===//
inline constexpr double kExpectedProblemSeconds = 1.0;
inline constexpr double kExpectedPipelineSeconds = 3.0;

} // namespace tarpon::policy

namespace tarpon {

/// The largest error with which result `index` of a candidate is accepted,
/// where `scale` is the largest magnitude in the reference's result.
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
/// - Where products are rounded by `rounding` (TargetTraits.h): their errors
///   are independent, and add up to that share of the root of the sum of their
///   squares. Results are about as large, so that the error does not grow with
///   K. The largest of millions is two to three times `rounding`; a factor of 4
///   covers results that are all smaller.
///
/// NaN never passes: TensorComparison makes it an infinite error.
double getTolerance(const Problem &problem, double scale, int64_t index = 0,
                    double rounding = 0);

/// The bytes of the constant operands.
int64_t countConstantBytes(const Problem &problem);

} // namespace tarpon

#endif // TARPON_AUTOTUNE_SEARCH_POLICY_H
