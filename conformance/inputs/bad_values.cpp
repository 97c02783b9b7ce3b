#include "inputs/bad_inputs.h"

#include <ATen/core/function_schema.h>
#include <ATen/core/jit_type.h>
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <string>
#include <vector>

#include "base/dtypes.h"
#include "spec/spec.h"

namespace opgate {
namespace {

using Kind = BadInput::Kind;
using How = InputDamage::Kind;
using c10::TypeKind;

// Larger than any memory; the product with the size of an element wraps around.
constexpr int64_t kHuge = int64_t{1} << 62;

struct Named {
  std::string_view text;
  double value;
};
constexpr std::array<Named, 4> kNumbers{{{"0", 0}, {"-1", -1}, {"nan", NAN}, {"inf", INFINITY}}};

struct NamedInteger {
  std::string_view text;
  int64_t value;
};
constexpr std::array<NamedInteger, 3> kIntegers{{{"0", 0}, {"-1", -1}, {kHugeInteger, kHuge}}};

constexpr std::array<c10::ScalarType, 5> kDtypes{c10::kFloat, c10::kHalf, c10::kLong, c10::kBool,
                                                 c10::kComplexFloat};

// At most this many entries of a list are damaged, one at a time: all of a kernel_size, but not all of a
// long list.
constexpr size_t kEntries = 3;

template <class T>
c10::IValue list_of(const std::vector<T>& entries) {
  c10::List<T> list;
  for (const T& entry : entries) list.push_back(entry);
  return list;
}

// The argument's type without Optional. real_type() tells dtypes and memory formats, which the schema
// stores as integers, from integers.
c10::TypePtr wanted(const c10::Argument& formal) {
  const c10::TypePtr& type = formal.real_type();
  return type->kind() == TypeKind::OptionalType ? type->castRaw<c10::OptionalType>()->getElementType() : type;
}

bool is_integer(const c10::TypePtr& type) {
  return type->kind() == TypeKind::IntType || type->kind() == TypeKind::SymIntType;
}

bool is_number(const c10::TypePtr& type) {
  return type->kind() == TypeKind::FloatType || type->kind() == TypeKind::SymFloatType ||
         type->kind() == TypeKind::NumberType;
}

// Whether the schema takes None, and the sample gives something else. A generator is left out of this:
// without one, results are other random numbers.
bool can_be_left_out(const c10::Argument& formal, const Argument& given) {
  if (formal.type()->kind() != TypeKind::OptionalType || given.generator() != nullptr) return false;
  return given.other() == nullptr || !given.other()->isNone();
}

class DamagedValues {
 public:
  DamagedValues(const Spec& spec, const Sample& sample) : spec_(spec), sample_(sample) {}

  std::vector<BadInput> all() && {
    const auto& formals = spec_.op->schema().arguments();
    for (size_t position = 0; position < sample_.arguments.size(); ++position) {
      const Argument& argument = sample_.arguments[position];
      name_ = formals[position].name();
      position_ = position;
      if (spec_.trusted.contains(name_)) continue;
      const c10::TypePtr type = wanted(formals[position]);
      if (can_be_left_out(formals[position], argument))
        other_value(Kind::absent, "None", Argument(opgate::none));
      if (argument.tensors() != nullptr && !argument.tensors()->empty()) {
        add(Kind::list, {How::no_entries, name_}, std::vector<TensorArgument>());
      } else if (argument.other() != nullptr) {
        value(*argument.other(), type);
      }
    }
    return std::move(all_);
  }

