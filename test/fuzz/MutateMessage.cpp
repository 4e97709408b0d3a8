//===- MutateMessage.cpp - Mutates protobuf messages ----------------------===//
//
// Part of Tarpon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "MutateMessage.h"

#include <algorithm>
#include <iterator>
#include <limits>
#include <memory>
#include <random>
#include <string>
#include <vector>

using google::protobuf::Descriptor;
using google::protobuf::FieldDescriptor;
using google::protobuf::Message;
using google::protobuf::Reflection;

extern "C" size_t LLVMFuzzerMutate(uint8_t *bytes, size_t size, size_t maxSize);

namespace tarpon::fuzz {

namespace {

/// A field of a message of the tree, set or not.
struct Place {
  Message *message;
  const FieldDescriptor *field;

  const Reflection &reflection() const { return *message->GetReflection(); }
  int count() const {
    return field->is_repeated() ? reflection().FieldSize(*message, field)
                                : int(reflection().HasField(*message, field));
  }
};

class Mutator {
public:
  explicit Mutator(unsigned seed) : random(seed) {}

  void mutate(Message &message);
  bool isOneIn(size_t count) { return below(count) == 0; }

private:
  size_t below(size_t count) { return random() % count; }
  template <typename T>
  const T &pick(const std::vector<T> &list) {
    return list[below(list.size())];
  }

  void collect(Message &message);
  void change(const Place &place);
  void changeElement(const Place &place, int index);
  void add(const Place &place);
  void remove(const Place &place);
  std::unique_ptr<Message> copyLike(const Descriptor &type);
  int64_t makeInteger(int64_t old);
  double makeNumber(double old);
  std::string makeString(const std::string &old);

