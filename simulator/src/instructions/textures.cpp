// tex, suld and sust: images that kernels read and write through objects. Each access of a texel is one of
// global memory.
#include <array>
#include <cstring>

#include "instructions/effects.h"
#include "instructions/flows.h"
#include "instructions/select.h"
#include "instructions/selectors.h"
#include "machine/memory/memory.h"
#include "machine/memory/texture.h"
#include "numbers/small_floats.h"

namespace opgate::simulator {
namespace textures {

/// How the words of an instruction name the dimensions.
struct Geometry {
  std::uint8_t rank = 0;
  bool is_layered = false;

  /// In PTX, three coordinates are written as four, and a layer comes first.
  std::size_t coordinates() const {
    const std::size_t needed = rank + (is_layered ? 1u : 0u);
    return needed == 3 ? 4 : needed;
  }
};

// The immediate has the geometry, because the handle has no offset.
std::int64_t packed(const Geometry& geometry) { return geometry.rank * 2 + (geometry.is_layered ? 1 : 0); }
Geometry geometry_of(const Instruction& in) {
  return {static_cast<std::uint8_t>(in.immediate / 2), in.immediate % 2 != 0};
}

[[noreturn]] void refuse(const Instruction& in, const std::string& why) {
  fail(in, Fault::illegal_instruction, ": " + why);
}

ImageObject object_at(Thread& thread, const Instruction& in, std::uint64_t handle, std::uint32_t mark) {
  ImageObject object;
  std::memcpy(&object, locate<Space::global, Access::load>(thread, in, handle, ImageObject::kBytes),
              sizeof(object));
  const char* const wanted = mark == ImageObject::kTexture ? "texture" : "surface";
  if (object.mark != mark) refuse(in, std::string("the handle is none of a ") + wanted);
  const Geometry geometry = geometry_of(in);
  const Image& image = object.image;
  const bool is_same = geometry.rank == image.rank && geometry.is_layered == image.is_layered;
  if (!is_same)
    refuse(in, std::string("the ") + wanted + " has " + std::to_string(image.rank) + " dimensions" +
                   (image.is_layered ? " and layers" : ""));
  return object;
}

double channel_at(const unsigned char* at, const Image& image) {
  switch (image.channel_bytes) {
    case 1:
      return image.kind == Image::Kind::unsigned_integer ? static_cast<double>(*at)
                                                         : static_cast<signed char>(*at);
    case 2: {
      std::uint16_t bits = 0;
      std::memcpy(&bits, at, sizeof(bits));
      if (image.kind == Image::Kind::floating) return to_double(Half{bits});
      return image.kind == Image::Kind::unsigned_integer ? bits : static_cast<std::int16_t>(bits);
    }
    default: {
      std::uint32_t bits = 0;
      std::memcpy(&bits, at, sizeof(bits));
      if (image.kind == Image::Kind::floating) return std::bit_cast<float>(bits);
      return image.kind == Image::Kind::unsigned_integer ? bits : static_cast<std::int32_t>(bits);
    }
  }
}

double as_fraction(double value, const Image& image) {
  const double most =
      std::ldexp(1.0, 8 * image.channel_bytes - (image.kind == Image::Kind::signed_integer)) - 1;
  return std::max(value / most, -1.0);
}

Texel texel_at(Thread& thread, const Instruction& in, const ImageObject& object, std::uint64_t x,
               std::uint64_t y, std::uint64_t z) {
  const Image& image = object.image;
  const unsigned char* const data = thread.block->grid().global(
      in.site, image.address_of(x, y, z), image.element_bytes(), Access::load, *in.text);
  Texel texel{};
  for (std::size_t i = 0; i < image.channels; ++i) {
    texel[i] = channel_at(data + i * image.channel_bytes, image);
    if (object.gives_fractions) texel[i] = as_fraction(texel[i], image);
  }
  return texel;
}

// The operands: four results, the handle, and the coordinates.
constexpr std::size_t kHandle = 4;

template <class Result>
void put(Thread& thread, const Instruction& in, const ImageObject& object, const Texel& texel) {
  const bool is_floating = object.gives_fractions || object.image.kind == Image::Kind::floating;
  if (is_floating != std::is_same_v<Result, float>)
    refuse(in, is_floating ? "the texture gives numbers of floating point" : "the texture gives integers");
  for (std::size_t i = 0; i < texel.size(); ++i) {
    if constexpr (std::is_same_v<Result, float>)
      thread.registers[in.slot(i)] = std::bit_cast<std::uint32_t>(static_cast<float>(texel[i]));
    else
      thread.registers[in.slot(i)] = static_cast<std::uint32_t>(static_cast<std::int64_t>(texel[i]));
  }
}

template <class Result, class Index>
void fetch(Thread& thread, const Instruction& in) {
  const ImageObject object = object_at(thread, in, thread.registers[in.slot(kHandle)], ImageObject::kTexture);
  const Image& image = object.image;
  const std::size_t first = kHandle + 1;
  const std::size_t before = image.is_layered ? 1 : 0;
  const auto bits = [&](std::size_t i) {
    return static_cast<std::uint32_t>(thread.registers[in.slot(first + i)]);
  };
  // Beyond the last layer, the last one counts.
  const std::uint32_t layer = before == 0 ? 0 : std::min(bits(0), image.layers - 1);
  const auto read = [&](std::int64_t x, std::int64_t y, std::int64_t z) {
    return texel_at(thread, in, object, static_cast<std::uint64_t>(x), static_cast<std::uint64_t>(y),
                    static_cast<std::uint64_t>(z));
  };
  if (object.is_linear_memory) {
    if constexpr (std::is_same_v<Index, float>) refuse(in, "linear memory is fetched by integers");
    const std::int64_t index = static_cast<std::int32_t>(bits(0));
    put<Result>(thread, in, object, index >= 0 && index < image.sizes[0] ? read(index, 0, 0) : Texel{});
    return;
  }
  std::array<float, 3> at{};
  for (std::size_t i = 0; i < image.rank; ++i) {
    if constexpr (std::is_same_v<Index, float>)
      at[i] = std::bit_cast<float>(bits(before + i));
    else
      refuse(in, "only linear memory is fetched by integers");
  }
  put<Result>(thread, in, object, sample(object, at, layer, read));
}

std::optional<Geometry> take_geometry(Draft& draft) {
  const std::optional<int> named = draft.modifiers.take_one({"1d", "2d", "3d", "a1d", "a2d"});
  if (!named) return std::nullopt;
  constexpr std::array<Geometry, 5> kGeometries{{{1, false}, {2, false}, {3, false}, {1, true}, {2, true}}};
  return kGeometries[static_cast<std::size_t>(*named)];
}

bool has_object(const Draft& draft, std::size_t operand, const Geometry& geometry) {
  return draft.is(operand, Operand::Kind::address) && draft.operands[operand].offset == 0 &&
         draft.operands[operand].slots.size() == 1 + geometry.coordinates();
}

template <class Result>
Handler for_index(Type index) {
  if (index == Type::f32) return &fetch<Result, float>;
  return index == Type::s32 ? &fetch<Result, std::int32_t> : nullptr;
}

// Where an access of a surface begins, or null where it lies outside and has no effect. Coordinates of a
// surface count bytes in the first dimension.
template <Access access>
unsigned char* place_in_surface(Thread& thread, const Instruction& in, std::size_t handle,
                                std::size_t bytes) {
  const ImageObject object = object_at(thread, in, thread.registers[in.slot(handle)], ImageObject::kSurface);
  const Image& image = object.image;
  const std::size_t first = handle + 1;
  const std::size_t before = image.is_layered ? 1 : 0;
  const auto coordinate = [&](std::size_t i) {
    return static_cast<std::int64_t>(static_cast<std::int32_t>(thread.registers[in.slot(first + i)]));
  };
  std::array<std::int64_t, 3> at{};
  for (std::size_t i = 0; i < image.rank; ++i) at[i] = coordinate(before + i);
  if (image.is_layered) at[2] = coordinate(0);
  const auto row_bytes = static_cast<std::int64_t>(image.sizes[0] * image.element_bytes());
  const std::int64_t slices = image.is_layered ? image.layers : image.sizes[2];
  const bool is_inside = at[0] >= 0 && at[0] + static_cast<std::int64_t>(bytes) <= row_bytes && at[1] >= 0 &&
                         at[1] < image.sizes[1] && at[2] >= 0 && at[2] < slices;
  if (at[0] % static_cast<std::int64_t>(bytes) != 0)
    fail(in, Fault::misaligned_address,
         " at byte " + std::to_string(at[0]) + " of a row, which is not a multiple of " +
             std::to_string(bytes));
  if (!is_inside) return nullptr;
  return thread.block->grid().global(in.site,
                                     image.address + static_cast<std::uint64_t>(at[2]) * image.slice_pitch +
                                         static_cast<std::uint64_t>(at[1]) * image.row_pitch +
                                         static_cast<std::uint64_t>(at[0]),
                                     bytes, access, *in.text);
}

// Of an access that traps.
constexpr const char* kBeyond = " beyond the end of the surface";

template <class T, int lanes, bool traps>
void load_surface(Thread& thread, const Instruction& in) {
  const unsigned char* const data = place_in_surface<Access::load>(thread, in, lanes, lanes * sizeof(T));
  if (data == nullptr && traps) fail(in, Fault::illegal_address, kBeyond);
  for (std::size_t i = 0; i < lanes; ++i) {
    T value{};
    if (data != nullptr) std::memcpy(&value, data + i * sizeof(T), sizeof(T));
    thread.registers[in.slot(i)] = value;
  }
}

template <class T, int lanes, bool traps>
void store_surface(Thread& thread, const Instruction& in) {
  unsigned char* const data = place_in_surface<Access::store>(thread, in, 0, lanes * sizeof(T));
  if (data == nullptr && traps) fail(in, Fault::illegal_address, kBeyond);
  if (data == nullptr) return;
  const std::size_t values = 1 + geometry_of(in).coordinates();
  for (std::size_t i = 0; i < lanes; ++i) {
    const auto value = static_cast<T>(thread.registers[in.slot(values + i)]);
    std::memcpy(data + i * sizeof(T), &value, sizeof(T));
  }
}

template <bool loads, bool traps, int lanes>
Handler with_lanes(std::size_t bytes) {
  const auto of = []<class T>() -> Handler {
    return loads ? &load_surface<T, lanes, traps> : &store_surface<T, lanes, traps>;
  };
  if (bytes == 1) return of.template operator()<std::uint8_t>();
  return lanes < 4 || bytes < 8 ? for_bytes(bytes, of) : nullptr;
}

// `.clamp` moves an access beyond the end to the edge, which is not simulated.
template <bool loads>
Handler select_surface(Draft& draft) {
  Modifiers& modifiers = draft.modifiers;
  const bool is_by_bytes = modifiers.take("b");
  const std::optional<Geometry> geometry = take_geometry(draft);
  modifiers.take_hints();
  const int lanes = modifiers.take_lanes();
  const Type type = modifiers.take_type();
  const std::optional<int> beyond = modifiers.take_one({"trap", "zero"});
  const std::size_t object = loads ? 1 : 0;
  if (!is_by_bytes || !geometry || !beyond || !has_object(draft, object, *geometry) ||
      draft.operands[1 - object].slots.size() != static_cast<std::size_t>(lanes))
    return nullptr;
  draft.operands[object].offset = packed(*geometry);
  return for_value<1, 2, 4>(lanes, [&]<int count>() {
    return *beyond == 0 ? with_lanes<loads, true, count>(bytes_of(type))
                        : with_lanes<loads, false, count>(bytes_of(type));
  });
}

}  // namespace textures

// Textures have no smaller images here, so that a level, or a gradient that chooses one, changes nothing.
static Handler select_texture(Draft& draft) {
  using namespace textures;
  Modifiers& modifiers = draft.modifiers;
  const bool has_level = modifiers.take("level");
  const bool has_gradient = modifiers.take("grad");
  const std::optional<Geometry> geometry = take_geometry(draft);
  if (!modifiers.take("v4") || !geometry) return nullptr;
  const Type result = modifiers.take_type();
  const Type index = modifiers.take_type();
  const std::size_t operands = has_gradient ? 4 : has_level ? 3 : 2;
  if (draft.operands.size() != operands || draft.operands[0].slots.size() != kHandle ||
      !has_object(draft, 1, *geometry))
    return nullptr;
  draft.operands.resize(2);
  draft.operands[1].offset = packed(*geometry);
  if (result == Type::f32) return for_index<float>(index);
  if (result == Type::s32 || result == Type::u32) return for_index<std::int32_t>(index);
  return nullptr;
}

static Handler select_surface_load(Draft& draft) { return textures::select_surface<true>(draft); }
static Handler select_surface_store(Draft& draft) { return textures::select_surface<false>(draft); }

std::vector<OpcodeRow> opcodes_of_textures() {
  return {
      {"tex",
       {&select_texture, 2, 5, Result::first, Waits::never, &effect_of<Effect::Kind::ignored>,
        &flow_of_number}},
      {"suld",
       {&select_surface_load, 2, 2, Result::first, Waits::never, &effect_of<Effect::Kind::ignored>,
        &flow_of_number}},
      {"sust",
       {&select_surface_store, 2, 2, Result::none, Waits::never, &effect_of<Effect::Kind::ignored>,
        &flow_of_number}},
  };
}

}  // namespace opgate::simulator
