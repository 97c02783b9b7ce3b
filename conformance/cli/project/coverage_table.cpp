#include "cli/project/coverage_table.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <map>
#include <set>

#include "cli/project/project.h"
#include "device/device.h"
#include "judging/check.h"
#include "plan/calls.h"
#include "plan/patterns.h"
#include "plan/plan.h"
#include "spec/coverage.h"
#include "spec/registration.h"
#include "spec/spec.h"
#include "spec/specs.h"

namespace opgate {
namespace {

using c10::DispatchKey;

constexpr std::string_view kNone = "-";
constexpr std::string_view kOpcheck = "opcheck";

constexpr size_t kColumns = 7;
using Row = std::array<std::string, kColumns>;

// The kernels of an operator in this process, and those that only a process with Python has.
struct Kernels {
  std::set<std::string> native, python;
  bool native_fake = false, python_fake = false;

  bool has(std::string_view key) const {
    return native.contains(std::string(key)) || python.contains(std::string(key));
  }
};

Kernels kernels_of(const std::string& name, const Project& project) {
  Kernels kernels;
  if (const auto op = find_op(name)) {
    const std::vector<std::string> keys = registration_of(*op).kernels;
    kernels.native.insert(keys.begin(), keys.end());
    kernels.native_fake = has_fake_kernel(*op);
  }
  if (const auto found = project.registered.find(name); found != project.registered.end()) {
    const std::vector<std::string> only = kernels_only_in_python({{name, found->second}})[name];
    kernels.python.insert(only.begin(), only.end());
    kernels.python_fake = found->second.fake;
  }
  return kernels;
}

// Where the kernel that answers for one of `keys` is: "C++", "Python", or "-".
std::string language_of(const Kernels& kernels, const std::vector<std::string>& keys) {
  const auto in = [&](const std::set<std::string>& names) {
    return std::ranges::any_of(keys, [&](const std::string& key) { return names.contains(key); });
  };
  return in(kernels.native) ? "C++" : in(kernels.python) ? "Python" : std::string(kNone);
}

// The keys of kernels for dense tensors on the devices of torch, also on those that OpGate does not know.
std::vector<DispatchKey> keys_of_backends() {
  std::vector<DispatchKey> keys;
  for (auto i = uint8_t(c10::BackendComponent::InvalidBit) + 1;
       i <= uint8_t(c10::BackendComponent::EndOfBackendKeys); ++i) {
    const auto key =
        c10::toRuntimePerBackendFunctionalityKey(DispatchKey::Dense, static_cast<c10::BackendComponent>(i));
    if (key != DispatchKey::Meta) keys.push_back(key);  // its kernels are the fake ones
  }
  return keys;
}

// The keys of the kernels that autograd calls.
std::vector<std::string> keys_of_gradients() {
  std::vector<std::string> keys{"Autograd", "CompositeImplicitAutograd"};
  for (const c10::DeviceType device : device_types()) keys.emplace_back(c10::toString(autograd_key(device)));
  return keys;
}

std::string devices_of(const Kernels& kernels) {
  if (kernels.has("CompositeImplicitAutograd") || kernels.has("CompositeExplicitAutograd")) return "all";
  std::string devices;
  for (const DispatchKey key : keys_of_backends()) {
    if (!kernels.has(c10::toString(key))) continue;
    const std::string device = c10::DeviceTypeName(c10::dispatchKeyToDeviceType(key), /*lower_case=*/true);
    devices += (devices.empty() ? "" : ",") + device;
  }
  return devices.empty() ? std::string(kNone) : devices;
}

std::string spec_in_words(const Spec* spec, const Config& config) {
  if (spec == nullptr) return std::string(kNone);
  if (!spec->draft) return "spec";
  return !config.recorded.empty() && spec->where.starts_with(config.recorded.string()) ? "recorded" : "draft";
}

Row row_of(const std::string& name, const Spec* spec, bool opcheck, const Project& project) {
  const Kernels kernels = kernels_of(name, project);
  return {name,
          spec_in_words(spec, project.config),
          spec == nullptr ? std::string(kNone) : std::to_string(spec->samples.size()),
          devices_of(kernels),
          kernels.native_fake   ? "C++"
          : kernels.python_fake ? "Python"
                                : std::string(kNone),
          language_of(kernels, keys_of_gradients()),
          opcheck ? "yes" : std::string(kNone)};
}

std::set<std::string> names_with_opcheck(const Plan& plan) {
  std::set<std::string> names;
  for (Calls::Position call = 0; call < plan.calls.size(); ++call) {
    const CheckList checks = plan.calls.checks(call);
    if (std::ranges::any_of(checks, [](const Check* check) { return check->name == kOpcheck; }))
      names.insert(plan.calls.spec(call).name);
  }
  return names;
}

std::string in_columns(const std::vector<Row>& rows) {
  std::array<size_t, kColumns> widths{};
  for (const Row& row : rows) {
    for (size_t i = 0; i < kColumns; ++i) widths[i] = std::max(widths[i], row[i].size());
  }
  std::string text;
  for (const Row& row : rows) {
    for (size_t i = 0; i + 1 < kColumns; ++i) text += fmt::format("{:<{}}  ", row[i], widths[i]);
    text += row.back() + "\n";
  }
  return text;
}

}  // namespace

std::string coverage_table(const Project& project, const Plan& plan, const std::vector<std::string>& ops) {
  std::map<std::string, const Spec*> specs;  // null if there is none
  for (const std::string& name : project.operators) specs[name] = nullptr;
  for (const Spec& spec : project.subjects) {
    if (spec.kind == Spec::Kind::op) specs[spec.name] = &spec;
  }
  Names names;
  for (const auto& [name, spec] : specs) names[spec == nullptr ? name : spec->id] = name;
  demand_matches("op", ops, names);

  const std::set<std::string> with_opcheck = names_with_opcheck(plan);
  std::vector<Row> rows{{"operator", "spec", "samples", "devices", "fake", "gradient", "opcheck"}};
  size_t not_covered = 0;
  for (const auto& [name, spec] : specs) {
    if (!selects(ops, name) && (spec == nullptr || !selects(ops, spec->id))) continue;
    if (spec == nullptr) ++not_covered;
    rows.push_back(row_of(name, spec, with_opcheck.contains(name), project));
  }
  return in_columns(rows) + fmt::format("\nnot covered: {} of {} operators\n", not_covered, rows.size() - 1);
}

}  // namespace opgate
