//===- PackageBuilder.cpp - Builds packages from launches -----------------===//
//
// Part of Tarpon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Reshapes and joins cost nothing: they are views (see Views.h). A result that
// the function returns is computed directly in the output; a value that is
// returned a second time, or is an argument or a constant, is copied by a layer
// of its own. A conversion of a constant to another layout is done at compile
// time.
//
//===----------------------------------------------------------------------===//

#include "tarpon/Targets/Package/PackageBuilder.h"
#include "tarpon/Solver/SolverRegistry.h"

#include "PackageAssembler.h"

#include "tarpon/IR/ConstantData.h"
#include "tarpon/IR/ElementTypes.h"
#include "tarpon/IR/FusedProblem.h"
#include "tarpon/IR/Views.h"
#include "tarpon/Runtime/KernelABI.h"
#include "tarpon/Runtime/SizedPackage.h"

#include "llvm/ADT/DenseMap.h"
#include "llvm/Support/MathExtras.h"

#include <algorithm>

using namespace mlir;
using namespace tarpon;
using runtime::BufferRef;
using runtime::BufferSpace;
using runtime::Error;
using runtime::Package;
using runtime::Result;
using runtime::Status;

//===----------------------------------------------------------------------===//
// Reading the IR
//===----------------------------------------------------------------------===//

static RankedTensorType getTensorType(Value value) {
  return cast<RankedTensorType>(value.getType());
}

/// The offset of a value in its storage, in bytes.
static int64_t getViewBytes(const View &view) {
  TensorDesc desc = getTensorDesc(getTensorType(view.storage), false);
  return view.offset * runtime::dtypeBytes(desc.dtype);
}

/// A string attribute of the function, or "".
static std::string getString(func::FuncOp function, StringRef name) {
  auto attr = function->getAttrOfType<StringAttr>(name);
  return attr ? attr.str() : "";
}

/// Returns element `index` of a list of strings, or `fallback` followed by the
/// index.
static std::string getName(func::FuncOp function, StringRef list, size_t index,
                           StringRef fallback) {
  auto names = function->getAttrOfType<ArrayAttr>(list);
  if (names && index < names.size())
    if (auto name = dyn_cast<StringAttr>(names[index]))
      return name.str();
  return (fallback + std::to_string(index)).str();
}

/// Returns true if the launch's problem has these tensors, scales included, and
/// its constants are constants here.
static bool fitsTypes(LaunchOp op, const Problem &problem) {
  auto fits = [](const TensorDesc &desc, Value value) {
    RankedTensorType type = getTensorType(value);
    return isElementType(type.getElementType()) &&
           desc == getTensorDesc(type, desc.constant) &&
           (!desc.constant || getConstantValue(getView(value).storage));
  };
  if (problem.operands.size() != op.getInputs().size() ||
      problem.numResults() != op->getNumResults())
    return false;
  for (auto [desc, input] : llvm::zip_equal(problem.operands, op.getInputs()))
    if (!fits(desc, input))
      return false;
  for (OpResult result : op->getResults())
    if (!fits(problem.getResult(result.getResultNumber()), result))
      return false;
  return true;
}

//===----------------------------------------------------------------------===//
// Constants
//===----------------------------------------------------------------------===//

/// References the bytes where they are stored unchanged.
static ConstantBytes readConstant(ElementsAttr constant) {
  if (ArrayRef<char> stored = getStoredBytes(constant); !stored.empty())
    return ConstantBytes(stored);
  return getConstantBytes(constant);
}

bool tarpon::movesConstant(const Problem &problem) {
  const TensorDesc &from = problem.operands.front(), &to = problem.result;
  return problem.op == OpKind::Convert && from.constant &&
         problem.epilogue.empty() && from.dtype == to.dtype &&
         !from.quantized && !to.quantized && from.layout.kind == Layout::NCHW &&
         to.rank() >= 2 && to.pitch == 0;
}

