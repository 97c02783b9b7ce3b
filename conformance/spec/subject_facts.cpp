#include "spec/subject_facts.h"

#include <c10/util/hash.h>
#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <nlohmann/json.hpp>

#include "base/dtypes.h"
#include "spec/class_promises.h"
#include "spec/fact_fields.h"
#include "spec/json/sample_json.h"
#include "spec/spec.h"

namespace opgate {
namespace {

using nlohmann::json;

constexpr size_t kLongest = 160;      // characters of a description
constexpr size_t kDigestDigits = 16;  // hexadecimal digits of a digest that stands for the rest

constexpr std::string_view kUlps = " ulps";
constexpr std::string_view kOf = " of ";
constexpr std::string_view kInputDtype = "the input dtype";
constexpr std::string_view kByInputs = " scaled by inputs";
constexpr std::string_view kByFunction = " scaled by a function";

// Compact, so that it fits on a line of the ledger, but the same for the same values.
std::string shortened(std::string text) {
  if (text.size() <= kLongest) return text;
  const std::string digest = c10::sha1(text).str().substr(0, kDigestDigits);
  return fmt::format("{}... sha1 {}", text.substr(0, kLongest), digest);
}

// Defaults are left out: a new argument with a default must not make every sample another one.
std::string described(const Sample& sample) {
  Sample written = sample;
  written.arguments.resize(written.arguments.size() - written.defaults, Argument(none));
  return shortened(to_json(written).at("arguments").dump());
}

std::string described(const Rejection& rejection) {
  return fmt::format("{} raises \"{}\"", described(rejection.sample), rejection.because);
}

std::string described(const Bench& bench) {
  const std::string baseline = bench.baseline_op.empty() ? "" : ", against " + bench.baseline_op;
  return fmt::format("{} in {}{}", described(bench.sample), dtype_name(bench.dtype), baseline);
}

void add_limits(const std::string& bench, const SpeedLimit& limit, std::string_view pass,
                SubjectFacts& facts) {
  const std::string name = fmt::format("{}, {}", bench, pass);
  if (limit.everywhere) facts.speed_limits[name] = *limit.everywhere;
  for (const auto& [device, ratio] : limit.by_device)
    facts.speed_limits[fmt::format("{} on {}", name, c10::DeviceTypeName(device, true))] = ratio;
}

AccuracyFacts facts_of(const Accuracy& accuracy, bool at_own_scale) {
  AccuracyFacts facts;
  if (!accuracy.exact) facts.ulps = accuracy.ulps;
  facts.scale = at_own_scale ? "function" : accuracy.by_inputs ? "inputs" : "";
  if (accuracy.input_dtype) facts.dtype = "input";
  if (accuracy.dtype) facts.dtype = dtype_name(*accuracy.dtype);
  return facts;
}

void add_class(const Spec& spec, SubjectFacts& facts) {
  const ClassPromises& promises = *spec.torch_class;
  for (const ClassMethod& method : promises.methods) {
    for (const Sample& call : method.calls)
      facts.samples[fmt::format("method {}({})", method.name, call.name)] = described(call);
    if (method.calls.empty()) facts.samples[fmt::format("method {}()", method.name)] = "[]";
    if (method.may_share)
      facts.named["unspecified"].push_back(fmt::format("memory that {} shares", method.name));
  }
  if (!promises.exported) facts.named["unspecified"].emplace_back("export");
}

void add_registration(const Spec& spec, const OpRegistrations& with_python, SubjectFacts& facts) {
  OpRegistration here = registration_of(*spec.op);
  if (const auto there = with_python.find(spec.name); there != with_python.end()) {
    PythonKernels only = kernels_only_in_python({{spec.name, there->second}});
    facts.python_kernels = std::move(only[spec.name]);
    here.tags = there->second.tags;
  }
  facts.kernels = std::move(here.kernels);
  facts.tags = std::move(here.tags);
}

template <class Value>
const Value& as_json(const Value& value) {
  return value;
}

json as_json(const std::optional<AccuracyFacts>& accuracy) {
  return accuracy ? json(to_text(*accuracy)) : json();
}

template <class Value>
void read(const json& json, Value& value) {
  json.get_to(value);
}

void read(const json& text, std::optional<AccuracyFacts>& accuracy) {
  accuracy = text.is_null() ? std::nullopt : accuracy_from(text.get<std::string>());
}

}  // namespace

std::string to_text(const AccuracyFacts& accuracy) {
  if (!accuracy.ulps) return "exact";
  const std::string_view scale = accuracy.scale == "inputs"     ? kByInputs
                                 : accuracy.scale == "function" ? kByFunction
                                                                : "";
  const std::string_view dtype = accuracy.dtype == "input" ? kInputDtype : std::string_view(accuracy.dtype);
  return fmt::format("{:.6g}{}{}{}{}", *accuracy.ulps, kUlps, dtype.empty() ? "" : kOf, dtype, scale);
}

std::optional<AccuracyFacts> accuracy_from(std::string_view text) {
  if (text == "exact") return AccuracyFacts{};
  double ulps = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), ulps);
  if (error != std::errc()) return std::nullopt;
  text.remove_prefix(static_cast<size_t>(end - text.data()));
  if (!text.starts_with(kUlps)) return std::nullopt;
  text.remove_prefix(kUlps.size());
  AccuracyFacts facts{ulps};
  for (const auto& [words, scale] : {std::pair{kByInputs, "inputs"}, std::pair{kByFunction, "function"}}) {
    if (!text.ends_with(words)) continue;
    facts.scale = scale;
    text.remove_suffix(words.size());
  }
  if (text.empty()) return facts;
  if (!text.starts_with(kOf)) return std::nullopt;
  text.remove_prefix(kOf.size());
  if (text != kInputDtype && !dtype_from_name(text)) return std::nullopt;
  facts.dtype = text == kInputDtype ? "input" : text;
  return facts;
}

