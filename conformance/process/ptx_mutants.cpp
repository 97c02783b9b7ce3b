#include "process/ptx_mutants.h"

#include <opgate_sim/loaded.h>

#include <atomic>
#include <cstdlib>
#include <map>
#include <mutex>
#include <nlohmann/json.hpp>
#include <set>
#include <string>
#include <string_view>
#include <utility>

#include "base/errors.h"
#include "base/files/files.h"
#include "process/mutants.h"

namespace opgate {
namespace {

struct PtxMutant {
  std::size_t begin, end;  ///< bytes of the source
  std::string instead;
  std::string kernel;  ///< in which it is; empty for a function that kernels call
};

struct PtxSource {
  std::string code;
  std::map<int, PtxMutant> mutants;  ///< by number
};

// Programs that hand PTX over as a text end it with a zero, and may add a line break.
std::string_view without_end(std::string_view ptx) {
  const auto last = ptx.find_last_not_of(std::string_view("\0 \t\r\n", 5));
  return ptx.substr(0, last == std::string_view::npos ? 0 : last + 1);
}

std::vector<PtxSource> read_ptx_sources() {
  const char* const file = std::getenv("OPGATE_PTX_MUTANTS");
  if (file == nullptr) return {};
  const std::string table = content_of(file);
  if (table.empty()) throw setup_error("{} of OPGATE_PTX_MUTANTS cannot be read", file);
  std::vector<PtxSource> sources;
  for (const auto& described : nlohmann::json::parse(table)) {
    PtxSource source{std::string(without_end(content_of(described.at("file")))), {}};
    for (const auto& mutant : described.at("mutants")) {
      source.mutants[mutant.at("number")] = {mutant.at("begin"), mutant.at("end"), mutant.at("instead"),
                                             mutant.at("kernel")};
    }
    sources.push_back(std::move(source));
  }
  return sources;
}

const std::vector<PtxSource>& ptx_sources() {
  static const auto* const all = new std::vector<PtxSource>(read_ptx_sources());
  return *all;
}

const PtxSource* source_of(std::string_view ptx) {
  for (const PtxSource& source : ptx_sources()) {
    if (source.code == without_end(ptx)) return &source;
  }
  return nullptr;
}

std::atomic<int> chosen_in_ptx{0};

// Kernels may run on another thread than the one that takes what they have reached.
struct ReachedPtx {
  std::mutex mutex;
  std::set<int> numbers;
};

ReachedPtx& reached_ptx() {
  static auto* const all = new ReachedPtx;
  return *all;
}

const char* with_chosen_mutant(const char* ptx, size_t bytes) {
  const PtxSource* const source = source_of({ptx, bytes});
  if (source == nullptr) return nullptr;
  const auto mutant = source->mutants.find(chosen_in_ptx);
  if (mutant == source->mutants.end()) return nullptr;
  const auto& [begin, end, instead, kernel] = mutant->second;
  static thread_local std::string changed;
  changed = source->code.substr(0, begin) + instead + source->code.substr(end) + "\n";
  return changed.c_str();
}

void note_reached(const char* ptx, size_t bytes, const char* kernel) {
  if (chosen_in_ptx != kReportReached) return;
  const PtxSource* const source = source_of({ptx, bytes});
  if (source == nullptr) return;
  const std::lock_guard lock(reached_ptx().mutex);
  for (const auto& [number, mutant] : source->mutants) {
    if (mutant.kernel.empty() || mutant.kernel == kernel) reached_ptx().numbers.insert(number);
  }
}

constexpr OpgateSimPtxHook kHook{&with_chosen_mutant, &note_reached};

}  // namespace

void choose_ptx_mutant(int number) {
  auto* const hook = OPGATE_SIMULATED(opgate_sim_hook_ptx);
  if (hook == nullptr || ptx_sources().empty()) return;
  chosen_in_ptx = number;
  hook(number == 0 ? nullptr : &kHook);
}

std::vector<int> take_reached_ptx() {
  const std::lock_guard lock(reached_ptx().mutex);
  const std::set<int> numbers = std::exchange(reached_ptx().numbers, {});
  return {numbers.begin(), numbers.end()};
}

}  // namespace opgate
