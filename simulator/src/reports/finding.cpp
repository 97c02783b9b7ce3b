#include <opgate_sim/finding.h>

#include <algorithm>
#include <array>
#include <nlohmann/json.hpp>
#include <utility>

namespace opgate::simulator {
namespace reports {

using nlohmann::json;
using Line = nlohmann::ordered_json;  // what matters most comes first

// In the order of Finding::Kind.
constexpr std::array<std::string_view, 9> kNames{"memory", "api",   "init",        "race",    "sync",
                                                 "stream", "start", "unsupported", "schedule"};

std::array<unsigned, 3> as_list(const Extent& index) { return {index.x, index.y, index.z}; }

Extent index_in(const json& place, const char* of) {
  const auto [x, y, z] = place.value(of, as_list({}));
  return {x, y, z};
}

Line as_object(const FindingPlace& place) {
  Line object;
  if (!place.instruction.empty()) object["instruction"] = place.instruction;
  object["location"] = place.location;
  if (place.stream) {
    object["stream"] = *place.stream;
  } else if (!place.instruction.empty()) {
    if (!place.kernel.empty()) object["kernel"] = place.kernel;
    object["block"] = as_list(place.block);
    object["thread"] = as_list(place.thread);
  }
  return object;
}

FindingPlace place_in(const json& object) {
  FindingPlace place{object.value("instruction", ""), object.value("location", ""), index_in(object, "block"),
                     index_in(object, "thread")};
  if (object.contains("stream")) place.stream = object["stream"];
  place.kernel = object.value("kernel", "");
  return place;
}

// Where the kernels of two operations access memory. The message has the streams.
std::string of_operations(const Finding& finding) {
  std::string text;
  if (!finding.place.location.empty()) text += "; " + access_at(finding.place);
  if (finding.other && !finding.other->location.empty()) text += "; before, " + access_at(*finding.other);
  return text;
}

bool is_of_watching_tool(Finding::Kind kind) {
  return kind >= Finding::Kind::init && kind <= Finding::Kind::stream;
}

}  // namespace reports

std::string_view name_of(Finding::Kind kind) { return reports::kNames.at(static_cast<std::size_t>(kind)); }

std::string to_line(const Finding& finding) {
  reports::Line line{
      {"tool", name_of(finding.kind)}, {"kernel", finding.kernel}, {"message", finding.message}};
  line["place"] = reports::as_object(finding.place);
  if (finding.other) line["other"] = reports::as_object(*finding.other);
  if (!finding.error.empty()) line["error"] = finding.error;
  if (!finding.space.empty()) {
    line["space"] = finding.space;
    line["address"] = hexadecimal(finding.address);
    line["bytes"] = finding.bytes;
  }
  line["count"] = finding.count;
  if (!finding.schedule.empty()) line["schedule"] = finding.schedule;
  if (!finding.test.empty()) line["test"] = finding.test;
  return line.dump(-1, ' ', /*ensure_ascii=*/false, reports::Line::error_handler_t::replace);
}

std::optional<Finding> finding_from_line(std::string_view text) {
  using reports::json;
  const json line = json::parse(text, nullptr, /*allow_exceptions=*/false);
  if (!line.is_object()) return std::nullopt;
  const auto name = std::ranges::find(reports::kNames, line.value("tool", ""));
  if (name == reports::kNames.end()) return std::nullopt;
  Finding finding{.kind = static_cast<Finding::Kind>(name - reports::kNames.begin()),
                  .kernel = line.value("kernel", ""),
                  .message = line.value("message", ""),
                  .place = reports::place_in(line.value("place", json::object())),
                  .error = line.value("error", ""),
                  .space = line.value("space", ""),
                  .address = std::stoull(line.value("address", "0"), nullptr, 16),
                  .bytes = line.value("bytes", std::size_t{0}),
                  .count = line.value("count", std::uint64_t{1}),
                  .schedule = line.value("schedule", ""),
                  .test = line.value("test", "")};
  if (line.contains("other")) finding.other = reports::place_in(line["other"]);
  return finding;
}

PlaceOfFinding place_of(const Finding& finding) {
  const FindingPlace& place = finding.place;
  std::string first = finding.kernel.empty() ? with_actor(finding.message, place) : place.location;
  std::string second;
  if (finding.other) {
    second = access_at(*finding.other);
    if (finding.other->stream) second = with_actor(second, *finding.other);
  }
  // A launch before this one has a kernel of its own.
  if (finding.kind == Finding::Kind::race && finding.other && finding.other->kernel.empty()) {
    second = finding.other->location;
    if (second < first) std::swap(first, second);
  }
  return {finding.kind, finding.error + finding.space, finding.kernel, first, second};
}

std::string with_actor(const std::string& text, const FindingPlace& place) {
  const std::string actor = actor_at(place);
  return actor.empty() ? text : text + " (" + actor + ")";
}

std::string to_text(const Finding& finding) {
  using namespace reports;
  if (finding.kind == Finding::Kind::unsupported) return finding.message + " is not simulated";
  std::string line;
  if (is_of_watching_tool(finding.kind)) line = std::string(name_of(finding.kind)) + ": ";
  if (finding.place.stream) return line + finding.message + of_operations(finding);
  if (!finding.kernel.empty())
    line += "kernel " + finding.kernel + ", " + with_actor(access_at(finding.place), finding.place) + ": ";
  line += finding.message;
  if (finding.other)
    line += (finding.kind == Finding::Kind::init ? "; its value matters to " : "; before, ") +
            with_actor(access_at(*finding.other), *finding.other);
  if (!finding.error.empty()) line += " (" + finding.error + ")";
  return line;
}

std::string actor_at(const FindingPlace& place) {
  if (place.stream) return *place.stream == 0 ? "the host" : "stream " + std::to_string(*place.stream);
  if (place.instruction.empty()) return "";
  return (place.kernel.empty() ? "" : "kernel " + place.kernel + ", ") + "block " + in_short(place.block) +
         ", thread " + in_short(place.thread);
}

std::string text_of(const FindingPlace& place) {
  const std::string actor = actor_at(place);
  return place.location + (actor.empty() ? "" : ", " + actor);
}

std::string access_at(const FindingPlace& place) {
  if (place.instruction.empty() || place.location.empty()) return place.instruction + place.location;
  return place.instruction + " at " + place.location;
}

}  // namespace opgate::simulator
