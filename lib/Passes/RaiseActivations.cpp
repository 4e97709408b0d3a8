//===- RaiseActivations.cpp - Finds activations in arithmetic ---*- C++ -*-===//
//
// Part of Tarpon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Exporters write swish, hard-swish, GELU and mish as several ops, in any order
// of factors and summands, which read the activation's input more than once:
// no chain of ops is an epilogue then. All are p(x) + q(x) * g(r(x)) with
// polynomials p, q and r and one function g, the gate. Of each gate in the
// graph, the polynomials around it are computed and compared with those of the
// activations. Hendrycks and Gimpel, "Gaussian Error Linear Units" (2016);
// Howard et al., "Searching for MobileNetV3" (2019).
//
//===----------------------------------------------------------------------===//

#include "Regions.h"
#include "tarpon/IR/ConstantData.h"
#include "tarpon/Passes/Passes.h"

#include "llvm/ADT/APFloat.h"
#include "llvm/ADT/SetVector.h"
#include "llvm/ADT/SmallPtrSet.h"

#include <array>
#include <cmath>
#include <optional>

using namespace mlir;
using namespace tarpon;
using namespace tarpon::detail;

namespace tarpon {
#define GEN_PASS_DEF_RAISEACTIVATIONSPASS
#include "tarpon/Passes/Passes.h.inc"
} // namespace tarpon

/// Decimal fractions are written with six digits and more.
static constexpr double kTolerance = 1e-5;

static constexpr double kRootOfTwo = 1.4142135623730951;
static constexpr double kRootOfHalf = 0.7071067811865476;
/// The square root of 2 / pi, and the factor of the cube in GELU's tanh form.
static constexpr double kGeluSlope = 0.7978845608028654;
static constexpr double kGeluCube = 0.044715;

//===----------------------------------------------------------------------===//
// Numbers
//===----------------------------------------------------------------------===//

static bool isNear(double number, double wanted) {
  return std::fabs(number - wanted) <= kTolerance * std::fabs(wanted);
}

static double roundTo(const llvm::fltSemantics &semantics, double number) {
  llvm::APFloat rounded(number);
  bool losesInfo;
  rounded.convert(semantics, llvm::APFloat::rmNearestTiesToEven, &losesInfo);
  return rounded.convertToDouble();
}

/// Returns the number that a constant of an activation stands for: exporters
/// and converters round them to six digits, or to 16 bits.
static double restore(double number) {
  static constexpr double kNumbers[] = {kRootOfTwo, kRootOfHalf,
                                        1.0 / 6,    kGeluSlope,
                                        kGeluCube,  kGeluSlope * kGeluCube};
  double magnitude = std::fabs(number);
  for (double exact : kNumbers)
    if (isNear(magnitude, exact) ||
        magnitude == roundTo(llvm::APFloat::IEEEhalf(), exact) ||
        magnitude == roundTo(llvm::APFloat::BFloat(), exact))
      return std::copysign(exact, number);
  return number;
}

/// Returns the number of a constant with one element.
static std::optional<double> getNumber(Value value) {
  ElementsAttr attr = getConstantValue(value);
  if (!attr || attr.getNumElements() != 1)
    return std::nullopt;
  return restore(getConstantFloats(attr).front());
}

//===----------------------------------------------------------------------===//
// Polynomials around gates
//===----------------------------------------------------------------------===//

namespace {

/// c[0] + c[1] x + c[2] x^2 + c[3] x^3.
struct Polynomial {
  static constexpr size_t kTerms = 4;
  std::array<double, kTerms> c = {};

  bool isZero() const {
    return llvm::all_of(c, [](double number) { return number == 0; });
  }
  std::optional<double> getNumber() const {
    if (c[1] != 0 || c[2] != 0 || c[3] != 0)
      return std::nullopt;
    return c[0];
  }
  bool isNear(const Polynomial &wanted) const {
    for (auto [number, other] : llvm::zip_equal(c, wanted.c))
      if (!::isNear(number, other))
        return false;
    return true;
  }
  Polynomial scaledBy(double factor) const {
    Polynomial result = *this;
    for (double &number : result.c)
      number *= factor;
    return result;
  }
  Polynomial operator+(const Polynomial &other) const {
    Polynomial result = *this;
    for (size_t i = 0; i < kTerms; ++i)
      result.c[i] += other.c[i];
    return result;
  }
};

/// plain(x) + factor(x) * gate.
struct Form {
  Polynomial plain, factor;

  Form scaledBy(double number) const {
    return {plain.scaledBy(number), factor.scaledBy(number)};
  }
  Form operator+(const Form &other) const {
    return {plain + other.plain, factor + other.factor};
  }
};

} // namespace

