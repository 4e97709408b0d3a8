//===- StepEmitter.cpp - Emits the steps of a recurrent layer -------------===//
//
// Part of Tarpon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A tile is one vector of hidden units. Its gates are multiplied together, so
// that the cell can be computed while they are in registers or cache. The
// weights of a tile lie in the order of use: [K][gates][lanes].
//
//===----------------------------------------------------------------------===//

#include "StepEmitter.h"

using namespace mlir;
using namespace tarpon;
using namespace tarpon::recurrent;

GateRange recurrent::getGates(Pass pass, const RecurrentCell &cell) {
  switch (pass) {
  case Pass::Only:
    return {0, cell.gates};
  case Pass::GruGates:
    return {0, 2};
  case Pass::GruState:
    return {2, 1};
  }
  llvm_unreachable("unknown pass");
}

namespace {

class StepEmitter {
public:
  StepEmitter(KernelBuilder &b, const StepKernel &kernel);
  void emitTask(Value task);

private:
  /// One row of the batch at one step, in one tile.
  struct Place {
    Value row, time, unit, mask;
    Value state;        ///< byte of the states of this row and tile
    Value from, to;     ///< the hidden states before and after the step
    Value isLast, sums; ///< the last step; the products of the gates
  };

  Value param(int64_t index) { return b.getParam(index); }
  Value ofDirection(function_ref<Value(int64_t)> get);
  void emitPass(size_t index, Value step);
  void emitTile(size_t index, Value step, Value tile);
  void emitProduct(size_t index, Value weights, Value states, int64_t rows);
  void emitRow(Pass pass, Value step, Value tile, Value row, Value sums);
  void emitCell(Pass pass, const Place &place);
  Value emitLstm(const Place &place);
  Value emitGru(const Place &place);
  void keepState(const Place &place);
  void finish(const Place &place, Value hidden);

  Value activate(int64_t index, Value x);
  Value gate(const Place &place, int64_t index);
  Value product(const Place &place, int64_t index);
  Value extra(const Place &place, int64_t index, int64_t perDirection);
  Value load(Value buffer, Value bytes) {
    return b.load(b.offset(buffer, bytes), type);
  }
  void storeResult(const Place &place, Value row, Value value);

  KernelBuilder &b;
  const StepKernel &kernel;
  VectorType type;
  int64_t lanes;
  BoundFlatTensor gates, result;
  std::optional<BoundFlatTensor> extras;
  Value lengths, hidden, cells, updates, resets, clip;
  Value units, batch, rowBytes, depth;
  Value direction, isSecond, from, to, tileEnd, tileBegin;
  SmallVector<std::pair<Value, Value>> activationParams;
};

} // namespace

StepEmitter::StepEmitter(KernelBuilder &b, const StepKernel &kernel)
    : b(b), kernel(kernel), type(b.vec(b.f32(), b.lanes())), lanes(b.lanes()),
      gates(kernel.gates.bind(b)), result(kernel.result.bind(b)),
      lengths(b.getBuffer(kernel.lengths)), hidden(b.getBuffer(kernel.hidden)),
      cells(b.getBuffer(kernel.cells)), updates(b.getBuffer(kernel.updates)),
      resets(b.getBuffer(kernel.resets)), units(param(kernel.units)),
      batch(param(kernel.batch)) {
  if (kernel.extra)
    extras = kernel.extra->bind(b);
  if (kernel.clips)
    clip = b.broadcast(b.getFloatParam(kernel.clip), lanes);
  rowBytes =
      b.mul(b.ceilDiv(units, b.cst(kRowUnits)), kRowUnits * sizeof(float));
  depth = b.mul(b.ceilDiv(units, b.cst(kUnrollK)), kUnrollK);
}

/// Selects one of the values of both directions.
Value StepEmitter::ofDirection(function_ref<Value(int64_t)> get) {
  return b.select(isSecond, get(1), get(0));
}

