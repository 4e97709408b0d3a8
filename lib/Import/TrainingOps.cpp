//===- TrainingOps.cpp - Import of steps of optimisers --------------------===//
//
// Part of Tarpon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The inputs are the learning rate, the number of steps so far, and then all
// weights, all gradients and one or two lists of moments.
//
//===----------------------------------------------------------------------===//

#include "OnnxNode.h"
#include "OpTable.h"

#include <cmath>

using namespace mlir;

namespace tarpon {

namespace {

/// A step for one tensor of weights.
class OptimizerStep {
public:
  OptimizerStep(OnnxNode &node, unsigned index, unsigned count)
      : node(node), index(index), count(count) {}

  void applyAdagrad();
  void applyAdam();
  void applyMomentum();

private:
  Value input(unsigned list) { return node.getInput(2 + list * count + index); }
  void setOutput(unsigned list, Value value) {
    node.setOutput(list * count + index, value);
  }
  Value add(Value lhs, Value rhs) { return node.create<AddOp>(lhs, rhs); }
  Value subtract(Value lhs, Value rhs) { return node.create<SubOp>(lhs, rhs); }
  Value times(Value lhs, Value rhs) { return node.create<MulOp>(lhs, rhs); }
  Value divide(Value lhs, Value rhs) { return node.create<DivOp>(lhs, rhs); }
  Value number(double value) {
    return node.createNumber(value, getTensorType(input(0)).getElementType());
  }
  Value times(double factor, Value value) {
    return times(number(factor), value);
  }
  /// An input of one number, in the type of the weights.
  Value scalar(unsigned input) {
    return node.convert(node.reshape(node.getInput(input), {}),
                        getTensorType(this->input(0)).getElementType());
  }
  /// `later` after the first step, which has the number 0.
  Value choose(Value later, Value first) {
    Value isLater = node.isSet(node.create<LessOp>(number(0), scalar(1)));
    return node.create<WhereOp>(isLater, later, first);
  }
  /// The gradient of the loss with its regularisation.
  Value getGradient() {
    return add(times(node.getFloat("norm_coefficient", 0), input(0)), input(1));
  }
  /// 1 - base^step.
  Value correct(double base) {
    return subtract(number(1), node.create<PowOp>(number(base), scalar(1)));
  }

  OnnxNode &node;
  unsigned index, count;
};

} // namespace

void OptimizerStep::applyAdagrad() {
  Value gradient = getGradient();
  Value decayed =
      add(number(1), times(node.getFloat("decay_factor", 0), scalar(1)));
  Value rate = divide(scalar(0), decayed);
  Value moment = add(input(2), times(gradient, gradient));
  Value scale =
      add(node.create<SqrtOp>(moment), number(node.getFloat("epsilon", 1e-6f)));
  setOutput(0, subtract(input(0), divide(times(rate, gradient), scale)));
  setOutput(1, moment);
}

void OptimizerStep::applyAdam() {
  double alpha = node.getFloat("alpha", 0.9f),
         beta = node.getFloat("beta", 0.999f),
         after = node.getFloat("norm_coefficient_post", 0);
  Value gradient = getGradient();
  Value first = add(times(alpha, input(2)), times(1 - alpha, gradient));
  Value second =
      add(times(beta, input(3)), times(1 - beta, times(gradient, gradient)));
  Value scale =
      add(node.create<SqrtOp>(second), number(node.getFloat("epsilon", 1e-6f)));
  Value corrected = divide(times(scalar(0), node.create<SqrtOp>(correct(beta))),
                           correct(alpha));
  Value rate = choose(corrected, scalar(0));
  Value result = subtract(input(0), times(rate, divide(first, scale)));
  setOutput(0, times(1 - after, result));
  setOutput(1, first);
  setOutput(2, second);
}

void OptimizerStep::applyMomentum() {
  std::string mode = node.getString("mode", "");
  if (mode != "standard" && mode != "nesterov")
    node.emitError() << "attribute 'mode' is '" << mode
                     << "', expected standard or nesterov";
  double alpha = node.getFloat("alpha", 0);
  Value gradient = getGradient();
  Value weight = choose(number(node.getFloat("beta", 0)), number(1));
  Value moment = add(times(alpha, input(2)), times(weight, gradient));
  Value change =
      mode == "nesterov" ? add(gradient, times(alpha, moment)) : moment;
  setOutput(0, subtract(input(0), times(scalar(0), change)));
  setOutput(1, moment);
}

/// Applies a step to all weights, of which the inputs are that many lists.
static void importSteps(OnnxNode &node, unsigned lists,
                        void (OptimizerStep::*apply)()) {
  unsigned rest = node.getNumInputs() - 2;
  if (rest % lists != 0 || node.getNumOutputs() != rest / lists * (lists - 1)) {
    node.emitError() << "has " << node.getNumInputs() << " inputs and "
                     << node.getNumOutputs()
                     << " outputs, which are not those of " << lists
                     << " lists";
    return;
  }
  for (unsigned input : {0, 1})
    if (multiply(getShape(node.getInput(input))) != 1)
      node.emitError() << "input " << input << " is "
                       << node.getInput(input).getType()
                       << ", expected one number";
  unsigned count = rest / lists;
  for (unsigned i = 2; i < node.getNumInputs(); ++i)
    if (node.getInput(i).getType() !=
        node.getInput(2 + (i - 2) % count).getType())
      node.emitError() << "input " << i << " is " << node.getInput(i).getType()
                       << ", expected the type of its weights";
  for (unsigned i = 0; i < count && !node.hasFailed(); ++i)
    (OptimizerStep(node, i, count).*apply)();
}

void importAdagrad(OnnxNode &node) {
  importSteps(node, 3, &OptimizerStep::applyAdagrad);
}
void importAdam(OnnxNode &node) {
  importSteps(node, 4, &OptimizerStep::applyAdam);
}
void importMomentum(OnnxNode &node) {
  importSteps(node, 3, &OptimizerStep::applyMomentum);
}

} // namespace tarpon
