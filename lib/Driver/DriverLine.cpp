//===- DriverLine.cpp - MIOpenDriver's command lines ----------------------===//
//
// Part of Tarpon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tarpon/Driver/DriverLine.h"

#include "Bases.h"
#include "tarpon/Driver/DriverTypes.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FormatVariadic.h"

using namespace tarpon;
using namespace tarpon::driver;
using llvm::formatv;
using llvm::StringRef;
using runtime::Error;
using runtime::Result;
using runtime::Status;

static constexpr const Base *kBases[] = {&kConv,      &kFusion, &kActivation,
                                         &kBatchNorm, &kGemm,   &kGroupNorm,
                                         &kLayerNorm, &kPool,   &kSoftmax};

//===----------------------------------------------------------------------===//
// Parts that bases share
//===----------------------------------------------------------------------===//

Result<std::vector<int64_t>> driver::readInputShape(const Flags &flags) {
  std::vector<int64_t> shape;
  for (StringRef name : {"batchsize", "in_channels", "in_d", "in_h", "in_w"}) {
    if (!flags.has(name))
      continue;
    int64_t size = flags.integer(name);
    // A depth of 0 means flat images.
    if (name == "in_d" && size == 0)
      continue;
    if (size < 1)
      return Error{
          formatv("the flag --{0} is {1}, expected 1 or more", name, size)};
    shape.push_back(size);
  }
  return shape;
}

Result<Layout> driver::readLayout(StringRef name, int64_t rank) {
  StringRef plain = rank == 5 ? "NCDHW" : "NCHW",
            channelsLast = rank == 5 ? "NDHWC" : "NHWC";
  if (name.empty() || name == plain)
    return Layout();
  if (name == channelsLast)
    return Layout{Layout::NHWC, 1};
  // The default layout of 3-D lines is spelled as in 2-D.
  if (name == "NCHW" && rank == 5)
    return Layout();
  return Error{formatv("the layout '{0}' is not supported, expected {1} or {2}",
                       name, plain, channelsLast)};
}

TensorDesc driver::makeTensor(DType dtype, std::vector<int64_t> shape,
                              Layout layout, bool constant) {
  TensorDesc desc;
  desc.dtype = dtype;
  desc.shape = std::move(shape);
  desc.layout = layout;
  desc.constant = constant;
  desc.quantized = dtype == DType::I8;
  if (desc.quantized)
    desc.scales = {1.0f};
  return desc;
}

Status driver::refuseScaling(const Flags &flags) {
  if (flags.number("alpha") != 1 || flags.number("beta") != 0)
    return Error{formatv("-A (--alpha) {0} and -B (--beta) {1} are not "
                         "supported, expected 1 and 0",
                         flags.text("alpha"), flags.text("beta"))};
  return runtime::success();
}

//===----------------------------------------------------------------------===//
// The line
//===----------------------------------------------------------------------===//

/// Returns the base with that name and the dtype of its suffix, or null.
static std::pair<const Base *, DType> findBase(StringRef name) {
  for (const Base *base : kBases)
    for (const auto &[dtype, suffix, key] : kDriverTypes) {
      StringRef rest = name;
      if (rest.consume_front(base->name) && rest == suffix &&
          (dtype != DType::I8 || base->hasInt8))
        return {base, dtype};
    }
  return {nullptr, DType::F32};
}

std::vector<std::string> tarpon::getDriverBases() {
  std::vector<std::string> names;
  for (const Base *base : kBases)
    for (const DriverType &type : kDriverTypes)
      if (type.dtype != DType::I8 || base->hasInt8)
        names.push_back((base->name + type.suffix).str());
  llvm::sort(names);
  return names;
}

std::string tarpon::describeDriverFlags(StringRef name) {
  std::string text;
  if (const Base *base = findBase(name).first)
    for (const FlagSpec &flag : base->flags)
      text += formatv("  -{0} --{1} ({2}){3}\n", flag.letter, flag.name,
                      flag.value.empty() ? "none" : flag.value,
                      flag.use == Use::Ignored       ? ", ignored"
                      : flag.use == Use::Unsupported ? ", not supported"
                                                     : "");
  return text;
}

static bool isDriverName(StringRef word) {
  return word == "MIOpenDriver" || word.ends_with("/MIOpenDriver");
}

/// A problem's key is a line of its own: it is verified and timed.
static Result<DriverLine> parseKeyLine(llvm::ArrayRef<std::string> words) {
  if (words.size() > 1)
    return Error{"'" + words[1] + "' behind a problem key"};
  std::string fault;
  auto problem = parseProblem(words.front(), &fault);
  if (mlir::failed(problem))
    return Error{"'" + words.front() + "' is not a problem key: " + fault};
  DriverLine line;
  line.base = getOpName(problem->op);
  line.time = true;
  line.tasks.push_back({line.base, std::move(*problem)});
  return line;
}

Result<DriverLine> tarpon::parseDriverLine(llvm::ArrayRef<std::string> words) {
  if (!words.empty() && isDriverName(words.front()))
    words = words.drop_front();
  if (words.empty())
    return Error{"a driver line names no operation, expected one of " +
                 llvm::join(getDriverBases(), ", ")};
  if (StringRef(words.front()).contains("->"))
    return parseKeyLine(words);
  auto [base, dtype] = findBase(words.front());
  if (!base)
    return Error{"there is no driver for '" + words.front() +
                 "', expected one of " + llvm::join(getDriverBases(), ", ")};
  Result<Flags> flags =
      Flags::parse(words.front(), base->flags, words.drop_front());
  if (!flags)
    return flags.error();
  Result<TaskList> tasks = base->makeTasks(*flags, dtype);
  if (!tasks)
    return tasks.error();

  DriverLine line;
  line.base = words.front();
  line.tasks = std::move(*tasks);
  for (const DriverTask &task : line.tasks)
    if (std::string fault = findFault(task.problem); !fault.empty())
      return Error{task.name + " is impossible: " + fault};
  line.verify = flags->isSet("verify");
  line.time = flags->isSet("time");
  line.iterations = flags->integer("iter");
  if (line.iterations < 1)
    return Error{formatv("the flag -i (--iter) of {0} is {1}, expected 1 or "
                         "more",
                         line.base, line.iterations)};
  if (flags->has("search"))
    line.search = flags->isSet("search");
  if (flags->has("solution"))
    line.solution = flags->text("solution");
  return line;
}