void StepEmitter::emitTask(Value task) {
  Value blocks = param(kernel.blocks);
  direction = b.div(task, blocks);
  isSecond = b.eq(direction, b.cst(1));
  tileBegin = b.mul(b.rem(task, blocks), param(kernel.tilesPerTask));
  tileEnd =
      b.minS(b.add(tileBegin, param(kernel.tilesPerTask)), param(kernel.tiles));
  auto count = static_cast<int64_t>(kernel.activations.size());
  activationParams.clear();
  for (int64_t i = 0; i < count; ++i) {
    auto get = [&](int64_t first) {
      return b.broadcast(ofDirection([&](int64_t d) {
                           return b.getFloatParam(first + d * count + i);
                         }),
                         lanes);
    };
    activationParams.emplace_back(get(kernel.alphas), get(kernel.betas));
  }
  Value stateBytes = b.mul(b.mul(param(kernel.directions), batch), rowBytes);
  b.forLoop(param(kernel.firstStep), param(kernel.lastStep), b.cst(1),
            [&](Value step) {
              // The hidden states of one step and the next are adjacent, and
              // are swapped.
              Value odd = b.rem(step, 2);
              from = b.offset(hidden, b.mul(odd, stateBytes));
              to = b.offset(hidden, b.mul(b.sub(b.cst(1), odd), stateBytes));
              for (size_t index = 0; index < kernel.passes.size(); ++index)
                emitPass(index, step);
            });
}

void StepEmitter::emitPass(size_t index, Value step) {
  b.forLoop(tileBegin, tileEnd, b.cst(1),
            [&](Value tile) { emitTile(index, step, tile); });
}

void StepEmitter::emitTile(size_t index, Value step, Value tile) {
  Pass pass = kernel.passes[index];
  int64_t gateCount = getGates(pass, kernel.cell).count;
  Value tileIndex = b.add(b.mul(direction, param(kernel.tiles)), tile);
  int64_t stepBytes =
      gateCount * lanes * runtime::dtypeBytes(kernel.weightDtype);
  Value weights = b.offset(b.getBuffer(kernel.weights[index]),
                           b.mul(b.mul(tileIndex, depth), stepBytes));
  Value source = pass == Pass::GruState ? resets : from;
  Value rows = b.mul(direction, batch);
  auto emitRows = [&](Value first, int64_t count) {
    Value states = b.offset(source, b.mul(b.add(rows, first), rowBytes));
    emitProduct(index, weights, states, count);
    b.forLoop(b.cst(count), [&](Value i) {
      Value sums = b.offset(b.getScratch(), b.mul(i, gateCount * lanes * 4));
      emitRow(pass, step, tile, b.add(first, i), sums);
    });
  };
  int64_t atOnce = StepKernel::rowsAtOnce(b.getTarget());
  Value whole = b.mul(b.div(batch, atOnce), atOnce);
  b.forLoop(b.cst(0), whole, b.cst(atOnce),
            [&](Value row) { emitRows(row, atOnce); });
  b.forLoop(whole, batch, b.cst(1), [&](Value row) { emitRows(row, 1); });
}

/// Multiplies rows of states by the weights of a tile, into the scratch.
void StepEmitter::emitProduct(size_t index, Value weights, Value states,
                              int64_t rows) {
  int64_t gateCount = getGates(kernel.passes[index], kernel.cell).count;
  int64_t weightBytes = runtime::dtypeBytes(kernel.weightDtype);
  // A single row has two chains of additions per gate.
  int64_t chains = rows == 1 ? 2 : 1, perChain = rows * gateCount;
  SmallVector<Value> zeros(chains * perChain, b.cstLike(type, 0));
  SmallVector<Value> sums = b.forLoop(
      b.cst(0), depth, b.cst(kUnrollK), zeros, [&](Value k, ValueRange before) {
        SmallVector<Value> after(before);
        Value line =
            b.offset(weights, b.mul(k, gateCount * lanes * weightBytes));
        for (int64_t step = 0; step < kUnrollK; ++step) {
          SmallVector<Value> row;
          for (int64_t g = 0; g < gateCount; ++g)
            row.push_back(b.loadConverted(
                kernel.weightDtype,
                b.offset(line, (step * gateCount + g) * lanes * weightBytes),
                lanes));
          for (int64_t r = 0; r < rows; ++r) {
            Value at = b.offset(b.offset(states, b.mul(rowBytes, r)),
                                b.mul(b.add(k, step), 4));
            Value state = b.broadcast(b.load(at, b.f32()), lanes);
            for (int64_t g = 0; g < gateCount; ++g) {
              Value &sum = after[step % chains * perChain + r * gateCount + g];
              sum = b.fma(state, row[g], sum);
            }
          }
        }
        return after;
      });
  for (int64_t i = 0; i < perChain; ++i) {
    Value sum = chains == 2 ? b.addF(sums[i], sums[perChain + i]) : sums[i];
    b.store(sum, b.offset(b.getScratch(), i * lanes * 4));
  }
}

