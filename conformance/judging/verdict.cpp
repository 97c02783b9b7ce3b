#include "judging/verdict.h"

#include <algorithm>
#include <array>
#include <nlohmann/json.hpp>
#include <stdexcept>

namespace opgate {
namespace {

constexpr std::array<std::string_view, 6> kWords{"pass", "fail", "crash", "timeout", "owed", "invalid"};

constexpr const char* kGivenBy = "given_by";
constexpr const char* kEvidence = "evidence";
constexpr const char* kAskedOnSimulator = "asked_on_simulator";

struct FaultWord {
  const char* word;
  std::string Fault::*member;
};
constexpr std::array kFaultWords{
    FaultWord{"fault", &Fault::kind},      FaultWord{"about", &Fault::about},
    FaultWord{"differs", &Fault::differs}, FaultWord{"mistake", &Fault::cause},
    FaultWord{"seen_by", &Fault::check},   FaultWord{"seen_at", &Fault::variant}};

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
  if (!judgement.uncaught.empty()) json["uncaught"] = judgement.uncaught;
  if (judgement.given_by == GivenBy::evidence) json[kGivenBy] = kEvidence;
  if (judgement.asked_on_simulator) json[kAskedOnSimulator] = true;
  if (judgement.finding) {
    json["promised"] = judgement.finding->promised;
    json["happened"] = judgement.finding->happened;
    if (!judgement.finding->likely.empty()) json["likely"] = judgement.finding->likely;
    if (!judgement.finding->detail.empty()) json["detail"] = judgement.finding->detail;
    for (const auto& [word, member] : kFaultWords) {
      if (const std::string& value = judgement.finding->fault.*member; !value.empty()) json[word] = value;
    }
  }
}

void from_json(const nlohmann::json& json, Judgement& judgement) {
  judgement = {verdict_from_string(json.at("verdict").get<std::string>()),
               std::nullopt,
               json.value("reason", ""),
               json.value("ulps", 0.0),
               json.value("stack", std::vector<std::string>{}),
               json.value("uncaught", ""),
               json.value(kGivenBy, "") == kEvidence ? GivenBy::evidence : GivenBy::run,
               json.value(kAskedOnSimulator, false)};
  if (json.contains("promised")) {
    judgement.finding = Finding{json.at("promised"),
                                json.at("happened"),
                                json.value("likely", ""),
                                json.value("detail", std::vector<std::string>{}),
                                {}};
    for (const auto& [word, member] : kFaultWords)
      judgement.finding->fault.*member = json.value(word, std::string());
  }
}

}  // namespace opgate
