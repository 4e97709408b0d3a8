//===- RaiseAttention.cpp - Finds attention in products ---------*- C++ -*-===//
//
// Part of Tarpon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Exporters and our importer write attention as two products with a softmax
// between them. From each softmax, its operands are looked for in both
// directions, through values that nothing else reads.
//
//===----------------------------------------------------------------------===//

#include "MovementChain.h"
#include "PassTarget.h"
#include "Regions.h"
#include "tarpon/IR/ConstantData.h"
#include "tarpon/IR/FusedProblem.h"
#include "tarpon/Passes/Passes.h"
#include "tarpon/Problem/Shapes.h"
#include "tarpon/Runtime/Precision.h"
#include "tarpon/Solver/Solver.h"

#include "llvm/ADT/STLExtras.h"

#include <cmath>
#include <optional>

using namespace mlir;
using namespace tarpon;
using namespace tarpon::detail;
using runtime::Precision;

namespace tarpon {
#define GEN_PASS_DEF_RAISEATTENTIONPASS
#include "tarpon/Passes/Passes.h.inc"
} // namespace tarpon

/// A score from which this is subtracted has no weight beside others. Exporters
/// write the least finite number in place of minus infinity.
static constexpr float kHidden = -1e30F;

//===----------------------------------------------------------------------===//
// Parts
//===----------------------------------------------------------------------===//

/// The only op that reads the value; null if there are more.
static Operation *getOnlyUser(Value value) {
  return value.hasOneUse() ? *value.getUsers().begin() : nullptr;
}

static std::optional<double> getNumber(Value value) {
  ElementsAttr attr = getConstantValue(value);
  if (!attr || attr.getNumElements() != 1 || !isF32(value))
    return std::nullopt;
  std::vector<float> numbers = getConstantFloats(attr);
  return numbers.empty() ? std::nullopt
                         : std::optional<double>(numbers.front());
}

namespace {

/// The factor of a value that is scaled by a number.
struct Scaled {
  Value value;
  double factor = 1;
};

} // namespace

/// Reads a product with a number, or a quotient by one.
static std::optional<Scaled> readScale(Value value) {
  Operation *op = value.getDefiningOp();
  if (!isa_and_nonnull<MulOp, DivOp>(op))
    return std::nullopt;
  bool divides = isa<DivOp>(op);
  for (unsigned index : {1, 0}) {
    std::optional<double> number = getNumber(op->getOperand(index));
    Value other = op->getOperand(1 - index);
    if (!number || *number == 0 || (divides && index == 0) ||
        other.getType() != value.getType())
      continue;
    return Scaled{other, divides ? 1 / *number : *number};
  }
  return std::nullopt;
}

/// Takes the factors from a value that nothing else reads.
static Scaled takeScales(Value value) {
  Scaled all = {value};
  while (all.value.hasOneUse()) {
    std::optional<Scaled> scaled = readScale(all.value);
    if (!scaled)
      break;
    all.value = scaled->value;
    all.factor *= scaled->factor;
  }
  return all;
}

/// Returns the product if nothing else reads it.
static MatMulOp getProduct(Value value) {
  return value.hasOneUse() ? value.getDefiningOp<MatMulOp>() : MatMulOp();
}

/// Returns true for a constant condition that is false everywhere.
static bool isNever(Value condition) {
  ElementsAttr attr = getConstantValue(condition);
  if (!attr)
    return false;
  std::vector<char> bytes = getConstantBytes(attr);
  return !bytes.empty() &&
         llvm::all_of(bytes, [](char byte) { return byte == 0; });
}

