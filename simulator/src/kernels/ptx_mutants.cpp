#include "kernels/ptx_mutants.h"

#include <atomic>
#include <cstdlib>
#include <fstream>
#include <iterator>
#include <map>
#include <mutex>
#include <set>
#include <stdexcept>
#include <string_view>
#include <utility>

#include <nlohmann/json.hpp>

namespace opgate::simulator {
namespace ptx_mutants {

struct Mutant {
  std::size_t begin, end;  ///< bytes of the source
  std::string instead;
  std::string kernel;  ///< in which it is; empty for a function that kernels call
};

struct Source {
  std::string code;
  std::map<int, Mutant> mutants;  ///< by number
};

// Programs that hand PTX over as a text end it with a zero, and may add a line break.
std::string_view without_end(std::string_view ptx) {
  const auto last = ptx.find_last_not_of(std::string_view("\0 \t\r\n", 5));
  return ptx.substr(0, last == std::string_view::npos ? 0 : last + 1);
}

std::string content_of(const std::string& file) {
  std::ifstream stream(file, std::ios::binary);
  if (!stream) throw std::runtime_error(file + " of OPGATE_PTX_MUTANTS cannot be read");
  return {std::istreambuf_iterator<char>(stream), {}};
}

std::vector<Source> read_sources() {
  const char* const file = std::getenv("OPGATE_PTX_MUTANTS");
  if (file == nullptr) return {};
  std::vector<Source> sources;
  for (const auto& described : nlohmann::json::parse(content_of(file))) {
    Source source{std::string(without_end(content_of(described.at("file")))), {}};
    for (const auto& mutant : described.at("mutants")) {
      source.mutants[mutant.at("number")] = {mutant.at("begin"), mutant.at("end"), mutant.at("instead"),
                                             mutant.at("kernel")};
    }
    sources.push_back(std::move(source));
  }
  return sources;
}

const std::vector<Source>& sources() {
  static const auto* const all = new std::vector<Source>(read_sources());
  return *all;
}

const Source* source_of(const std::string& ptx) {
  for (const Source& source : sources()) {
    if (source.code == without_end(ptx)) return &source;
  }
  return nullptr;
}

std::atomic<int> chosen{0};

// Kernels may run on another thread than the one that takes what they have reached.
struct Reached {
  std::mutex mutex;
  std::set<int> numbers;
};

Reached& reached() {
  static auto* const all = new Reached;
  return *all;
}

}  // namespace ptx_mutants

void choose_ptx_mutant(int number) {
  ptx_mutants::sources();
  ptx_mutants::chosen = number;
}

int chosen_ptx_mutant() { return ptx_mutants::chosen; }

std::string with_chosen_mutant(const std::string& ptx) {
  const int chosen = ptx_mutants::chosen;
  if (chosen <= 0) return ptx;
  const ptx_mutants::Source* const source = ptx_mutants::source_of(ptx);
  if (source == nullptr) return ptx;
  const auto mutant = source->mutants.find(chosen);
  if (mutant == source->mutants.end()) return ptx;
  const auto& [begin, end, instead, kernel] = mutant->second;
  return source->code.substr(0, begin) + instead + source->code.substr(end) + "\n";
}

void note_reached_ptx(const std::string& ptx, const std::string& kernel) {
  if (ptx_mutants::chosen != kReportReachedPtx) return;
  const ptx_mutants::Source* const source = ptx_mutants::source_of(ptx);
  if (source == nullptr) return;
  ptx_mutants::Reached& reached = ptx_mutants::reached();
  const std::lock_guard lock(reached.mutex);
  for (const auto& [number, mutant] : source->mutants) {
    if (mutant.kernel.empty() || mutant.kernel == kernel) reached.numbers.insert(number);
  }
}

std::vector<int> take_reached_ptx() {
  ptx_mutants::Reached& reached = ptx_mutants::reached();
  const std::lock_guard lock(reached.mutex);
  const std::set<int> numbers = std::exchange(reached.numbers, {});
  return {numbers.begin(), numbers.end()};
}

}  // namespace opgate::simulator