  std::minstd_rand random;
  std::vector<Place> places;
  std::vector<const Message *> messages;
  std::vector<std::string> strings;
};

} // namespace

//===----------------------------------------------------------------------===//
// What there is
//===----------------------------------------------------------------------===//

void Mutator::collect(Message &message) {
  const Descriptor &descriptor = *message.GetDescriptor();
  messages.push_back(&message);
  for (int i = 0; i < descriptor.field_count(); ++i) {
    Place place = {&message, descriptor.field(i)};
    const Reflection &reflection = place.reflection();
    bool isRepeated = place.field->is_repeated();
    places.push_back(place);
    for (int at = 0, count = place.count(); at < count; ++at) {
      if (place.field->cpp_type() == FieldDescriptor::CPPTYPE_STRING)
        strings.push_back(
            isRepeated ? reflection.GetRepeatedString(message, place.field, at)
                       : reflection.GetString(message, place.field));
      if (place.field->cpp_type() == FieldDescriptor::CPPTYPE_MESSAGE)
        collect(isRepeated ? *reflection.MutableRepeatedMessage(&message,
                                                                place.field, at)
                           : *reflection.MutableMessage(&message, place.field));
    }
  }
}

/// Copies one of the messages of that type; null if there is none.
std::unique_ptr<Message> Mutator::copyLike(const Descriptor &type) {
  std::vector<const Message *> like;
  std::copy_if(
      messages.begin(), messages.end(), std::back_inserter(like),
      [&](const Message *other) { return other->GetDescriptor() == &type; });
  if (like.empty())
    return nullptr;
  const Message *chosen = pick(like);
  std::unique_ptr<Message> copy(chosen->New());
  copy->CopyFrom(*chosen);
  return copy;
}

//===----------------------------------------------------------------------===//
// New values
//===----------------------------------------------------------------------===//

int64_t Mutator::makeInteger(int64_t old) {
  static const std::vector<int64_t> kEdges = {
      -1,
      0,
      1,
      2,
      3,
      7,
      16,
      255,
      65536,
      std::numeric_limits<int32_t>::max(),
      std::numeric_limits<int32_t>::min(),
      std::numeric_limits<int64_t>::max(),
      std::numeric_limits<int64_t>::min()};
  if (isOneIn(2))
    return pick(kEdges);
  // Wraps around where a signed sum would be undefined.
  return static_cast<int64_t>(static_cast<uint64_t>(old) + below(9) - 4);
}

double Mutator::makeNumber(double old) {
  using Limits = std::numeric_limits<float>;
  const std::vector<double> edges = {0,
                                     -0.0,
                                     1,
                                     -1,
                                     old / 2,
                                     -old,
                                     1e-30,
                                     1e30,
                                     Limits::max(),
                                     Limits::infinity(),
                                     Limits::quiet_NaN()};
  return pick(edges);
}

std::string Mutator::makeString(const std::string &old) {
  if (!strings.empty() && !isOneIn(4))
    return pick(strings);
  constexpr size_t kMoreBytes = 8;
  std::string text = old;
  text.resize(old.size() + kMoreBytes);
  text.resize(LLVMFuzzerMutate(reinterpret_cast<uint8_t *>(text.data()),
                               old.size(), text.size()));
  return text;
}

//===----------------------------------------------------------------------===//
// Changes
//===----------------------------------------------------------------------===//

void Mutator::changeElement(const Place &place, int index) {
  auto [message, field] = place;
  const Reflection &r = place.reflection();
  bool isRepeated = field->is_repeated();
// Protobuf has one function for each type, and another one for its elements.
#define CHANGE(Type, make)                                                     \
  if (isRepeated)                                                              \
    r.SetRepeated##Type(message, field, index,                                 \
                        make(r.GetRepeated##Type(*message, field, index)));    \
  else                                                                         \
    r.Set##Type(message, field, make(r.Get##Type(*message, field)));           \
  break
  auto invert = [](bool value) { return !value; };
  auto anyEnum = [&](int) {
    return field->enum_type()
        ->value(static_cast<int>(below(field->enum_type()->value_count())))
        ->number();
  };
  switch (field->cpp_type()) {
  case FieldDescriptor::CPPTYPE_INT32:
    CHANGE(Int32, makeInteger);
  case FieldDescriptor::CPPTYPE_INT64:
    CHANGE(Int64, makeInteger);
  case FieldDescriptor::CPPTYPE_UINT32:
    CHANGE(UInt32, makeInteger);
  case FieldDescriptor::CPPTYPE_UINT64:
    CHANGE(UInt64, makeInteger);
  case FieldDescriptor::CPPTYPE_FLOAT:
    CHANGE(Float, makeNumber);
  case FieldDescriptor::CPPTYPE_DOUBLE:
    CHANGE(Double, makeNumber);
  case FieldDescriptor::CPPTYPE_BOOL:
    CHANGE(Bool, invert);
  case FieldDescriptor::CPPTYPE_ENUM:
    CHANGE(EnumValue, anyEnum);
  case FieldDescriptor::CPPTYPE_STRING:
    CHANGE(String, makeString);
  case FieldDescriptor::CPPTYPE_MESSAGE: {
    // A copy, since the other one may hold this one, or be replaced by it.
    std::unique_ptr<Message> like = copyLike(*field->message_type());
    Message *element = isRepeated
                           ? r.MutableRepeatedMessage(message, field, index)
                           : r.MutableMessage(message, field);
    if (like)
      element->CopyFrom(*like);
    break;
  }
  }
#undef CHANGE
}

void Mutator::add(const Place &place) {
  auto [message, field] = place;
  const Reflection &r = place.reflection();
  if (!field->is_repeated()) {
    if (place.count() == 0)
      changeElement(place, 0);
    return;
  }
  switch (field->cpp_type()) {
  case FieldDescriptor::CPPTYPE_INT32:
    return r.AddInt32(message, field, static_cast<int32_t>(makeInteger(0)));
  case FieldDescriptor::CPPTYPE_INT64:
    return r.AddInt64(message, field, makeInteger(0));
  case FieldDescriptor::CPPTYPE_UINT64:
    return r.AddUInt64(message, field, makeInteger(0));
  case FieldDescriptor::CPPTYPE_FLOAT:
    return r.AddFloat(message, field, static_cast<float>(makeNumber(1)));
  case FieldDescriptor::CPPTYPE_DOUBLE:
    return r.AddDouble(message, field, makeNumber(1));
  case FieldDescriptor::CPPTYPE_STRING:
    return r.AddString(message, field, makeString(""));
  case FieldDescriptor::CPPTYPE_MESSAGE:
    r.AddMessage(message, field);
    return changeElement(place, place.count() - 1);
  case FieldDescriptor::CPPTYPE_UINT32:
  case FieldDescriptor::CPPTYPE_BOOL:
  case FieldDescriptor::CPPTYPE_ENUM:
    // ONNX repeats none of these.
    return;
  }
}

void Mutator::remove(const Place &place) {
  auto [message, field] = place;
  const Reflection &r = place.reflection();
  if (!field->is_repeated())
    return r.ClearField(message, field);
  r.SwapElements(message, field, static_cast<int>(below(place.count())),
                 place.count() - 1);
  r.RemoveLast(message, field);
}

void Mutator::change(const Place &place) {
  int count = place.count();
  if (count == 0 || isOneIn(8))
    add(place);
  else if (isOneIn(8))
    remove(place);
  else
    changeElement(place, static_cast<int>(below(count)));
}

void Mutator::mutate(Message &message) {
  for (size_t left = 1 + below(3); left > 0; --left) {
    places.clear();
    messages.clear();
    strings.clear();
    collect(message);
    // What is there matters more than what is not.
    std::vector<Place> present;
    std::copy_if(places.begin(), places.end(), std::back_inserter(present),
                 [](const Place &place) { return place.count() > 0; });
    change(present.empty() || isOneIn(8) ? pick(places) : pick(present));
  }
}

size_t mutate(Message &message, uint8_t *bytes, size_t size, size_t maxSize,
              unsigned seed) {
  Mutator mutator(seed);
  std::string text;
  if (message.ParsePartialFromArray(bytes, static_cast<int>(size)) &&
      !mutator.isOneIn(16)) {
    mutator.mutate(message);
    text = message.SerializePartialAsString();
  }
  if (text.empty() || text.size() > maxSize)
    return LLVMFuzzerMutate(bytes, size, maxSize);
  std::copy(text.begin(), text.end(), bytes);
  return text.size();
}

} // namespace tarpon::fuzz