/// Returns true if a mask of these numbers hides from each query the keys
/// behind its own, and nothing else.
static bool isCausal(ArrayRef<int64_t> shape, ArrayRef<float> numbers,
                     int64_t queries, int64_t keys) {
  if (queries > keys || static_cast<int64_t>(numbers.size()) != queries * keys)
    return false;
  // A mask of each head may have as many elements.
  if (shape.size() < 2 || shape[shape.size() - 2] != queries)
    return false;
  for (int64_t query = 0; query < queries; ++query)
    for (int64_t key = 0; key < keys; ++key) {
      float number = numbers[query * keys + key];
      bool isSeen = key <= query + keys - queries;
      if (isSeen ? number != 0 : !(number <= kHidden))
        return false;
    }
  return true;
}

//===----------------------------------------------------------------------===//
// One softmax
//===----------------------------------------------------------------------===//

/// The numbers of a constant mask; none if it is not constant.
static std::vector<float> getMaskNumbers(Value mask) {
  ElementsAttr attr = getConstantValue(mask);
  return attr && isF32(mask) ? getConstantFloats(attr) : std::vector<float>();
}

namespace {

/// A selection between scores and a number that hides them.
struct Selection {
  Value condition;
  /// True if scores are hidden where the condition is true.
  bool hides = false;
  float number = 0;

  /// The numbers to be added instead, if the condition is constant.
  std::vector<float> getNumbers() const {
    ElementsAttr attr = getConstantValue(condition);
    std::vector<float> numbers;
    if (attr)
      for (char byte : getConstantBytes(attr))
        numbers.push_back((byte != 0) == hides ? number : 0);
    return numbers;
  }
  RankedTensorType getMaskType() const {
    return getTensorType(condition).clone(
        Float32Type::get(condition.getContext()));
  }
};

} // namespace

/// Reads the scores, and the selection between them and a number that hides
/// them.
static std::optional<std::pair<Value, Selection>> readSelection(Value value) {
  auto where = value.getDefiningOp<WhereOp>();
  if (!where || !value.hasOneUse())
    return std::nullopt;
  for (bool hides : {false, true}) {
    Value scores = hides ? where.getRhs() : where.getLhs();
    std::optional<double> number =
        getNumber(hides ? where.getLhs() : where.getRhs());
    if (number && *number <= kHidden && scores.getType() == value.getType())
      return std::pair(scores, Selection{where.getCondition(), hides,
                                         static_cast<float>(*number)});
  }
  return std::nullopt;
}

namespace {

/// Finds the operands of the attention around a softmax.
class AttentionReader {
public:
  explicit AttentionReader(SoftmaxOp softmax) : softmax(softmax) {}

  /// Returns false if it is not attention.
  bool read();
  /// The problem that the attention will pose where activations are stored in
  /// `dtype`.
  Problem getProblem(runtime::DType dtype);
  void replace();

private:
  bool readScores();
  bool readSum(Value scores);
  bool readProduct(Value scores);
  bool readTurnedKey();
  void dropZeros();
  void findCausal(ArrayRef<int64_t> shape, ArrayRef<float> numbers);
  Value createMask(OpBuilder &builder);
  bool readResult();
  bool isFiniteMask();
  Value createKey(OpBuilder &builder);

  SoftmaxOp softmax;
  MatMulOp result;
  /// True if zeros stand for weights that are no numbers.
  bool isGuarded = false;
  Value query, value;
  /// A mask that is added, or stands for a selection; there is at most one.
  Value mask;
  std::optional<Selection> selection;
  /// The key, or what is moved to it: then so, at this location.
  Value key;
  std::optional<Movement> keyMovement;
  std::optional<Location> movedAt;
  Shape keyShape;
  double scale = 1;
  bool causal = false;
};

} // namespace

bool AttentionReader::read() {
  int64_t rank = softmax.getType().getRank();
  return isF32(softmax) && rank >= 3 &&
         static_cast<int64_t>(softmax.getAxis()) == rank - 1 && readResult() &&
         readScores() && (!isGuarded || isFiniteMask());
}

