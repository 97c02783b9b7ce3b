// What the simulator reports: the findings of its tools, the faults of kernels and of the host, functions
// that are refused, and what is not simulated. The simulator writes each as a line of JSON, which the engine
// and `opgate sim` read.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <tuple>

#include <opgate_sim/notation.h>

namespace opgate::simulator {

/// One access, or one arrival at a barrier; of the tool `stream`, an operation; of a fault, where it
/// happened.
struct FindingPlace {
  std::string
      instruction;       ///< "st.shared.f32"; of an operation, what it is. Empty: only the location is known
  std::string location;  ///< "file:line" where the PTX has `.loc`, else "line N of the PTX"; may be empty
  Extent block = {};
  Extent thread = {};
  /// For an operation, instead of block and thread: its stream, or 0 for the host.
  std::optional<unsigned long long> stream = std::nullopt;
  std::string kernel = {};  ///< empty if it is that of the finding
};

struct Finding {
  /// What reports it. The last three are no mistakes of the program: it uses the devices (the message is its
  /// process id), it needs what is not simulated (the message is its name), and a launch follows a part of
  /// the schedule (the message is that part).
  enum class Kind : std::uint8_t { memory, api, init, race, sync, stream, start, unsupported, schedule };

  Kind kind = Kind::race;
  std::string kernel = {};   ///< empty if it was none
  std::string message = {};  ///< a sentence for people, without the place of the first access
  FindingPlace place = {};
  /// For a race, and for the tool `stream`: what came before. For `init`: where the loaded value matters.
  std::optional<FindingPlace> other = {};
  std::string error = {};     ///< "cudaErrorIllegalAddress"; empty if no function fails for it
  std::string space = {};     ///< "global", "shared" or "local"; empty if no memory is meant
  std::uint64_t address = 0;  ///< in that space
  std::size_t bytes = 0;
  std::uint64_t count = 1;  ///< how often it was found at the same two instructions
  /// The schedule of its launch, as text, if blocks and warps did not go by index.
  std::string schedule = {};
  std::string test = {};  ///< the id of the test of pytest that ran, "test_add.py::test_it"; or empty
};

/// "memory", "race" ...: for a tool, the word that chooses it.
std::string_view name_of(Finding::Kind kind);

/// One line of JSON, without the end of the line.
std::string to_line(const Finding& finding);

/// Reads such a line. None for one that is not whole: the last one of a process that was killed.
std::optional<Finding> finding_from_line(std::string_view line);

/// What findings of one mistake have in common, in whichever launch and threads it was seen, and in whichever
/// order two accesses came. If there is no kernel, the text says what it was.
using PlaceOfFinding = std::tuple<Finding::Kind, std::string, std::string, std::string, std::string>;
PlaceOfFinding place_of(const Finding& finding);

/// "st.shared.f32 races with ... (block 0,0,0, thread 3,0,0)"
std::string with_actor(const std::string& text, const FindingPlace& place);

/// One line for people.
std::string to_text(const Finding& finding);

/// What was at the place: "block 0,0,0, thread 3,0,0", after the kernel if it is another one; "stream 2" or
/// "the host"; empty if only the location is known.
std::string actor_at(const FindingPlace& place);

/// "reduce.cu:41, block 0,0,0, thread 3,0,0"
std::string text_of(const FindingPlace& place);

/// "st.shared.f32 at twice.cu:41", or one of the two.
std::string access_at(const FindingPlace& place);

}  // namespace opgate::simulator