/// Converts the bytes of a row-major constant to the layout of `to`. Padding
/// channels of blocks are zero.
static std::vector<char> moveConstant(ArrayRef<char> bytes,
                                      const TensorDesc &to) {
  std::vector<char> moved(to.numBytes(), 0);
  int64_t size = runtime::dtypeBytes(to.dtype), pixels = to.spatialSize();
  int64_t channels = to.shape[1];
  // Consecutive runs of memory are blocks of channels: nhwc has one, and nchw
  // one per channel.
  int64_t block = to.layout.kind == Layout::NHWC ? channels : to.layout.block;
  int64_t blocks = llvm::divideCeil(channels, block);
  const char *source = bytes.data();
  for (int64_t image = 0; image < to.shape[0]; ++image)
    for (int64_t channel = 0; channel < channels; ++channel)
      for (int64_t pixel = 0; pixel < pixels; ++pixel, source += size) {
        int64_t plane = image * blocks + channel / block;
        int64_t at = (plane * pixels + pixel) * block + channel % block;
        std::copy_n(source, size, moved.data() + at * size);
      }
  return moved;
}

//===----------------------------------------------------------------------===//
// Building the package
//===----------------------------------------------------------------------===//

namespace {

class PackageBuilder {
public:
  PackageBuilder(func::FuncOp function, KernelCompiler &compiler)
      : function(function), compiler(compiler) {}

  /// The package's program and description; `assembler` has the rest.
  Result<Package> build(PackageAssembler &assembler);

private:
  Status describeInterface();
  void describeSizes();
  void placeResults();
  Status addOp(Operation &op);
  Status addLaunch(LaunchOp op);
  bool foldLaunch(LaunchOp op, const Problem &problem);
  Status placeLaunch(const std::string &who, LaunchOp op,
                     PlannedLayer &planned);
  Status placeWorkspace(const std::string &who, LaunchOp op,
                        PlannedLayer &planned);
  Result<BufferRef> placeResult(const std::string &who, LaunchOp op,
                                unsigned index);
  void reserve(int64_t offset, int64_t bytes) {
    int64_t end = offset + bytes + runtime::kBufferTailPadding;
    package.arenaBytes = std::max(package.arenaBytes, end);
  }
  Status addCopies();
  Status addCopy(Value value, size_t output);
  Result<OperandBinding> bindOperand(const std::string &who, Value value);
  func::ReturnOp getReturn() {
    return cast<func::ReturnOp>(function.getBody().front().getTerminator());
  }

  func::FuncOp function;
  KernelCompiler &compiler;
  Package package;
  std::vector<PlannedLayer> layers;
  /// The places of storage: arguments, results of launches, joins.
  llvm::DenseMap<Value, BufferRef> places;
  /// The functions that compute results at compile time.
  llvm::DenseMap<Value, std::function<ConstantBytes()>> constants;
  /// True for outputs that are computed in place and need no copy.
  std::vector<bool> isComputed;
};

} // namespace

Status PackageBuilder::describeInterface() {
  package.modelName = getString(function, "tarpon.model_name");
  if (package.modelName.empty())
    package.modelName = function.getName().str();
  package.modelSha256 = getString(function, "tarpon.model_sha256");
  package.dtype = getString(function, "tarpon.dtype");
  package.layout = getString(function, "tarpon.layout");
  package.fusion = getString(function, "tarpon.fusion");

  auto add = [](std::vector<runtime::TensorInfo> &list, std::string name,
                Type type) -> Status {
    auto tensor = dyn_cast<RankedTensorType>(type);
    if (!tensor || !tensor.hasStaticShape())
      return Error{"'" + name + "' is not a tensor of static shape"};
    if (!isElementType(tensor.getElementType()))
      return Error{"'" + name + "' holds elements that no kernel knows"};
    TensorDesc desc = getTensorDesc(tensor, /*constant=*/false);
    if (desc.layout.kind != Layout::NCHW)
      return Error{"'" + name + "' has layout " + desc.layout.name() +
                   " at the border of the model, expected nchw"};
    list.push_back(makeTensorInfo(std::move(name), desc));
    return runtime::success();
  };
  for (auto [index, type] : llvm::enumerate(function.getArgumentTypes())) {
    std::string name = getName(function, "tarpon.input_names", index, "input");
    if (Status status = add(package.inputs, name, type); !status)
      return status;
  }
  for (auto [index, type] : llvm::enumerate(function.getResultTypes())) {
    std::string name =
        getName(function, "tarpon.output_names", index, "output");
    if (Status status = add(package.outputs, name, type); !status)
      return status;
  }
  describeSizes();
  return runtime::success();
}

