// The mistakes that broken cases show: each case belongs to one defect of one operator on one device. What no
// rule explains by another case stays a defect of its own.
#pragma once

#include <nlohmann/json_fwd.hpp>

#include <map>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "defects/symptoms.h"

namespace opgate {

/// What a defect costs those who call the operator; the worst comes first.
enum class Severity {
  memory,        ///< memory that is not the operator's is read or written, or the process ends
  values,        ///< results are wrong, or depend on what they should not
  metadata,      ///< fake kernels, aliases, written arguments and changed state
  gradients,     ///< derivatives are wrong
  errors,        ///< bad inputs are accepted, or refused without a clear word
  registration,  ///< something is not registered or not declared
  spec,          ///< the operator's spec is wrong, and not the operator
};

std::string_view to_string(Severity severity);

struct Defect {
  std::string id;  ///< "row_scale/cpu/layout/x": the same in every run that shows the defect
  std::string op;
  std::string device;
  Severity severity = Severity::values;
  std::string cause;  ///< a clause in lower case: "`x` is read as if it were dense: its strides are ignored"
  std::string example;                   ///< the case that shows it best
  Judgement evidence;                    ///< of the example
  std::map<std::string, size_t> checks;  ///< the number of broken cases of each check
  std::vector<std::string> variants;     ///< those that show it, in the order of the cases
  std::vector<std::string> cases;        ///< ids, those of callers at the end
  /// Operators that call this one and show the same, with the number of their cases.
  std::map<std::string, size_t> callers = {};
  /// Others that are wrong at the same line of a function that they share with this one, likewise.
  std::map<std::string, size_t> sharing = {};

  size_t count() const { return cases.size(); }
};

/// Sorts broken cases into defects.
class Defects {
 public:
  /// Throws SetupError for what is not the id of a case.
  void add(const std::string& case_id, const Judgement& judgement);

  /// From now on, a defect that `op` shares with one of the operators that it calls is the latter's.
  void add_called(const std::string& op, const std::set<std::string>& called);

  /// All defects so far: the most severe first, then by operator.
  std::vector<Defect> found() const;

 private:
  // By operator and device: judgements by case, so that workers' timing does not decide which case comes
  // first.
  std::map<std::pair<std::string, std::string>, std::map<std::string, Judgement>> by_op_;
  std::map<std::string, std::set<std::string>> called_;
};

/// A line of results.jsonl.
void to_json(nlohmann::json& json, const Defect& defect);

}  // namespace opgate
