// The values of sources: at edges, and drawn by chance.
#include <random>

#include "card/forms/form.h"
#include "unit/edges.h"

namespace opgate::card {
namespace {

using Values = std::vector<std::uint64_t>;
using namespace simulator::tests;

const Values& edges_of_half() {
  static const Values edges{0x0000, 0x8000, 0x0001, 0x83ff, 0x0400, 0x8400, 0x3c00, 0xbc00,
                            0x3c01, 0x3bff, 0x4248, 0x2e66, 0xd7b0, 0x6801, 0x7bff, 0xfbff,
                            0x7c00, 0xfc00, 0x7e00, 0xfe01, 0x7c01, 0x5640};
  return edges;
}

const Values& edges_of_bfloat16() {
  static const Values edges{0x0000, 0x8000, 0x0001, 0x807f, 0x0080, 0x8080, 0x3f80, 0xbf80,
                            0x3f81, 0x3f7f, 0x4049, 0x3dcd, 0xc2f7, 0x4b81, 0x7f7f, 0xff7f,
                            0x7f80, 0xff80, 0x7fc0, 0xffc1, 0x7f81, 0x5640};
  return edges;
}

// Numbers on both sides of the bounds of integers, and NaN of all kinds, beside the edges of the tests.
Values edges_of_single() {
  Values edges = edges_of_float();
  const Values more{0x7f800001, 0x7fa00001, 0xffc12345, 0x3f000000, 0xbf000000, 0x3fc00000, 0x40200000,
                    0x4effffff, 0x4f000000, 0xcf000000, 0xcf000001, 0x4f7fffff, 0x4f800000, 0x5effffff,
                    0x5f000000, 0xdf000000, 0x5f800000, 0x477fe000, 0x477ff000, 0x42fe0000, 0x43000000,
                    0xc3010000, 0x38800000, 0x33000000, 0x33800001, 0x3f808000, 0x3f818000};
  edges.insert(edges.end(), more.begin(), more.end());
  return edges;
}

Values edges_of_double_precision() {
  Values edges = edges_of_double();
  const Values more{0x7ff0000000000001, 0xfffebeafd0523a7a, 0xfff8000012345678, 0x3fe0000000000000,
                    0xbfe0000000000000, 0x3ff8000000000000, 0x41dfffffffc00000, 0x41e0000000000000,
                    0xc1e0000000000000, 0x41efffffffe00000, 0x43dfffffffffffff, 0x43e0000000000000,
                    0xc3e0000000000000, 0x43f0000000000000, 0x47efffffe0000000, 0x47efffffefffffff,
                    0x47effffff0000000, 0x380fffffffffffff, 0x36a0000000000000, 0x3690000000000001,
                    0x40effc0000000000};
  edges.insert(edges.end(), more.begin(), more.end());
  return edges;
}

Values pairs_of(const Values& edges) {
  Values pairs;
  for (std::size_t i = 0; i < edges.size(); ++i)
    pairs.push_back(edges[i] | edges[(i * 7 + 3) % edges.size()] << 16);
  return pairs;
}

int bits_of(const std::string& type) {
  const std::string letter = letter_of(type);
  if (type == "small64") return 64;
  return letter == "h" ? 16 : letter == "rd" || letter == "fd" ? 64 : 32;
}

Values edges_of(const std::string& type) {
  if (type == "pred") return {0, 1};
  if (type == "f16") return edges_of_half();
  if (type == "bf16") return edges_of_bfloat16();
  if (type == "f16x2") return pairs_of(edges_of_half());
  if (type == "bf16x2") return pairs_of(edges_of_bfloat16());
  if (type == "f32") return edges_of_single();
  if (type == "f64") return edges_of_double_precision();
  if (type == "position") return {0, 1, 5, 8, 16, 31, 32, 33, 63, 64, 65, 127, 255, 256, 0x101, 0xffffffff};
  if (type == "lane") {
    Values lanes;
    for (std::uint64_t i = 0; i < 32; ++i) lanes.push_back(i);
    return lanes;
  }
  if (type == "small_signed") return {0, 1, 2, 3, 8, 32, 0xffffffff, 0xfffffffe, 0xfffffff8};
  if (type == "small32" || type == "small64") return {0, 1, 2, 3};
  return bits_of(type) == 16   ? edges_of_16_bits()
         : bits_of(type) == 64 ? edges_of_64_bits()
                               : edges_of_32_bits();
}

bool draws_all_bits(const std::string& type) {
  return type != "pred" && type != "lane" && type != "small_signed" && type != "small32" &&
         type != "small64" && type != "position";
}

// Half of the numbers are bits of any kind, and half of them moderate.
std::uint64_t drawn(const std::string& type, std::mt19937_64& random) {
  const Values edges = edges_of(type);
  if (!draws_all_bits(type)) return edges[random() % edges.size()];
  const std::uint64_t bits = random();
  const bool any = random() % 2 == 0;
  if (any || (type[0] != 'f' && type[0] != 'b')) return bits;
  if (type == "f32") return (bits & 0x80ffffff) | (0x3c000000 + (random() % 8) * 0x01000000);
  if (type == "f64") return (bits & 0x800fffffffffffff) | (0x3fc + random() % 8) << 52;
  if (type == "f16") return (bits & 0x83ff) | (12 + random() % 8) << 10;
  return bits;
}

}  // namespace

std::vector<std::array<std::uint64_t, 3>> sources_of(const Form& form) {
  constexpr std::size_t kMostCombinations = 8192;
  constexpr std::size_t kDrawn = 2048;
  std::seed_seq seed(form.text.begin(), form.text.end());
  std::mt19937_64 random(seed);
  std::array<Values, 3> edges;
  std::size_t combinations = 1;
  int count = 0;
  for (std::size_t i = 0; i < 3; ++i) {
    edges.at(i) = form.sources.at(i).empty() ? Values{0} : edges_of(form.sources.at(i));
    combinations *= edges.at(i).size();
    count += form.sources.at(i).empty() ? 0 : 1;
  }
  std::vector<std::array<std::uint64_t, 3>> all;
  const auto pick = [&](std::size_t index) {
    std::array<std::uint64_t, 3> values{};
    for (std::size_t i = 0; i < 3; ++i) {
      values.at(i) = edges.at(i)[index % edges.at(i).size()];
      index /= edges.at(i).size();
    }
    return values;
  };
  if (count == 1 && bits_of(form.sources[0]) == 16) {
    for (std::uint64_t i = 0; i < 65536; ++i) all.push_back({i, 0, 0});
    return all;
  }
  for (std::size_t i = 0; i < std::min(combinations, kMostCombinations); ++i)
    all.push_back(pick(combinations <= kMostCombinations ? i : random() % combinations));
  for (std::size_t i = 0; i < kDrawn; ++i) {
    std::array<std::uint64_t, 3> values{};
    for (std::size_t k = 0; k < 3; ++k) {
      if (!form.sources.at(k).empty()) values.at(k) = drawn(form.sources.at(k), random);
    }
    all.push_back(values);
  }
  return all;
}

}  // namespace opgate::card