/// The attribute lists, for each output whose size depends on data, its index,
/// the dimension and the output that holds the size.
void PackageBuilder::describeSizes() {
  auto sizes =
      function->getAttrOfType<DenseI64ArrayAttr>("tarpon.output_sizes");
  if (!sizes)
    return;
  for (ArrayRef<int64_t> rest = sizes.asArrayRef(); rest.size() >= 3;
       rest = rest.drop_front(3)) {
    runtime::TensorInfo &output = package.outputs[rest[0]];
    output.sizeDim = rest[1];
    output.sizeOutput = rest[2];
  }
}

/// Arguments lie in the inputs; a returned value is computed in the first
/// output that returns it.
void PackageBuilder::placeResults() {
  for (auto [index, argument] : llvm::enumerate(function.getArguments()))
    places[argument] = {BufferSpace::Input, static_cast<int64_t>(index)};
  isComputed.resize(package.outputs.size());
  for (auto [index, value] : llvm::enumerate(getReturn().getOperands())) {
    Value storage = getView(value).storage;
    if (storage.getDefiningOp<LaunchOp>())
      isComputed[index] =
          places
              .try_emplace(storage, BufferRef{BufferSpace::Output,
                                              static_cast<int64_t>(index)})
              .second;
  }
}

Result<OperandBinding> PackageBuilder::bindOperand(const std::string &who,
                                                   Value value) {
  OperandBinding binding;
  View view = getView(value);
  if (ElementsAttr constant = getConstantValue(view.storage)) {
    binding.constant = [constant] { return readConstant(constant); };
    return binding;
  }
  if (auto known = constants.find(view.storage); known != constants.end()) {
    binding.constant = known->second;
    return binding;
  }
  auto place = places.find(view.storage);
  if (place == places.end())
    return Error{who + "an operand has no place in memory"};
  binding.place = place->second;
  if (binding.place.space == BufferSpace::Arena)
    binding.place.offset += getViewBytes(view);
  return binding;
}

Status PackageBuilder::placeWorkspace(const std::string &who, LaunchOp op,
                                      PlannedLayer &planned) {
  int64_t workspaceBytes = planned.plan.workspaceBytes;
  if (workspaceBytes > static_cast<int64_t>(op.getWorkspaceBytes()))
    return Error{who + "the solution needs " + std::to_string(workspaceBytes) +
                 " bytes of workspace, but " +
                 std::to_string(op.getWorkspaceBytes()) + " are planned"};
  if (workspaceBytes == 0)
    return runtime::success();
  auto offset = static_cast<int64_t>(op.getWorkspaceOffset().value_or(-1));
  if (offset < 0)
    return Error{who + "its workspace has no place in memory"};
  planned.workspaceOffset = offset;
  reserve(offset, workspaceBytes);
  return runtime::success();
}

Result<BufferRef> PackageBuilder::placeResult(const std::string &who,
                                              LaunchOp op, unsigned index) {
  Value result = op->getResult(index);
  View view = getView(result);
  if (auto place = places.find(view.storage);
      place != places.end() && place->second.space != BufferSpace::Arena)
    return place->second;
  std::string which =
      index == 0 ? "its result" : "its result " + std::to_string(index);
  int64_t offset = op.getResultOffset(index).value_or(-1);
  if (offset < 0)
    return Error{who + which + " has no place in memory"};
  reserve(offset, getTensorDesc(getTensorType(result), false).numBytes());
  int64_t start = offset - getViewBytes(view);
  auto [place, isNew] =
      places.try_emplace(view.storage, BufferRef{BufferSpace::Arena, start});
  if (!isNew && place->second.offset != start)
    return Error{who + which + " is not where it is joined with others"};
  return BufferRef{BufferSpace::Arena, offset};
}

