//===- Recurrent.cpp - Reference recurrent layers -------------------------===//
//
// Part of Tarpon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// One task is one direction of one element of the batch. Its states live in the
// scratch: one row of H values each for hidden state, cell state, and the
// values that a step computes before the states may change.
//
//===----------------------------------------------------------------------===//

#include "Host/Recurrent/Activations.h"
#include "Reference.h"

#include <bit>

using namespace mlir;
using namespace tarpon;

namespace {

struct RecurrentKernel {
  OpKind op;
  RecurrentCell cell;
  ComputeKind kind;
  bool coupled, linear; ///< input_forget, linear_before_reset
  bool clips;
  std::vector<int64_t> reversed, activations;
  std::vector<TensorAccess> operands;
  OutputAccess output;
  int64_t steps, batch, hidden, tasks; ///< parameters
  int64_t clip, alphas, betas;         ///< parameters

  std::string symbol() const;
  void emit(KernelBuilder &b) const;
};

/// Emits one direction; each has its own copy of the code.
class DirectionEmitter {
public:
  DirectionEmitter(KernelBuilder &b, const RecurrentKernel &kernel,
                   ArrayRef<BoundTensor> operands,
                   const OutputAccess::Bound &out, int64_t direction,
                   Value element)
      : b(b), kernel(kernel), operands(operands), out(out),
        direction(direction), d(b.cst(direction)), element(element),
        type(computeTypeOf(b, kernel.kind)), size(b.getParam(kernel.hidden)) {}
  void emit();

private:
  /// Rows of the scratch.
  enum Row : int64_t { Hidden, Cell, Next, Update, Reset, NumRows };
  /// Operands beyond gates, recurrent, lengths and hidden.
  enum Extra : int64_t { InitialCell = 4, Bias = 4, Peepholes = 5 };

  Value place(Row row, Value j) {
    Value index = b.add(b.mul(size, row), j);
    return b.offset(b.getScratch(), b.mul(index, 8));
  }
  Value get(Row row, Value j) { return b.load(place(row, j), type); }
  void set(Row row, Value j, Value value) { b.store(value, place(row, j)); }
  void forUnits(function_ref<void(Value)> body) { b.forLoop(size, body); }

  Value real(int64_t param);
  Value activate(int64_t index, Value x);
  Value gate(int64_t index, Value time, Value j);
  Value product(int64_t index, Row row, Value j);
  Value peephole(int64_t index, Value j);
  void emitStep(Value time);
  void emitLstm(Value time, Value j);
  void emitGruGates(Value time, Value j);
  void emitGru(Value time, Value j);
  void emitRnn(Value time, Value j);
  void store(Value row, Row from);

  KernelBuilder &b;
  const RecurrentKernel &kernel;
  ArrayRef<BoundTensor> operands;
  const OutputAccess::Bound &out;
  int64_t direction;
  Value d, element;
  Type type;
  Value size;
};

} // namespace

/// Loads a real-valued parameter in the compute type.
Value DirectionEmitter::real(int64_t param) {
  if (kernel.kind == ComputeKind::F64)
    return b.bitcast(b.getParam(param), b.getF64Type());
  return b.getFloatParam(param);
}

Value DirectionEmitter::activate(int64_t index, Value x) {
  int64_t at = direction * kernel.cell.activations + index;
  if (kernel.clips)
    x = recurrent::emitClip(b, x, real(kernel.clip));
  return recurrent::emitActivation(
      b, static_cast<RecurrentActivation>(kernel.activations[at]), x,
      real(kernel.alphas + at), real(kernel.betas + at));
}

/// Unit j of gate `index` of the product with the input.
Value DirectionEmitter::gate(int64_t index, Value time, Value j) {
  int64_t first = direction * kernel.cell.gates + index;
  return operands[0].load(b, {time, element, b.add(b.mul(size, first), j)});
}