/// Returns the product unless it has a power above the third.
static std::optional<Polynomial> multiply(const Polynomial &lhs,
                                          const Polynomial &rhs) {
  Polynomial product;
  for (size_t i = 0; i < Polynomial::kTerms; ++i)
    for (size_t j = 0; j < Polynomial::kTerms; ++j) {
      double term = lhs.c[i] * rhs.c[j];
      if (term == 0)
        continue;
      if (i + j >= Polynomial::kTerms)
        return std::nullopt;
      product.c[i + j] += term;
    }
  return product;
}

/// Returns the product unless it has such a power of x, or one of the gate.
static std::optional<Form> multiply(const Form &lhs, const Form &rhs) {
  if (!lhs.factor.isZero() && !rhs.factor.isZero())
    return std::nullopt;
  std::optional<Polynomial> plain = multiply(lhs.plain, rhs.plain);
  std::optional<Polynomial> left = multiply(lhs.factor, rhs.plain);
  std::optional<Polynomial> right = multiply(lhs.plain, rhs.factor);
  if (!plain || !left || !right)
    return std::nullopt;
  return Form{*plain, *left + *right};
}

static bool isArithmetic(Operation *op) {
  return isa_and_nonnull<AddOp, SubOp, MulOp, DivOp, NegOp, PowOp>(op);
}

namespace {

/// Expresses values by x and the gate.
class FormReader {
public:
  FormReader(Value x, Value gate) : x(x), gate(gate) {}

  /// Returns none if the value is no such form, or has another type than x.
  std::optional<Form> read(Value value) {
    if (value == x)
      return Form{{{0, 1}}, {}};
    if (value == gate)
      return Form{{}, {{1}}};
    if (std::optional<double> number = getNumber(value))
      return Form{{{*number}}, {}};
    Operation *op = value.getDefiningOp();
    if (!isArithmetic(op) || value.getType() != x.getType() ||
        depth == kMostDepth)
      return std::nullopt;
    ops.insert(op);
    ++depth;
    std::optional<Form> form = combine(op);
    --depth;
    return form;
  }

  /// The ops between x and the values that were read.
  ArrayRef<Operation *> getOps() const { return ops.getArrayRef(); }

private:
  /// Six ops lie between the result of GELU's tanh form and its input.
  static constexpr int kMostDepth = 8;

  std::optional<Form> combine(Operation *op) {
    std::optional<Form> lhs = read(op->getOperand(0));
    if (!lhs)
      return std::nullopt;
    if (isa<NegOp>(op))
      return lhs->scaledBy(-1);
    std::optional<Form> rhs = read(op->getOperand(1));
    if (!rhs)
      return std::nullopt;
    if (isa<AddOp>(op))
      return *lhs + *rhs;
    if (isa<SubOp>(op))
      return *lhs + rhs->scaledBy(-1);
    if (isa<MulOp>(op))
      return multiply(*lhs, *rhs);
    std::optional<double> number = rhs->plain.getNumber();
    if (!number || !rhs->factor.isZero())
      return std::nullopt;
    return isa<DivOp>(op) ? divide(*lhs, *number) : raise(*lhs, *number);
  }

  static std::optional<Form> divide(const Form &form, double number) {
    if (number == 0)
      return std::nullopt;
    return form.scaledBy(1 / number);
  }

  static std::optional<Form> raise(const Form &form, double exponent) {
    std::optional<Form> power = multiply(form, form);
    if (exponent == 2 || !power)
      return power;
    return exponent == 3 ? multiply(*power, form) : std::nullopt;
  }

  Value x, gate;
  int depth = 0;
  llvm::SetVector<Operation *> ops;
};

} // namespace

//===----------------------------------------------------------------------===//
// Gates
//===----------------------------------------------------------------------===//

namespace {

/// The functions by which activations multiply their input.
enum class GateKind : uint8_t {
  Sigmoid,
  UnitClip, ///< min(max(x, 0), 1)
  Erf,
  Tanh,
  TanhOfSoftplus,
};

/// result = gain * function(scale * argument + shift).
struct Gate {
  GateKind kind;
  Value result, argument;
  /// The ops that compute it.
  SmallVector<Operation *> ops;
  double scale = 1, shift = 0, gain = 1;
};

/// A value between two bounds.
struct Bounded {
  Value value;
  double low = -HUGE_VAL, high = HUGE_VAL;
  SmallVector<Operation *> ops;
};

} // namespace

