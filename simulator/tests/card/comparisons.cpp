#include "card/comparisons.h"

#include <bit>
#include <cmath>
#include <cstring>
#include <optional>
#include <random>

namespace opgate::card {
namespace {

using nlohmann::json;
using simulator::tests::RandomProgram;

constexpr std::size_t kExamples = 12;

std::string hexadecimal(std::uint64_t bits) {
  char text[20];
  std::snprintf(text, sizeof text, "%llx", static_cast<unsigned long long>(bits));
  return text;
}

template <class T>
T at(const std::vector<unsigned char>& memory, std::size_t offset) {
  T value;
  std::memcpy(&value, memory.data() + offset, sizeof(T));
  return value;
}

// A digest of the results (FNV-1a), by which a machine without a card can compare its simulator with one
// later.
std::string digest_of(const std::vector<std::uint64_t>& values) {
  std::uint64_t digest = 0xcbf29ce484222325;
  for (const std::uint64_t value : values) {
    for (int shift = 0; shift < 64; shift += 8) digest = (digest ^ (value >> shift & 0xff)) * 0x100000001b3;
  }
  return hexadecimal(digest);
}

// What went wrong, if a side has no results.
bool failed(json& line, const Result& simulated, const Result& real) {
  if (!simulated.failure.empty()) line["simulator_failed"] = simulated.failure;
  if (!real.failure.empty()) line["card_failed"] = real.failure;
  return !simulated.failure.empty() || !real.failure.empty();
}

double number_of(const std::string& type, std::uint64_t bits) {
  if (type == "f64") return std::bit_cast<double>(bits);
  if (type == "bf16") return std::bit_cast<float>(static_cast<std::uint32_t>(bits << 16));
  if (type != "f16") return std::bit_cast<float>(static_cast<std::uint32_t>(bits));
  const double magnitude =
      (bits & 0x7c00) == 0 ? static_cast<double>(bits & 0x3ff) * 0x1p-24
      : (bits & 0x7c00) == 0x7c00
          ? ((bits & 0x3ff) != 0 ? std::nan("") : HUGE_VAL)
          : std::ldexp(static_cast<double>((bits & 0x3ff) | 0x400), static_cast<int>(bits >> 10 & 31) - 25);
  return (bits & 0x8000) != 0 ? -magnitude : magnitude;
}

// The distance of neighbours of a number: what both sides' rounding may differ by.
double unit_at(const std::string& type, double value) {
  const int digits = type == "f64" ? 52 : type == "f32" ? 23 : type == "f16" ? 10 : 7;
  const int least = type == "f64" ? -1022 : type == "f16" ? -14 : -126;
  const int exponent = value == 0 ? least : std::max(std::ilogb(value), least);
  return std::ldexp(1.0, exponent - digits);
}

/// Empty if the card's result is as near as the manual promises; otherwise by how much it is not.
std::optional<double> beyond(const Form& form, std::uint64_t source, std::uint64_t simulated,
                             std::uint64_t real, double& worst) {
  if (simulated == real) return std::nullopt;
  const double expected = number_of(form.result, simulated);
  const double seen = number_of(form.result, real);
  if (std::isnan(expected) && std::isnan(seen)) return std::nullopt;
  const double allowed = form.allowed(number_of(form.sources[0], source), expected);
  if (allowed < 0) return std::nullopt;
  const double unit = unit_at(form.result, expected);
  const double distance = std::fabs(expected - seen);
  if (std::isfinite(distance)) worst = std::max(worst, distance / (allowed + unit));
  // Both sides round: each by half a unit.
  if (distance <= allowed + unit) return std::nullopt;
  return distance / unit;
}

Work work_of(const Form& form, const std::vector<std::array<std::uint64_t, 3>>& sources) {
  Work work;
  work.ptx = kernel_of_form(form);
  work.threads = 64;
  work.blocks = static_cast<unsigned>((sources.size() + 63) / 64);
  work.memory.resize(std::size_t{work.blocks} * 64 * kRecord);
  for (std::size_t i = 0; i < sources.size(); ++i)
    std::memcpy(&work.memory[i * kRecord], sources[i].data(), 24);
  return work;
}

// Two for each execution.
std::vector<std::uint64_t> results_of(const Result& result, std::size_t executions) {
  std::vector<std::uint64_t> results;
  for (std::size_t i = 0; i < executions; ++i) {
    results.push_back(at<std::uint64_t>(result.memory, i * kRecord + kResults));
    results.push_back(at<std::uint64_t>(result.memory, i * kRecord + kResults + 8));
  }
  return results;
}

std::string digest_of_memory(const std::vector<unsigned char>& memory) {
  return digest_of({memory.begin(), memory.end()});
}

// The numbers of the result of all products.
std::string digest_of_products(const Result& result) {
  std::vector<unsigned char> all;
  for (std::size_t block = 0; block < kProducts; ++block) {
    const auto begin = result.memory.begin() + static_cast<std::ptrdiff_t>(block * 4 * kMatrixBytes);
    all.insert(all.end(), begin, begin + kMatrixBytes);
  }
  return digest_of_memory(all);
}

json compared_with(const Recorded& recorded, const char* kind, const std::string& text,
                   const Result& simulated, const std::string& digest) {
  json line{
      {"kind", kind}, {"text", text}, {"digest", digest}, {"differing", digest == recorded.at(text) ? 0 : 1}};
  if (!simulated.failure.empty()) line["simulator_failed"] = simulated.failure;
  return line;
}

Work work_of_program(const RandomProgram& program, unsigned seed) {
  std::mt19937 random(seed);
  Work work;
  work.ptx = program.text();
  work.blocks = 2;
  work.threads = 64;
  std::vector<std::uint32_t> values(32 * 128);
  // Half of the values are bits of any kind, which are mostly large numbers, and half are small numbers.
  for (std::size_t i = 0; i < values.size(); ++i) {
    values[i] = random();
    if (i % 2 == 0)
      values[i] = std::bit_cast<std::uint32_t>(static_cast<float>(static_cast<int>(values[i])) * 0x1p-28f);
  }
  work.memory.resize(values.size() * 4);
  std::memcpy(work.memory.data(), values.data(), work.memory.size());
  return work;
}

}  // namespace

std::string text_of(const MatrixForm& form, Numbers numbers) {
  static const char* const kNames[] = {" of integers", " of any numbers", " of special numbers"};
  return form.opcode + kNames[static_cast<int>(numbers)];
}

json compare_form(const Sides& sides, const Form& form) {
  const auto sources = sources_of(form);
  const Work work = work_of(form, sources);
  json line{
      {"kind", "instruction"}, {"group", form.group}, {"text", form.text}, {"executions", sources.size()}};
  const Result simulated = sides.simulator.run(work);
  const Result real = sides.card.run(work);
  if (failed(line, simulated, real)) return line;
  const std::vector<std::uint64_t> expected = results_of(simulated, sources.size());
  const std::vector<std::uint64_t> seen = results_of(real, sources.size());
  if (form.allowed == nullptr) line["digest"] = digest_of(seen);
  std::size_t differing = 0;
  double worst = 0;
  json examples = json::array();
  for (std::size_t i = 0; i < sources.size(); ++i) {
    const bool equal = expected[2 * i] == seen[2 * i] && expected[2 * i + 1] == seen[2 * i + 1];
    if (equal ||
        (form.allowed != nullptr && !beyond(form, sources[i][0], expected[2 * i], seen[2 * i], worst)))
      continue;
    ++differing;
    if (examples.size() >= kExamples) continue;
    json example{{"simulator", hexadecimal(expected[2 * i])}, {"card", hexadecimal(seen[2 * i])}};
    for (std::size_t k = 0; k < 3; ++k) {
      if (!form.sources.at(k).empty()) example["sources"].push_back(hexadecimal(sources[i].at(k)));
    }
    if (!form.second.empty()) {
      example["simulator_second"] = hexadecimal(expected[2 * i + 1]);
      example["card_second"] = hexadecimal(seen[2 * i + 1]);
    }
    examples.push_back(std::move(example));
  }
  line["differing"] = differing;
  if (form.allowed != nullptr) line["share_of_allowed"] = worst;
  if (!examples.empty()) line["examples"] = std::move(examples);
  return line;
}

json compare_form_with(const Recorded& recorded, Side& simulator, const Form& form) {
  if (!recorded.contains(form.text)) return nullptr;
  const auto sources = sources_of(form);
  const Result simulated = simulator.run(work_of(form, sources));
  return compared_with(recorded, "instruction", form.text, simulated,
                       simulated.failure.empty() ? digest_of(results_of(simulated, sources.size())) : "");
}

json compare_matrices(const Sides& sides, const MatrixForm& form, Numbers numbers) {
  static const char* const kNames[] = {"integers", "any", "special"};
  json line{
      {"kind", "matrices"}, {"text", text_of(form, numbers)}, {"numbers", kNames[static_cast<int>(numbers)]}};
  const Work work = work_of(form, numbers);
  const Result simulated = sides.simulator.run(work);
  const Result real = sides.card.run(work);
  if (failed(line, simulated, real)) return line;
  line["digest"] = digest_of_products(real);
  const std::string& type = form.types[0];
  const std::size_t size = type == "f64" ? 8 : type == "f16" ? 2 : 4;
  std::size_t differing = 0;
  double worst = 0;
  json examples = json::array();
  for (std::size_t block = 0; block < kProducts; ++block) {
    const std::size_t begin = block * 4 * kMatrixBytes;
    double largest = 0;
    double distance = 0;
    for (std::size_t offset = 0; offset < kMatrixBytes; offset += size) {
      std::uint64_t expected = 0;
      std::uint64_t seen = 0;
      std::memcpy(&expected, &simulated.memory[begin + offset], size);
      std::memcpy(&seen, &real.memory[begin + offset], size);
      const double a = type == "s32" ? 0 : number_of(type, expected);
      const double b = type == "s32" ? 0 : number_of(type, seen);
      if (std::isfinite(a)) largest = std::max(largest, std::fabs(a));
      if (expected == seen) continue;
      ++differing;
      if (std::isfinite(a - b)) distance = std::max(distance, std::fabs(a - b));
      if (examples.size() < kExamples)
        examples.push_back({{"simulator", hexadecimal(expected)}, {"card", hexadecimal(seen)}});
    }
    if (distance > 0 && type != "s32") worst = std::max(worst, distance / unit_at(type, largest));
  }
  line["differing"] = differing;
  line["worst_units"] = worst;  // in units of the largest element of the product
  if (!examples.empty()) line["examples"] = std::move(examples);
  return line;
}

json compare_matrices_with(const Recorded& recorded, Side& simulator, const MatrixForm& form,
                           Numbers numbers) {
  const std::string text = text_of(form, numbers);
  if (!recorded.contains(text)) return nullptr;
  const Result simulated = simulator.run(work_of(form, numbers));
  return compared_with(recorded, "matrices", text, simulated,
                       simulated.failure.empty() ? digest_of_products(simulated) : "");
}

json compare_kernel(const Sides& sides, const KernelForm& form) {
  json line{{"kind", "kernel"}, {"group", form.group}, {"text", form.text}};
  const Work work = form.work();
  const Result simulated = sides.simulator.run(work);
  const Result real = sides.card.run(work);
  if (failed(line, simulated, real)) return line;
  line["digest"] = digest_of_memory(real.memory);
  std::size_t differing = 0;
  json examples = json::array();
  for (std::size_t offset = 0; offset < work.memory.size(); offset += 4) {
    const auto expected = at<std::uint32_t>(simulated.memory, offset);
    const auto seen = at<std::uint32_t>(real.memory, offset);
    if (expected == seen) continue;
    ++differing;
    if (examples.size() < kExamples)
      examples.push_back(
          {{"offset", offset}, {"simulator", hexadecimal(expected)}, {"card", hexadecimal(seen)}});
  }
  line["differing"] = differing;
  if (!examples.empty()) line["examples"] = std::move(examples);
  return line;
}

json compare_kernel_with(const Recorded& recorded, Side& simulator, const KernelForm& form) {
  if (!recorded.contains(form.text)) return nullptr;
  const Result simulated = simulator.run(form.work());
  return compared_with(recorded, "kernel", form.text, simulated, digest_of_memory(simulated.memory));
}

std::string text_of_program(unsigned seed) { return "program " + std::to_string(seed); }

RandomProgram program_of(unsigned seed) { return RandomProgram(seed, RandomProgram::Instructions::defined); }

json compare_program(const Sides& sides, unsigned seed) {
  const RandomProgram program = program_of(seed);
  Work work = work_of_program(program, seed);
  json line{{"kind", "program"}, {"text", text_of_program(seed)}, {"seed", seed}};
  const auto differ = [&](int length, int rounds, json* failure = nullptr) {
    work.ptx = program.text(length, rounds);
    const Result simulated = sides.simulator.run(work);
    const Result real = sides.card.run(work);
    if (failure != nullptr && !failed(*failure, simulated, real))
      (*failure)["digest"] = digest_of_memory(real.memory);
    return simulated.memory != real.memory;
  };
  const bool differs = differ(RandomProgram::kLength, RandomProgram::kRounds, &line);
  line["differing"] = differs ? 1 : 0;
  if (!differs || line.contains("card_failed") || line.contains("simulator_failed")) return line;
  int rounds = 1;
  while (rounds < RandomProgram::kRounds && !differ(RandomProgram::kLength, rounds)) ++rounds;
  int same = 0;
  int other = RandomProgram::kLength;
  if (rounds == 1) {
    while (other - same > 1) {
      const int middle = (same + other) / 2;
      (differ(middle, 1) ? other : same) = middle;
    }
    line["instruction"] = program.instructions()[static_cast<std::size_t>(other) - 1];
  }
  line["rounds"] = rounds;
  return line;
}

json compare_program_with(const Recorded& recorded, Side& simulator, unsigned seed) {
  const std::string text = text_of_program(seed);
  if (!recorded.contains(text)) return nullptr;
  const Result simulated = simulator.run(work_of_program(program_of(seed), seed));
  return compared_with(recorded, "program", text, simulated, digest_of_memory(simulated.memory));
}

}  // namespace opgate::card
