//===- Recurrent.cpp - LSTM, GRU and RNN step by step ---------------------===//
//
// Part of Tarpon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A step multiplies the hidden states with the recurrent weights, which were
// packed at compile time, and computes the cell on the products. If a step has
// enough work for several threads, each step is a launch, divided into blocks
// of hidden units; otherwise one launch runs all steps, with a task per
// direction. States are f32 and live in the workspace.
//
//===----------------------------------------------------------------------===//

#include "Common/LaunchBuilder.h"
#include "Host/Solvers.h"
#include "StepEmitter.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/MathExtras.h"

#include <algorithm>
#include <cstring>

using namespace mlir;
using namespace tarpon;
using namespace tarpon::recurrent;
using llvm::divideCeil;

namespace {

class Recurrent final : public Solver {
public:
  StringRef id() const override { return "recurrent-v1"; }
  Applicability isApplicable(const Problem &problem,
                             const TargetInfo &target) const override;
  int64_t workspaceSize(const Problem &problem,
                        const TargetInfo &target) const override;
  double expectedFraction(const Problem & /*problem*/,
                          const TargetInfo & /*target*/) const override {
    return 0.3;
  }
  SolutionPlan plan(const Problem &problem, const TargetInfo &target,
                    const PerfConfig &config) const override;
};

/// The sizes of a layer, and the places of its states in the workspace.
struct Layer {
  explicit Layer(const Problem &problem)
      : cell(*getRecurrentCell(problem.op)),
        steps(problem.operands[0].shape[0]),
        batch(problem.operands[0].shape[1]),
        directions(problem.operands[1].shape[0]),
        units(problem.operands[1].shape[2]),
        stateBytes(directions * batch *
                   static_cast<int64_t>(llvm::alignTo(units, kRowUnits)) * 4) {}

  RecurrentCell cell;
  int64_t steps, batch, directions, units;
  int64_t stateBytes; ///< of one state

  // The hidden states before and after a step come first, then the others.
  int64_t hiddenAt() const { return 0; }
  int64_t cellsAt() const { return 2 * stateBytes; }
  int64_t updatesAt() const { return 3 * stateBytes; }
  int64_t resetsAt() const { return 4 * stateBytes; }
  int64_t workspaceBytes() const { return 5 * stateBytes; }
};

/// Copies initial states into the workspace.
struct StartKernel {
  FlatTensor state;
  int64_t to;                     ///< buffer
  int64_t units, rows, rowsInAll; ///< parameters

  void emit(KernelBuilder &b) const;
};

} // namespace

static bool isVectorizableFloat(const TensorDesc &desc) {
  return !desc.quantized && isVectorizable(desc);
}

static bool hasFlag(const Problem &problem, StringRef name) {
  return problem.attrs.count(name.str()) && problem.integer(name) != 0;
}

/// The activations of direction d.
static std::vector<RecurrentActivation>
getActivations(const Problem &problem, const Layer &layer, int64_t d) {
  std::vector<RecurrentActivation> activations;
  std::vector<int64_t> all = problem.ints("activations");
  for (int64_t i = 0; i < layer.cell.activations; ++i)
    activations.push_back(
        static_cast<RecurrentActivation>(all[d * layer.cell.activations + i]));
  return activations;
}

Applicability Recurrent::isApplicable(const Problem &problem,
                                      const TargetInfo & /*target*/) const {
  if (!getRecurrentCell(problem.op))
    return Applicability::no("is not a recurrent layer");
  if (!problem.operands[1].constant)
    return Applicability::no("needs constant recurrent weights");
  for (auto [index, operand] : llvm::enumerate(problem.operands))
    if (index != 2 && !isVectorizableFloat(operand))
      return Applicability::no("needs operands of " + listFloats());
  DType lengths = problem.operands[2].dtype;
  if (lengths != DType::I32 && lengths != DType::I64)
    return Applicability::no("needs lengths of i32 or i64");
  if (!isVectorizableFloat(problem.result) || !problem.epilogue.empty())
    return Applicability::no("needs a result of " + listFloats() +
                             " without an epilogue");
  Layer layer(problem);
  if (layer.directions > 2)
    return Applicability::no("needs one or two directions");
  if (getActivations(problem, layer, 0) !=
      getActivations(problem, layer, layer.directions - 1))
    return Applicability::no("needs the same activations in both directions");
  return Applicability::yes();
}

int64_t Recurrent::workspaceSize(const Problem &problem,
                                 const TargetInfo & /*target*/) const {
  return Layer(problem).workspaceBytes();
}

//===----------------------------------------------------------------------===//
// Initial states
//===----------------------------------------------------------------------===//