/// Reads an op that bounds its operand from one side or both.
static std::optional<Bounded> readBounds(Operation *op) {
  if (auto clip = dyn_cast<ClipOp>(op))
    return Bounded{clip.getInput(),
                   clip.getLow().convertToDouble(),
                   clip.getHigh().convertToDouble(),
                   {op}};
  if (auto relu = dyn_cast<ReluOp>(op))
    return Bounded{relu.getInput(), 0, HUGE_VAL, {op}};
  if (!isa<MinOp, MaxOp>(op))
    return std::nullopt;
  for (unsigned index : {1, 0})
    if (std::optional<double> number = getNumber(op->getOperand(index))) {
      Value value = op->getOperand(1 - index);
      if (isa<MinOp>(op))
        return Bounded{value, -HUGE_VAL, *number, {op}};
      return Bounded{value, *number, HUGE_VAL, {op}};
    }
  return std::nullopt;
}

/// Reads several such ops, one behind the other.
static std::optional<Bounded> readAllBounds(Operation *op) {
  std::optional<Bounded> all = readBounds(op);
  while (all) {
    Operation *next = all->value.getDefiningOp();
    std::optional<Bounded> inner = next ? readBounds(next) : std::nullopt;
    // Otherwise only one of the bounds is left.
    if (!inner || inner->low > all->high || all->low > inner->high)
      break;
    all->value = inner->value;
    all->low = std::fmax(all->low, inner->low);
    all->high = std::fmin(all->high, inner->high);
    all->ops.push_back(next);
  }
  return all;
}

/// Reads min(max(x, 0), high).
static std::optional<Gate> readBoundedGate(Operation &op) {
  std::optional<Bounded> bounded = readAllBounds(&op);
  if (!bounded || bounded->low != 0 || !(bounded->high > 0) ||
      !std::isfinite(bounded->high))
    return std::nullopt;
  Gate gate{GateKind::UnitClip, op.getResult(0), bounded->value, bounded->ops};
  gate.scale = 1 / bounded->high;
  gate.gain = bounded->high;
  return gate;
}

static std::optional<Gate> readGate(Operation &op) {
  if (isa<SigmoidOp>(op))
    return Gate{GateKind::Sigmoid, op.getResult(0), op.getOperand(0), {&op}};
  if (isa<ErfOp>(op))
    return Gate{GateKind::Erf, op.getResult(0), op.getOperand(0), {&op}};
  if (auto tanh = dyn_cast<TanhOp>(op)) {
    if (auto softplus = tanh.getInput().getDefiningOp<SoftplusOp>())
      return Gate{GateKind::TanhOfSoftplus,
                  tanh.getResult(),
                  softplus.getInput(),
                  {tanh, softplus}};
    return Gate{GateKind::Tanh, tanh.getResult(), tanh.getInput(), {tanh}};
  }
  if (auto hard = dyn_cast<HardSigmoidOp>(op)) {
    Gate gate{GateKind::UnitClip, hard.getResult(), hard.getInput(), {hard}};
    gate.scale = restore(hard.getAlpha().convertToDouble());
    gate.shift = hard.getBeta().convertToDouble();
    return gate;
  }
  return readBoundedGate(op);
}

//===----------------------------------------------------------------------===//
// Activations
//===----------------------------------------------------------------------===//

namespace {

/// An activation as a form around a gate.
struct Activation {
  GateKind gate;
  /// The gate's function is applied to this; or, if it is zero, to a multiple
  /// of x, which `create` is given.
  Polynomial argument;
  Form form;
  Value (*create)(OpBuilder &, Location, Value x, double slope);
};

} // namespace

template <typename OpTy>
static Value createOp(OpBuilder &builder, Location loc, Value x, double) {
  return OpTy::create(builder, loc, x);
}

static Value createSwish(OpBuilder &builder, Location loc, Value x,
                         double slope) {
  return SwishOp::create(builder, loc, x,
                         builder.getF32FloatAttr(static_cast<float>(slope)));
}

static constexpr Form kTimesX = {{}, {{0, 1}}};
static constexpr Form kHalfOfXPlusTimesX = {{{0, 0.5}}, {{0, 0.5}}};

static constexpr Activation kActivations[] = {
    {GateKind::Sigmoid, {}, kTimesX, createSwish},
    {GateKind::UnitClip, {{0.5, 1.0 / 6}}, kTimesX, createOp<HardSwishOp>},
    {GateKind::Erf, {{0, kRootOfHalf}}, kHalfOfXPlusTimesX, createOp<GeluOp>},
    {GateKind::Tanh,
     {{0, kGeluSlope, 0, kGeluSlope * kGeluCube}},
     kHalfOfXPlusTimesX,
     createOp<GeluTanhOp>},
    {GateKind::TanhOfSoftplus, {{0, 1}}, kTimesX, createOp<MishOp>},
};

