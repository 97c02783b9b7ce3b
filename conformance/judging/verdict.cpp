#include "judging/verdict.h"

#include <algorithm>
#include <array>
#include <nlohmann/json.hpp>
#include <stdexcept>

namespace opgate {
namespace {

constexpr std::array<std::string_view, 6> kWords{"pass", "fail", "crash", "timeout", "owed", "invalid"};

// Texts of a judgement that most lack.
struct JudgementWord {
  const char* word;
  std::string Judgement::*member;
};
constexpr std::array kJudgementWords{
    JudgementWord{"reason", &Judgement::reason}, JudgementWord{"uncaught", &Judgement::uncaught},
    JudgementWord{"ended", &Judgement::ended}, JudgementWord{"remarks", &Judgement::remarks},
    JudgementWord{"example", &Judgement::example}};

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

// What separates Finding::here and remarks from what they follow.
constexpr std::string_view kHere = ": ";
constexpr std::string_view kRemark = "; ";

void append(std::string& text, const std::string& more) {
  if (!text.empty()) text += kRemark;
  text += more;
}

// `text` as it was before `end` was appended after this separator.
std::string without_end(const std::string& text, std::string_view separator, const std::string& end) {
  if (end.empty()) return text;
  return text.substr(0, text.size() - std::min(text.size(), separator.size() + end.size()));
}

}  // namespace

std::string Finding::shared() const { return without_end(happened, kHere, here); }

std::string Judgement::reason_without_remarks() const { return without_end(reason, kRemark, remarks); }

void Judgement::add_remark(const std::string& remark) {
  append(reason, remark);
  append(remarks, remark);
}

std::string_view to_string(Verdict verdict) { return kWords[static_cast<size_t>(verdict)]; }

Verdict verdict_from_string(std::string_view text) {
  const auto found = std::ranges::find(kWords, text);
  if (found == kWords.end()) throw std::invalid_argument("'" + std::string(text) + "' is no verdict");
  return static_cast<Verdict>(found - kWords.begin());
}

void to_json(nlohmann::json& json, const Judgement& judgement) {
  json = {{"verdict", to_string(judgement.verdict)}};
  for (const auto& [word, member] : kJudgementWords) {
    if (const std::string& value = judgement.*member; !value.empty()) json[word] = value;
  }
  if (judgement.worst_ulps > 0) json["ulps"] = judgement.worst_ulps;
  if (!judgement.stack.empty()) json["stack"] = judgement.stack;
  if (judgement.given_by == GivenBy::evidence) json[kGivenBy] = kEvidence;
  if (judgement.asked_on_simulator) json[kAskedOnSimulator] = true;
  if (judgement.finding) {
    json["promised"] = judgement.finding->promised;
    json["happened"] = judgement.finding->happened;
    if (!judgement.finding->likely.empty()) json["likely"] = judgement.finding->likely;
    if (!judgement.finding->detail.empty()) json["detail"] = judgement.finding->detail;
    if (!judgement.finding->here.empty()) json["here"] = judgement.finding->here;
    for (const auto& [word, member] : kFaultWords) {
      if (const std::string& value = judgement.finding->fault.*member; !value.empty()) json[word] = value;
    }
  }
}

void from_json(const nlohmann::json& json, Judgement& judgement) {
  judgement = {.verdict = verdict_from_string(json.at("verdict").get<std::string>()),
               .worst_ulps = json.value("ulps", 0.0),
               .stack = json.value("stack", std::vector<std::string>{}),
               .given_by = json.value(kGivenBy, "") == kEvidence ? GivenBy::evidence : GivenBy::run,
               .asked_on_simulator = json.value(kAskedOnSimulator, false)};
  for (const auto& [word, member] : kJudgementWords) judgement.*member = json.value(word, std::string());
  if (json.contains("promised")) {
    judgement.finding = Finding{json.at("promised"),
                                json.at("happened"),
                                json.value("likely", ""),
                                {},
                                json.value("detail", std::vector<std::string>{}),
                                json.value("here", "")};
    for (const auto& [word, member] : kFaultWords)
      judgement.finding->fault.*member = json.value(word, std::string());
  }
}

}  // namespace opgate