/// Binds results and workspace at the offsets of tarpon-plan-memory.
Status PackageBuilder::placeLaunch(const std::string &who, LaunchOp op,
                                   PlannedLayer &planned) {
  if (Status status = placeWorkspace(who, op, planned); !status)
    return status;
  for (unsigned index = 0; index < op->getNumResults(); ++index) {
    Result<BufferRef> place = placeResult(who, op, index);
    if (!place)
      return place.error();
    planned.results.push_back(*place);
  }
  return runtime::success();
}

/// Folds a launch that only moves a constant, unless the function returns its
/// result or it writes a slice.
bool PackageBuilder::foldLaunch(LaunchOp op, const Problem &problem) {
  View view = getView(op.getResult());
  if (!movesConstant(problem) || view.storage != op.getResult() ||
      places.contains(view.storage))
    return false;
  ElementsAttr value = getConstantValue(getView(op.getInputs()[0]).storage);
  constants[op.getResult()] = [value, to = problem.result] {
    return moveConstant(readConstant(value).get(), to);
  };
  return true;
}

Status PackageBuilder::addLaunch(LaunchOp op) {
  if (op->use_empty())
    return runtime::success();
  std::string name = op.getName().str();
  std::string who = "layer '" + name + "': ";
  const Problem &problem = op.getProblem().getValue();
  if (!fitsTypes(op, problem))
    return Error{who + "the problem '" + problem.key() +
                 "' does not fit the types of its operands and results"};
  if (foldLaunch(op, problem))
    return runtime::success();
  StringRef id = op.getSolution().getSolver().getValue();
  const Solver *solver = findSolver(compiler.getTarget(), id);
  if (!solver)
    return Error{who + "there is no solver '" + id.str() + "'"};
  Result<PlannedLayer> planned =
      planLayer(name, problem, *solver, op.getSolution().getConfig(),
                compiler.getTarget());
  if (!planned)
    return planned.error();
  planned->layer.source = op.getSolution().getSource().str();
  for (Value input : op.getInputs()) {
    Result<OperandBinding> binding = bindOperand(who, input);
    if (!binding)
      return binding.error();
    planned->operands.push_back(std::move(*binding));
  }
  if (Status status = placeLaunch(who, op, *planned); !status)
    return status;
  layers.push_back(std::move(*planned));
  return runtime::success();
}

Status PackageBuilder::addOp(Operation &op) {
  if (auto launch = dyn_cast<LaunchOp>(op))
    return addLaunch(launch);
  if (isa<BitcastOp, ConstantOp, JoinOp, ReshapeOp, SliceOp, func::ReturnOp>(
          op))
    return runtime::success();
  return Error{"'" + op.getName().getStringRef().str() +
               "' has not been lowered to a launch"};
}

/// Copies are conversions between equal types.
Status PackageBuilder::addCopy(Value value, size_t output) {
  std::string name = "copy_to_" + package.outputs[output].name;
  Problem problem;
  problem.op = OpKind::Convert;
  problem.result = getTensorDesc(getTensorType(value), /*constant=*/false);
  // Stored bytes are copied unchanged.
  problem.result.quantized = false;
  problem.result.scales.clear();
  problem.result.zeroPoint = 0;
  problem.operands = {problem.result};

  const TargetInfo &target = compiler.getTarget();
  std::vector<const Solver *> solvers = getApplicableSolvers(problem, target);
  if (solvers.empty())
    return Error{"no solver can copy '" + package.outputs[output].name + "'"};
  const Solver &solver = *solvers.front();
  Result<PlannedLayer> planned = planLayer(
      name, problem, solver, solver.defaultConfig(problem, target), target);
  if (!planned)
    return planned.error();
  if (planned->plan.workspaceBytes > 0)
    return Error{"layer '" + name + "': a copy must not need a workspace"};
  Result<OperandBinding> binding = bindOperand("layer '" + name + "': ", value);
  if (!binding)
    return binding.error();
  planned->layer.source = "default";
  planned->operands.push_back(std::move(*binding));
  planned->results = {{BufferSpace::Output, static_cast<int64_t>(output)}};
  layers.push_back(std::move(*planned));
  return runtime::success();
}

