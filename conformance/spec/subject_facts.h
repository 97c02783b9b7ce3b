// What is known about an operator, model or class without calling it: what it is registered with, and what
// its spec says. The gate compares it with a later state.
#pragma once

#include <nlohmann/json_fwd.hpp>

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "spec/registration.h"

namespace opgate {

struct Spec;

/// An accuracy as a spec promises it.
struct AccuracyFacts {
  std::optional<double> ulps;  ///< none if it is exact
  std::string scale = "";      ///< what the ulps are at: "" the result, "inputs", or "function"
  std::string dtype = "";      ///< whose ulps they are: "" the result's, "input", or a dtype's name

  bool operator==(const AccuracyFacts&) const = default;
};

/// "exact", "4 ulps", "4 ulps of float32", "4 ulps of the input dtype"; with " scaled by inputs" or
/// " scaled by a function" at the end.
std::string to_text(const AccuracyFacts& accuracy);

/// The inverse of to_text(); nothing for any other text.
std::optional<AccuracyFacts> accuracy_from(std::string_view text);

/// What is known about a subject without calling it. Lists are sorted.
struct SubjectFacts {
  std::string schema;                ///< empty unless the subject is an operator
  std::vector<std::string> kernels;  ///< dispatch keys for which the loaded libraries have a kernel
  /// Dispatch keys for which only Python modules have one: programs without Python do not have these kernels.
  std::vector<std::string> python_kernels;
  std::vector<std::string> tags;      ///< of the operator: "pt2_compliant_tag"
  std::vector<std::string> promises;  ///< names
  std::optional<AccuracyFacts> accuracy;
  std::optional<AccuracyFacts> gradient_accuracy;
  std::string reference;  ///< an operator's name, "function", or empty if there is none
  bool draft = false;     ///< what the spec does not say is not checked
  /// What the spec names, by the key of a word of kNamingWords: arguments, indices of results, conditions. No
  /// list is empty.
  std::map<std::string, std::vector<std::string>, std::less<>> named;
  std::map<std::string, std::vector<std::string>> dtypes;  ///< by device
  /// Descriptions of arguments, by sample: JSON, whose end is replaced by a digest where it is long. The
  /// methods of a class are here, too, as "method add(2)".
  std::map<std::string, std::string> samples;
  std::map<std::string, std::string> rejections;  ///< the same for calls that must raise, with the message
  std::map<std::string, std::string> benches;     ///< the same for benches
  std::map<std::string, double> speed_limits;     ///< "64x64, forward" or "64x64, forward on cuda"
  std::string where;                              ///< file:line of the spec
  std::string sources = "";  ///< digest of the sources; empty if they are not on this machine
  /// Digests of the project's files that the compiler read for the subject, by path relative to the folder of
  /// opgate.toml. A digest is empty if the file is not what was compiled.
  std::map<std::string, std::string> files_read = {};
  std::vector<std::string> files_not_followed = {};  ///< what else it may have read, in words

  bool operator==(const SubjectFacts&) const = default;

  /// Those of `named` with this key; none if there are none.
  std::vector<std::string> names(std::string_view key) const;
};

/// `with_python` has what operators are registered with in a process that has imported the project's Python
/// modules; operators that it does not name are as in this process, which has loaded the libraries alone.
SubjectFacts facts_of(const Spec& spec, const OpRegistrations& with_python);

void to_json(nlohmann::json& json, const SubjectFacts& facts);
void from_json(const nlohmann::json& json, SubjectFacts& facts);

}  // namespace opgate