/// Returns true if the gate computes its function of the activation's argument;
/// `argument` is the gate's own.
static bool hasArgument(const Activation &activation, const Gate &gate,
                        const Polynomial &argument) {
  Polynomial inner = argument.scaledBy(gate.scale) + Polynomial{{gate.shift}};
  if (!activation.argument.isZero())
    return inner.isNear(activation.argument);
  return inner.isNear({{0, inner.c[1]}}) && inner.c[1] != 0;
}

/// Returns true if the numbers of f32 suffice: in f64, a constant that was
/// rounded to f32 would differ from the exact one.
static bool isNarrowFloat(Value value) {
  auto type = dyn_cast<FloatType>(getTensorType(value).getElementType());
  return type && type.getWidth() <= 32;
}

namespace {

using OpSet = llvm::SmallPtrSet<Operation *, 16>;

/// Raises one gate and the ops around it.
class GateRaiser {
public:
  explicit GateRaiser(Gate gate) : gate(std::move(gate)) {}

  /// Returns the ops that an activation replaced, which are erased; none if
  /// they are no activation.
  OpSet raise() {
    for (Value x : findInputs())
      for (const Activation &activation : kActivations)
        if (activation.gate == gate.kind)
          if (OpSet replaced = raise(activation, x); !replaced.empty())
            return replaced;
    return {};
  }

private:
  /// The values that could be the activation's input, from the gate backwards.
  SmallVector<Value> findInputs() const {
    constexpr size_t kMostInputs = 16;
    SmallVector<Value> inputs = {gate.argument};
    for (size_t i = 0; i < inputs.size() && inputs.size() < kMostInputs; ++i) {
      Operation *op = inputs[i].getDefiningOp();
      if (!isArithmetic(op))
        continue;
      for (Value operand : op->getOperands())
        if (!getNumber(operand) && !llvm::is_contained(inputs, operand))
          inputs.push_back(operand);
    }
    return inputs;
  }

  OpSet raise(const Activation &activation, Value x) {
    FormReader arguments(x, /*gate=*/nullptr);
    std::optional<Form> argument = arguments.read(gate.argument);
    if (!argument || gate.result.getType() != x.getType() ||
        !hasArgument(activation, gate, argument->plain))
      return {};
    FormReader results(x, gate.result);
    Value value = gate.result;
    while (value.hasOneUse()) {
      Operation *user = *value.getUsers().begin();
      if (!isArithmetic(user))
        break;
      value = user->getResult(0);
      std::optional<Form> form = results.read(value);
      if (!form)
        break;
      if (!form->plain.isNear(activation.form.plain) ||
          !form->factor.scaledBy(gate.gain).isNear(activation.form.factor))
        continue;
      OpSet replaced(llvm::from_range, gate.ops);
      replaced.insert_range(arguments.getOps());
      replaced.insert_range(results.getOps());
      if (!isReadInside(replaced, user))
        break;
      OpBuilder builder(user);
      double slope = argument->plain.c[1] * gate.scale;
      value.replaceAllUsesWith(
          activation.create(builder, user->getLoc(), x, slope));
      erase(replaced);
      return replaced;
    }
    return {};
  }

  /// Returns true if only ops of the set read the results of those before
  /// `last`.
  static bool isReadInside(const OpSet &ops, Operation *last) {
    return llvm::all_of(ops, [&](Operation *op) {
      return op == last || llvm::all_of(op->getUsers(), [&](Operation *user) {
               return ops.contains(user);
             });
    });
  }

  static void erase(const OpSet &ops) {
    SmallVector<Operation *> users(ops.begin(), ops.end());
    llvm::sort(users, [](Operation *a, Operation *b) {
      return b->isBeforeInBlock(a);
    });
    for (Operation *op : users)
      op->erase();
  }

  Gate gate;
};

struct RaiseActivationsPass
    : tarpon::impl::RaiseActivationsPassBase<RaiseActivationsPass> {
  void runOnOperation() override {
    if (getOperation().isExternal())
      return;
    SmallVector<Operation *> ops;
    for (Operation &op : getOperation().getBody().front())
      if (readGate(op))
        ops.push_back(&op);
    OpSet erased;
    for (Operation *op : ops) {
      std::optional<Gate> gate;
      if (!erased.contains(op))
        gate = readGate(*op);
      if (!gate || !isNarrowFloat(gate->result))
        continue;
      OpSet replaced = GateRaiser(std::move(*gate)).raise();
      numRaised += !replaced.empty();
      erased.insert_range(replaced);
    }
  }
};

} // namespace