void StartKernel::emit(KernelBuilder &b) const {
  BoundFlatTensor from = state.bind(b);
  Value size = b.getParam(units), target = b.getBuffer(to);
  Value padded = b.mul(b.ceilDiv(size, b.cst(kRowUnits)), kRowUnits);
  Value perTask = b.getParam(rows);
  Value first = b.mul(b.getBegin(), perTask);
  Value last = b.minS(b.mul(b.getEnd(), perTask), b.getParam(rowsInAll));
  int64_t lanes = b.lanes();
  Value zero = b.cstLike(b.vec(b.f32(), lanes), 0);
  b.forLoop(first, last, b.cst(1), [&](Value row) {
    b.forLoop(b.cst(0), padded, b.cst(lanes), [&](Value unit) {
      // Behind the last row, a read at `unit` could lie beyond the buffer's
      // padding.
      Value near = b.minS(unit, b.sub(size, 1));
      Value value = from.load(b, b.add(b.mul(row, size), near), lanes);
      Value mask = b.firstLanes(b.sub(size, unit), lanes);
      Value place = b.add(b.mul(row, padded), unit);
      b.store(b.select(mask, value, zero), b.offset(target, b.mul(place, 4)));
    });
  });
}

static void planStart(SolutionPlan &plan, const Problem &problem,
                      const Layer &layer, int64_t operand, int64_t at) {
  LaunchBuilder launch(plan);
  constexpr int64_t kRowsPerTask = 16;
  int64_t rows = layer.directions * layer.batch;
  StartKernel kernel{.state = FlatTensor(launch, {BufferSlot::Operand, operand},
                                         problem.operands[operand]),
                     .to = launch.addBuffer({BufferSlot::Workspace, at}),
                     .units = launch.addParam(layer.units),
                     .rows = launch.addParam(kRowsPerTask),
                     .rowsInAll = launch.addParam(rows)};
  launch.finish(
      joinSymbol({"recurrent_start", kernel.state.symbolPart()}),
      [kernel](KernelBuilder &b) { kernel.emit(b); },
      divideCeil(rows, kRowsPerTask));
}

//===----------------------------------------------------------------------===//
// Weights
//===----------------------------------------------------------------------===//

/// The weights of a pass as [direction][tile][K][gate][lane], zero behind the
/// last unit and the last K.
static ConstantPlan packWeights(const Problem &problem, const Layer &layer,
                                GateRange gates, int64_t lanes) {
  int64_t bytes = runtime::dtypeBytes(problem.operands[1].dtype);
  int64_t units = layer.units, tiles = divideCeil(units, lanes);
  int64_t depth = llvm::alignTo(units, kUnrollK);
  int64_t directions = layer.directions, allGates = layer.cell.gates;
  return {[=](const ConstantOperands &operands) {
    std::vector<char> packed(
        directions * tiles * depth * gates.count * lanes * bytes, 0);
    const char *weights = operands[1].data();
    for (int64_t d = 0; d < directions; ++d)
      for (int64_t g = 0; g < gates.count; ++g)
        for (int64_t unit = 0; unit < units; ++unit)
          for (int64_t k = 0; k < units; ++k) {
            int64_t line = (d * allGates + gates.first + g) * units + unit;
            int64_t tile = d * tiles + unit / lanes;
            int64_t to =
                ((tile * depth + k) * gates.count + g) * lanes + unit % lanes;
            std::memcpy(packed.data() + to * bytes,
                        weights + (line * units + k) * bytes, bytes);
          }
    return packed;
  }};
}

//===----------------------------------------------------------------------===//
// Steps
//===----------------------------------------------------------------------===//

namespace {
/// The part of the work that one launch does.
struct Share {
  std::vector<Pass> passes;
  int64_t firstStep, lastStep;
  int64_t blocks; ///< of hidden units, a task each
};

/// Adds the launches of a layer.
class StepPlanner {
public:
  StepPlanner(SolutionPlan &plan, const Problem &problem,
              const TargetInfo &target)
      : plan(plan), problem(problem), target(target), layer(problem),
        tiles(divideCeil(layer.units, target.lanes())) {}
  void run();

private:
  int64_t chooseBlocks() const;
  std::vector<Pass> getPasses() const;
  BufferSlot getWeights(Pass pass);
  void addLaunch(const Share &share);

  SolutionPlan &plan;
  const Problem &problem;
  const TargetInfo &target;
  Layer layer;
  int64_t tiles;
  std::map<Pass, int64_t> packed;
};
} // namespace

