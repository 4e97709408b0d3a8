//===- Npy.cpp - NumPy's .npy files -----------------------------*- C++ -*-===//
//
// Part of Tarpon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The format: a magic string, a version, the length of a header, the header as
// the text of a Python dictionary, the elements.
//
//===----------------------------------------------------------------------===//

#include "tarpon/Runtime/Npy.h"

#include "tarpon/Runtime/File.h"

#include <array>
#include <charconv>
#include <cstring>
#include <string_view>

namespace tarpon::runtime {

static constexpr std::string_view kMagic = "\x93NUMPY";
static constexpr int64_t kMaxHeaderBytes = 1 << 20;

namespace {

struct DescriptionRow {
  std::string_view description;
  DType dtype;
};

struct NpyHeader {
  std::string description;
  bool fortranOrder = false;
  std::vector<int64_t> shape;
};

/// The places of the header's text and of the elements in the file.
struct HeaderPlace {
  int64_t begin = 0;
  int64_t bytes = 0;
};

} // namespace

/// "" for types that NumPy lacks.
static constexpr DescriptionRow kDescriptions[] = {
#define TARPON_FLOAT(enumerator, spelling, exponent, fraction, specials, mlir, \
                     onnx, numpy)                                              \
  {numpy, DType::enumerator},
#define TARPON_INTEGER(enumerator, spelling, type, onnx, numpy)                \
  {numpy, DType::enumerator},
#include "tarpon/Runtime/DTypes.def"
};

static std::string_view describe(DType dtype) {
  return kDescriptions[static_cast<size_t>(dtype)].description;
}

bool hasNumPyType(DType dtype) { return !describe(dtype).empty(); }

static Error problem(const std::string &path, const std::string &why) {
  return {"cannot read '" + path + "': " + why};
}

//===----------------------------------------------------------------------===//
// The header's dictionary
//===----------------------------------------------------------------------===//

namespace {

/// Parses the dictionary that NumPy writes: three keys, each with a string, a
/// truth value or a tuple of integers.
class DictionaryParser {
public:
  explicit DictionaryParser(std::string_view text) : rest(text) {}

  bool parse(NpyHeader &header) {
    if (!take('{'))
      return false;
    while (!take('}')) {
      std::string key;
      if (!parseString(key) || !take(':') || !parseValue(key, header))
        return false;
      if (!take(',') && peek() != '}')
        return false;
    }
    return seen == kAllKeys;
  }

private:
  enum Key { Description = 1, Order = 2, Shape = 4, kAllKeys = 7 };

  std::string_view rest;
  int seen = 0;

  char peek() {
    size_t first = rest.find_first_not_of(" \t\r\n");
    rest.remove_prefix(first == std::string_view::npos ? rest.size() : first);
    return rest.empty() ? '\0' : rest.front();
  }

  bool take(char wanted) {
    if (peek() != wanted || rest.empty())
      return false;
    rest.remove_prefix(1);
    return true;
  }

  bool takeWord(std::string_view word) {
    peek();
    if (!rest.starts_with(word))
      return false;
    rest.remove_prefix(word.size());
    return true;
  }

  bool parseString(std::string &text) {
    char quote = peek();
    if ((quote != '\'' && quote != '"') || !take(quote))
      return false;
    size_t end = rest.find(quote);
    if (end == std::string_view::npos)
      return false;
    text = rest.substr(0, end);
    rest.remove_prefix(end + 1);
    return true;
  }

  bool parseTuple(std::vector<int64_t> &numbers) {
    if (!take('('))
      return false;
    while (!take(')')) {
      peek();
      int64_t number = 0;
      auto [end, code] =
          std::from_chars(rest.data(), rest.data() + rest.size(), number);
      if (code != std::errc())
        return false;
      rest.remove_prefix(static_cast<size_t>(end - rest.data()));
      numbers.push_back(number);
      if (!take(',') && peek() != ')')
        return false;
    }
    return true;
  }

  bool parseValue(const std::string &key, NpyHeader &header) {
    if (key == "descr" && !(seen & Description)) {
      seen |= Description;
      return parseString(header.description);
    }
    if (key == "fortran_order" && !(seen & Order)) {
      seen |= Order;
      header.fortranOrder = takeWord("True");
      return header.fortranOrder || takeWord("False");
    }
    if (key == "shape" && !(seen & Shape)) {
      seen |= Shape;
      return parseTuple(header.shape);
    }
    return false;
  }
};

} // namespace

//===----------------------------------------------------------------------===//
// Reading
//===----------------------------------------------------------------------===//

static Result<HeaderPlace> findHeader(const InputFile &file,
                                      const std::string &path) {
  std::array<unsigned char, 12> start = {};
  size_t available = std::min<size_t>(file.size(), start.size());
  std::span<char> bytes(reinterpret_cast<char *>(start.data()), available);
  if (Status status = file.read(0, bytes); !status)
    return status.error();
  if (available < 10 ||
      std::memcmp(start.data(), kMagic.data(), kMagic.size()) != 0)
    return problem(path, "it is not a .npy file");
  int version = start[6];
  if (version != 1 && version != 2)
    return problem(path, "its format version is " + std::to_string(version) +
                             ", and versions 1 and 2 are supported");
  HeaderPlace place;
  place.begin = version == 1 ? 10 : 12;
  place.bytes = start[8] | start[9] << 8;
  if (version == 2)
    place.bytes |= int64_t(start[10]) << 16 | int64_t(start[11]) << 24;
  if (place.bytes > kMaxHeaderBytes || place.bytes > file.size() - place.begin)
    return problem(path, "it ends inside its header");
  return place;
}