/// Unit j of gate `index` of the product with a row of the scratch.
Value DirectionEmitter::product(int64_t index, Row row, Value j) {
  Value line = b.add(b.mul(size, index), j);
  return b
      .forLoop(b.cst(0), size, b.cst(1), b.cstLike(type, 0),
               [&](Value k, ValueRange sum) {
                 Value weight = operands[1].load(b, {d, line, k});
                 return SmallVector<Value>{
                     b.addF(sum.front(), b.mulF(weight, get(row, k)))};
               })
      .front();
}

Value DirectionEmitter::peephole(int64_t index, Value j) {
  return operands[Peepholes].load(b, {d, b.add(b.mul(size, index), j)});
}

void DirectionEmitter::emitLstm(Value time, Value j) {
  auto sum = [&](int64_t index) {
    return b.addF(gate(index, time, j), product(index, Hidden, j));
  };
  Value old = get(Cell, j);
  Value input = activate(0, b.addF(sum(0), b.mulF(peephole(0, j), old)));
  Value forget = kernel.coupled
                     ? b.subF(b.cstLike(type, 1), input)
                     : activate(0, b.addF(sum(2), b.mulF(peephole(2, j), old)));
  Value candidate = activate(1, sum(3));
  Value cell = b.addF(b.mulF(forget, old), b.mulF(input, candidate));
  Value output = activate(0, b.addF(sum(1), b.mulF(peephole(1, j), cell)));
  set(Cell, j, cell);
  set(Next, j, b.mulF(output, activate(2, cell)));
}

/// Emits z, and r or r * h, which all units of the step need before the others.
void DirectionEmitter::emitGruGates(Value time, Value j) {
  auto sum = [&](int64_t index) {
    return b.addF(gate(index, time, j), product(index, Hidden, j));
  };
  Value reset = activate(0, sum(1));
  set(Update, j, activate(0, sum(0)));
  set(Reset, j, kernel.linear ? reset : b.mulF(reset, get(Hidden, j)));
}

void DirectionEmitter::emitGru(Value time, Value j) {
  Value bias = operands[Bias].load(b, {d, j}), sum;
  if (kernel.linear)
    sum = b.mulF(get(Reset, j), b.addF(product(2, Hidden, j), bias));
  else
    sum = b.addF(product(2, Reset, j), bias);
  Value candidate = activate(1, b.addF(gate(2, time, j), sum));
  Value update = get(Update, j);
  Value keep = b.subF(b.cstLike(type, 1), update);
  set(Next, j, b.addF(b.mulF(keep, candidate), b.mulF(update, get(Hidden, j))));
}

void DirectionEmitter::emitRnn(Value time, Value j) {
  set(Next, j, activate(0, b.addF(gate(0, time, j), product(0, Hidden, j))));
}

void DirectionEmitter::emitStep(Value time) {
  if (kernel.op == OpKind::Gru)
    forUnits([&](Value j) { emitGruGates(time, j); });
  forUnits([&](Value j) {
    if (kernel.op == OpKind::Lstm)
      emitLstm(time, j);
    else if (kernel.op == OpKind::Gru)
      emitGru(time, j);
    else
      emitRnn(time, j);
  });
  forUnits([&](Value j) { set(Hidden, j, get(Next, j)); });
}

/// Stores a row of the scratch as one of the result.
void DirectionEmitter::store(Value row, Row from) {
  forUnits([&](Value j) { out.store(b, {row, d, element, j}, get(from, j)); });
}

void DirectionEmitter::emit() {
  forUnits([&](Value j) {
    set(Hidden, j, operands[3].load(b, {d, element, j}));
    if (kernel.op == OpKind::Lstm)
      set(Cell, j, operands[InitialCell].load(b, {d, element, j}));
  });
  Value steps = b.getParam(kernel.steps), zero = b.cst(0);
  Value given = operands[2].load(b, element);
  if (!given.getType().isInteger())
    given = arith::FPToSIOp::create(b, b.i64(), given);
  Value length = b.maxS(zero, b.minS(given, steps));
  b.forLoop(length, [&](Value step) {
    Value time =
        kernel.reversed[direction] ? b.sub(b.sub(length, step), 1) : step;
    emitStep(time);
    store(time, Hidden);
  });
  b.forLoop(length, steps, b.cst(1), [&](Value time) {
    forUnits([&](Value j) {
      out.store(b, {time, d, element, j}, b.cstLike(type, 0));
    });
  });
  store(steps, Hidden);
  if (kernel.cell.states == 2)
    store(b.add(steps, 1), Cell);
}