/// Returns true if no number of the value is known to be infinite or NaN.
static bool isFinite(Value value) {
  std::vector<float> numbers = getMaskNumbers(value);
  return !numbers.empty() && llvm::all_of(numbers, [](float number) {
    return std::isfinite(number);
  });
}

/// Returns true if no row of weights is NaN for what the mask hides: with
/// numbers that are finite, all keys that are hidden weigh alike.
bool AttentionReader::isFiniteMask() {
  if (selection)
    return std::isfinite(selection->number);
  if (!mask || isFinite(mask))
    return true;
  auto where = mask.getDefiningOp<WhereOp>();
  return where && isFinite(where.getLhs()) && isFinite(where.getRhs());
}

/// Returns the selection of a value's numbers, with zeros in place of those
/// that are NaN, if nothing else reads the value. PyTorch's exporter writes it
/// so: rows of which all is hidden have no weights.
static WhereOp getNumbersOnly(Value value) {
  for (Operation *user : value.getUsers()) {
    auto where = dyn_cast<WhereOp>(user);
    if (!where || where.getRhs() != value ||
        where.getType() != value.getType() ||
        getNumber(where.getLhs()).value_or(1) != 0)
      continue;
    auto convert = where.getCondition().getDefiningOp<ConvertOp>();
    auto isNaN =
        convert ? convert.getInput().getDefiningOp<EqualOp>() : EqualOp();
    auto isNumber = isNaN ? isNaN.getLhs().getDefiningOp<EqualOp>() : EqualOp();
    bool reads = isNumber && isNumber.getLhs() == value &&
                 isNumber.getRhs() == value &&
                 getNumber(isNaN.getRhs()).value_or(1) == 0;
    if (reads && llvm::all_of(value.getUsers(), [&](Operation *other) {
          return other == where || other == isNumber;
        }))
      return where;
  }
  return WhereOp();
}

/// probabilities * value, perhaps behind a selection that never selects, or of
/// zeros for NaN.
bool AttentionReader::readResult() {
  Value probabilities = softmax.getResult();
  if (WhereOp where = getNumbersOnly(probabilities)) {
    probabilities = where.getResult();
    isGuarded = true;
  }
  Operation *user = getOnlyUser(probabilities);
  if (auto where = dyn_cast_or_null<WhereOp>(user);
      where && where.getRhs() == probabilities &&
      getConstantValue(where.getLhs()) &&
      where.getType() == probabilities.getType() &&
      isNever(where.getCondition())) {
    probabilities = where.getResult();
    user = getOnlyUser(probabilities);
  }
  result = dyn_cast_or_null<MatMulOp>(user);
  if (!result || result.getLhs() != probabilities ||
      result.getRhs() == probabilities || result.getTransposeLhs() ||
      result.getTransposeRhs())
    return false;
  value = result.getRhs();
  return true;
}

/// The softmax's input: the product, scaled, perhaps with a mask that is added
/// or selects.
bool AttentionReader::readScores() {
  Value scores = softmax.getInput();
  if (readProduct(scores) || readSum(scores))
    return true;
  auto selected = readSelection(scores);
  if (!selected || !readProduct(selected->first))
    return false;
  selection = selected->second;
  findCausal(selection->getMaskType().getShape(), selection->getNumbers());
  return true;
}

/// A mask that hides nothing is none.
void AttentionReader::dropZeros() {
  if (!mask)
    return;
  std::vector<float> numbers = getMaskNumbers(mask);
  if (!numbers.empty() && llvm::all_of(numbers, [](float x) { return x == 0; }))
    mask = nullptr;
}

bool AttentionReader::readSum(Value scores) {
  auto add = scores.getDefiningOp<AddOp>();
  if (!add || !scores.hasOneUse())
    return false;
  for (unsigned index : {0, 1}) {
    if (add->getOperand(index).getType() != scores.getType() ||
        !readProduct(add->getOperand(index)))
      continue;
    mask = add->getOperand(1 - index);
    findCausal(getTensorType(mask).getShape(), getMaskNumbers(mask));
    dropZeros();
    return true;
  }
  return false;
}

