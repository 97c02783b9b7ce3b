#include "mutation/mutant_results.h"

#include <array>
#include <fstream>

#include "base/errors.h"
#include "mutation/mutant_json.h"

namespace opgate {

void MutationScore::add(Fate fate) {
  std::array<size_t*, 5> counts{&killed, &survived, &not_reached, &equivalent, &refused};
  ++*counts[static_cast<size_t>(fate)];
}

double MutationScore::percent() const {
  return killed + survived == 0
             ? 100
             : 100.0 * static_cast<double>(killed) / static_cast<double>(killed + survived);
}

MutationScore score_of(const std::vector<MutantResult>& results) {
  MutationScore score;
  for (const MutantResult& result : results) score.add(result.fate);
  return score;
}

std::filesystem::path mutants_file(const std::filesystem::path& output) { return output / "mutants.jsonl"; }

std::string mutant_line(const MutantResult& result) {
  nlohmann::json line = result.mutant;
  line["fate"] = result.fate;
  line["reaching_calls"] = result.reaching;
  line["cases"] = result.cases;
  if (!result.killer.empty())
    line["killer"] = {{"case", result.killer}, {"verdict", result.how}, {"found", result.found}};
  if (!result.because.empty()) line["because"] = result.because;
  return line.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
}

std::vector<MutantResult> read_mutants(const std::filesystem::path& file) {
  std::ifstream lines(file);
  if (!lines) throw setup_error("cannot read {}; `opgate mutate` writes it", file.string());
  std::vector<MutantResult> results;
  for (std::string text; std::getline(lines, text);) {
    try {
      const auto line = nlohmann::json::parse(text);
      MutantResult& result = results.emplace_back();
      line.get_to(result.mutant);
      line.at("fate").get_to(result.fate);
      line.at("reaching_calls").get_to(result.reaching);
      line.at("cases").get_to(result.cases);
      if (line.contains("killer")) {
        line["killer"].at("case").get_to(result.killer);
        line["killer"].at("verdict").get_to(result.how);
        line["killer"].at("found").get_to(result.found);
      }
      result.because = line.value("because", "");
    } catch (const nlohmann::json::exception& error) {
      throw setup_error("{}:{}: not a line of `opgate mutate`: {}", file.string(), results.size() + 1,
                        error.what());
    }
  }
  return results;
}

}  // namespace opgate