void StepEmitter::emitRow(Pass pass, Value step, Value tile, Value row,
                          Value sums) {
  Value length = b.loadConverted(
      kernel.lengthDtype,
      b.offset(lengths, b.mul(row, runtime::dtypeBytes(kernel.lengthDtype))));
  length = b.minS(length, param(kernel.steps));
  Value reversed =
      ofDirection([&](int64_t d) { return param(kernel.reversed + d); });
  Value isActive = b.slt(step, length);
  Value backwards = b.sub(b.sub(length, step), 1);
  Value turns = b.andI(isActive, b.eq(reversed, b.cst(1)));
  Place place;
  place.row = row;
  place.time = b.select(turns, backwards, step);
  place.unit = b.mul(tile, lanes);
  place.mask = b.firstLanes(b.sub(units, place.unit), lanes);
  Value stateRow = b.add(b.mul(direction, batch), row);
  place.state = b.add(b.mul(stateRow, rowBytes), b.mul(place.unit, 4));
  place.isLast = b.eq(b.add(step, 1), param(kernel.steps));
  place.sums = sums;
  b.ifThenElse(
      isActive, [&] { emitCell(pass, place); },
      [&] {
        if (pass != Pass::GruGates)
          keepState(place);
      });
}

//===----------------------------------------------------------------------===//
// The cell
//===----------------------------------------------------------------------===//

Value StepEmitter::activate(int64_t index, Value x) {
  if (kernel.clips)
    x = emitClip(b, x, clip);
  auto [alpha, beta] = activationParams[index];
  return emitActivation(b, kernel.activations[index], x, alpha, beta);
}

/// Gate `index` of the product with the input. Lanes behind the last unit read
/// the gate behind it.
Value StepEmitter::gate(const Place &place, int64_t index) {
  Value line = b.add(b.mul(place.time, batch), place.row);
  Value gateRow =
      b.add(b.mul(line, b.mul(param(kernel.directions), kernel.cell.gates)),
            b.add(b.mul(direction, kernel.cell.gates), index));
  Value element = b.add(b.mul(gateRow, units), place.unit);
  return gates.load(b, element, lanes);
}

Value StepEmitter::product(const Place &place, int64_t index) {
  return load(place.sums, b.cst(index * lanes * 4));
}

/// Row `index` of the peepholes or biases.
Value StepEmitter::extra(const Place &place, int64_t index,
                         int64_t perDirection) {
  Value row = b.add(b.mul(direction, perDirection), index);
  return extras->load(b, b.add(b.mul(row, units), place.unit), lanes);
}

void StepEmitter::storeResult(const Place &place, Value row, Value value) {
  Value line = b.add(
      b.mul(b.add(b.mul(row, param(kernel.directions)), direction), batch),
      place.row);
  result.store(b, value, b.add(b.mul(line, units), place.unit), place.mask);
}

