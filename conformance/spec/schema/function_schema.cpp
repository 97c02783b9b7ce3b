#include "spec/schema/function_schema.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <iterator>
#include <string_view>
#include <utility>

namespace opgate {
namespace {

using nlohmann::json;

constexpr std::string_view kNone = "None";     // of an argument that was None in each call
constexpr std::string_view kEmptyList = "[]";  // of one that was an empty list

bool may_be_none(const std::string& type) { return type == kNone || type.ends_with('?'); }

std::string without_none(const std::string& type) {
  if (type == kNone) return "";
  return type.ends_with('?') ? type.substr(0, type.size() - 1) : type;
}

// A type for arguments of two types that are neither None nor optional; none if there is none.
std::optional<std::string> wider(const std::string& one, const std::string& other) {
  if (one == other || other.empty()) return one;
  if (one.empty()) return other;
  if (one == kEmptyList && other.ends_with(kEmptyList)) return other;
  if (other == kEmptyList && one.ends_with(kEmptyList)) return one;
  const std::set<std::string> both{one, other};
  if (both == std::set<std::string>{"int", "float"}) return "float";
  if (both == std::set<std::string>{"int[]", "float[]"}) return "float[]";
  return std::nullopt;
}

// A type for arguments of both types, as in a schema, but for "None" and "[]".
std::optional<std::string> common(const std::string& one, const std::string& other) {
  std::optional<std::string> type = wider(without_none(one), without_none(other));
  if (!type) return std::nullopt;
  if (type->empty()) return std::string(kNone);
  return *type + (may_be_none(one) || may_be_none(other) ? "?" : "");
}

std::string with_article(const std::string& type) {
  return fmt::format(
      "{} {}", std::string_view("aeiou").find(type.front()) == std::string_view::npos ? "a" : "an", type);
}

// The type of a default.
std::string type_of(const json& value) {
  if (value.is_null()) return std::string(kNone);
  if (value.is_boolean()) return "bool";
  if (value.is_number_integer()) return "int";
  return value.is_number() ? "float" : "str";
}

// "=1.0"; empty for a default that a schema of this type cannot express.
std::string default_text(const json& value, const std::string& type) {
  if (value.is_null()) return type.ends_with('?') ? "=None" : "";
  if (value.is_boolean()) return type.starts_with("bool") ? (value.get<bool>() ? "=True" : "=False") : "";
  if (value.is_number_integer() && type.starts_with("int") && !type.starts_with("int["))
    return "=" + value.dump();
  if (value.is_number() && type.starts_with("float") && !type.starts_with("float["))
    return fmt::format("={}", value.get<double>());
  return value.is_string() && type.starts_with("str") ? "=" + value.dump() : "";
}

// If no call has shown a type, the argument was always None, or an empty list.
std::string written_type(const std::string& type) {
  if (type == kNone) return "Tensor?";
  if (type == kEmptyList) return "int[]";
  return type == "[]?" ? "int[]?" : type;
}

}  // namespace

void FunctionSchema::add(const json& seen) {
  function_ = seen.at("function");
  for (const json& parameter : seen.at("parameters")) take_parameter(parameter);
  for (const auto& [op, types] : seen.at("operators").items()) types.get_to(seen_[op]);
  if (!seen.at("returns").is_null()) returns_ = seen.at("returns");
  is_launcher_ = seen.value("launcher", false);
  find_types();
}

void FunctionSchema::take_parameter(const json& seen) {
  auto same = std::ranges::find(seen_parameters_, seen.at("name").get<std::string>(), &Parameter::name);
  if (same == seen_parameters_.end()) {
    seen_parameters_.push_back({.name = seen.at("name")});
    same = std::prev(seen_parameters_.end());
  }
  same->written = same->written || seen.at("written").get<bool>();
  same->tuple = same->tuple || seen.at("tuple").get<bool>();
  same->keyword = same->keyword || seen.at("keyword").get<bool>();
  if (seen.contains("default")) same->default_value = seen.at("default");
}

void FunctionSchema::find_types() {
  parameters_ = seen_parameters_;
  misfits_.clear();
  for (const auto& [op, types] : seen_) {
    std::vector<Parameter> widened = parameters_;
    for (Parameter& each : widened) {
      const auto given = types.find(each.name);
      if (given == types.end()) continue;
      std::optional<std::string> both = each.type.empty() ? given->second : common(each.type, given->second);
      if (!both) {
        misfits_[op] = fmt::format("with {} as `{}`, which is {} in another call",
                                   with_article(given->second), each.name, with_article(each.type));
        break;
      }
      each.type = *std::move(both);
    }
    if (!misfits_.contains(op)) parameters_ = std::move(widened);
  }
  // What only calls without a place give is no parameter of the schema.
  std::erase_if(parameters_, [](const Parameter& each) { return each.type.empty(); });
  for (Parameter& each : parameters_) {
    if (each.default_value) each.type = common(each.type, type_of(*each.default_value)).value_or(each.type);
  }
  std::ranges::stable_sort(parameters_, {}, &Parameter::keyword);
}

std::optional<std::string> FunctionSchema::text() const {
  if (!returns_) return std::nullopt;
  // A positional parameter has a default only if all positional ones after it have one.
  const auto without_default =
      std::ranges::find_if(parameters_.rbegin(), parameters_.rend(), [](const Parameter& each) {
        return !each.keyword &&
               (!each.default_value || default_text(*each.default_value, written_type(each.type)).empty());
      });
  std::vector<std::string> parameters;
  std::map<std::string, char> labels;  // of the arguments that are written
  bool keyword = false;
  for (auto one = parameters_.begin(); one != parameters_.end(); ++one) {
    const Parameter& each = *one;
    if (each.keyword && !std::exchange(keyword, true)) parameters.emplace_back("*");
    std::string type = written_type(each.type);
    if (each.written && type.starts_with("Tensor")) {
      const char label = static_cast<char>('a' + labels.size() % 26);
      labels[each.name] = label;
      type.insert(std::string_view("Tensor").size(), fmt::format("({}!)", label));
    }
    const bool may_have_default = each.default_value && (each.keyword || one >= without_default.base());
    const std::string value = may_have_default ? default_text(*each.default_value, type) : "";
    parameters.push_back(fmt::format("{} {}{}", type, each.name, value));
  }
  std::vector<std::string> results;
  for (const json& each : *returns_) {
    std::string type = each.at("type");
    if (const json& same = each.at("argument"); same.is_string()) {
      if (const auto label = labels.find(same); label != labels.end())
        type += fmt::format("({}!)", label->second);
    }
    results.push_back(type);
  }
  return fmt::format("{}({}) -> {}", function_, fmt::join(parameters, ", "),
                     results.size() == 1 ? results.front() : fmt::format("({})", fmt::join(results, ", ")));
}

bool FunctionSchema::checks_arguments() const {
  const auto is_bool = [](const json& result) { return result.at("type") == "bool"; };
  return is_launcher_ && returns_ && written().empty() && std::ranges::all_of(*returns_, is_bool);
}

std::string FunctionSchema::misfit(const std::string& op) const {
  if (checks_arguments()) return "that only check arguments: they neither return nor write a tensor";
  const auto found = misfits_.find(op);
  return found == misfits_.end() ? "" : found->second;
}

std::vector<std::string> FunctionSchema::names() const {
  std::vector<std::string> all;
  for (const Parameter& each : parameters_) all.push_back(each.name);
  return all;
}

std::vector<std::string> FunctionSchema::written() const {
  std::vector<std::string> names;
  for (const Parameter& each : parameters_) {
    if (each.written) names.push_back(each.name);
  }
  return names;
}

std::set<std::string> FunctionSchema::tuples() const {
  std::set<std::string> names;
  for (const Parameter& each : parameters_) {
    if (each.tuple) names.insert(each.name);
  }
  return names;
}

std::optional<json> FunctionSchema::in_order(const json& arguments, const json& names) const {
  json all = json::array();
  for (const Parameter& each : parameters_) {
    const auto given = std::ranges::find(names, json(each.name));
    if (given != names.end())
      all.push_back(arguments.at(static_cast<size_t>(given - names.begin())));
    else if (each.default_value)
      all.push_back(*each.default_value);
    else
      return std::nullopt;
  }
  return all;
}

}  // namespace opgate
