//===- Model.h - A model, compiled or loaded --------------------*- C++ -*-===//
//
// Part of Tarpon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TARPON_EMBED_MODEL_H
#define TARPON_EMBED_MODEL_H

#include "tarpon/Runtime/Result.h"

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace tarpon {

/// The options of compiling a model, which are those of `graph-opt compile` and
/// explained in docs/graph-opt.md. Strings are spelled as on the command line.
struct ModelOptions {
  /// "fp32", "fp16", "bf16", "int8", a list with commas, or "pick_global". More
  /// than one choice has the model tuned.
  std::string dtype = "fp32";
  /// "nchw", "nhwc", both, or "pick_global".
  std::string layout = "nchw";
  /// "on", "producers", "off", several, or "pick_global" (on and off).
  std::string fusion = "on";
  /// "host", or a GPU such as "gfx942".
  std::string target = "host";
  /// The size of the symbolic batch dimension.
  std::optional<int64_t> batch;
  /// The sizes of symbolic dimensions: "NAME=SIZE", or "NAME=LOW..HIGH" for a
  /// model of all of them (Session::setSizes).
  std::vector<std::string> dims;
  /// 0: one per core.
  int64_t threads = 0;
  /// One of LLVM's CPUs.
  std::string cpu = "native";
  /// The time budget of tuning in seconds. Has the model tuned.
  std::optional<double> tuningTime;
  /// The largest relative L2 distance from fp32 that a choice may have.
  std::optional<double> maxError;
  /// A folder of inputs for calibration and accuracy; "" to generate them.
  std::string calibration;
  /// The tuning file to write, and the one to replay; "" for none.
  std::string tuningFile, replay;
  /// Makes a fallback an error instead of a remark on stderr.
  bool strict = false;
  /// Shows the progress of tuning on stderr.
  bool progress = false;
};

/// An input or output of a model: dense and row-major.
struct TensorSpec {
  std::string name;
  /// "f32", "i64", ...
  std::string dtype;
  std::vector<int64_t> shape;
  int64_t bytes = 0;
};

/// The solution of a layer of a model.
struct LayerSolution {
  std::string layer;
  /// The key of its problem, as listSolutions reads it.
  std::string problem;
  std::string solver;
  /// The perf config, such as "tile_m=6,tile_n=32".
  std::string config;
  /// Where the choice comes from: "measured", "user-db", "heuristic", ...
  std::string source;
};

/// A compiled model: constants, kernels and the list of launches. Move-only.
/// Different threads may use different models, and several threads one const
/// model.
class Model {
public:
  /// Compiles an ONNX file. An error is one sentence that names what is wrong;
  /// remarks, of fallbacks, go to stderr. If the options ask for tuning,
  /// candidates are measured in the process tarpon-evaluator, which is
  /// installed with Tarpon.
  static runtime::Result<Model> compile(const std::string &onnxFile,
                                        const ModelOptions &options = {});

  /// Loads a package that `save` or `graph-opt compile` wrote.
  static runtime::Result<Model> load(const std::string &path);

  /// Writes a package (.tpn), which tarpon-run, the C runtime and `load` read.
  /// On failure, an existing file at `path` is left as it is.
  runtime::Status save(const std::string &path) const;

  const std::vector<TensorSpec> &inputs() const;
  const std::vector<TensorSpec> &outputs() const;

  /// The solutions of the layers, in the order in which they run.
  std::vector<LayerSolution> solutions() const;

  Model(Model &&other) noexcept;
  Model &operator=(Model &&other) noexcept;
  ~Model();

private:
  friend class Session;
  struct State;

  explicit Model(std::unique_ptr<State> state);

  std::unique_ptr<State> state;
};

} // namespace tarpon

#endif // TARPON_EMBED_MODEL_H