/// Stores the hidden state after a step.
void StepEmitter::finish(const Place &place, Value value) {
  // Elements behind the last unit are multiplied by zero weights, and must not
  // be NaN.
  Value clean = b.select(place.mask, value, b.cstLike(type, 0));
  b.store(clean, b.offset(to, place.state));
  b.ifThen(place.isLast, [&] {
    storeResult(place, param(kernel.steps), value);
    if (kernel.cell.states == 2)
      storeResult(place, b.add(param(kernel.steps), 1),
                  load(cells, place.state));
  });
}

void StepEmitter::keepState(const Place &place) {
  storeResult(place, place.time, b.cstLike(type, 0));
  finish(place, load(from, place.state));
}

Value StepEmitter::emitLstm(const Place &place) {
  auto sum = [&](int64_t index) {
    return b.addF(gate(place, index), product(place, index));
  };
  auto peephole = [&](int64_t index, Value state) {
    return b.mulF(extra(place, index, 3), state);
  };
  Value old = load(cells, place.state);
  Value input = activate(0, b.addF(sum(0), peephole(0, old)));
  Value forget = kernel.coupled ? b.subF(b.cstLike(type, 1), input)
                                : activate(0, b.addF(sum(2), peephole(2, old)));
  Value candidate = activate(1, sum(3));
  Value cell = b.addF(b.mulF(forget, old), b.mulF(input, candidate));
  Value output = activate(0, b.addF(sum(1), peephole(1, cell)));
  b.store(cell, b.offset(cells, place.state));
  return b.mulF(output, activate(2, cell));
}

Value StepEmitter::emitGru(const Place &place) {
  Value before = load(from, place.state), bias = extra(place, 0, 1);
  Value update, sum;
  if (kernel.linear) {
    update = activate(0, b.addF(gate(place, 0), product(place, 0)));
    Value reset = activate(0, b.addF(gate(place, 1), product(place, 1)));
    sum = b.mulF(reset, b.addF(product(place, 2), bias));
  } else {
    update = load(updates, place.state);
    sum = b.addF(product(place, 0), bias);
  }
  Value candidate = activate(1, b.addF(gate(place, 2), sum));
  Value keep = b.subF(b.cstLike(type, 1), update);
  return b.addF(b.mulF(keep, candidate), b.mulF(update, before));
}

void StepEmitter::emitCell(Pass pass, const Place &place) {
  if (pass == Pass::GruGates) {
    auto sum = [&](int64_t index) {
      return b.addF(gate(place, index), product(place, index));
    };
    Value reset = b.mulF(activate(0, sum(1)), load(from, place.state));
    b.store(activate(0, sum(0)), b.offset(updates, place.state));
    b.store(b.select(place.mask, reset, b.cstLike(type, 0)),
            b.offset(resets, place.state));
    return;
  }
  Value value;
  if (kernel.op == OpKind::Lstm)
    value = emitLstm(place);
  else if (kernel.op == OpKind::Gru)
    value = emitGru(place);
  else
    value = activate(0, b.addF(gate(place, 0), product(place, 0)));
  storeResult(place, place.time, value);
  finish(place, value);
}

//===----------------------------------------------------------------------===//
// The kernel
//===----------------------------------------------------------------------===//

std::string StepKernel::symbol() const {
  std::string text = joinSymbol(
      {"recurrent", getOpName(op), coupled ? "coupled" : "",
       linear ? "linear" : "", clips ? "clip" : "", gates.symbolPart(),
       runtime::dtypeName(weightDtype), runtime::dtypeName(lengthDtype),
       extra ? extra->symbolPart() : ""});
  for (Pass pass : passes)
    text = joinSymbol({text, pass == Pass::Only       ? "all"
                             : pass == Pass::GruGates ? "gates"
                                                      : "state"});
  for (RecurrentActivation activation : activations)
    text = joinSymbol(
        {text, "a" + std::to_string(static_cast<int64_t>(activation))});
  return joinSymbol({text, "to", result.symbolPart()});
}

void StepKernel::emit(KernelBuilder &b) const {
  StepEmitter emitter(b, *this);
  b.forTasks([&](Value task) { emitter.emitTask(task); });
}
