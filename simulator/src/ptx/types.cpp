#include "ptx/types.h"

#include <array>

namespace opgate::simulator {
namespace {

struct Named {
  std::string_view name;
  std::size_t bytes;
};

// In the order of the enumeration.
constexpr std::array<Named, 28> kTypes{{
    {"", 0},     {"pred", 1},  {"b8", 1},    {"b16", 2},    {"b32", 4},    {"b64", 8},  {"b128", 16},
    {"u8", 1},   {"u16", 2},   {"u32", 4},   {"u64", 8},    {"s8", 1},     {"s16", 2},  {"s32", 4},
    {"s64", 8},  {"u16x2", 4}, {"s16x2", 4}, {"f16", 2},    {"f16x2", 4},  {"bf16", 2}, {"bf16x2", 4},
    {"tf32", 4}, {"e4m3", 1},  {"e5m2", 1},  {"e4m3x2", 2}, {"e5m2x2", 2}, {"f32", 4},  {"f64", 8},
}};
static_assert(kTypes.size() == static_cast<std::size_t>(Type::f64) + 1);

}  // namespace

Type type_named(std::string_view name) {
  for (std::size_t i = 1; i < kTypes.size(); ++i) {
    if (kTypes[i].name == name) return static_cast<Type>(i);
  }
  return Type::none;
}

std::size_t bytes_of(Type type) { return kTypes[static_cast<std::size_t>(type)].bytes; }

}  // namespace opgate::simulator
