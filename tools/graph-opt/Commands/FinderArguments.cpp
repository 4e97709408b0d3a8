//===- FinderArguments.cpp - Options of the finder --------------*- C++ -*-===//
//
// Part of Tarpon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "FinderArguments.h"
#include "SearchFlags.h"

namespace tarpon {

FinderOptions makeFinderOptions(const FinderArguments &arguments) {
  FinderOptions options;
  options.target = arguments.target;
  options.device = arguments.device;
  options.threads = arguments.threads;
  options.cpu = arguments.cpu;
  if (!arguments.findMode.empty())
    options.mode = *parseFindMode(arguments.findMode);
  if (!arguments.tuningPolicy.empty())
    options.policy = *parseTuningPolicy(arguments.tuningPolicy);
  options.search = makeSearchOverrides(arguments.search);
  options.quiet = arguments.quiet;
  return options;
}

} // namespace tarpon