SubjectFacts facts_of(const Spec& spec, const OpRegistrations& with_python) {
  SubjectFacts facts;
  facts.schema = spec.schema;
  if (spec.op) add_registration(spec, with_python, facts);
  for (const Promise promise : spec.promises) facts.promises.emplace_back(to_string(promise));
  std::ranges::sort(facts.promises);
  if (spec.accuracy) facts.accuracy = facts_of(*spec.accuracy, spec.scale != nullptr);
  if (spec.gradient_accuracy) facts.gradient_accuracy = facts_of(*spec.gradient_accuracy, false);
  facts.reference = !spec.reference_op.empty()  ? spec.reference_op
                    : spec.reference != nullptr ? "function"
                                                : "";
  facts.draft = spec.draft;
  for (const NamingWord& word : kNamingWords) {
    std::vector<std::string> names = names_as_texts(word, spec);
    if (!names.empty()) facts.named[std::string(word.key)] = std::move(names);
  }
  for (const auto& [device, dtypes] : spec.dtypes) {
    std::vector<std::string>& names = facts.dtypes[c10::DeviceTypeName(device, true)];
    for (const c10::ScalarType dtype : dtypes) names.emplace_back(dtype_name(dtype));
    std::ranges::sort(names);
  }
  for (const Sample& sample : spec.samples) facts.samples[sample.name] = described(sample);
  for (const Rejection& rejection : spec.rejections)
    facts.rejections[rejection.sample.name] = described(rejection);
  for (const Bench& bench : spec.benches) {
    facts.benches[bench.sample.name] = described(bench);
    add_limits(bench.sample.name, bench.forward, "forward", facts);
    add_limits(bench.sample.name, bench.backward, "backward", facts);
  }
  if (spec.torch_class) add_class(spec, facts);
  facts.where = spec.where;
  return facts;
}

std::vector<std::string> SubjectFacts::names(std::string_view key) const {
  const auto found = named.find(key);
  return found == named.end() ? std::vector<std::string>() : found->second;
}

void to_json(json& json, const SubjectFacts& facts) {
  for_each_row([&](const auto& row) { json[row.key] = as_json(facts.*row.value); }, kFactLines, kFactTables,
               kOtherFacts);
  for (const NamingWord& word : kNamingWords) json[word.key] = facts.names(word.key);
}

void from_json(const json& json, SubjectFacts& facts) {
  for_each_row([&](const auto& row) { read(json.at(row.key), facts.*row.value); }, kFactLines, kFactTables,
               kOtherFacts);
  for (const NamingWord& word : kNamingWords) {
    if (const auto& names = json.at(word.key); !names.empty())
      names.get_to(facts.named[std::string(word.key)]);
  }
}

}  // namespace opgate
