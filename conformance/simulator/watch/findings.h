// What the tools have found.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <tuple>
#include <vector>

#include "simulator/machine/launch.h"

namespace opgate::simulator {

/// One access, or one arrival at a barrier; for the tool `stream`, an operation.
struct FindingPlace {
  std::string instruction;  ///< "st.shared.f32"; of an operation, what it is
  std::string location;     ///< "file:line" where the PTX has `.loc`, else "line N of the PTX"
  Extent block;
  Extent thread;
  /// Of an operation, in the place of block and thread: its stream, or 0 for the host.
  std::optional<unsigned long long> stream = std::nullopt;
};

struct Finding {
  enum class Kind : std::uint8_t { init, race, sync, stream };

  Kind kind = Kind::race;
  std::string kernel;
  std::string message;  ///< a sentence for people, without the place of the first access
  FindingPlace place;
  std::optional<FindingPlace> other;  ///< of a race, and of the tool `stream`: what came before
  std::string space;                  ///< "global", "shared" or "local"; empty where no memory is meant
  std::uint64_t address = 0;          ///< in that space
  std::size_t bytes = 0;
  std::uint64_t count = 1;  ///< how often it was found at the same two instructions
};

/// "init", "race", "sync" or "stream": the tool that finds it.
const char* name_of(Finding::Kind kind);

/// A string of JSON. Control characters become spaces.
std::string quoted(const std::string& text);

/// One line of JSON, without the end of the line.
std::string to_json(const Finding& finding);

/// One line for people.
std::string to_text(const Finding& finding);

/// Findings of the same two instructions of a kernel are one. At most `kMost` are kept.
class Findings {
 public:
  static constexpr std::size_t kMost = 100;
  /// In place of a site, for what has one cause wherever the kernel shows it.
  static constexpr std::uint32_t kEverySite = ~std::uint32_t{0};

  /// Whether a finding is new, so that it must be described with `add`. Otherwise it is counted here. The sites number
  /// the instructions of a kernel.
  bool is_new(Finding::Kind kind, const std::string& kernel, std::uint32_t site,
              std::uint32_t other_site = 0);

  /// Keeps the finding about which `is_new` was asked last.
  void add(Finding finding);

  const std::vector<Finding>& all() const { return all_; }

  /// How many there were that are not kept, because there are too many.
  std::uint64_t dropped() const { return dropped_; }

  /// Forgets what it gives.
  std::vector<Finding> take();

 private:
  using Key = std::tuple<Finding::Kind, std::string, std::uint32_t, std::uint32_t>;

  std::vector<Finding> all_;
  std::map<Key, std::size_t> known_;  ///< index in `all_`
  std::uint64_t dropped_ = 0;
};

}  // namespace opgate::simulator
