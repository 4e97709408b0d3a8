//===- evaluate-bundle.cpp - Measures the candidates of a bundle ----------===//
//
// Part of Tarpon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// usage: evaluate-bundle EVALUATOR BUNDLE
//
// Prints a line of each candidate: its status, solver and config.
//
//===----------------------------------------------------------------------===//

#include "tarpon/Autotune/Bundle/BundleEvaluator.h"
#include "tarpon/Targets/AllTargets.h"

#include "llvm/Support/raw_ostream.h"

using namespace tarpon;

int main(int argc, char **argv) {
  if (argc != 3)
    return 2;
  registerAllTargets();
  Progress progress(llvm::errs(), Progress::Style::Quiet);
  BundleEvaluator evaluator(argv[1], progress);
  auto measured = evaluator.measure(argv[2], {});
  if (!measured) {
    llvm::errs() << measured.message() << "\n";
    return 1;
  }
  for (const Measurement &m : *measured)
    llvm::outs() << getStatusName(m.status) << " " << m.key.solver << " {"
                 << m.key.config << "}\n";
  return 0;
}