Status PackageBuilder::addCopies() {
  for (auto [index, value] : llvm::enumerate(getReturn().getOperands()))
    if (!isComputed[index])
      if (Status status = addCopy(value, index); !status)
        return status;
  return runtime::success();
}

Result<Package> PackageBuilder::build(PackageAssembler &assembler) {
  if (!function.getBody().hasOneBlock())
    return Error{"function '" + function.getName().str() +
                 "' must have one block"};
  if (Status status = describeInterface(); !status)
    return status.error();
  placeResults();
  for (Operation &op : function.getBody().front())
    if (Status status = addOp(op); !status)
      return status.error();
  if (Status status = addCopies(); !status)
    return status.error();
  if (Status status = assembler.add(package, std::move(layers)); !status)
    return status.error();
  return std::move(package);
}

Result<Package> tarpon::buildPackage(func::FuncOp function,
                                     KernelCompiler &compiler) {
  PackageAssembler assembler(compiler);
  Result<Package> package = PackageBuilder(function, compiler).build(assembler);
  if (!package)
    return package;
  if (Status status = assembler.finish(*package); !status)
    return status.error();
  return package;
}

//===----------------------------------------------------------------------===//
// Packages of several sizes
//===----------------------------------------------------------------------===//

SizedPackageBuilder::SizedPackageBuilder(
    std::vector<runtime::Dimension> dimensions, KernelCompiler &compiler)
    : compiler(compiler),
      assembler(std::make_unique<PackageAssembler>(compiler,
                                                   /*remembers=*/true)),
      dimensions(std::move(dimensions)) {}

SizedPackageBuilder::~SizedPackageBuilder() = default;

/// Programs have their own shapes, and nothing else of tensors.
static bool haveSameInterface(llvm::ArrayRef<runtime::TensorInfo> first,
                              llvm::ArrayRef<runtime::TensorInfo> second) {
  auto isSame = [](const runtime::TensorInfo &a, const runtime::TensorInfo &b) {
    return a.name == b.name && a.dtype == b.dtype &&
           a.shape.size() == b.shape.size() && a.quantized == b.quantized &&
           a.scale == b.scale && a.zeroPoint == b.zeroPoint &&
           a.sizeDim == b.sizeDim && a.sizeOutput == b.sizeOutput;
  };
  return llvm::equal(first, second, isSame);
}

Result<runtime::Program> SizedPackageBuilder::add(func::FuncOp function,
                                                  std::vector<int64_t> sizes) {
  Result<Package> built = PackageBuilder(function, compiler).build(*assembler);
  if (!built)
    return built.error();
  if (!programs.empty() &&
      (!haveSameInterface(package.inputs, built->inputs) ||
       !haveSameInterface(package.outputs, built->outputs)))
    return Error{"the inputs and outputs of '" + package.modelName +
                 "' have other types or ranks with other sizes"};
  package = std::move(*built);
  programs.emplace(std::move(sizes), package);
  return static_cast<runtime::Program>(package);
}

Result<Package> SizedPackageBuilder::finish() {
  static_cast<runtime::Program &>(package) = programs.begin()->second;
  package.dimensions = std::move(dimensions);
  for (const auto &[sizes, program] : programs)
    runtime::addProgram(package, sizes, program);
  if (Status status = assembler->finish(package); !status)
    return status.error();
  auto constantBytes = static_cast<int64_t>(package.constants.size());
  for (const runtime::ProgramRange &range : package.programRanges)
    if (auto program =
            runtime::readProgram(package, range.sizes, constantBytes);
        !program)
      return program.error();
  return std::move(package);
}