/// A mask that hides later keys and nothing else is a flag of the attention.
void AttentionReader::findCausal(ArrayRef<int64_t> shape,
                                 ArrayRef<float> numbers) {
  ArrayRef<int64_t> scores = getTensorType(softmax.getInput()).getShape();
  causal = isCausal(shape, numbers, scores[scores.size() - 2], scores.back());
  if (!causal)
    return;
  mask = nullptr;
  selection.reset();
}

bool AttentionReader::readProduct(Value scores) {
  Scaled scaled = takeScales(scores);
  MatMulOp product = getProduct(scaled.value);
  if (!product || product.getTransposeLhs() || !isF32(product.getLhs()))
    return false;
  Scaled scaledQuery = takeScales(product.getLhs());
  Scaled scaledKey = takeScales(product.getRhs());
  query = scaledQuery.value;
  key = scaledKey.value;
  scale = scaled.factor * scaledQuery.factor * scaledKey.factor;
  keyShape.assign(getTensorType(key).getShape().begin(),
                  getTensorType(key).getShape().end());
  return product.getTransposeRhs() || readTurnedKey();
}

/// Reads the key whose transpose is multiplied: where it lies with its
/// positions in rows, if it does anywhere among the ops that move it, and
/// otherwise what they move.
bool AttentionReader::readTurnedKey() {
  MovementChain::Ops chain = MovementChain::collect(key);
  if (chain.transposes == 0 || keyShape.size() < 2)
    return false;
  auto permutation = llvm::to_vector(
      llvm::seq<int64_t>(0, static_cast<int64_t>(keyShape.size())));
  std::swap(permutation.back(), permutation[permutation.size() - 2]);
  for (size_t first = chain.ops.size(); first-- > 0;) {
    Value source = chain.ops[first]->getOperand(0);
    Movement movement(getTensorType(source).getShape());
    if (!llvm::all_of(ArrayRef(chain.ops).drop_front(first),
                      [&](Operation *op) { return movement.append(op); }))
      break;
    movement.transpose(permutation);
    movedAt = chain.ops[first]->getLoc();
    keyMovement = movement;
    key = source;
    if (movement.keepsOrder())
      break;
  }
  if (!keyMovement)
    return false;
  llvm::SmallVector<int64_t> shape = keyMovement->getShape();
  keyShape.assign(shape.begin(), shape.end());
  Scaled scaled = takeScales(key);
  scale *= scaled.factor;
  key = scaled.value;
  return true;
}

//===----------------------------------------------------------------------===//
// Replacement
//===----------------------------------------------------------------------===//

Problem AttentionReader::getProblem(runtime::DType dtype) {
  Problem problem;
  problem.op = OpKind::Attention;
  auto describe = [&](Value operand) {
    TensorDesc desc = getTensorDesc(
        getTensorType(operand), static_cast<bool>(getConstantValue(operand)));
    if (isF32(operand))
      desc.dtype = dtype;
    return desc;
  };
  problem.operands = {describe(query), describe(key), describe(value)};
  problem.operands[1].shape.assign(keyShape.begin(), keyShape.end());
  if (mask)
    problem.operands.push_back(describe(mask));
  if (selection) {
    TensorDesc &desc = problem.operands.emplace_back(getTensorDesc(
        selection->getMaskType(),
        static_cast<bool>(getConstantValue(selection->condition))));
    desc.dtype = dtype;
  }
  problem.rootOperands = static_cast<int>(problem.operands.size());
  problem.result = describe(result);
  problem.attrs = {{"scale", {scale}}, {"causal", {causal ? 1.0 : 0.0}}};
  return problem;
}

/// The key with its positions in rows.
Value AttentionReader::createKey(OpBuilder &builder) {
  if (!keyMovement)
    return key;
  auto type =
      RankedTensorType::get(keyShape, getTensorType(key).getElementType());
  return keyMovement->create(builder, *movedAt, key, type);
}

