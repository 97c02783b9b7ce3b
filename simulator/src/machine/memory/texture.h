// Images that kernels read and write through objects: where their elements lie in global memory, and what a
// fetch of a texture computes of them, as the programming guide documents it.
#pragma once

#include <array>
#include <bit>
#include <cmath>
#include <cstddef>
#include <cstdint>

namespace opgate::simulator {

/// Elements of up to four channels of one size, in rows, slices, or layers of these.
struct Image {
  enum class Kind : std::uint8_t { signed_integer, unsigned_integer, floating };

  std::uint64_t address = 0;
  std::uint64_t row_pitch = 0;                  ///< bytes between the starts of rows
  std::uint64_t slice_pitch = 0;                ///< of slices, or of layers
  std::array<std::uint32_t, 3> sizes{1, 1, 1};  ///< elements; that of a dimension it does not have is 1
  std::uint32_t layers = 1;
  std::uint8_t rank = 1;  ///< without layers
  std::uint8_t channels = 1;
  std::uint8_t channel_bytes = 4;
  Kind kind = Kind::floating;
  bool is_layered = false;

  std::uint64_t element_bytes() const { return std::uint64_t{channels} * channel_bytes; }
  std::uint64_t address_of(std::uint64_t x, std::uint64_t y, std::uint64_t z) const {
    return address + z * slice_pitch + y * row_pitch + x * element_bytes();
  }
};

/// What an object of CUDA is. It lies in device memory, and its handle is its address there.
struct ImageObject {
  static constexpr std::size_t kBytes = 256;
  static constexpr std::uint32_t kTexture = 0x78655447;
  static constexpr std::uint32_t kSurface = 0x66755347;

  enum class Beyond : std::uint8_t { wraps, clamps, mirrors, is_border };

  std::uint32_t mark = 0;  ///< one of the two
  Image image;
  bool is_linear_memory = false;  ///< fetched by the index alone; zeros are beyond its end
  // For textures:
  std::array<Beyond, 3> beyond{Beyond::clamps, Beyond::clamps, Beyond::clamps};
  bool interpolates = false;
  bool is_normalized = false;    ///< coordinates from 0 to 1
  bool gives_fractions = false;  ///< integers become numbers from 0 or -1 to 1
  std::array<float, 4> border{};
};
static_assert(sizeof(ImageObject) <= ImageObject::kBytes);

/// The channels of a texel. As numbers of floating point all values are exact.
using Texel = std::array<double, 4>;

/// For the texel at an index that may lie beyond the ends: the index that counts, or a negative one for the
/// border.
std::int64_t index_within(std::int64_t index, std::int64_t size, ImageObject::Beyond beyond);

/// A coordinate in texels: the first of the two that count, and the weight of the second one in 256ths.
struct Coordinate {
  std::int64_t first = 0;
  unsigned weight = 0;
};
Coordinate coordinate_of(const ImageObject& texture, std::size_t dimension, float value);

/// `read(x, y, z)` gives the texel at indices that lie within the image. `at` has as many coordinates as the
/// image has dimensions; `layer` is its third index if it has layers.
template <class Read>
Texel sample(const ImageObject& texture, const std::array<float, 3>& at, std::uint32_t layer, Read&& read) {
  const Image& image = texture.image;
  std::array<Coordinate, 3> coordinates{};
  for (std::size_t i = 0; i < image.rank; ++i) coordinates[i] = coordinate_of(texture, i, at[i]);
  Texel sum{};
  const unsigned corners = texture.interpolates ? 1u << image.rank : 1u;
  for (unsigned corner = 0; corner < corners; ++corner) {
    double weight = 1;
    std::array<std::int64_t, 3> index{};
    bool is_border = false;
    for (std::size_t i = 0; i < image.rank; ++i) {
      const bool is_second = (corner >> i & 1) != 0;
      if (texture.interpolates)
        weight *= (is_second ? coordinates[i].weight : 256 - coordinates[i].weight) / 256.0;
      index[i] = index_within(coordinates[i].first + (is_second ? 1 : 0), image.sizes[i], texture.beyond[i]);
      is_border = is_border || index[i] < 0;
    }
    if (weight == 0) continue;
    if (image.is_layered) index[2] = layer;
    Texel texel{};
    if (is_border)
      std::copy(texture.border.begin(), texture.border.end(), texel.begin());
    else
      texel = read(index[0], index[1], index[2]);
    for (std::size_t i = 0; i < texel.size(); ++i) sum[i] += corners == 1 ? texel[i] : weight * texel[i];
  }
  return sum;
}

}  // namespace opgate::simulator
