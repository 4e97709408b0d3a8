//===- CandidateSummary.h - Candidates in few words ------------*- C++ -*-===//
//
// Part of Tarpon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TARPON_AUTOTUNE_CHOICE_CANDIDATESUMMARY_H
#define TARPON_AUTOTUNE_CHOICE_CANDIDATESUMMARY_H

#include "tarpon/Autotune/Choice/TuningFile.h"

#include <cstdint>
#include <map>
#include <string>

namespace tarpon {

/// Counts the layers whose solutions come from each source.
std::map<std::string, int64_t> countSources(const CandidateRecord &candidate);

/// Summarises the choices of regions: "int8/nhwc 43, fp32/nhwc 14".
std::string summarizeRegions(const GlobalChoice &choice);

/// Says what became of a candidate: "winner", "over the error budget", why it
/// failed, or "".
std::string judge(const TuningFile &record, size_t index);

} // namespace tarpon

#endif // TARPON_AUTOTUNE_CHOICE_CANDIDATESUMMARY_H