 private:
  void value(const c10::IValue& good, const c10::TypePtr& type) {
    if (type->kind() == TypeKind::ScalarTypeType) {
      for (const c10::ScalarType dtype : kDtypes) choice(good, std::string(dtype_name(dtype)), dtype);
    } else if (type->kind() == TypeKind::LayoutType) {
      choice(good, "sparse", c10::kSparse);
    } else if (type->kind() == TypeKind::MemoryFormatType) {
      choice(good, "channels_last", c10::MemoryFormat::ChannelsLast);
      choice(good, "contiguous", c10::MemoryFormat::Contiguous);
    } else if (good.isBool()) {
      const std::string other = good.toBool() ? "false" : "true";
      other_value(Kind::flag, other, c10::IValue(!good.toBool()));
    } else if (is_integer(type)) {
      for (const auto& [text, bad] : kIntegers) {
        if (!good.isInt() || good.toInt() != bad) other_value(Kind::integer, text, bad);
      }
    } else if (is_number(type)) {
      for (const auto& [text, bad] : kNumbers) {
        const bool same = (good.isDouble() && good.toDouble() == bad) ||
                          (good.isInt() && static_cast<double>(good.toInt()) == bad);
        if (!same) other_value(Kind::number, text, bad);
      }
      if (type->kind() == TypeKind::NumberType && !good.isComplexDouble())
        other_value(Kind::number, "1j", c10::IValue(c10::complex<double>(0, 1)));
    } else if (good.isString()) {
      // The name of a mode: another word, and one that begins alike.
      for (const std::string& bad : {std::string("unknown"), good.toStringRef() + "x"}) {
        const bool fits_into_id = bad.find('/') == std::string::npos;
        if (fits_into_id) other_value(Kind::text, bad, c10::IValue(bad));
      }
    } else if (good.isIntList() && is_integer_list(type)) {
      integers(good.toIntVector());
    } else if (good.isDoubleList()) {
      numbers(good.toDoubleVector());
    } else if (good.isBoolList()) {
      const c10::List<bool> list = good.toBoolList();
      flags({list.begin(), list.end()});
    } else if (type->isSubtypeOf(*c10::ListType::ofStrings())) {
      std::vector<std::string> list;
      for (const c10::IValue& text : good.toListRef()) list.push_back(text.toStringRef());
      texts(list);
    }
  }

  // The schema stores such a choice as an integer; None, where it is optional, stands for another one.
  template <class Choice>
  void choice(const c10::IValue& good, const std::string& name, Choice other) {
    const auto number = static_cast<int64_t>(other);
    if (!good.isInt() || good.toInt() != number) other_value(Kind::choice, name, c10::IValue(number));
  }

  static bool is_integer_list(const c10::TypePtr& type) {
    return type->kind() == TypeKind::ListType && is_integer(type->castRaw<c10::ListType>()->getElementType());
  }

  template <class T>
  void lengths(const std::vector<T>& good) {
    if (good.empty()) return;
    add(Kind::list, {How::no_entries, name_}, list_of(std::vector<T>()));
    std::vector<T> other = good;
    other.push_back(good.back());
    add(Kind::list, {How::more_entries, name_}, list_of(other));
    if (good.size() == 1) return;  // the shorter list is the empty one
    other = good;
    other.pop_back();
    add(Kind::list, {How::fewer_entries, name_}, list_of(other));
  }

  void integers(const std::vector<int64_t>& good) {
    lengths(good);
    for (size_t entry = 0; entry < std::min(good.size(), kEntries); ++entry) {
      for (const auto& [text, bad] : kIntegers) {
        if (good[entry] == bad) continue;
        std::vector<int64_t> other = good;
        other[entry] = bad;
        other_entry(entry, text, c10::IValue(other));
      }
    }
  }

  void numbers(const std::vector<double>& good) {
    lengths(good);
    for (size_t entry = 0; entry < std::min(good.size(), kEntries); ++entry) {
      std::vector<double> other = good;
      other[entry] = NAN;
      other_entry(entry, "nan", c10::IValue(other));
    }
  }

  void flags(const std::vector<bool>& good) {
    lengths(good);
    for (size_t entry = 0; entry < std::min(good.size(), kEntries); ++entry) {
      std::vector<bool> other = good;
      other[entry] = !good[entry];
      other_entry(entry, other[entry] ? "true" : "false", list_of(other));
    }
  }

  void texts(const std::vector<std::string>& good) {
    lengths(good);
    for (size_t entry = 0; entry < std::min(good.size(), kEntries); ++entry) {
      std::vector<std::string> other = good;
      other[entry] = "unknown";
      other_entry(entry, "unknown", list_of(other));
    }
  }

  void other_value(Kind kind, std::string_view text, Argument instead) {
    add(kind, {How::value, name_, std::string(text)}, std::move(instead));
  }

  void other_entry(size_t entry, std::string_view text, Argument instead) {
    add(Kind::list, {How::value, fmt::format("{}[{}]", name_, entry), std::string(text)}, std::move(instead));
  }

  void add(Kind kind, InputDamage damage, Argument instead) {
    all_.push_back({std::move(damage), kind, position_, std::move(instead)});
  }

  const Spec& spec_;
  const Sample& sample_;
  std::string name_;
  size_t position_ = 0;
  std::vector<BadInput> all_;
};

}  // namespace

std::vector<BadInput> bad_values(const Spec& spec, const Sample& sample) {
  return DamagedValues(spec, sample).all();
}

}  // namespace opgate
