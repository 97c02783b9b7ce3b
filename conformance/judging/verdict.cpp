#include "judging/verdict.h"

#include <algorithm>
#include <array>
#include <nlohmann/json.hpp>
#include <stdexcept>

namespace opgate {
namespace {

constexpr std::array<std::string_view, 6> kWords{"pass", "fail", "crash", "timeout", "owed", "invalid"};

}  // namespace

std::string_view to_string(Verdict verdict) { return kWords[static_cast<size_t>(verdict)]; }

Verdict verdict_from_string(std::string_view text) {
  const auto found = std::ranges::find(kWords, text);
  if (found == kWords.end()) throw std::invalid_argument("'" + std::string(text) + "' is no verdict");
  return static_cast<Verdict>(found - kWords.begin());
}

void to_json(nlohmann::json& json, const Judgement& judgement) {
  json = {{"verdict", to_string(judgement.verdict)}};
  if (!judgement.reason.empty()) json["reason"] = judgement.reason;
  if (judgement.worst_ulps > 0) json["ulps"] = judgement.worst_ulps;
  if (!judgement.stack.empty()) json["stack"] = judgement.stack;
  if (judgement.finding) {
    json["promised"] = judgement.finding->promised;
    json["happened"] = judgement.finding->happened;
    if (!judgement.finding->likely.empty()) json["likely"] = judgement.finding->likely;
    if (!judgement.finding->detail.empty()) json["detail"] = judgement.finding->detail;
    if (!judgement.finding->fault.kind.empty()) json["fault"] = judgement.finding->fault.kind;
    if (!judgement.finding->fault.about.empty()) json["about"] = judgement.finding->fault.about;
    if (!judgement.finding->fault.differs.empty()) json["differs"] = judgement.finding->fault.differs;
  }
}

void from_json(const nlohmann::json& json, Judgement& judgement) {
  judgement = {verdict_from_string(json.at("verdict").get<std::string>()), std::nullopt,
               json.value("reason", ""), json.value("ulps", 0.0),
               json.value("stack", std::vector<std::string>{})};
  if (json.contains("promised")) {
    judgement.finding = Finding{json.at("promised"),
                                json.at("happened"),
                                json.value("likely", ""),
                                json.value("detail", std::vector<std::string>{}),
                                {json.value("fault", ""), json.value("about", ""), json.value("differs", "")}};
  }
}

}  // namespace opgate