std::string RecurrentKernel::symbol() const {
  std::string text = joinSymbol({"ref", getOpName(op), coupled ? "coupled" : "",
                                 linear ? "linear" : "", clips ? "clip" : ""});
  for (const TensorAccess &operand : operands)
    text = joinSymbol({text, operand.symbolPart()});
  text = joinSymbol({text, output.symbolPart()});
  for (const auto &[list, letter] :
       {std::pair(&reversed, "d"), std::pair(&activations, "a")})
    for (int64_t value : *list)
      text = joinSymbol({text, letter + std::to_string(value)});
  return text;
}

void RecurrentKernel::emit(KernelBuilder &b) const {
  SmallVector<BoundTensor> bound;
  for (const TensorAccess &operand : operands)
    bound.push_back(operand.bind(b));
  OutputAccess::Bound out = output.bind(b);
  b.forTasks([&](Value task) {
    Value element = b.rem(task, b.getParam(batch));
    Value direction = b.div(task, b.getParam(batch));
    for (size_t d = 0; d < reversed.size(); ++d)
      b.ifThen(b.eq(direction, b.cst(static_cast<int64_t>(d))), [&] {
        DirectionEmitter(b, *this, bound, out, static_cast<int64_t>(d), element)
            .emit();
      });
  });
}

/// Adds consecutive real-valued parameters in the compute type of `kind`;
/// returns the index of the first.
static int64_t addReals(LaunchBuilder &launch, ComputeKind kind,
                        const std::vector<double> &values) {
  std::vector<int64_t> params;
  int64_t first = launch.addParams(params);
  for (double value : values) {
    if (kind == ComputeKind::F64)
      launch.addParam(std::bit_cast<int64_t>(value));
    else
      launch.addFloatParam(value);
  }
  return first;
}

SolutionPlan reference::planRecurrent(const Problem &problem) {
  SolutionPlan plan;
  LaunchBuilder launch(plan);
  ComputeKind kind = computeKindOf(problem);
  std::vector<TensorAccess> operands;
  for (int i = 0; i < problem.rootOperands; ++i)
    operands.push_back(
        accessOperand(launch, problem, i, problem.operands[i].shape));
  const std::vector<int64_t> &gates = problem.operands[0].shape;
  int64_t hidden = problem.operands[1].shape[2];
  auto flag = [&](StringRef name) {
    return problem.attrs.count(name.str()) && problem.integer(name) != 0;
  };
  std::vector<int64_t> reversed = problem.ints("reversed");
  auto tasks = static_cast<int64_t>(reversed.size()) * gates[1];
  RecurrentKernel kernel{
      .op = problem.op,
      .cell = *getRecurrentCell(problem.op),
      .kind = kind,
      .coupled = flag("input_forget"),
      .linear = flag("linear_before_reset"),
      .clips = problem.number("clip") > 0,
      .reversed = reversed,
      .activations = problem.ints("activations"),
      .operands = operands,
      .output = OutputAccess(launch, problem),
      .steps = launch.addParam(gates[0]),
      .batch = launch.addParam(gates[1]),
      .hidden = launch.addParam(hidden),
      .tasks = tasks,
      .clip = addReals(launch, kind, {problem.number("clip")}),
      .alphas = addReals(launch, kind, problem.attrs.at("alphas")),
      .betas = addReals(launch, kind, problem.attrs.at("betas"))};
  // The scratch has five rows of eight bytes per unit.
  launch.finish(
      kernel.symbol(), [kernel](KernelBuilder &b) { kernel.emit(b); }, tasks,
      5 * hidden * 8);
  return plan;
}
