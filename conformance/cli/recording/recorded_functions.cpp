#include "cli/recording/recorded_functions.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <iterator>
#include <string_view>
#include <utility>

namespace opgate {
namespace {

using nlohmann::json;

// A type for what two processes have seen. recording/function_calls.py widens in the same way, and leaves out
// calls that have no common type.
std::string wider(const std::string& one, const std::string& other) {
  const auto plain = [](const std::string& type) {
    return type.ends_with('?') ? type.substr(0, type.size() - 1) : type;
  };
  if (one == other) return one;
  if (one == "None" || one == "[]") return other.ends_with('?') || one == "[]" ? other : other + "?";
  if (other == "None" || other == "[]") return wider(other, one);
  const std::string optional = one.ends_with('?') || other.ends_with('?') ? "?" : "";
  if (plain(one) == plain(other)) return plain(one) + optional;
  return (one.find("[]") == std::string::npos ? "float" : "float[]") + optional;
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

// Where no call has shown a type, the argument was always None, or an empty list.
std::string written_type(const std::string& type) {
  return type == "None" ? "Tensor?" : type == "[]" ? "int[]" : type;
}

}  // namespace

void RecordedFunctions::read(const json& line) {
  const std::string name = line.at("function");
  for (const json& op : line.at("operators")) functions_[op] = name;
  Function& known = seen_[name];
  for (const json& seen : line.at("parameters")) {
    auto same = std::ranges::find(known.parameters, seen.at("name").get<std::string>(), &Parameter::name);
    if (same == known.parameters.end()) {
      known.parameters.push_back({.name = seen.at("name"), .type = seen.at("type")});
      same = std::prev(known.parameters.end());
    }
    same->type = wider(same->type, seen.at("type"));
    same->written = same->written || seen.at("written").get<bool>();
    same->tuple = same->tuple || seen.at("tuple").get<bool>();
    same->keyword = same->keyword || seen.at("keyword").get<bool>();
    if (seen.contains("default")) same->default_value = seen.at("default");
  }
  std::ranges::stable_sort(known.parameters, {}, &Parameter::keyword);
  if (!line.at("returns").is_null()) known.returns = line.at("returns");
}

const std::string* RecordedFunctions::function_of(const std::string& op) const {
  const auto found = functions_.find(op);
  return found == functions_.end() ? nullptr : &found->second;
}

std::optional<std::string> RecordedFunctions::schema(const std::string& function) const {
  const auto found = seen_.find(function);
  if (found == seen_.end() || !found->second.returns) return std::nullopt;
  const Function& known = found->second;
  // A positional parameter has a default only if all positional ones behind it have one.
  const auto without_default =
      std::ranges::find_if(known.parameters.rbegin(), known.parameters.rend(), [](const Parameter& each) {
        return !each.keyword &&
               (!each.default_value || default_text(*each.default_value, written_type(each.type)).empty());
      });
  std::vector<std::string> parameters;
  std::map<std::string, char> labels;  // of the arguments that are written
  bool keyword = false;
  for (auto one = known.parameters.begin(); one != known.parameters.end(); ++one) {
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
  for (const json& each : *known.returns) {
    std::string type = each.at("type");
    if (const json& same = each.at("argument"); same.is_string()) {
      if (const auto label = labels.find(same); label != labels.end())
        type += fmt::format("({}!)", label->second);
    }
    results.push_back(type);
  }
  return fmt::format("{}({}) -> {}", function, fmt::join(parameters, ", "),
                     results.size() == 1 ? results.front() : fmt::format("({})", fmt::join(results, ", ")));
}

std::set<std::string> RecordedFunctions::tuples(const std::string& function) const {
  std::set<std::string> names;
  const auto found = seen_.find(function);
  if (found == seen_.end()) return names;
  for (const Parameter& each : found->second.parameters) {
    if (each.tuple) names.insert(each.name);
  }
  return names;
}

std::optional<json> RecordedFunctions::in_order(const std::string& function, const json& arguments,
                                                const json& names) const {
  json all = json::array();
  for (const Parameter& each : seen_.at(function).parameters) {
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

std::vector<std::string> RecordedFunctions::names(const std::string& function) const {
  std::vector<std::string> all;
  for (const Parameter& each : seen_.at(function).parameters) all.push_back(each.name);
  return all;
}

}  // namespace opgate
