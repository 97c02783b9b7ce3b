#include "machine/memory/texture.h"

#include <algorithm>

namespace opgate::simulator {

std::int64_t index_within(std::int64_t index, std::int64_t size, ImageObject::Beyond beyond) {
  if (index >= 0 && index < size) return index;
  const auto modulo = [&](std::int64_t period) { return ((index % period) + period) % period; };
  switch (beyond) {
    case ImageObject::Beyond::clamps:
      return std::clamp<std::int64_t>(index, 0, size - 1);
    case ImageObject::Beyond::wraps:
      return modulo(size);
    case ImageObject::Beyond::mirrors: {
      const std::int64_t there_and_back = modulo(2 * size);
      return there_and_back < size ? there_and_back : 2 * size - 1 - there_and_back;
    }
    case ImageObject::Beyond::is_border:
      break;
  }
  return -1;
}

// A weight has 8 bits of fraction.
Coordinate coordinate_of(const ImageObject& texture, std::size_t dimension, float value) {
  constexpr double kFarAway = 1 << 30;  // beyond all images
  double position = value;
  if (texture.is_normalized) position *= texture.image.sizes[dimension];
  position = std::isnan(position) ? 0 : std::clamp(position, -kFarAway, kFarAway);
  if (!texture.interpolates) return {static_cast<std::int64_t>(std::floor(position)), 0};
  const auto fixed = static_cast<std::int64_t>(std::floor((position - 0.5) * 256 + 0.5));
  return {fixed >> 8, static_cast<unsigned>(fixed & 255)};
}

}  // namespace opgate::simulator