/// The mask to be added; null if there is none. A hidden score that is NaN or
/// infinite stays so, where a selection would have dropped it.
Value AttentionReader::createMask(OpBuilder &builder) {
  if (!selection)
    return mask;
  Location location = result.getLoc();
  RankedTensorType type = selection->getMaskType();
  if (getConstantValue(selection->condition))
    return createFloatConstant(builder, location, type,
                               selection->getNumbers());
  auto scalar = RankedTensorType::get({}, type.getElementType());
  Value zero = createFloatConstant(builder, location, scalar, {0.0F});
  Value hidden =
      createFloatConstant(builder, location, scalar, {selection->number});
  return WhereOp::create(builder, location, type, selection->condition,
                         selection->hides ? hidden : zero,
                         selection->hides ? zero : hidden);
}

void AttentionReader::replace() {
  OpBuilder builder(result);
  Value added = createMask(builder);
  Value attention = AttentionOp::create(
      builder, result.getLoc(), query, createKey(builder), value,
      added ? ValueRange(added) : ValueRange(), builder.getF64FloatAttr(scale),
      builder.getBoolAttr(causal));
  result.replaceAllUsesWith(attention);
  // Values that only the products read go with them.
  SmallVector<Operation *> unused = {result};
  while (!unused.empty()) {
    Operation *op = unused.pop_back_val();
    SmallVector<Value> operands(op->getOperands());
    op->erase();
    for (Value operand : operands)
      if (Operation *producer = operand.getDefiningOp();
          producer && isOpTriviallyDead(producer) &&
          !llvm::is_contained(unused, producer))
        unused.push_back(producer);
  }
}

/// The least share of the peak that is worth it. With 4 queries in 8 lanes the
/// products and the softmax are faster, with 12 in 16 they are not.
static constexpr double kLeastFraction = 0.45;

/// Returns true if a solver for such problems alone is expected to be faster.
static bool isFast(const Problem &problem, const TargetInfo &target) {
  if (!findFault(problem).empty())
    return false;
  std::vector<const Solver *> solvers = getApplicableSolvers(problem, target);
  return solvers.size() > 1 &&
         solvers.front()->expectedFraction(problem, target) >= kLeastFraction;
}

namespace {

struct RaiseAttentionPass
    : tarpon::impl::RaiseAttentionPassBase<RaiseAttentionPass> {
  using RaiseAttentionPassBase::RaiseAttentionPassBase;

  RaiseAttentionPass(const TargetInfo &target, Precision precision)
      : given(target) {
    dtype = std::string(runtime::getPrecisionName(precision));
  }

  void runOnOperation() override {
    if (getOperation().isExternal())
      return;
    FailureOr<TargetInfo> target =
        getPassTarget(getOperation(), given, targetName, threads);
    if (failed(target))
      return signalPassFailure();
    std::optional<Precision> precision =
        runtime::parsePrecision(dtype.getValue());
    if (!precision || *precision == Precision::I8) {
      getOperation().emitError(
          "expects the dtype to be fp32, fp16 or bf16, got '")
          << dtype << "'";
      return signalPassFailure();
    }
    runtime::DType stored = runtime::getFactorDType(*precision);
    for (SoftmaxOp softmax : llvm::to_vector(
             getOperation().getBody().front().getOps<SoftmaxOp>())) {
      AttentionReader attention(softmax);
      if (!attention.read() || !isFast(attention.getProblem(stored), *target))
        continue;
      attention.replace();
      ++numRaised;
    }
  }

private:
  std::optional<TargetInfo> given;
};

} // namespace

std::unique_ptr<Pass> tarpon::createRaiseAttentionPass(const TargetInfo &target,
                                                       Precision precision) {
  return std::make_unique<RaiseAttentionPass>(target, precision);
}
