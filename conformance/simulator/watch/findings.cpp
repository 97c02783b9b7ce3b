#include "simulator/watch/findings.h"

#include <utility>

#include "simulator/machine/faults.h"

namespace opgate::simulator {
namespace findings {

std::string as_list(const Extent& index) {
  return "[" + std::to_string(index.x) + ", " + std::to_string(index.y) + ", " + std::to_string(index.z) +
         "]";
}

std::string as_object(const FindingPlace& place) {
  const std::string begin =
      "{\"instruction\": " + quoted(place.instruction) + ", \"location\": " + quoted(place.location);
  if (place.stream) return begin + ", \"stream\": " + std::to_string(*place.stream) + "}";
  return begin + ", \"block\": " + as_list(place.block) + ", \"thread\": " + as_list(place.thread) + "}";
}

std::string as_text(const FindingPlace& place) {
  return place.instruction + " at " + place.location + " (block " + in_short(place.block) + ", thread " +
         in_short(place.thread) + ")";
}

// Where the kernels of two operations access memory.
std::string as_text(const FindingPlace& place, const std::optional<FindingPlace>& other) {
  std::string text;
  if (!place.location.empty()) text += "; " + place.instruction + " at " + place.location;
  if (other && !other->location.empty()) text += "; before, " + other->instruction + " at " + other->location;
  return text;
}

}  // namespace findings

std::string quoted(const std::string& text) {
  std::string result = "\"";
  for (const char c : text) {
    if (c == '"' || c == '\\') result += '\\';
    result += static_cast<unsigned char>(c) < 0x20 ? ' ' : c;
  }
  return result + '"';
}

const char* name_of(Finding::Kind kind) {
  switch (kind) {
    case Finding::Kind::init:
      return "init";
    case Finding::Kind::race:
      return "race";
    case Finding::Kind::sync:
      return "sync";
    case Finding::Kind::stream:
      break;
  }
  return "stream";
}

std::string to_json(const Finding& finding) {
  using namespace findings;
  std::string line = "{\"tool\": " + quoted(name_of(finding.kind)) +
                     ", \"kernel\": " + quoted(finding.kernel) + ", \"message\": " + quoted(finding.message) +
                     ", \"place\": " + as_object(finding.place);
  if (finding.other) line += ", \"other\": " + as_object(*finding.other);
  if (!finding.space.empty()) {
    line += ", \"space\": " + quoted(finding.space) +
            ", \"address\": " + quoted(hexadecimal(finding.address)) +
            ", \"bytes\": " + std::to_string(finding.bytes);
  }
  return line + ", \"count\": " + std::to_string(finding.count) + "}";
}

std::string to_text(const Finding& finding) {
  std::string line = std::string(name_of(finding.kind)) + ": ";
  if (finding.place.stream) return line + finding.message + findings::as_text(finding.place, finding.other);
  line += "kernel " + finding.kernel + ", " + findings::as_text(finding.place) + ": " + finding.message;
  if (finding.other) line += "; before, " + findings::as_text(*finding.other);
  return line;
}

bool Findings::is_new(Finding::Kind kind, const std::string& kernel, std::uint32_t site,
                      std::uint32_t other_site) {
  const auto known = known_.find({kind, kernel, site, other_site});
  if (known != known_.end()) {
    ++all_[known->second].count;
    return false;
  }
  if (all_.size() >= kMost) {
    ++dropped_;
    return false;
  }
  known_[{kind, kernel, site, other_site}] = all_.size();
  return true;
}

void Findings::add(Finding finding) { all_.push_back(std::move(finding)); }

std::vector<Finding> Findings::take() {
  known_.clear();
  dropped_ = 0;
  return std::exchange(all_, {});
}

}  // namespace opgate::simulator