/// Uses more than one block only if a thread's share of a step takes longer
/// than distributing it.
int64_t StepPlanner::chooseBlocks() const {
  constexpr double kLeastProducts = 128 << 10;
  int64_t blocks =
      std::min<int64_t>(tiles, divideCeil(target.threads, layer.directions));
  double products = static_cast<double>(layer.cell.gates) *
                    static_cast<double>(layer.units * layer.units) *
                    static_cast<double>(layer.batch * layer.directions);
  return products >= kLeastProducts * static_cast<double>(target.threads)
             ? blocks
             : 1;
}

std::vector<Pass> StepPlanner::getPasses() const {
  if (problem.op == OpKind::Gru && !hasFlag(problem, "linear_before_reset"))
    return {Pass::GruGates, Pass::GruState};
  return {Pass::Only};
}

BufferSlot StepPlanner::getWeights(Pass pass) {
  auto [entry, isNew] =
      packed.try_emplace(pass, static_cast<int64_t>(plan.constants.size()));
  if (isNew)
    plan.constants.push_back(packWeights(
        problem, layer, getGates(pass, layer.cell), target.lanes()));
  return {BufferSlot::Constant, entry->second};
}

void StepPlanner::addLaunch(const Share &share) {
  LaunchBuilder launch(plan);
  std::vector<int64_t> weights;
  for (Pass pass : share.passes)
    weights.push_back(launch.addBuffer(getWeights(pass)));
  auto addOperand = [&](int64_t index) {
    return FlatTensor(launch, {BufferSlot::Operand, index},
                      problem.operands[index]);
  };
  auto addState = [&](int64_t at) {
    return launch.addBuffer({BufferSlot::Workspace, at});
  };
  // There are values for both directions; those of a missing direction are
  // never used.
  auto addReals = [&](StringRef name) {
    std::vector<double> values = problem.attrs.at(name.str());
    values.resize(2 * layer.cell.activations);
    int64_t first = launch.addParams({});
    for (double value : values)
      launch.addFloatParam(value);
    return first;
  };
  std::vector<int64_t> reversed = problem.ints("reversed");
  reversed.resize(2);
  std::optional<FlatTensor> extra;
  if (problem.op != OpKind::Rnn)
    extra = addOperand(problem.op == OpKind::Lstm ? 5 : 4);
  StepKernel kernel{
      .op = problem.op,
      .cell = layer.cell,
      .coupled = hasFlag(problem, "input_forget"),
      .linear = hasFlag(problem, "linear_before_reset"),
      .clips = problem.number("clip") > 0,
      .weightDtype = problem.operands[1].dtype,
      .lengthDtype = problem.operands[2].dtype,
      .passes = share.passes,
      .activations = getActivations(problem, layer, 0),
      .gates = addOperand(0),
      .result = FlatTensor(launch, {BufferSlot::Result, 0}, problem.result),
      .extra = extra,
      .weights = weights,
      .lengths = launch.addOperand(2),
      .hidden = addState(layer.hiddenAt()),
      .cells = addState(layer.cellsAt()),
      .updates = addState(layer.updatesAt()),
      .resets = addState(layer.resetsAt()),
      .firstStep = launch.addParam(share.firstStep),
      .lastStep = launch.addParam(share.lastStep),
      .steps = launch.addParam(layer.steps),
      .batch = launch.addParam(layer.batch),
      .units = launch.addParam(layer.units),
      .directions = launch.addParam(layer.directions),
      .tiles = launch.addParam(tiles),
      .tilesPerTask = launch.addParam(divideCeil(tiles, share.blocks)),
      .blocks = launch.addParam(share.blocks),
      .reversed = launch.addParams(reversed),
      .clip = launch.addFloatParam(problem.number("clip")),
      .alphas = addReals("alphas"),
      .betas = addReals("betas")};
  launch.finish(
      kernel.symbol(), [kernel](KernelBuilder &b) { kernel.emit(b); },
      layer.directions * share.blocks, StepKernel::scratchBytes());
}

void StepPlanner::run() {
  planStart(plan, problem, layer, 3, layer.hiddenAt());
  if (problem.op == OpKind::Lstm)
    planStart(plan, problem, layer, 4, layer.cellsAt());
  int64_t blocks = chooseBlocks();
  if (blocks == 1)
    return addLaunch({getPasses(), 0, layer.steps, 1});
  for (int64_t step = 0; step < layer.steps; ++step)
    for (Pass pass : getPasses())
      addLaunch({{pass}, step, step + 1, blocks});
}

SolutionPlan Recurrent::plan(const Problem &problem, const TargetInfo &target,
                             const PerfConfig & /*config*/) const {
  SolutionPlan plan;
  StepPlanner(plan, problem, target).run();
  plan.workspaceBytes = Layer(problem).workspaceBytes();
  return plan;
}

const Solver &tarpon::getRecurrent() {
  static const Recurrent solver;
  return solver;
}