static std::optional<DType> dtypeOf(std::string description) {
  // Byte order does not matter for one byte, and '=' is this machine's.
  bool oneByte = description.size() == 3 && description[2] == '1';
  if (oneByte && std::strchr("<>=|", description[0]))
    description[0] = '|';
  else if (description.starts_with('='))
    description[0] = '<';
  for (const DescriptionRow &row : kDescriptions)
    if (hasNumPyType(row.dtype) && row.description == description)
      return row.dtype;
  return std::nullopt;
}

static Result<HostTensor> makeTensor(const NpyHeader &header,
                                     int64_t elementBytes,
                                     const std::string &path) {
  std::optional<DType> dtype = dtypeOf(header.description);
  if (!dtype && header.description.starts_with('>'))
    return problem(path, "its elements are big endian ('" + header.description +
                             "')");
  if (!dtype)
    return problem(path, "elements of type '" + header.description +
                             "' are not supported");
  if (header.fortranOrder && header.shape.size() > 1)
    return problem(path, "it is in Fortran order, and only C order is "
                         "supported");
  std::optional<int64_t> count = countElements(header.shape, *dtype);
  if (!count)
    return problem(path, "its shape " + shapeToString(header.shape) +
                             " is negative or too large");
  int64_t wanted = *count * dtypeBytes(*dtype);
  if (wanted != elementBytes)
    return problem(path, "its shape " + shapeToString(header.shape) +
                             " needs " + std::to_string(wanted) +
                             " bytes of elements, and it has " +
                             std::to_string(elementBytes));
  return HostTensor::create(*dtype, header.shape);
}

Result<HostTensor> readNpy(const std::string &path) {
  Result<InputFile> file = InputFile::open(path);
  if (!file)
    return file.error();
  Result<HeaderPlace> place = findHeader(*file, path);
  if (!place)
    return place.error();
  std::string text(static_cast<size_t>(place->bytes), '\0');
  if (Status status = file->read(place->begin, text); !status)
    return status.error();
  NpyHeader header;
  if (!DictionaryParser(text).parse(header))
    return problem(path, "its header is malformed");

  int64_t begin = place->begin + place->bytes;
  Result<HostTensor> tensor = makeTensor(header, file->size() - begin, path);
  if (!tensor)
    return tensor;
  std::span<char> elements(tensor->data.data(),
                           static_cast<size_t>(tensor->data.size()));
  if (Status status = file->read(begin, elements); !status)
    return status.error();
  return tensor;
}

//===----------------------------------------------------------------------===//
// Writing
//===----------------------------------------------------------------------===//

static std::string makeHeader(DType dtype, const std::vector<int64_t> &shape) {
  std::string header = "{'descr': '" + std::string(describe(dtype)) +
                       "', 'fortran_order': False, 'shape': (";
  for (int64_t extent : shape)
    header += std::to_string(extent) + ", ";
  header += "), }";
  // NumPy aligns the elements to 64 bytes and ends the header with a newline.
  constexpr size_t kPrefixBytes = 12;
  size_t total = (kPrefixBytes + header.size() + 1 + 63) / 64 * 64;
  header.resize(total - kPrefixBytes - 1, ' ');
  return header + '\n';
}

static Result<HostTensor> widenToFloat(const HostTensor &tensor) {
  Result<HostTensor> wide = HostTensor::create(DType::F32, tensor.shape);
  if (!wide)
    return wide;
  const char *from = tensor.data.data();
  char *to = wide->data.data();
  for (int64_t i = 0, end = tensor.numElements(); i < end; ++i) {
    storeFromFloat(DType::F32, loadAsFloat(tensor.dtype, from), to);
    from += dtypeBytes(tensor.dtype);
    to += dtypeBytes(DType::F32);
  }
  return wide;
}

Status writeNpy(const HostTensor &tensor, const std::string &path) {
  if (!hasNumPyType(tensor.dtype)) {
    Result<HostTensor> wide = widenToFloat(tensor);
    if (!wide)
      return Error{"cannot write '" + path + "': " + wide.message()};
    return writeNpy(*wide, path);
  }
  std::string header = makeHeader(tensor.dtype, tensor.shape);
  // Version 2 is used, since the header may be longer than 64 KiB.
  std::string prefix(kMagic);
  prefix += {'\x02', '\x00'};
  for (int shift = 0; shift < 32; shift += 8)
    prefix += static_cast<char>(header.size() >> shift);
  std::span<const char> elements(tensor.data.data(),
                                 static_cast<size_t>(tensor.data.size()));
  return writeFileAtomically(path, {prefix, header, elements});
}

} // namespace tarpon::runtime
