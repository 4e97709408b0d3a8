//===- TuningPage.h - A tuning file as a page ------------------*- C++ -*-===//
//
// Part of Tarpon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TARPON_REPORT_TUNINGPAGE_H
#define TARPON_REPORT_TUNINGPAGE_H

#include "llvm/Support/raw_ostream.h"

namespace tarpon {

struct TuningFile;

/// Prints a tuning file as one page of HTML that needs nothing else: what was
/// tuned, the front of time and error, the candidates, the times of their
/// layers, the choices of regions, and where solutions come from. Equal files
/// give equal pages.
void printTuningPage(const TuningFile &file, llvm::raw_ostream &os);

} // namespace tarpon

#endif // TARPON_REPORT_TUNINGPAGE_H
