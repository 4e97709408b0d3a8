//===- PipelineKey.cpp - Keys of models' time and accuracy ----------------===//
//
// Part of Tarpon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "PipelineKey.h"

#include "Store/Digest.h"
#include "Store/RecordVersion.h"
#include "Tuning/RegionTuner.h"

#include "tarpon/Runtime/Tensor.h"
#include "tarpon/Solver/BehaviourVersion.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"

using namespace tarpon;

/// Version 1 of a solver adds nothing, so that keys are the same as those of
/// 6d49224.
static std::string digestLayers(const std::vector<LayerRecord> &layers) {
  Digest digest;
  for (const LayerRecord &layer : layers) {
    digest.add(llvm::StringRef(layer.problem))
        .add(llvm::StringRef(layer.solver))
        .add(llvm::StringRef(layer.config.str()));
    if (int64_t version = getBehaviourVersion(layer.solver); version != 1)
      digest.add(llvm::StringRef("version " + std::to_string(version)));
  }
  return digest.hex();
}

static llvm::StringRef getBytes(const std::vector<float> &values) {
  return {reinterpret_cast<const char *>(values.data()),
          values.size() * sizeof(float)};
}

/// Every bit counts, since a scale is computed from it.
static std::string digestRanges(const std::vector<TensorRange> &ranges) {
  if (ranges.empty())
    return "";
  Digest digest;
  for (const TensorRange &range : ranges)
    for (llvm::StringRef piece :
         {llvm::StringRef(range.name),
          llvm::StringRef(reinterpret_cast<const char *>(&range.lo),
                          sizeof(range.lo)),
          llvm::StringRef(reinterpret_cast<const char *>(&range.hi),
                          sizeof(range.hi)),
          getBytes(range.inputMeans), getBytes(range.storedMeans)})
      digest.add(piece);
  return digest.hex();
}

/// "int8", or "int8/nhwc fp32/nhwc ..." of each region.
static std::string printDtypes(const GlobalChoice &choice) {
  if (choice.regions.empty())
    return std::string(getPrecisionName(choice.dtype));
  return llvm::join(llvm::map_range(choice.regions, printRegionChoice), " ");
}

static std::string printInputs(const TuningFile::Model &model) {
  std::string text;
  for (const auto &[name, shape] : model.inputs)
    text += name + "=" + runtime::shapeToString(shape) + " ";
  return text;
}

std::string tarpon::nameTuning(const TuningFile::Model &model,
                               const std::string &calibration,
                               llvm::ArrayRef<GlobalChoice> choices,
                               const RegionOptions &regions) {
  std::string name = model.sha256 + " " + printInputs(model) + calibration;
  for (const GlobalChoice &choice : choices)
    name += " " + choice.name();
  name += " within " + std::to_string(regions.maxError);
  if (regions.searchesBudget)
    name += " of a metric";
  if (regions.choosesDtypes)
    name += ", dtypes of regions";
  if (regions.choosesLayouts)
    name += ", layouts of regions";
  if (regions.choosesFusion)
    name += ", fusion of regions";
  return name;
}

PipelineKey tarpon::makePipelineKey(const TuningFile::Model &model,
                                    const GlobalChoice &choice,
                                    const std::string &calibration,
                                    const std::vector<LayerRecord> &layers,
                                    const std::vector<TensorRange> &ranges) {
  PipelineKey key;
  key.modelSha256 = model.sha256;
  key.inputShapes = printInputs(model);
  key.dtype = printDtypes(choice);
  key.layout = choice.layout.name();
  key.fusion = getFusionName(choice.fusion);
  key.calibration = calibration;
  key.solutions = digestLayers(layers);
  key.passes = getPassesVersion();
  key.ranges = digestRanges(ranges);
  return key;
}
