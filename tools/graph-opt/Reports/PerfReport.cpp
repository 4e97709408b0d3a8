//===- PerfReport.cpp - A measured model as a table and as JSON -*- C++ -*-===//
//
// Part of Tarpon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "PerfReport.h"

#include "llvm/Support/FormatVariadic.h"

#include <algorithm>
#include <nlohmann/json.hpp>

using llvm::formatv;
using nlohmann::ordered_json;
using tarpon::runtime::Precision;

namespace tarpon {

static double rate(double amount, double milliseconds) {
  return milliseconds > 0 ? amount / (milliseconds * 1e6) : 0;
}

void PerfReport::computeRates() {
  double total = 0;
  for (const LayerReport &report : layers)
    total += report.medianMs;
  for (LayerReport &report : layers) {
    report.share = total > 0 ? report.medianMs / total : 0;
    report.gflops = rate(report.layer->flops, report.medianMs);
    report.gbps = rate(report.layer->bytes, report.medianMs);
    double compute = report.gflops / peaks.gflops.at(report.arithmetic);
    double memory = report.gbps / peaks.gbps;
    report.computeBound = compute > memory;
    report.fraction = std::max(compute, memory);
  }
}

//===----------------------------------------------------------------------===//
// Table
//===----------------------------------------------------------------------===//

static std::string describePeaks(const PeakRates &peaks) {
  std::string text;
  for (auto [arithmetic, gflops] : peaks.gflops)
    text +=
        formatv("{0} {1:F1} GFLOP/s, ", getPrecisionName(arithmetic), gflops);
  return text + formatv("memory {0:F1} GB/s", peaks.gbps).str();
}

void PerfReport::printTable(llvm::raw_ostream &os) const {
  os << formatv("{0,10}  {1,6}  {2,9}  {3,7}  {4,6}  {5,-7}  {6,-20}  {7}\n",
                "time ms", "share", "GFLOP/s", "GB/s", "peak", "bound",
                "solver", "layer");
  double total = 0, flops = 0, bytes = 0;
  for (const LayerReport &report : layers) {
    os << formatv("{0,10:F4}  {1,6:P1}  {2,9:F1}  {3,7:F1}  {4,6:P0}  "
                  "{5,-7}  {6,-20}  {7}\n",
                  report.medianMs, report.share, report.gflops, report.gbps,
                  report.fraction, report.computeBound ? "compute" : "memory",
                  report.layer->solver, report.layer->name);
    total += report.medianMs;
    flops += report.layer->flops;
    bytes += report.layer->bytes;
  }
  os << formatv("{0,10:F4}  {1,6:P1}  {2,9:F1}  {3,7:F1}  {4} layers\n", total,
                layers.empty() ? 0.0 : 1.0, rate(flops, total),
                rate(bytes, total), layers.size());
  std::string where =
      device.empty()
          ? formatv("{0} {1}", threads, threads == 1 ? "thread" : "threads")
                .str()
          : device;
  os << formatv("\n{0}: {1}/{2}, fusion {3}, {4}\n", model, package->dtype,
                package->layout, package->fusion, where);
  os << formatv("whole run: median {0:F4} ms +- {1:F4} over {2} runs, {3:F1} "
                "GFLOP/s\n",
                whole.medianMs, whole.madMs, whole.samplesMs.size(),
                rate(flops, whole.medianMs));
  os << "peaks: " << describePeaks(peaks) << "\n";
  if (compiling)
    compiling->printTable(os);
}

//===----------------------------------------------------------------------===//
// JSON
//===----------------------------------------------------------------------===//

/// Perf configs are JSON text already; other texts stay texts.
static ordered_json parseConfig(const std::string &config) {
  ordered_json value =
      ordered_json::parse(config, nullptr, /*allow_exceptions=*/false);
  return value.is_discarded() ? ordered_json(config) : value;
}

static ordered_json toJson(const LayerReport &report) {
  const runtime::Layer &layer = *report.layer;
  return {{"name", layer.name},
          {"problem", layer.problem},
          {"solver", layer.solver},
          {"config", parseConfig(layer.config)},
          {"source", layer.source},
          {"median_ms", report.medianMs},
          {"share", report.share},
          {"gflops", report.gflops},
          {"gbps", report.gbps},
          {"fraction_of_peak", report.fraction},
          {"bound", report.computeBound ? "compute" : "memory"},
          {"arithmetic", getPrecisionName(report.arithmetic)}};
}

std::string PerfReport::toJson() const {
  ordered_json peakByDtype = ordered_json::object();
  for (auto [arithmetic, gflops] : peaks.gflops)
    peakByDtype[std::string(getPrecisionName(arithmetic))] = gflops;
  ordered_json layerList = ordered_json::array();
  for (const LayerReport &report : layers)
    layerList.push_back(tarpon::toJson(report));
  ordered_json json = {
      {"model", package->modelName},
      {"file", model},
      {"dtype", package->dtype},
      {"layout", package->layout},
      {"fusion", package->fusion},
      {"threads", threads},
      {"iterations", whole.samplesMs.size()},
      {"median_ms", whole.medianMs},
      {"mad_ms", whole.madMs},
      {"samples_ms", whole.samplesMs},
      {"peak_gflops", peaks.gflops.at(Precision::F32)},
      {"peak_gflops_by_dtype", std::move(peakByDtype)},
      {"peak_gbps", peaks.gbps},
      {"layers", std::move(layerList)},
  };
  if (!device.empty()) {
    json.erase("threads");
    json["device"] = device;
  }
  if (compiling)
    json["compile_report"] = compiling->toJson();
  // File names need not be UTF-8.
  return json.dump(2, ' ', false, ordered_json::error_handler_t::replace) +
         "\n";
}

} // namespace tarpon
